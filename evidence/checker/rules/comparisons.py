"""Owns family EV4: two arms may be compared only if one thing differs between them, and the noise is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from statistics import fmean

from evidence import statistics
from evidence.checker.corpus import Corpus, Fault
from evidence.checker.registry import book_rule, corpus_rule, record_rule
from evidence.compare import MINIMUM_PROCESSES, compare, timers_apart
from evidence.diagnostics import Finding, Severity
from evidence.errors import ComparisonError
from evidence.evaluation import Reading, compared
from evidence.readings import Quantity, unit_of
from evidence.schema import Cell, EngineWorkload, Record, Requests, Timed
from evidence.statistics import Verdict
from evidence.store import Loaded
from evidence.tables import Built

_LEAST_ARRIVALS, _LEAST_CELLS = 4, 3
_EXCESSIVE_SPEEDUP = 10.0
_SPEEDS = ("s", "1/s", "token/s", "B/s", "FLOP/s")


@book_rule("EV401", "missing-baseline")
def missing_baseline() -> None:
    """A ratio is of two arms, and one of them is named as the baseline.

    ## What it checks
    Every ratio and change column of a table says what it compares with: the table's `baseline`, or the column's `vs`.

    ## Why it matters
    "1.8 times faster" without "than what" can be true of anything.

    ## How to fix it
    Write `baseline:` with the name of an arm, or `vs:` at the column.
    """


@book_rule("EV402", "environment-differs")
def environment_differs() -> None:
    """Compared arms ran on one machine under one stack, unless that is what is compared.

    ## What it checks
    Host, devices and stack of the two arms of a claim are equal outside the record's `axes`; what differs is named:
    the driver, a package, the number of devices.

    ## Why it matters
    Another machine or release of a framework moves times by more than most changes under test.

    ## How to fix it
    Measure both arms on one machine in turn, or declare the axis in the runner if the environment is the change.
    """


@record_rule("EV403", "workload-differs")
def workload_differs(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """An engine was asked something else than its workload declares, or than the other arms were.

    ## What it checks
    Every process has as many requests as the workload declares. They arrive as declared: together within a twentieth
    of the run where all are there at the start, apart where arrivals are drawn, at the declared interval within a
    twentieth where they are paced, and never more in flight than the concurrency. The lengths of the prompts are those
    of some process of every other arm.

    ## Why it matters
    "Offline" stamped on a log of a server, or a lighter load for one arm, makes another product of the same name.

    ## How to fix it
    Let the runner write what it sent, and send every arm the same requests.
    """
    facts = corpus.facts(loaded)
    if not facts.served:
        return ()
    faults: list[Fault] = []
    asked: dict[str, dict[str, tuple[int, set[tuple[int, ...]]]]] = {}
    for index, cell in facts.timed:
        workload = facts.workloads[cell.workload]
        if not isinstance(workload, EngineWorkload):
            continue
        prompts: set[tuple[int, ...]] = set()
        for at, process in enumerate(cell.processes):
            if process.requests is None:
                continue
            prompts.add(tuple(sorted(process.requests.prompt_tokens)))
            if how := _not_as_declared(process.requests, workload):
                place = ("cells", index, "processes", at, "requests")
                faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {how}", place))
        if prompts:
            asked.setdefault(cell.workload, {})[cell.arm] = (index, prompts)
    for name, arms in asked.items():
        (first, (_, wanted)), *others = arms.items()
        for arm, (index, prompts) in others:
            if wanted.isdisjoint(prompts):
                message = f"on {name!r} {arm!r} was sent prompts of other lengths than {first!r}"
                faults.append(Fault(message, ("cells", index, "processes")))
    return corpus.fault(loaded, faults)


def _not_as_declared(requests: Requests, workload: EngineWorkload) -> str:
    """Return how the requests of a process are not those of the workload; empty if they are."""
    rows = len(requests.prompt_tokens)
    if rows != workload.requests:
        return f"{rows} requests were sent, {workload.requests} are declared"
    starts = requests.enqueued_s
    if starts is None or rows < _LEAST_ARRIVALS:
        return ""
    apart = max(starts) - min(starts)
    ends = [start + (took or 0.0) for start, took in zip(starts, requests.latency_s, strict=True)]
    arrival = workload.arrival
    if arrival.kind == "at-once":
        span = max(ends) - min(starts)
        return f"all are declared to be there at once, and arrive over {apart:.4g} s" if apart > span / 20 else ""
    if arrival.kind == "poisson" and apart == 0:
        return "arrivals are declared as drawn, and all are there at once"
    if arrival.kind == "paced":
        interval_s = apart / (rows - 1)
        wrong = abs(interval_s - arrival.interval_s) > arrival.interval_s / 20
        return (
            f"one is declared every {arrival.interval_s:.4g} s, and one came every {interval_s:.4g} s" if wrong else ""
        )
    most = arrival.concurrency
    events = sorted([(start, 1) for start in starts] + [(end, -1) for end in ends])
    flying = max(accumulate(step for _, step in events))
    return f"{flying} are in flight at once, {most} are declared" if most is not None and flying > most else ""


@book_rule("EV404", "unequal-work")
def unequal_work() -> None:
    """Arms that did different amounts of work are compared by rates only.

    ## What it checks
    Both cells of a comparison count the same tokens, requests, steps, FLOP or bytes, unless the metric is a rate.

    ## Why it matters
    An arm that stops after a third of the tokens finishes first and is not faster.

    ## How to fix it
    Compare a rate, such as `metric: wall_time/output_tokens`, or measure again with equal work.
    """


@book_rule("EV405", "more-than-one-axis")
def more_than_one_axis() -> None:
    """Compared arms differ only in what the record declares as an axis.

    ## What it checks
    Switches, implementation and source of both arms are equal outside the record's `axes`; where they ran is EV402's.

    ## Why it matters
    With a second difference nobody can say which of the two made the effect.

    ## How to fix it
    Measure again with one thing changed, or declare the axis in the runner if the change is meant as a whole.
    """


@book_rule("EV406", "inconclusive")
def inconclusive() -> None:
    """A claim of better or worse needs an interval that lies beyond the minimum effect.

    ## What it checks
    Where a claim expects better or worse, no compared cell is INCONCLUSIVE: the 95 % interval of the ratio lies beyond
    one per cent, or beyond the A/A arm's farther bound where that is more.

    ## Why it matters
    An effect inside the noise is found again by nobody.

    ## How to fix it
    Say `expect: inconclusive`, or measure with more processes; the note under the claim says about how many.
    """


@book_rule("EV407", "identical-arms-in-mean")
def identical_arms() -> None:
    """Cells whose arms ran one configuration are noise and leave every mean.

    ## What it checks
    A claim compares at least one cell whose two arms resolved to different configurations (`ran` in the record), or of
    which only one counted what its mechanism is.

    ## Why it matters
    A mean over cells that are identical by construction shrinks or invents an effect.

    ## How to fix it
    Claim cells whose arms differ; the table still shows the others, with a footnote.
    """


@book_rule("EV408", "mean-of-ratios")
def mean_of_ratios() -> None:
    """The mean of ratios is the geometric one.

    ## What it checks
    No field but `.geomean` of a ratio stands behind the word mean or average in a statement.

    ## Why it matters
    The arithmetic mean of ratios depends on which arm is called the baseline: twice as fast and half as fast make
    1.25 either way.

    ## How to fix it
    Write `{ratio.geomean}`, or leave the word out.
    """


@corpus_rule("EV409", "geomean-dominated", Severity.WARNING)
def geomean_dominated(corpus: Corpus) -> Iterator[Finding]:
    """One cell makes a geometric mean.

    ## What it checks
    Of a claim's readings over three cells or more: without any one of them the geometric mean keeps at least half of
    its distance from 1.

    ## Why it matters
    Nine cells that gain nothing and one that gains ninefold have a mean that holds for none of them.

    ## How to fix it
    Say so with `{ratio.range}` and `{tally}` beside the mean and waive this at the claim, or claim the cells apart.
    """
    for id_ in corpus.book.standing:
        for name, reading in corpus.book.readings(id_).items():
            logs = [math.log(ratio.value) for ratio in reading.ratios] if reading.is_comparison else []
            if len(logs) < _LEAST_CELLS or abs(fmean(logs)) <= math.log1p(reading.effect):
                continue
            total = math.fsum(logs)
            without = min(((total - one) / (len(logs) - 1) / fmean(logs), index) for index, one in enumerate(logs))
            if without[0] < 1 / 2:
                found = [one for one in reading.comparisons if one.ratio is not None][without[1]]
                left = math.exp(without[0] * fmean(logs))
                message = (
                    f"{id_}: the geometric mean{f' of {name}' if name else ''} is {math.exp(fmean(logs)):.3g}, "
                    f"and {left:.3g} without {found.workload}"
                )
                yield Finding(corpus.book.claims.claims[id_].at(*(("also", name) if name else ("metric",))), message)


@corpus_rule("EV410", "excessive-speedup")
def excessive_speedup(corpus: Corpus) -> Iterator[Finding]:
    """More than ten times needs a second timer, or somebody who stands for it.

    ## What it checks
    A claim whose ratio is over ten, or under a tenth, has a cross-check by a second timer on both cells, or a waiver.

    ## Why it matters
    Most ratios over ten were timers that missed the work, caches that had the answer, or a baseline nobody would run.

    ## How to fix it
    Measure the cells with a second timer, or waive EV410 at the claim with the reason the ratio is plausible.
    """
    for id_ in corpus.book.standing:
        for name, reading in corpus.book.readings(id_).items():
            for one in reading.comparisons if reading.is_comparison else ():
                far = one.ratio is not None and max(one.ratio.value, 1 / one.ratio.value) > _EXCESSIVE_SPEEDUP
                if one.ratio is not None and far and not _has_second_timer(one.baseline, one.candidate):
                    message = f"{id_}: {one.workload}: {one.ratio.value:.3g} times, by one timer only"
                    yield Finding(
                        corpus.book.claims.claims[id_].at(*(("also", name) if name else ("metric",))), message
                    )
                    break


def _has_second_timer(*cells: Cell) -> bool:
    return all(isinstance(cell, Timed) and cell.cross_checks for cell in cells)


@corpus_rule("EV411", "superlinear-scaling")
def superlinear_scaling(corpus: Corpus) -> Iterator[Finding]:
    """So many times the devices are not more than so many times as fast.

    ## What it checks
    Where a claim or table compares arms on different numbers of accelerators, no time or rate gains more, beyond its
    interval, than the devices grew; a quantity for each accelerator gains nothing.

    ## Why it matters
    More than the devices can give came from somewhere else: a second setting, a cache that now fits, less work.

    ## How to fix it
    Find what else differs between the arms. If it is real (a working set that now fits), waive it and say so.
    """
    seen: set[tuple[str, str, str, str]] = set()
    for id_ in corpus.book.standing:
        for reading in corpus.book.readings(id_).values():
            if reading.is_comparison and reading.unit in _SPEEDS:
                log = reading.loaded.entry.log
                names = [workload.name for workload in reading.workloads]
                pair = (reading.baseline, reading.candidate)
                if how := _beyond_devices(reading.loaded.record, *pair, reading.quantity, names):
                    seen.add((log, *pair, reading.quantity.metric))
                    yield Finding(corpus.book.place(id_), f"{id_}: {how}")
    for id_ in corpus.book.claims.tables:
        built = corpus.book.shown(id_)
        for log, baseline, candidate in sorted(built.pairs) if isinstance(built, Built) else ():
            record = corpus.store.load(log).record
            for metric in sorted({metric for of, metric in built.quantities if of == log}):  # type: ignore[union-attr]
                unit, better = unit_of(record, Quantity(metric))
                if unit not in _SPEEDS or better == "neither" or (log, baseline, candidate, metric) in seen:
                    continue
                if how := _beyond_devices(record, baseline, candidate, Quantity(metric)):
                    seen.add((log, baseline, candidate, metric))
                    yield Finding(corpus.book.place(id_), f"{id_}: {how}")


def _beyond_devices(
    record: Record, baseline: str, candidate: str, quantity: Quantity, names: Sequence[str] | None = None
) -> str:
    """Return how a comparison gains more than its devices grew; empty if it does not, or none were added."""
    before, after = (sum(rank.device is not None for rank in record.arm(name).ranks) for name in (baseline, candidate))
    if not 0 < before < after:
        return ""
    most = 1.0 if quantity.per == "accelerators" else after / before
    for one in compare(record, baseline, candidate, quantity, names):
        if one.ratio is not None and one.ratio.low > most * (1 + one.effect):
            gains = f"{quantity} of {candidate!r} on {one.workload} is {one.ratio.value:.2f} times that of {baseline!r}"
            return f"{gains}, with {after} accelerators for {before}"
    return ""


@book_rule("EV412", "baseline-not-gated")
def baseline_not_gated() -> None:
    """A baseline that did not pass its own gate is no baseline.

    ## What it checks
    The baseline cell of every claimed comparison was timed, and so passed its gate.

    ## Why it matters
    Being faster than something wrong means nothing.

    ## How to fix it
    Mend the baseline and measure again, or compare with an arm that passes.
    """


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
            found = (compared(reading.loaded, reading.baseline, arm.name, reading.quantity, name) for name in names)
            if any(one.verdict is Verdict.BETTER for one in found):
                at = corpus.book.claims.claims[id_].at("baseline")
                message = f"{id_}: {arm.name} of the same log is better than the baseline {reading.baseline}"
                yield Finding(at, message, f"compare with {arm.name}, or read it under `also`")


@book_rule("EV414", "cross-table-absolute")
def cross_table_absolute() -> None:
    """Absolute numbers of two logs are not set side by side in one sentence.

    ## What it checks
    The values of one metric that a statement prints (`{baseline}`, `{candidate}`, `{value}`) are of one log.

    ## Why it matters
    Two runs differ in day, clocks and stack. A reader divides any two numbers of a sentence.

    ## How to fix it
    Print the ratio that each log gives, or measure both sides in one run.
    """


@corpus_rule("EV415", "missing-noise-floor", Severity.WARNING)
def missing_noise_floor(corpus: Corpus) -> Iterator[Finding]:
    """A comparison is read against an A/A arm measured beside it.

    ## What it checks
    The log of every claimed comparison has a control arm whose twin is the claim's baseline, timed on a claimed cell.
    A metric that is a ratio of a gate's counts needs none: counting again gives the same.

    ## Why it matters
    Without the baseline measured twice, nobody knows how large a difference the harness makes by itself.

    ## How to fix it
    Run again with the control arm, which the runner adds unless told not to.
    """
    for id_, reading in _claimed(corpus):
        if not any(one.noise is not None or one.is_exact for one in reading.comparisons):
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
    judged = [
        (metric, Quantity(metric.name))
        for metric in record.metrics
        if metric.role == "target" and metric.better != "neither"
    ]
    faults: list[Fault] = []
    compared = 0
    for index, arm in enumerate(record.arms):
        if arm.control_of is None:
            continue
        for workload in record.workloads:
            for metric, quantity in judged:
                before = facts.by_process(arm.control_of, workload.name, quantity)
                after = facts.by_process(arm.name, workload.name, quantity)
                if min(len(before), len(after)) < MINIMUM_PROCESSES:
                    continue
                compared += 1
                if statistics.leaning(before, after, metric.better == "lower") is Verdict.SAME:
                    continue
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


def _claimed(corpus: Corpus) -> Iterator[tuple[str, Reading]]:
    """Yield the main comparison of every claim that stands."""
    for id_ in corpus.book.standing:
        main = corpus.book.readings(id_)[""]
        if main.is_comparison:
            yield id_, main
