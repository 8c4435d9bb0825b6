"""Owns EV5: numbers that no device can reach, that contradict each other, or that measured something else."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from statistics import fmean

from evidence import roofline
from evidence.checker.corpus import Corpus, Fault
from evidence.checker.facts import Facts, median
from evidence.checker.registry import corpus_rule, record_rule
from evidence.diagnostics import Finding, Location, Severity
from evidence.roofline import Peak
from evidence.schema import (
    Accelerator,
    EngineWorkload,
    Imported,
    OpWorkload,
    Process,
    Requests,
    Timed,
    Work,
    Workload,
    identity,
)
from evidence.store import Loaded

_DTYPES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
_GROWTH, _FLAT = 16, 1.1
_EVENT_FLOOR_S = 20e-6
_AGREE_WITHIN = 0.05
_MEANS_AGREE_WITHIN = 0.5
_DRIFT = 0.10
_TOKENS_APART, _TOKENS_SHARE = 50, 0.05
_CLIENT_SHARE = 0.8
_MIXTURE = re.compile(r"moe|mixtral|-a[0-9.]+b|deepseek|kimi|gpt-oss|qwen3-next|maverick|scout|grok|dbrx|arctic", re.I)
_SPARSEST = 32
"""No published mixture of experts uses less than one in so many of its parameters for a token."""
_FAILED = ("failed", "failed_requests", "errors", "errored_requests")


@record_rule("EV501", "above-roofline")
def above_roofline(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A time is shorter than the device needs at its best.

    ## What it checks
    The declared FLOP, at the device's peak for the dtype and the highest clock read while it worked, and for a cold
    cache the compulsory bytes that the cache cannot hold, at its peak bandwidth, take no longer than the measured
    time. For fp32 the faster tf32 peak counts. Devices without a known peak are not judged.

    ## Why it matters
    What is faster than the hardware did not do the work, or the work is miscounted.

    ## How to fix it
    Look for an early exit, a cached result, a missing synchronisation, or a wrong count of work.
    """
    facts = corpus.facts(loaded)
    faults = []
    for index, cell in facts.timed:
        workload, time = facts.workloads[cell.workload], facts.times.get(index)
        if isinstance(workload, OpWorkload) and time is not None:
            least = _least_time(facts, cell.arm, workload)
            if least > time:
                message = (
                    f"{cell.arm!r} on {cell.workload!r} takes {time:.4g} s, the device needs {least:.4g} s at least"
                )
                faults.append(Fault(message, ("cells", index)))
    return corpus.fault(loaded, faults)


def _least_time(facts: Facts, arm: str, workload: OpWorkload) -> float:
    """Return the least seconds the work can take on the arm's devices; 0 where nothing is known."""
    devices = facts.devices[arm]
    peaks = [_peak(facts, host, device, accelerator, workload.dtype) for host, device, accelerator in devices]
    work = {amount.of: amount.count for amount in workload.work}
    if not peaks or None in peaks:
        return 0.0
    known = [peak for peak in peaks if peak is not None]
    compute = work.get("flop", 0) / sum(peak.flop_per_s for peak in known)
    held = sum(accelerator.l2_bytes or accelerator.memory_bytes or 0 for _, _, accelerator in devices)
    moved = max(0, work.get("bytes", 0) - held) if workload.cache == "cold" else 0
    return max(compute, moved / sum(peak.bytes_per_s for peak in known))


@functools.lru_cache(maxsize=256)
def _sheet(model: str, dtype: str) -> Peak | None:
    """Look a peak up once: the table is searched by pattern, and records name few devices."""
    return roofline.peak(model, dtype)


def _peak(facts: Facts, host: str, device: int, accelerator: Accelerator, dtype: str) -> Peak | None:
    names = ("fp32", "tf32") if dtype == "fp32" else (dtype,)
    sheets = [sheet for name in names if (sheet := _sheet(accelerator.model, name)) is not None]
    if not sheets:
        return None
    best = max(sheets, key=lambda sheet: sheet.flop_per_s)
    clock = facts.clocks.get((host, device)) or accelerator.max_sm_clock_hz
    return (best.at_clock(clock) if clock else None) or best


@corpus_rule("EV502", "unknown-peak", Severity.WARNING)
def unknown_peak(corpus: Corpus) -> Iterator[Finding]:
    """A share of peak is asked for, and no peak of the device is known.

    ## What it checks
    Tables and charts that show a share of peak do so for devices and dtypes with a datasheet value in this package. A
    log that nobody asks a share of is not warned of.

    ## Why it matters
    Without the peak a kernel's time says nothing about what is left to gain, and EV501 cannot judge it.

    ## How to fix it
    Add the device's datasheet to the roofline table, with its source; or leave the peak column out.
    """
    asked: dict[str, Location] = {}
    for id_, placed in corpus.book.claims.tables.items():
        for index, column in enumerate(placed.item.columns):
            if not isinstance(column, str) and column.peak is not None:
                asked.setdefault(id_, placed.at("columns", index))
    for call in corpus.calls:
        if call.macro == "roofline":
            asked.setdefault(call.subject, call.at)
    for id_, at in asked.items():
        unknown = dict.fromkeys(
            name for log in corpus.book.logs_of(id_) for name in _unknown_peaks(corpus.store.load(log))
        )
        if unknown:
            yield Finding(at, f"{id_}: no peak is known of {', '.join(unknown)}")


def _unknown_peaks(loaded: Loaded) -> Iterator[str]:
    facts = Facts(loaded.record)
    for _, cell in facts.timed:
        workload = facts.workloads[cell.workload]
        if isinstance(workload, OpWorkload):
            for _, _, accelerator in facts.devices[cell.arm]:
                if _sheet(accelerator.model, workload.dtype) is None:
                    yield f"{accelerator.model} in {workload.dtype}"


@record_rule("EV503", "impossible-latency")
def impossible_latency(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A latency is negative, or shorter than reading the prompt takes.

    ## What it checks
    No reported duration is negative. The time to the first token of each request, and the whole span of a process, is
    at least two FLOP a parameter for each prompt token that no cache held, at the fastest peak of the devices; a
    device without a known peak counts as the fastest one known. Mixtures of experts, told by the model's name, count
    with one in 32 of their parameters.

    ## Why it matters
    Such numbers come from a cache that the run before had filled, or from a timer that started late.

    ## How to fix it
    Reset the prefix cache between runs and record its hits, and start the clock when the request is sent.
    """
    facts = corpus.facts(loaded)
    if not (facts.served or facts.imported):
        return ()
    units = {metric.name: metric.unit for metric in loaded.record.metrics}
    faults = [
        Fault(f"{one.statistic} of {one.metric} is {one.value:g} s", ("cells", index, "reported", at))
        for index, cell in facts.imported
        for at, one in enumerate(cell.reported)
        if one.value < 0 and one.value != -1 and units.get(one.metric) == "s"
    ]
    for index, cell in enumerate(loaded.record.cells):
        workload = facts.workloads[cell.workload]
        if isinstance(workload, EngineWorkload) and isinstance(cell, Timed | Imported):
            second_per_token = _prompt_token_time(facts, cell.arm, workload)
            for at, process in enumerate(cell.processes):
                if message := _too_early(process, facts.spans[index][at], workload, second_per_token):
                    place = ("cells", index, "processes", at)
                    faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {message}", place))
            if isinstance(cell, Imported):
                faults += _reported_too_early(cell, index, workload, second_per_token)
    return corpus.fault(loaded, faults)


def _prompt_token_time(facts: Facts, arm: str, workload: EngineWorkload) -> float:
    """Return the least seconds that the arm's devices take for a prompt token."""
    models = [accelerator.model for _, _, accelerator in facts.devices[arm]]
    rate = sum(max(_rates(model), default=_FASTEST) for model in models) or _FASTEST
    active = workload.weights.parameters / (_SPARSEST if _MIXTURE.search(workload.weights.model) else 1)
    return 2 * active / rate


def _rates(model: str) -> list[float]:
    return [sheet.flop_per_s for dtype in _DTYPES if (sheet := _sheet(model, dtype)) is not None]


_FASTEST = max(rate for model in ("NVIDIA B200", "AMD Instinct MI300X", "NVIDIA H200") for rate in _rates(model))


def _too_early(process: Process, span: float | None, workload: EngineWorkload, second_per_token: float) -> str:
    requests = process.requests
    if requests is None or (requests.cached_tokens is None and workload.prefix_cache != "off"):
        return ""
    soonest = min([ttft for ttft in requests.ttft_s if ttft is not None], default=math.inf)
    at_most = requests.prompt_tokens
    if soonest >= max(at_most) * second_per_token and (span is None or span >= sum(at_most) * second_per_token):
        return ""  # every prompt read in full, at the time of the first: so much for nearly every process
    cached = requests.cached_tokens or (0,) * len(requests.prompt_tokens)
    fresh = [max(0, prompt - held) for prompt, held in zip(requests.prompt_tokens, cached, strict=True)]
    for row, (tokens, ttft) in enumerate(zip(fresh, requests.ttft_s, strict=True)):
        if ttft is not None and ttft < tokens * second_per_token:
            least = tokens * second_per_token
            return f"request {row} has its first token after {ttft:.4g} s; {tokens:,} prompt tokens take {least:.4g} s"
    done = sum(tokens for tokens, ttft in zip(fresh, requests.ttft_s, strict=True) if ttft is not None)
    if span is not None and span < done * second_per_token:
        return f"{done:,} prompt tokens in {span:.4g} s; they take {done * second_per_token:.4g} s"
    return ""


def _reported_too_early(
    cell: Imported, index: int, workload: EngineWorkload, second_per_token: float
) -> Iterator[Fault]:
    if workload.prefix_cache == "warm":
        return
    least = workload.prompt_tokens.minimum * second_per_token
    for at, one in enumerate(cell.reported):
        if one.metric == "ttft" and one.statistic in ("mean", "median", "min", "max") and 0 < one.value < least:
            message = f"{one.statistic} of ttft is {one.value:.4g} s; the shortest prompt takes {least:.4g} s"
            yield Fault(f"{cell.arm!r} on {cell.workload!r}: {message}", ("cells", index, "reported", at))


@record_rule("EV504", "latency-identity")
def latency_identity(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The parts of a latency do not make the whole.

    ## What it checks
    The wall time that the client measured is the span from the first request to the last token within 5 %. In
    imported aggregates, and in processes that keep means instead of their requests, the mean time to the first token
    plus the mean time per token, times the tokens after the first, is the mean latency: within 5 % where all requests
    have one length, within a half elsewhere, because means of products are not products of means.

    ## Why it matters
    Two instruments that disagree cannot both be right, and the page prints one of them.

    ## How to fix it
    Find which of the two includes what the other does not: queueing, warm-up, retries.
    """
    facts = corpus.facts(loaded)
    if not (facts.served or facts.imported):
        return ()
    faults = []
    for index, cell in facts.timed:
        for at, process in enumerate(cell.processes):
            how = _apart_from_its_requests(process, facts.spans[index][at]) or _apart_in_itself(
                process, facts.workloads[cell.workload]
            )
            if how:
                faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {how}", ("cells", index, "processes", at)))
                break
    for index, read in facts.imported:
        means = {one.metric: one.value for one in read.reported if one.statistic == "mean"}
        wall = next((one.value for one in read.reported if one.metric == "wall_time"), None)
        if how := _broken_identity(means, wall, read.work, facts.workloads[read.workload]):
            faults.append(Fault(f"{read.arm!r} on {read.workload!r}: {how}", ("cells", index, "reported")))
    return corpus.fault(loaded, faults)


def _apart_from_its_requests(process: Process, span: float | None) -> str:
    walls = [column.values[0] for column in process.samples if column.metric == "wall_time"]
    if not walls or span is None or _agree(max(walls), span, _AGREE_WITHIN):
        return ""
    return f"the client saw {max(walls):.4g} s, its requests {span:.4g} s"


def _apart_in_itself(process: Process, workload: Workload) -> str:
    """Hold a process that keeps means instead of requests to the identity that an import is held to."""
    if process.requests is not None:
        return ""
    means = {column.metric: fmean(column.values) for column in process.samples}
    return _broken_identity(means, means.get("wall_time"), process.work or workload.work, workload)


def _broken_identity(
    means: Mapping[str, float], wall: float | None, counted: Iterable[Work], workload: Workload
) -> str:
    work = {amount.of: amount.count for amount in counted}
    requests, tokens = work.get("requests", 0), work.get("output-tokens", 0)
    if not {"ttft", "tpot"} <= means.keys() or not requests or not tokens:
        return ""
    each = tokens / requests
    parts = means["ttft"] + means["tpot"] * (each - 1)
    lengths = workload.output_tokens if isinstance(workload, EngineWorkload) else None
    is_equal = requests == 1 or (lengths is not None and lengths.minimum == lengths.maximum)
    whole = means.get("latency")
    if whole is None and requests == 1:
        whole = wall
    if whole is None or _agree(parts, whole, _AGREE_WITHIN if is_equal else _MEANS_AGREE_WITHIN):
        return ""
    return f"ttft + tpot x ({each:.4g} - 1) is {parts:.4g} s, the latency {whole:.4g} s"


def _agree(one: float, other: float, within: float) -> bool:
    return abs(one - other) <= within * max(abs(one), abs(other))


@record_rule("EV505", "size-independent")
def size_independent(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Sixteen times the payload takes no longer: a floor was measured.

    ## What it checks
    No two workloads of one op that differ only in shape, of which one moves at least sixteen times the bytes (or,
    where no bytes are declared, does so many times the FLOP), take the same time within 10 %. Times under the floor
    of device events are EV208's.

    ## Why it matters
    The number is the cost of a launch, a synchronisation or a timer, under the name of an op.

    ## How to fix it
    Measure payloads that outgrow the floor, or claim the floor as what it is.
    """
    facts = corpus.facts(loaded)
    groups: dict[tuple[object, ...], list[tuple[float, float, int]]] = {}
    for index, cell in enumerate(loaded.record.cells):
        workload = facts.workloads[cell.workload]
        time = facts.times.get(index) if isinstance(cell, Timed) else _reported_time(cell)
        size = _size(workload)
        if time is not None and time >= _EVENT_FLOOR_S and size:
            groups.setdefault((cell.arm, *_likeness(workload)), []).append((size, time, index))
    faults = []
    for (arm, *_), cells in groups.items():
        for (small, first, _), (large, second, index) in combinations(sorted(cells), 2):
            if large >= _GROWTH * small and second < _FLAT * first:
                message = f"{arm!r} takes {first:.4g} s and {second:.4g} s for payloads {large / small:.0f} times apart"
                faults.append(Fault(message, ("cells", index)))
    return corpus.fault(loaded, faults)


def _reported_time(cell: object) -> float | None:
    if not isinstance(cell, Imported):
        return None
    return next(
        (one.value for one in cell.reported if one.metric == "time" and one.statistic in ("median", "mean")), None
    )


def _size(workload: Workload) -> int:
    work = {amount.of: amount.count for amount in workload.work}
    return work.get("bytes") or work.get("flop") or 0


def _likeness(workload: Workload) -> tuple[object, ...]:
    if isinstance(workload, OpWorkload):
        return workload.op, workload.dtype, workload.direction, workload.cache, workload.parameters
    return (workload.kind,)


@record_rule("EV506", "drift-across-logs", Severity.WARNING)
def drift_across_logs(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """The same arm of the same code on the same machine has another speed than in the log before.

    ## What it checks
    The median time of each cell lies within 10 % of that of the same arm, workload, method, source, host and stack in
    the last log of the series before this one.

    ## Why it matters
    Something that nobody records changed, and it is as large as most effects that are claimed.

    ## How to fix it
    Find what changed (cooling, power, neighbours), or measure once more to see which of the two repeats.
    """
    if loaded.entry.series not in corpus.rerun:
        return
    facts = corpus.facts(loaded)
    faults = []
    for index, cell in facts.timed:
        time = facts.times.get(index)
        if time is None:
            continue
        key = hash((loaded.entry.series, cell.arm, *_environment(facts, cell)))
        before = corpus.times.get(key)
        if before is not None and not _agree(before[1], time, _DRIFT):
            message = f"{cell.arm!r} on {cell.workload!r} takes {time:.4g} s, in {before[0]} it took {before[1]:.4g} s"
            faults.append(Fault(message, ("cells", index)))
        corpus.times[key] = (loaded.entry.log, time)
    yield from corpus.fault(loaded, faults)


def _environment(facts: Facts, cell: Timed) -> tuple[object, ...]:
    arm = facts.arms[cell.arm]
    source = next((source for source in facts.record.sources if source.name == arm.source), None)
    return (
        arm.implementation,
        arm.switches,
        source,
        arm.ranks,
        facts.environment,
        identity(facts.workloads[cell.workload]),
        facts.methods[cell.method],
    )


@record_rule("EV507", "token-count-mismatch")
def token_count_mismatch(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """An engine read or wrote another number of tokens than it was asked to.

    ## What it checks
    In each process the prompt tokens of all requests add up to the workload's, and so do the output tokens where the
    end of a sequence is ignored: within 5 % or 50 tokens, whichever is more. Processes with failed requests are
    EV510's.

    ## Why it matters
    Truncated prompts and early stops make an engine fast.

    ## How to fix it
    Count tokens as ids, raise the engine's length limits, and ignore the end of sequences in every arm alike.
    """
    facts = corpus.facts(loaded)
    if not facts.served:
        return ()
    faults = []
    for index, cell in facts.timed:
        workload = facts.workloads[cell.workload]
        if isinstance(workload, EngineWorkload):
            for at, process in enumerate(cell.processes):
                if message := _miscounted(process.requests, workload):
                    place = ("cells", index, "processes", at, "requests")
                    faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {message}", place))
    return corpus.fault(loaded, faults)


def _miscounted(requests: Requests | None, workload: EngineWorkload) -> str:
    if requests is None or None in requests.latency_s:
        return ""
    counts = [("prompt", sum(requests.prompt_tokens), workload.prompt_tokens.total)]
    if workload.ignore_eos:
        counts.append(("output", sum(requests.output_tokens), workload.output_tokens.total))
    for kind, counted, asked in counts:
        if abs(counted - asked) > max(_TOKENS_APART, _TOKENS_SHARE * asked):
            return f"{counted:,} {kind} tokens were counted, {asked:,} asked for"
    return ""


@record_rule("EV508", "cache-state-missing")
def cache_state_missing(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Nobody knows how much of the prompts a cache held.

    ## What it checks
    Where a workload runs with a warm prefix cache, every process records how many prompt tokens were found in it. Where
    the cache is off, none were.

    ## Why it matters
    A prompt that the cache holds is not read; a fixed seed with a default cache has doubled published results.

    ## How to fix it
    Turn the prefix cache off, reset it between runs, or record its hits for each request.
    """
    facts = corpus.facts(loaded)
    if not facts.served:
        return ()
    faults = []
    for index, cell in enumerate(loaded.record.cells):
        workload = facts.workloads[cell.workload]
        if not (isinstance(workload, EngineWorkload) and isinstance(cell, Timed | Imported)):
            continue
        for at, process in enumerate(cell.processes):
            cached = process.requests.cached_tokens if process.requests is not None else None
            how = ""
            if workload.prefix_cache == "warm" and cached is None:
                how = "the prefix cache is warm, and its hits are not recorded"
            elif workload.prefix_cache == "off" and cached is not None and any(cached):
                how = f"the prefix cache is off, and held {sum(cached):,} tokens"
            if how:
                place = ("cells", index, "processes", at, "requests")
                faults.append(Fault(f"{cell.arm!r} on {cell.workload!r}: {how}", place))
                break
    return corpus.fault(loaded, faults)


@record_rule("EV509", "client-bound", Severity.WARNING)
def client_bound(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The load generator was busy nearly all the time.

    ## What it checks
    In more than half of a cell's processes the client used under 80 % of one core over the window.

    ## Why it matters
    A client at its limit sends late and reads late: its own speed is in every latency.

    ## How to fix it
    Spread the load over more client processes, or lower the rate.
    """
    faults = []
    for index, cell in corpus.facts(loaded).timed:
        shares = [
            process.client_cpu_s / (process.ended_s - process.started_s)
            for process in cell.processes
            if process.client_cpu_s is not None
        ]
        if shares and median(shares) > _CLIENT_SHARE:
            message = f"the client of {cell.arm!r} on {cell.workload!r} used {median(shares):.0%} of a core"
            faults.append(Fault(message, ("cells", index, "processes", 0, "client_cpu_s")))
    return corpus.fault(loaded, faults)


@record_rule("EV510", "failed-requests")
def failed_requests(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Requests failed inside a measured process.

    ## What it checks
    Every request of every timed process has its times, and no import reports failed requests.

    ## Why it matters
    Latencies over the requests that survived are those of a lighter load, and throughput counts work that was not done.

    ## How to fix it
    Mend what makes requests fail, or lower the load until none does.
    """
    facts = corpus.facts(loaded)
    if not (facts.served or facts.imported):
        return ()
    faults = []
    for index, cell in enumerate(loaded.record.cells):
        if isinstance(cell, Timed | Imported):
            for at, process in enumerate(cell.processes):
                times = process.requests.latency_s if process.requests is not None else ()
                if failed := times.count(None):
                    message = f"{cell.arm!r} on {cell.workload!r}: {failed} of {len(times)} requests failed"
                    faults.append(Fault(message, ("cells", index, "processes", at, "requests", "latency_s")))
                    break
        if isinstance(cell, Imported):
            for at, one in enumerate(cell.reported):
                if one.metric in _FAILED and math.copysign(one.value, 1) > 0:
                    message = f"{cell.arm!r} on {cell.workload!r}: {one.value:g} requests failed"
                    faults.append(Fault(message, ("cells", index, "reported", at)))
    return corpus.fault(loaded, faults)
