"""Owns EV2: whether there are enough samples, taken by a timer that can tell, in an order that is fair."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator

from evidence import statistics
from evidence.checker.corpus import Corpus, Fault
from evidence.checker.facts import Column, Facts
from evidence.checker.registry import Turn, corpus_rule, record_rule
from evidence.compare import MINIMUM_PROCESSES, Comparison
from evidence.diagnostics import Finding, Severity
from evidence.evaluation import Reading, numbers_of
from evidence.readings import Quantity, parse_quantity, processes_of
from evidence.readings import samples as sample_values
from evidence.schema import Cell, EngineWorkload, Imported, Method, OpWorkload, Process, Timed, Workload
from evidence.statistics import Verdict
from evidence.store import Loaded

_LEAST_SAMPLES = 5
_AIM = 9
_KERNEL_SPREAD, _SERVING_SPREAD = 0.02, 0.10
_HOPELESS = 5
"""Times the spread at which processes no longer measured one thing."""
_DWARFS = 10
_DECIDED = (Verdict.BETTER, Verdict.WORSE, Verdict.SAME)
_EVENT_FLOOR_S, _HOST_FLOOR_S, _OVERHEAD_SHARE = 20e-6, 1e-3, 0.05
_MOST_DISCARDED = 0.05
_INSTANT_S = 1e-9

_EVENT_TIMER = re.compile(r"do_bench(?!_cudagraph)|event|nvbench|cuda-bench", re.IGNORECASE)
_HOST_TIMER = re.compile(r"perf_counter|monotonic|time\.time|process_time|timeit", re.IGNORECASE)
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)")
_DEGENERATE = re.compile(
    r"(all[ -])?(zeros?|ones?|constants?|empty|uninitiali[sz]ed|identical|0|1|0\.0|1\.0)\b|full\(|fill|repeated ",
    re.IGNORECASE,
)
_STAND_INS = (0.0, -1.0)


@record_rule("EV201", "too-few-processes")
def too_few_processes(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A comparison has fewer than six processes on a side.

    ## What it checks
    Where two or more arms are timed on one workload, each has at least six processes. Aim for nine.

    ## Why it matters
    The process is the unit of inference. With a half per cent between processes, pooled samples call identical code
    different in most trials; three processes a side can never show a difference at all.

    ## How to fix it
    Measure nine processes an arm, in turn.
    """
    facts = corpus.facts(loaded)
    timed: dict[str, int] = {}
    for _, cell in facts.timed:
        timed[cell.workload] = timed.get(cell.workload, 0) + 1
    return corpus.fault(
        loaded,
        (
            Fault(
                f"{cell.arm!r} on {cell.workload!r} has {len(cell.processes)} processes; a comparison needs "
                f"{MINIMUM_PROCESSES} and aims for {_AIM}",
                ("cells", index, "processes"),
            )
            for index, cell in facts.timed
            if timed[cell.workload] > 1 and len(cell.processes) < MINIMUM_PROCESSES
        ),
    )


@record_rule("EV202", "too-few-samples")
def too_few_samples(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A process has fewer samples than its method promises.

    ## What it checks
    Every process holds at least its method's minimum of samples of each iteration metric, and five at the least.

    ## Why it matters
    The median of one sample is that sample, with whatever hit it.

    ## How to fix it
    Give the timer the time to take its minimum; measure what is slow once a process as a `process` metric.
    """
    facts = corpus.facts(loaded)
    iterated = {metric.name for metric in loaded.record.metrics if metric.of == "iteration"}
    faults = []
    for index, cell in facts.timed:
        needed = max(_LEAST_SAMPLES, facts.methods[cell.method].minimum_samples)
        for name, columns in facts.columns[index].items():
            have = min(len(column.values) for column in columns)
            if name in iterated and have < needed:
                message = f"{cell.arm!r} on {cell.workload!r} has {have} of {needed} samples of {name} in a process"
                faults.append(Fault(message, ("cells", index)))
    return corpus.fault(loaded, faults)


@corpus_rule("EV203", "wide-spread", Severity.WARNING, turn=Turn.EARLY)
def wide_spread(corpus: Corpus) -> Iterator[Finding]:
    """A claim rests on processes that lie far apart.

    ## What it checks
    For every comparison a claim reads and decides (better, worse or same): the values of the processes vary by at most
    2 % for an op and 10 % for anything served, unless the ratio dwarfs the spread ten times. Beyond five times that it
    is an error. Cells that no claim reads are left alone: a table prints the interval, and noise that is shown is no
    fault.

    ## Why it matters
    A wide spread hides effects and hints at a machine that was doing something else.

    ## How to fix it
    Find what differs between the processes (clocks, neighbours, affinity), then measure again.
    """
    for id_ in corpus.book.standing:
        for reading in corpus.book.readings(id_).values():
            for one in reading.comparisons if reading.is_comparison else ():
                if one.ratio is not None and one.verdict in _DECIDED:
                    yield from _spread(corpus, id_, reading, one)


def _spread(corpus: Corpus, id_: str, reading: Reading, one: Comparison) -> Iterator[Finding]:
    limit = _spread_of(reading.loaded.record.workload(one.workload))
    effect = abs(math.log(one.ratio.value)) if one.ratio is not None else 0.0
    for cell in (one.baseline, one.candidate):
        values = numbers_of(reading.loaded, cell, reading.quantity)
        spread = statistics.coefficient_of_variation(values) if len(values) > 1 and min(values) > 0 else 0.0
        if spread > limit and effect < _DWARFS * spread:
            where = f"{reading.quantity} of {cell.arm!r} on {one.workload!r}"
            message = f"{id_}: {where} varies by {spread:.1%} between processes; the most is {limit:.0%}"
            severity = Severity.ERROR if spread > _HOPELESS * limit else None
            yield Finding(corpus.book.place(id_), message, severity=severity)


def _spread_of(workload: Workload) -> float:
    return _KERNEL_SPREAD if isinstance(workload, OpWorkload) else _SERVING_SPREAD


@record_rule("EV204", "drifting-samples", Severity.WARNING)
def drifting_samples(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Samples get slower or faster while they are taken.

    ## What it checks
    In more than half of a cell's processes the samples have a trend, and their last third lies further from the first
    than an op (2 %) or anything served (10 %) may spread.

    ## Why it matters
    The run was still warming up, or heating: its median belongs to no steady state.

    ## How to fix it
    Warm up longer, or let the device cool between processes.
    """
    facts = corpus.facts(loaded)

    def drifts(column: Column, limit: float) -> bool:
        # The range decides nearly every process; ranks are computed only for those that may drift at all.
        if column.ordered[-1] - column.ordered[0] <= limit * column.median:
            return False
        change = statistics.drift(column.values, least=limit)
        return change is not None and abs(change) > limit

    return corpus.fault(loaded, _mostly(facts, drifts, "drifts within"))


@record_rule("EV205", "bimodal-samples", Severity.WARNING)
def bimodal_samples(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Samples fall into two groups.

    ## What it checks
    In more than half of a cell's processes the samples split into two groups further apart than an op (2 %) or anything
    served (10 %) may spread.

    ## Why it matters
    The median then jumps between the groups from run to run: two things were measured under one name.

    ## How to fix it
    Find the two states (a clock step, a second kernel, a cache that holds every other input) and measure each by
    itself.
    """
    facts = corpus.facts(loaded)

    def has_modes(column: Column, limit: float) -> bool:
        ordered = column.ordered
        cut = len(ordered) // 20
        if ordered[-1 - cut] - ordered[cut] <= limit * column.median:
            return False
        found = statistics.modes(ordered)
        return found is not None and found[1] - found[0] > limit * column.median

    return corpus.fault(loaded, _mostly(facts, has_modes, "has two modes in"))


def _mostly(facts: Facts, has: Callable[[Column, float], bool], how: str) -> Iterator[Fault]:
    """Yield the cells of which more than half of the processes have something."""
    for index, cell in facts.timed:
        limit = _spread_of(facts.workloads[cell.workload])
        for name, columns in facts.columns[index].items():
            if name in facts.durations:
                found = sum(has(column, limit) for column in columns)
                if 2 * found > len(columns):
                    message = f"{name} of {cell.arm!r} on {cell.workload!r} {how} {found} of {len(columns)} processes"
                    yield Fault(message, ("cells", index))


@corpus_rule("EV206", "unsupported-percentile")
def unsupported_percentile(corpus: Corpus) -> Iterator[Finding]:
    """A percentile is stated of too few requests.

    ## What it checks
    Each process has 36 requests for a p90, 72 for a p95, 368 for a p99: wherever a claim or table asks for one, and
    where a foreign file reports one and says how many requests it is of.

    ## Why it matters
    The p99 of a hundred requests is their largest or so: a number that the next run will not repeat.

    ## How to fix it
    Send more requests in each process, or state a percentile that the requests support.
    """
    for id_ in corpus.book.standing:
        for reading in corpus.book.readings(id_).values():
            arms = [arm for arm in (reading.baseline, reading.candidate) if arm]
            cells = [reading.loaded.record.cell(arm, load.name) for load in reading.workloads for arm in arms]
            if message := _too_few_for(reading.quantity, cells):
                yield Finding(corpus.book.place(id_), f"{id_}: {message}")
    for id_, placed in corpus.book.claims.tables.items():
        keys = corpus.shown_by(id_)
        cells = [corpus.store.load(log).record.cell(arm, workload) for log, arm, workload in keys]
        for index, column in enumerate(placed.item.columns):
            text = column if isinstance(column, str) else column.value or column.ratio or column.change
            if text and cells and (message := _too_few_for(parse_quantity(text), cells)):
                yield Finding(placed.at("columns", index), f"{id_}: {message}")
    for log in sorted(corpus.memory.imported):
        if not corpus.is_set_aside(log):
            yield from _of_import(corpus, corpus.store.load(log))


def _needed(statistic: str) -> int:
    """Return the requests that a percentile needs in each process; 0 for other statistics."""
    match = _PERCENTILE.fullmatch(statistic)
    return statistics.samples_needed(float(match[1]) / 100) if match and 0 < float(match[1]) < 100 else 0


def _too_few_for(quantity: Quantity, cells: Iterable[Cell]) -> str:
    needed = _needed(quantity.statistic)
    if not needed:
        return ""
    counts = (_values(process, quantity.metric) for cell in cells for process in processes_of(cell))
    have = min(counts, default=needed)
    return "" if have >= needed else f"{quantity} is of {have} values in a process, and needs {needed}"


def _values(process: Process, metric: str) -> int:
    """Return how many values of a metric a process holds: its samples, or its completed requests."""
    held = len(sample_values(process, metric))
    if held or process.requests is None:
        return held
    return sum(latency is not None for latency in process.requests.latency_s)


def _of_import(corpus: Corpus, loaded: Loaded) -> Iterable[Finding]:
    return corpus.fault(
        loaded,
        (
            Fault(
                f"{one.statistic} of {one.metric} is of {requests} requests, and needs {_needed(one.statistic)}",
                ("cells", index, "reported", at),
            )
            for index, cell in corpus.facts(loaded).imported
            for requests in _requests_of(cell)
            for at, one in enumerate(cell.reported)
            if requests < _needed(one.statistic)
        ),
    )


def _requests_of(cell: Imported) -> tuple[int, ...]:
    """Return the fewest requests of a process, if the file says how many there were."""
    rows = [len(process.requests.prompt_tokens) for process in cell.processes if process.requests is not None]
    counted = [amount.count for amount in cell.work if amount.of == "requests"]
    return (min(rows or counted),) if rows or counted else ()


@record_rule("EV207", "timer-fallback")
def timer_fallback(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Another timer was used than was asked for, and nobody says why.

    ## What it checks
    A method whose used timer is not the requested one gives the reason.

    ## Why it matters
    A host clock in the place of device events measures launches instead of kernels.

    ## How to fix it
    Make the requested timer available, or let the runner record why it is not.
    """
    return corpus.fault(
        loaded,
        (
            Fault(
                f"method {method.name!r} asked for {method.timer_requested} and used {method.timer_used} for no reason",
                ("methods", index, "fallback_reason"),
            )
            for index, method in enumerate(loaded.record.methods)
            if method.timer_used != method.timer_requested and method.fallback_reason is None
        ),
    )


@record_rule("EV208", "below-timer-floor")
def below_timer_floor(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A time is too short for the timer that took it.

    ## What it checks
    Medians by device events are at least 20 us, by one reading of a host clock 1 ms, and the timer's overhead is at
    most 5 % of any. A method that did not measure its overhead is warned of. Timers that loop or replay a graph until
    a sample is long enough have no floor but their overhead.

    ## Why it matters
    Below the floor the timer's own steps are what is compared.

    ## How to fix it
    Time more work a sample: a larger shape, or a timer that replays a graph of many calls.
    """
    facts = corpus.facts(loaded)
    faults, unwatched = [], {}
    for index, cell in facts.timed:
        time = facts.times.get(index)
        if time is None:
            continue
        method = facts.methods[cell.method]
        if reason := _under_floor(method, time):
            faults.append(
                Fault(f"{cell.arm!r} on {cell.workload!r} takes {time * 1e6:.4g} us, {reason}", ("cells", index))
            )
        elif method.timer_overhead_s is None:
            unwatched[method.name] = Fault(
                f"the overhead of method {method.name!r} was not measured", _at(facts, method)
            )
    yield from corpus.fault(loaded, faults)
    if not faults:
        yield from corpus.fault(loaded, unwatched.values(), severity=Severity.WARNING)


def _under_floor(method: Method, time: float) -> str:
    if time < _EVENT_FLOOR_S and _EVENT_TIMER.search(method.timer_used):
        return f"under the {_EVENT_FLOOR_S * 1e6:.0f} us below which events say nothing"
    if time < _HOST_FLOOR_S and _HOST_TIMER.search(method.timer_used):
        return f"under the {_HOST_FLOOR_S * 1e3:.0f} ms below which a host clock says nothing"
    if method.timer_overhead_s is not None and method.timer_overhead_s > _OVERHEAD_SHARE * time:
        return f"of which the timer's own {method.timer_overhead_s * 1e6:.3g} us are over {_OVERHEAD_SHARE:.0%}"
    return ""


def _at(facts: Facts, method: Method) -> tuple[str | int, ...]:
    return ("methods", facts.record.methods.index(method))


@record_rule("EV209", "cache-policy-missing")
def cache_policy_missing(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A cold workload was timed without evicting the cache, or a hot one with.

    ## What it checks
    For workloads with a cold cache the method writes at least as many bytes between calls as the last-level cache of
    the device holds; under twice as many is a warning, and so is a cache of unknown size. For hot workloads it writes
    none.

    ## Why it matters
    Inputs that stay in the cache make a memory-bound kernel several times as fast as it will be in use.

    ## How to fix it
    Use a timer that flushes, or declare the workload hot.
    """
    facts = corpus.facts(loaded)
    errors: list[Fault] = []
    warnings: list[Fault] = []
    for index, cell in facts.timed:
        workload = facts.workloads[cell.workload]
        if isinstance(workload, OpWorkload):
            is_error, reason = _cache_fault(facts, cell, workload)
            if reason:
                fault = Fault(f"{cell.arm!r} on {cell.workload!r}: {reason}", ("cells", index, "method"))
                (errors if is_error else warnings).append(fault)
    yield from corpus.fault(loaded, errors)
    if not errors:
        yield from corpus.fault(loaded, warnings, severity=Severity.WARNING)


def _cache_fault(facts: Facts, cell: Timed, workload: OpWorkload) -> tuple[bool, str]:
    """Return whether it is an error, and what is wrong; empty if nothing is."""
    method = facts.methods[cell.method]
    if workload.cache == "hot":
        wrong = f"the workload says hot, and {method.name!r} evicts the cache between calls"
        return True, wrong if method.flush_bytes else ""
    if method.flush_bytes == 0:
        return True, f"the workload says cold, and {method.name!r} evicts nothing between calls"
    devices = [device for _, _, device in facts.devices[cell.arm]]
    caches = [device.l2_bytes for device in devices if device.l2_bytes is not None]
    if len(caches) < len(devices):
        return False, "the size of the cache that is to be evicted is not known"
    largest = max(caches, default=0)
    flushed = f"{method.name!r} evicts {method.flush_bytes / 2**20:.0f} MiB of a cache of {largest / 2**20:.0f} MiB"
    if method.flush_bytes < largest:
        return True, flushed
    return False, f"{flushed}; write twice its size" if method.flush_bytes < 2 * largest else ""


@record_rule("EV210", "stop-rule-missed", Severity.WARNING)
def stop_rule_missed(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Sampling ended by another rule than the one it was meant to end by.

    ## What it checks
    Where a method aims for a spread, its processes ended by reaching it, not by the maximum or the budget. Every cell
    has the planned number of processes, those left out with a reason included.

    ## Why it matters
    A run that is ended early, or ended when it looks good, has other odds than it states.

    ## How to fix it
    Raise the budget, or state the spread that this machine can reach.
    """
    facts = corpus.facts(loaded)
    faults = []
    for index, cell in facts.timed:
        method = facts.methods[cell.method]
        missed = [process for process in cell.processes if process.stopped in ("budget", "maximum")]
        if method.target_spread is not None and missed:
            message = f"{len(missed)} of {len(cell.processes)} processes ended by {missed[0].stopped} before the spread"
            faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {message}", ("cells", index)))
        elif len(cell.processes) + len(cell.discards) < method.processes:
            message = f"{len(cell.processes)} of {method.processes} planned processes are there"
            faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {message}", ("cells", index)))
    return corpus.fault(loaded, faults)


@record_rule("EV211", "compile-in-window")
def compile_in_window(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """Something was compiled while samples were taken.

    ## What it checks
    The count of compilations inside the window of each process is zero. Where compilations could not be watched it is a
    warning.

    ## Why it matters
    A compilation takes longer than the kernel; one in the window is in the samples.

    ## How to fix it
    Warm up every shape and configuration before the window.
    """
    compiled: list[Fault] = []
    unwatched: list[Fault] = []
    for index, cell in corpus.facts(loaded).timed:
        for at, process in enumerate(cell.processes):
            if process.compilations != 0:
                how = "not watched" if process.compilations is None else f"{process.compilations} in the window"
                message = f"compilations of {cell.arm!r} on {cell.workload!r}: {how} of process {process.index}"
                fault = Fault(message, ("cells", index, "processes", at, "compilations"))
                (unwatched if process.compilations is None else compiled).append(fault)
    yield from corpus.fault(loaded, compiled)
    if not compiled:
        yield from corpus.fault(loaded, unwatched, severity=Severity.WARNING)


@record_rule("EV212", "degenerate-input")
def degenerate_input(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The inputs are zeros, or all the same.

    ## What it checks
    The distribution that a workload's inputs are drawn from is no constant.

    ## Why it matters
    Zeros switch fewer transistors: a product of zeros runs an eighth faster than one of random numbers on some devices.

    ## How to fix it
    Draw the inputs at random from a recorded seed.
    """
    return corpus.fault(
        loaded,
        (
            Fault(
                f"the inputs of {workload.name!r} are {workload.inputs.distribution!r}",
                ("workloads", index, "inputs", "distribution"),
            )
            for index, workload in enumerate(loaded.record.workloads)
            if isinstance(workload, OpWorkload | EngineWorkload)
            and _DEGENERATE.match(workload.inputs.distribution.strip())
        ),
    )


@record_rule("EV213", "not-interleaved", Severity.WARNING)
def not_interleaved(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """One arm was measured after another instead of in turn.

    ## What it checks
    On each workload the processes of different arms alternate. Their order is computed from when they started; what the
    method says about it is not believed.

    ## Why it matters
    Medians taken one after the other differ by several per cent for identical code on a busy machine.

    ## How to fix it
    Measure the arms in turn: A B A B.
    """
    facts = corpus.facts(loaded)
    order: dict[str, list[str]] = {}
    for _, index, _ in facts.windows:
        cell = facts.record.cells[index]
        order.setdefault(cell.workload, []).append(cell.arm)
    return corpus.fault(
        loaded,
        (
            Fault(
                f"on {workload!r} the arms were measured one after another: {', '.join(dict.fromkeys(arms))}",
                ("cells",),
            )
            for workload, arms in order.items()
            if 1 < len(set(arms)) < len(arms) and _blocks(arms) == len(set(arms))
        ),
    )


def _blocks(arms: Iterable[str]) -> int:
    blocks, last = 0, ""
    for arm in arms:
        blocks += arm != last
        last = arm
    return blocks


@record_rule("EV214", "not-measured-as-number")
def not_measured_as_number(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A foreign file writes a number where nothing was measured.

    ## What it checks
    No value of an import was set aside because it stands for nothing measured, and no duration or rate that it
    reports is exactly 0 or -1.

    ## Why it matters
    A zero that means "none" is averaged, compared and printed like a very good result.

    ## How to fix it
    Import a file of a run in which the value was measured, or mark the log `do_not_cite` in a claims file.
    """
    units = {metric.name: metric.unit for metric in loaded.record.metrics}
    faults = []
    for index, cell in corpus.facts(loaded).imported:
        for at, unread in enumerate(cell.unread):
            message = f"{unread.pointer} holds {unread.found!r}: {unread.reason}"
            faults.append(Fault(message, ("cells", index, "unread", at)))
        for at, one in enumerate(cell.reported):
            if one.value in _STAND_INS and units.get(one.metric, "1") not in ("1", "B"):
                message = f"{one.statistic} of {one.metric} is {one.value:g}, which was not measured"
                faults.append(Fault(message, ("cells", index, "reported", at)))
    return corpus.fault(loaded, faults)


@record_rule("EV215", "too-many-discards")
def too_many_discards(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """More than one process in twenty was left out.

    ## What it checks
    Of all processes of the record, at most 5 % were discarded.

    ## Why it matters
    Leaving runs out is the easiest way to a small spread, whatever the reasons say.

    ## How to fix it
    Mend what makes processes fail, and measure again.
    """
    timed = corpus.facts(loaded).timed
    discarded = sum(len(cell.discards) for _, cell in timed)
    total = discarded + sum(len(cell.processes) for _, cell in timed)
    if discarded > _MOST_DISCARDED * total:
        index = next(index for index, cell in timed if cell.discards)
        message = f"{discarded} of {total} processes were discarded; the most is {_MOST_DISCARDED:.0%}"
        yield from corpus.fault(loaded, [Fault(message, ("cells", index, "discards"))])


@record_rule("EV216", "overlapping-processes")
def overlapping_processes(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Two processes of a run were measured at the same time.

    ## What it checks
    The windows of all timed processes of a record lie one after another.

    ## Why it matters
    Two processes share the machine's clocks, caches and memory; each slows the other down.

    ## How to fix it
    Measure one process at a time.
    """
    facts = corpus.facts(loaded)
    faults = []
    latest = 0.0
    for (start, end), index, at in facts.windows:
        if start < latest - _INSTANT_S:
            arm = facts.record.cells[index].arm
            message = f"process {at} of {arm!r} started {latest - start:.3g} s before the one before it ended"
            faults.append(Fault(message, ("cells", index, "processes")))
        latest = max(latest, end)
    return corpus.fault(loaded, faults)
