"""Owns the trace of torch's profiler, in Chrome's format: which kernels ran, for how long, and how much a device idled.

Without a device the operators of the processor stand in their place, by the time that each spends itself.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.profile.bottleneck import judge
from benchmarks.profile.summaries import (
    MAXIMUM_BYTES,
    Bottleneck,
    Kernel,
    ProfileError,
    Summary,
    merged,
    metric,
    name_of,
    raw_of,
    whole,
)

TOOL = "torch.profiler"
_DEVICE = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_HOST = frozenset({"cpu_op", "cuda_runtime", "cuda_driver"})
_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class _Event:
    name: str
    kind: str
    thread: tuple[str, str]
    begins: float
    lasts: float
    """Both in microseconds, as traces have them."""

    @property
    def ends(self) -> float:
        return self.begins + self.lasts


def read(data: bytes, name: str = "trace.json") -> Summary:
    """Return what a trace says.

    Raises:
        ProfileError: it is no trace, or holds neither a kernel nor an operator.
    """
    raw = raw_of(name, data)
    events = list(_events(_document(data, name)))
    device = [one for one in events if one.kind in _DEVICE]
    if device:
        kernels = merged(Kernel(name_of(one.name), 1, one.lasts * 1e-6) for one in device)
        busy = _busy_share(device, [one for one in events if one.kind in _HOST])
        bottleneck, why = judge(kernels, busy)
        metrics = whole(kernels, metric("busy_share", "%", busy))
        return Summary(TOOL, kernels, metrics, bottleneck, why, (raw,))
    own = merged(_own_times([one for one in events if one.kind == "cpu_op"]))
    if not own:
        raise ProfileError(f"{name} holds neither a kernel nor an operator", fix="profile the call itself")
    on_host: tuple[Bottleneck, str] = ("unknown", "operators of a processor: a trace has no counters of it")
    return Summary(TOOL, own, whole(own), *on_host, (raw,))


def _document(data: bytes, name: str) -> Sequence[Any]:
    if data.startswith(_MAGIC):
        unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            data = unpacking.decompress(data, MAXIMUM_BYTES + 1)
        except zlib.error:
            raise ProfileError(f"{name} is no gzip file") from None
        raw_of(name, data)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ProfileError(f"{name} is no JSON", fix="give the file that export_chrome_trace wrote") from None
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        raise ProfileError(f"{name} has no traceEvents", fix="give the file that export_chrome_trace wrote")
    return events


def _events(entries: Iterable[Any]) -> Iterator[_Event]:
    """Complete events of the kinds that are read; a time that none can be is refused."""
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("ph") != "X":
            continue
        kind = str(entry.get("cat", "")).lower()
        if kind not in _DEVICE | _HOST:
            continue
        begins, lasts = entry.get("ts"), entry.get("dur")
        if not (_is_time(begins) and _is_time(lasts)) or begins is None or lasts is None:
            raise ProfileError(f"the event {str(entry.get('name'))[:60]!r} has no time")
        thread = str(entry.get("pid")), str(entry.get("tid"))
        yield _Event(str(entry.get("name", "")), kind, thread, float(begins), float(lasts))


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _busy_share(device: Sequence[_Event], host: Sequence[_Event]) -> float:
    """Per cent of the window, from the first call of the host to the last end, in which some kernel runs."""
    begins = min(one.begins for one in (*device, *host))
    ends = max(one.ends for one in device)
    if ends <= begins:
        return 100.0
    covered, reached = 0.0, begins
    for one in sorted(device, key=lambda event: event.begins):
        covered += max(0.0, one.ends - max(reached, one.begins))
        reached = max(reached, one.ends)
    return min(100.0, 100 * covered / (ends - begins))


def _own_times(events: Sequence[_Event]) -> Iterator[Kernel]:
    """Each operator with the time that it does not spend in operators it calls."""
    by_thread: dict[tuple[str, str], list[_Event]] = {}
    for one in events:
        by_thread.setdefault(one.thread, []).append(one)
    for thread in by_thread.values():
        open_: list[list[Any]] = []
        for one in sorted(thread, key=lambda event: (event.begins, -event.lasts)):
            while open_ and open_[-1][0].ends <= one.begins:
                yield _closed(*open_.pop())
            if open_:
                open_[-1][1] += one.lasts
            open_.append([one, 0.0])
        while open_:
            yield _closed(*open_.pop())


def _closed(one: _Event, inside: float) -> Kernel:
    return Kernel(name_of(one.name), 1, max(0.0, one.lasts - inside) * 1e-6)
