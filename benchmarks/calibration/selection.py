"""Owns what a comparison of timers is asked for: its options, and the calls and timers they name. Nothing is run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.calibration.calls import CALLS, Calls, calls
from benchmarks.calibration.nvbench import NVBENCH
from benchmarks.ops.registry import Device
from benchmarks.options import UsageError, add_places
from benchmarks.timing import DO_BENCH, HELD_EVENTS
from evidence.schema.arms import Role

NAME = "benchmarks.calibration.timers"
WORKER = "benchmarks.calibration.worker"
DOMAIN = "calibration"
TITLE = "nvbench"
OWN: Mapping[str, str] = {"do-bench": DO_BENCH, "held-events": HELD_EVENTS}
"""The harness's own timers of a device, by the name of their method."""
SHORT: Mapping[str, str] = {**{timer: name for name, timer in OWN.items()}, NVBENCH: "nvbench-cold"}


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked to be compared: timers, the first of them the harness's own, on calls."""

    calls: Calls
    timers: tuple[str, ...]
    device: Device
    processes: int
    samples: int
    nurseries: int
    has_control: bool = True

    @property
    def arms(self) -> tuple[tuple[str, Role, str], ...]:
        """Name, role and timer of each arm, in the order of their turns: the control comes last."""
        named = [(short(timer), timer) for timer in self.timers]
        arms: list[tuple[str, Role, str]] = [
            (name, "candidate" if place else "baseline", timer) for place, (name, timer) in enumerate(named)
        ]
        name, timer = named[0]
        return (*arms, *(((f"{name}-again", "control", timer),) if self.has_control else ()))

    def words(self, timer: str) -> tuple[str, ...]:
        """Return a worker's arguments."""
        return ("--timer", timer, "--device", self.device, "--calls", *(call.text for call in self.calls.timed))


def short(timer: str) -> str:
    """Return the name of a timer's method and arm."""
    return SHORT.get(timer, timer.rpartition(".")[2].lower())


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}",
        description="Time the same calls with the harness's timer and with NVBench, in interleaved fresh processes.",
    )
    made.add_argument("--calls", nargs="+", default=list(CALLS), metavar="OP:IMPLEMENTATION:SHAPE")
    made.add_argument("--timer", choices=tuple(OWN), default="do-bench", help="the harness's (default do-bench)")
    made.add_argument("--processes", type=int, default=9, help="fresh processes for each timer and call (default 9)")
    made.add_argument("--samples", type=int, default=50, help="of one process and call, by either timer (default 50)")
    made.add_argument("--warm-up", type=float, default=1.0, metavar="SECONDS", help="before a process's first call")
    made.add_argument("--further-warm-up", type=float, default=0.2, metavar="SECONDS", help="before its others")
    made.add_argument("--nurseries", type=int, default=3, help="processes an arm is forked from in turn (default 3)")
    made.add_argument("--no-control", action="store_true", help="leave out the second arm of the harness's timer")
    made.add_argument(
        "--deadline", type=float, metavar="SECONDS", help="end this long after the command began, with whole rounds"
    )
    made.add_argument(
        "--timeout", type=float, default=300.0, metavar="SECONDS", help="the longest a worker may be silent"
    )
    made.add_argument("--dry-run", action="store_true", help="print the plan and the workers' commands")
    add_places(made, domain=DOMAIN, name=TITLE)
    return made


def selection(options: argparse.Namespace) -> Selection:
    """Resolve the options.

    Raises:
        UnknownNameError: a call names what there is not.
        UsageError: they make no comparison.
    """
    if min(options.processes, options.samples, options.nurseries) < 1:
        raise UsageError("--processes, --samples and --nurseries are at least 1")
    return Selection(
        calls=calls(options.calls),
        timers=(OWN[options.timer], NVBENCH),
        device="cuda",
        processes=options.processes,
        samples=options.samples,
        nurseries=options.nurseries,
        has_control=not options.no_control,
    )


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers: the caller's, with one thread, and autotuning's results kept on disk."""
    pinned = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {"TRITON_CACHE_AUTOTUNING": "1", **environment, **pinned, "PYTHONUNBUFFERED": "1"}
