"""Owns the words of labels and of field names: how they are taken apart, which mean the same, which name a metric."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
_CHUNK = re.compile(r"[a-z0-9µ%Δ]+(?:\.\d+)?")
_PART = re.compile(r"[a-zµ%Δ]+|\d+(?:\.\d+)?")
_TOKENS_A_SECOND = re.compile(r"(?<![a-z])t(?:ok(?:en)?s?)?/s(?:ec)?(?![a-z])")
_NUMERIC = re.compile(r"\d+(?:\.\d+)?")
_SHORTEST_PIECE = 4


def listed(text: str) -> frozenset[str]:
    """Return a set of words written as a text."""
    return frozenset(text.split())


_SAME = {
    "avg": "mean",
    "average": "mean",
    "med": "median",
    "p50": "median",
    "tok": "token",
    "tokens": "token",
    "toks": "token",
    "reqs": "request",
    "req": "request",
    "requests": "request",
    "prompts": "prompt",
    "tput": "throughput",
    "thpt": "throughput",
    "lat": "latency",
    "latencies": "latency",
    "mem": "memory",
    "vram": "memory",
    "gtt": "memory",
    "rss": "memory",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "µs": "us",
    "usec": "us",
    "msec": "ms",
    "max": "maximum",
    "peak": "maximum",
    "min": "minimum",
    "stddev": "std",
    "stdev": "std",
    "sd": "std",
    "stderr": "std",
    "e2el": "e2e",
    "bs": "batch",
    "conc": "concurrency",
    "rps": "rate",
    "qps": "rate",
    "isl": "input",
    "osl": "output",
    "ctx": "context",
    "gpus": "gpu",
    "tp": "tensor",
    "durations": "time",
    "duration": "time",
    "elapsed": "time",
    "times": "time",
    "acc": "accuracy",
    "bw": "bandwidth",
    "ts": "throughput",
    "tps": "throughput",
    "mib": "mib",
}
STATISTICS = frozenset({"mean", "median", "minimum", "maximum", "std", "total", "sum", "count"}) | {
    f"p{percent}" for percent in range(1, 100)
}
"""Words that say which statistic: alone they name no metric."""
_UNITS = listed("ns us ms s min h b kb mb gb tb kib mib gib tib bytes hz mhz ghz w j")
METRICS = listed(
    """maximum minimum latency ttft tpot itl e2e time throughput speed speedup bandwidth flops tflops gflops memory mib
    gib mb gb bytes accuracy score ratio perplexity ppl overhead utilization efficiency power energy temp noise goodput
    loss std median mean p99 p95 p90 p75 p25 p10 p5 ns us ms % Δ geomean improvement change gain error intvty algbw
    busbw"""
)
"""Words of fields and columns that hold what was measured."""
_QUANTITIES = METRICS - STATISTICS - _UNITS
"""Words that say what was measured: they weigh more than what it was measured of."""
SETTINGS = listed(
    """batch b seq seqlen len length context prompt prompts input output rate concurrency tensor pipeline dp ep pp gpu
    n m k d h t num shape dim dims hidden head heads layers layer params parameters model threads thread iterations
    iters steps depth version date year commit build seed rank ranks node nodes block group bits bit epoch size level
    trials repetitions warmup workers replicas devices port chunk window topk experts quant dtype precision parallel
    id index run completed"""
)
"""Words of fields and columns that hold how it was measured."""
_STOP = listed(
    """a an the of in on at to from and or vs versus with without for by is are was were be it its this that these my
    our per as than more less up down between over under both all each no not we you they has have had can could will
    results result benchmark benchmarks benchmarking table figure section test tests summary performance comparison
    previous new old best using used faster slower higher lower better worse"""
)


@functools.lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """Take a name apart into words of one spelling: `Median E2E Latency (ms)` and `median_e2e_latency_ms` alike."""
    found: list[str] = []
    for chunk in _CHUNK.findall(_TOKENS_A_SECOND.sub(" throughput ", _CAMEL.sub("_", text[:400]).lower())):
        found.append(_SAME.get(chunk, chunk))
    return tuple(dict.fromkeys(found))


@functools.lru_cache(maxsize=65536)
def labels(text: str) -> tuple[str, ...]:
    """Return what a label may be recognised by: its words, and what long words of letters and digits are made of."""
    found: list[str] = []
    for chunk in _CHUNK.findall(_CAMEL.sub("_", text[:2000]).lower()):
        parts = _PART.findall(chunk)
        found.append(chunk)
        if len(parts) > 1:
            found += [part for part in parts if len(part) > 1]
    return tuple(dict.fromkeys(one for one in found if one not in _STOP and (len(one) > 1 or one.isdigit())))


def is_number(word: str) -> bool:
    """Whether a word is digits only."""
    return _NUMERIC.fullmatch(word) is not None


def is_like(page: str, log: str) -> bool:
    """Whether a word of a page names a word of a log: the same, or a long piece of it (`wmma` and `rocwmma`)."""
    return page == log or (may_be_a_piece(page) and page in log)


def may_be_a_piece(page: str) -> bool:
    """Whether a word of a page is long enough to stand for a longer one."""
    return len(page) >= _SHORTEST_PIECE and not is_number(page)


@functools.lru_cache(maxsize=65536)
def core(name: str) -> frozenset[str]:
    """Return the words of a name without statistics and units: what the metric is."""
    return frozenset(
        word for word in words(name) if word not in STATISTICS and word not in _UNITS and word not in _STOP
    )


@functools.lru_cache(maxsize=65536)
def is_metric(name: str) -> bool:
    """Whether a field or a column of that name holds what was measured, as far as its words say."""
    found = frozenset(words(name))
    if {"token", "s"} <= found or {"request", "s"} <= found:
        return True
    quantities = found & METRICS
    if quantities <= {"maximum", "minimum"} and not found.isdisjoint(SETTINGS):
        return False  # max_concurrency is asked for, not measured
    return bool(quantities)


@functools.lru_cache(maxsize=65536)
def is_setting(name: str) -> bool:
    """Whether a field or a column of that name holds how it was measured, as far as its words say."""
    return not is_metric(name) and not SETTINGS.isdisjoint(words(name))


@functools.lru_cache(maxsize=262144)
def agreement(label: str, field: str) -> float:
    """Say how far a label names a field, from 0 to 1; 0 where they share only statistics and units."""
    wanted, there = words(label), frozenset(words(field))
    meant = [word for word in wanted if word not in _STOP]
    if not core(label):  # a head such as `max [ms]` names a statistic and leaves open of what
        meant = [word for word in wanted if word in STATISTICS]
    elif core(label).isdisjoint(core(field)):
        return 0.0
    if not meant:
        return 0.0
    weights = [2 if word in _QUANTITIES else 1 for word in meant]
    return sum(weight for word, weight in zip(meant, weights, strict=True) if word in there) / sum(weights)


def named(label: str, fields: Iterable[str]) -> frozenset[str]:
    """Return the fields a label names best, the plainest of them; none where it names no field."""
    scored = {field: agreement(label, field) for field in fields}
    best = max(scored.values(), default=0.0)
    if best <= 0:
        return frozenset()
    found = [field for field, score in scored.items() if score == best]
    fewest = min(_surplus(label, field) for field in found)
    return frozenset(field for field in found if _surplus(label, field) == fewest)


def _surplus(label: str, field: str) -> int:
    """Return how many statistics a field has that a label does not name: `acc` is not `acc_stderr`."""
    return len(STATISTICS & set(words(field)) - set(words(label)))
