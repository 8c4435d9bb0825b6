"""Owns family EV4: two arms may be compared only if one thing differs between them, and the noise is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from evidence import statistics
from evidence.checker.corpus import Corpus, Fault
from evidence.checker.facts import Facts
from evidence.checker.registry import corpus_rule, record_rule
from evidence.compare import MINIMUM_PROCESSES, compare, timers_apart
from evidence.diagnostics import Finding, Severity
from evidence.errors import ComparisonError
from evidence.evaluation import Reading
from evidence.readings import Quantity, process_values
from evidence.schema import Timed
from evidence.statistics import Verdict
from evidence.store import Loaded


@corpus_rule("EV401", "missing-baseline")
def missing_baseline(corpus: Corpus) -> Iterable[Finding]:
    """A ratio is of two arms, and one of them is named as the baseline.

    ## What it checks
    Every ratio and change column of a table says what it compares with: the table's `baseline`, or the column's `vs`.

    ## Why it matters
    "1.8 times faster" without "than what" can be true of anything.

    ## How to fix it
    Write `baseline:` with the name of an arm, or `vs:` at the column.
    """
    return corpus.of("EV401")


@corpus_rule("EV404", "unequal-work")
def unequal_work(corpus: Corpus) -> Iterable[Finding]:
    """Arms that did different amounts of work are compared by rates only.

    ## What it checks
    Both cells of a comparison count the same tokens, requests, steps, FLOP or bytes, unless the metric is a rate.

    ## Why it matters
    An arm that stops after a third of the tokens finishes first and is not faster.

    ## How to fix it
    Compare a rate, such as `metric: wall_time/output_tokens`, or measure again with equal work.
    """
    return corpus.of("EV404")


@corpus_rule("EV405", "more-than-one-axis")
def more_than_one_axis(corpus: Corpus) -> Iterable[Finding]:
    """Compared arms differ only in what the record declares as an axis.

    ## What it checks
    Switches, implementation, source, host, stack and ranks of the two arms are equal outside the record's `axes`.

    ## Why it matters
    With a second difference nobody can say which of the two made the effect.

    ## How to fix it
    Measure again with one thing changed, or declare the axis in the runner if the change is meant as a whole.
    """
    return corpus.of("EV405")


@corpus_rule("EV406", "inconclusive")
def inconclusive(corpus: Corpus) -> Iterable[Finding]:
    """A claim of better or worse needs an interval that lies beyond the minimum effect.

    ## What it checks
    Where a claim expects better or worse, no compared cell is INCONCLUSIVE: the 95 % interval of the ratio lies beyond
    one per cent, or beyond the A/A arm's farther bound where that is more.

    ## Why it matters
    An effect inside the noise is found again by nobody.

    ## How to fix it
    Say `expect: inconclusive`, or measure with more processes; the note under the claim says about how many.
    """
    return corpus.of("EV406")


@corpus_rule("EV407", "identical-arms-in-mean")
def identical_arms(corpus: Corpus) -> Iterable[Finding]:
    """Cells whose arms ran one configuration are noise and leave every mean.

    ## What it checks
    A claim compares at least one cell whose two arms resolved to different configurations (`ran` in the record).

    ## Why it matters
    A mean over cells that are identical by construction shrinks or invents an effect.

    ## How to fix it
    Claim cells whose arms differ; the table still shows the others, with a footnote.
    """
    return corpus.of("EV407")


@corpus_rule("EV410", "excessive-speedup")
def excessive_speedup(corpus: Corpus) -> Iterable[Finding]:
    """More than ten times needs a second timer, or somebody who stands for it.

    ## What it checks
    A claim whose ratio is over ten, or under a tenth, has a cross-check by a second timer on both cells, or a waiver.

    ## Why it matters
    Most ratios over ten were timers that missed the work, caches that had the answer, or a baseline nobody would run.

    ## How to fix it
    Measure the cells with a second timer, or waive EV410 at the claim with the reason the ratio is plausible.
    """
    return corpus.of("EV410")


@corpus_rule("EV412", "baseline-not-gated")
def baseline_not_gated(corpus: Corpus) -> Iterable[Finding]:
    """A baseline that did not pass its own gate is no baseline.

    ## What it checks
    The baseline cell of every claimed comparison was timed, and so passed its gate.

    ## Why it matters
    Being faster than something wrong means nothing.

    ## How to fix it
    Mend the baseline and measure again, or compare with an arm that passes.
    """
    return corpus.of("EV412")


@corpus_rule("EV413", "weaker-baseline", Severity.WARNING)
def weaker_baseline(corpus: Corpus) -> Iterator[Finding]:
    """A claim of better compares with the best arm its log holds.

    ## What it checks
    No other arm of the log, the candidate and controls aside, is BETTER than the claim's baseline on a claimed cell.

    ## Why it matters
    Plain library calls in the same file, three times faster than the chosen baseline, were once left out of a headline.

    ## How to fix it
    Compare with the faster arm, or read it under `also` so that the sentence's note shows it.
    """
    for id_, reading in _claimed(corpus):
        if reading.verdict is not Verdict.BETTER:
            continue
        others = corpus.book.readings(id_).values()
        told = {arm for other in others for arm in (other.baseline, other.candidate)}
        for arm in reading.loaded.record.arms:
            if arm.role == "control" or arm.name in told:
                continue
            names = [workload.name for workload in reading.workloads]
            compared = compare(reading.loaded.record, reading.baseline, arm.name, reading.quantity, names)
            if any(one.verdict is Verdict.BETTER for one in compared):
                at = corpus.book.claims.claims[id_].at("baseline")
                message = f"{id_}: {arm.name} of the same log is better than the baseline {reading.baseline}"
                yield Finding(at, message, f"compare with {arm.name}, or read it under `also`")


@corpus_rule("EV415", "missing-noise-floor", Severity.WARNING)
def missing_noise_floor(corpus: Corpus) -> Iterator[Finding]:
    """A comparison is read against an A/A arm measured beside it.

    ## What it checks
    The log of every claimed comparison has a control arm whose twin is the claim's baseline, timed on a claimed cell.

    ## Why it matters
    Without the baseline measured twice, nobody knows how large a difference the harness makes by itself.

    ## How to fix it
    Run again with the control arm, which the runner adds unless told not to.
    """
    for id_, reading in _claimed(corpus):
        if not any(one.noise is not None for one in reading.comparisons):
            at = corpus.book.claims.claims[id_].at("baseline")
            message = f"{id_}: no A/A arm of {reading.baseline} was measured in {reading.loaded.entry.log}"
            yield Finding(at, message)


@record_rule("EV416", "timers-disagree")
def timers_disagree(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """Two timers of one cell agree within five per cent.

    ## What it checks
    The median over processes of every cross-check lies within 5 % of that of the cell's own method.

    ## Why it matters
    Two instruments that disagree measure two things, and nobody knows which of them the page names.

    ## How to fix it
    Find what one of them includes that the other does not (launch, flush, allocation), and measure again.
    """
    record = loaded.record
    faults = []
    for index, cell in enumerate(record.cells):
        if isinstance(cell, Timed) and cell.cross_checks:
            for metric in {column.metric for column in cell.processes[0].samples}:
                if apart := timers_apart(record, cell, Quantity(metric)):
                    faults.append(Fault(f"{cell.workload}: {apart}", ("cells", index, "cross_checks")))
    yield from corpus.fault(loaded, faults)


@record_rule("EV417", "unsound-control")
def unsound_control(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """An arm measured against itself is neither faster nor slower.

    ## What it checks
    For every control arm and its twin, no target metric judges BETTER or WORSE at the base minimum effect of 1 % on
    more cells than chance allows: one in twenty of the cells compared, and at least one, may.

    ## Why it matters
    If identical code comes out different, every other difference of the log is in doubt. A raised minimum effect
    already keeps single cells honest; many moved cells mean that the machine changed during the run.

    ## How to fix it
    Measure again on a quiet machine; look at clocks, temperature and foreign processes in the log's conditions.
    """
    record, facts = loaded.record, corpus.facts(loaded)
    judged = [metric for metric in record.metrics if metric.role == "target" and metric.better != "neither"]
    faults: list[Fault] = []
    compared = 0
    for index, arm in enumerate(record.arms):
        if arm.control_of is None:
            continue
        for workload in record.workloads:
            for metric in judged:
                before = _medians(facts, loaded, arm.control_of, workload.name, metric.name)
                after = _medians(facts, loaded, arm.name, workload.name, metric.name)
                if min(len(before), len(after)) < MINIMUM_PROCESSES:
                    continue
                compared += 1
                if _is_within(before, after, statistics.BASE_EFFECT):
                    continue  # no interval round such a ratio lies beyond the effect
                try:
                    ratio = statistics.gain(before, after, metric.better == "lower")
                except ComparisonError:
                    continue
                verdict = statistics.judge(ratio, statistics.BASE_EFFECT)
                if verdict in (Verdict.BETTER, Verdict.WORSE):
                    message = (
                        f"{arm.name} against {arm.control_of} on {workload.name}: {metric.name} {ratio.value:.3f} times"
                    )
                    faults.append(Fault(f"{message} ({ratio.low:.3f} to {ratio.high:.3f})", ("arms", index)))
    if len(faults) > max(1, compared // 20):
        yield from corpus.fault(loaded, faults)


def _medians(facts: Facts, loaded: Loaded, arm: str, workload: str, metric: str) -> Sequence[float]:
    """Return a metric of a cell by process, from what the record rules share where it is there."""
    columns = facts.by_cell.get((arm, workload), {}).get(metric)
    if columns:
        return [one.median for one in columns]
    return process_values(facts.record, loaded.cell(arm, workload), Quantity(metric))


def _is_within(before: Sequence[float], after: Sequence[float], effect: float) -> bool:
    """Whether the ratio of geometric means lies within an effect of 1."""
    if min(before) <= 0 or min(after) <= 0:
        return False
    shift = fmean(map(math.log, before)) - fmean(map(math.log, after))
    return abs(shift) <= math.log1p(effect)


def _claimed(corpus: Corpus) -> Iterator[tuple[str, Reading]]:
    """Yield the main comparison of every claim that stands."""
    for id_ in corpus.book.standing:
        main = corpus.book.readings(id_)[""]
        if main.is_comparison:
            yield id_, main
