"""Owns NVBench as a timer: its cold measurement of a call, by NVIDIA's Python package `cuda-bench`.

NVBench runs once in a process and calls back for each of its states, so what a worker does for one workload is done
inside a state of its own. Samples are read from the file that NVBench writes as soon as a measurement ends.
"""

from __future__ import annotations

import array
import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.timing import Batch, Cache, Call, DoBench, TimingError

if TYPE_CHECKING:
    from cuda.bench import Launch, State

NVBENCH = "cuda-bench.State.exec"
PACKAGE = "cuda-bench"

_SETTLING_CALLS = 8
"""Calls on NVBench's own stream before its first: what allocates or compiles behind its blocking kernel may hang."""
_RESULTS = "nvbench.json"
_STATE_AXIS = "workload"


class NvBench:
    """Device events round each call, after NVBench wrote over the cache and behind a kernel that holds the stream.

    The host queues the events and the call while that kernel holds the stream, so launches take no device time. The
    number of samples was fixed when NVBench started.
    """

    name = NVBENCH
    cache: Cache = "cold"

    def __init__(self, state: State, folder: Path) -> None:
        """Measure in one state of an NVBench that writes below `folder`."""
        import torch

        self._state, self._folder = state, folder
        self._stream = torch.cuda.ExternalStream(state.get_stream().addressof())
        self.flush_bytes = int(torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size)

    def overhead_s(self, call_s: float) -> float:
        """Return the time between two events with nothing between them."""
        return DoBench().overhead_s(call_s)

    def finish(self) -> None:
        """Wait for the device."""
        import torch

        torch.cuda.synchronize()

    def calls_per_sample(self, call_s: float) -> int:
        """Return one: every call has its own events."""
        return 1

    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Let NVBench measure; it takes as many samples as it was started for."""
        import torch

        known = set(written(self._folder))

        def launched(launch: Launch) -> None:
            call()

        with torch.cuda.stream(self._stream):
            for _ in range(_SETTLING_CALLS):
                call()
            torch.cuda.synchronize()
            self._state.exec(launched, batched=False)
        return Batch([sample for path in written(self._folder) if path not in known for sample in read(path)], 1)


def written(folder: Path) -> tuple[Path, ...]:
    """Return the files of samples below the folder of an NVBench run, in the order they were written."""
    found = (folder / f"{_RESULTS}-bin").glob("*.bin")
    return tuple(sorted(found, key=lambda path: int(path.stem)))


def read(path: Path) -> list[float]:
    """Return the samples of one file, in seconds: single-precision numbers, least significant byte first.

    Raises:
        TimingError: it holds something else.
    """
    content = path.read_bytes()
    values = array.array("f")
    if not content or len(content) % values.itemsize:
        raise TimingError(f"NVBench wrote {len(content)} bytes, which are no samples")
    values.frombytes(content)
    if sys.byteorder != "little":
        values.byteswap()
    return list(values)


def attended(states: int, samples: int, attend: Callable[[int, NvBench], None]) -> None:
    """Start NVBench with that many states and let `attend` use the timer of each, told by its number.

    Its check for throttling is off, since that discards samples, and the harness discards none.
    """
    bench = importlib.import_module("cuda.bench")
    with tempfile.TemporaryDirectory(prefix="nvbench-") as folder:

        def cold(state: State) -> None:
            attend(state.get_int64(_STATE_AXIS), NvBench(state, Path(folder)))

        registered = bench.register(cold)
        registered.add_int64_axis(_STATE_AXIS, list(range(states)))
        registered.set_stopping_criterion("sample-count")
        registered.set_criterion_param_int64("target-samples", samples)
        registered.set_throttle_threshold(0.0)
        results = str(Path(folder) / _RESULTS)
        bench.run_all_benchmarks(["nvbench", "--devices", "0", "--quiet", "--jsonbin", results])
