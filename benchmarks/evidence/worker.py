"""Owns one worker process of a session: gates one side of a suite, or runs and gauges it in a fresh process.

`python -m benchmarks.evidence.worker --suite SUITE --side SIDE --inputs DIR --records N …`. The job comes on stdin and
messages go to stdout, see `benchmarks.protocol`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from benchmarks import ROOT, protocol
from benchmarks.capture import REPOSITORY
from benchmarks.conversation import Conversation
from benchmarks.evidence.gauge import Gauged, overhead_s
from benchmarks.evidence.suite import CPU_TIME, PEAK_MEMORY, WALL_TIME, Check, Ran, Side, Sizes, Suite, find, run_timed
from benchmarks.timing import rounded
from evidence.errors import EvidenceError
from evidence.schema import Failed, Outcome, Passed, Samples, TestsDetail

Phase = Literal["before", "timed-outputs"]


def outcome(checks: Iterable[Check], gate: str, phase: Phase, seed: int) -> Outcome:
    """Count checks; one that does not hold fails the gate, and so does having none."""
    collected, faults, first = 0, 0, ""
    for check in checks:
        collected += 1
        if check.fault:
            faults += 1
            first = first or f"{check.what}: {check.fault}"
    detail = TestsDetail(collected=collected, passed=collected - faults, failed=faults, skipped=0, allowed_skips=())
    said = {"gate": gate, "source": REPOSITORY, "seeds": (seed,), "detail": detail}
    if collected and not faults:
        return Passed.model_validate({**said, "phase": phase})
    reason = "mismatch" if faults else "no-test-selected"
    message = f"{first} ({faults} of {collected})" if faults else "nothing was checked"
    return Failed.model_validate({**said, "reason": reason, "message": message})


class SideWorker:
    """One side of a suite on the inputs of one session."""

    def __init__(self, suite: Suite, side: Side, inputs: Path, sizes: Sizes, session: Conversation) -> None:
        """Say what to run; nothing is run yet."""
        self._suite, self._side, self._inputs, self._sizes = suite, side, inputs, sizes
        self._session = session

    def run(self, job: protocol.Job) -> None:
        """Do every assignment; one that raises is told of."""
        for assignment in job.assignments:
            try:
                if job.phase == "gate":
                    self._gate(assignment.workload)
                else:
                    self._time(assignment)
            except Exception as error:  # noqa: BLE001 - whatever a command does is the finding of its cell
                lines = str(error).strip().splitlines() or ["no message"]
                message = f"{type(error).__name__}: {lines[0]}"
                failed = protocol.Failed(workload=assignment.workload, cause="error", phase=job.phase, message=message)
                self._session.say(failed)

    def _judged(self, workload: str, checks: Iterable[Check], phase: Phase) -> protocol.Judged:
        found = outcome(checks, self._side.gate_name, phase, self._sizes.get("seed", 0))
        return protocol.Judged(workload=workload, phase=phase, outcome=found)

    def _gate(self, workload: str) -> None:
        self._session.say(protocol.Ready(workload=workload))
        self._session.hear()
        with tempfile.TemporaryDirectory(prefix="evidence-gate-") as scratch:
            checks = self._side.gate(self._suite.inputs_of(workload, self._inputs), Path(scratch), self._sizes)
            self._session.say(self._judged(workload, checks, "before"))

    def _time(self, assignment: protocol.Assignment) -> None:
        if assignment.proof is None:
            raise EvidenceError("no gate has passed, so nothing may be timed")
        workload = assignment.workload
        timer_s = rounded(overhead_s(ROOT))
        inputs = self._suite.inputs_of(workload, self._inputs)
        warm_up_s = _read_all(self._suite.warmed(inputs))
        self._session.say(protocol.Ready(workload=workload))
        self._session.hear()
        with tempfile.TemporaryDirectory(prefix="evidence-timed-") as scratch:
            gauged, ran = run_timed(self._side, inputs, Path(scratch), ROOT)
            if gauged.code:
                last = (ran.said.strip().splitlines() or ["it said nothing"])[-1]
                raise EvidenceError(f"exit code {gauged.code}: {last}")
            self._session.say(self._sampled(workload, gauged, ran, timer_s, warm_up_s))
            if assignment.is_rechecked:
                self._session.say(self._judged(workload, self._side.hold(ran, self._sizes), "timed-outputs"))

    def _sampled(self, workload: str, gauged: Gauged, ran: Ran, timer_s: float, warm_up_s: float) -> protocol.Sampled:
        values = {WALL_TIME: gauged.wall_s, CPU_TIME: gauged.cpu_s, PEAK_MEMORY: float(gauged.peak_bytes)}
        if self._suite.counts is not None:
            values |= self._suite.counts(ran)
        samples = tuple(
            Samples(metric=metric.name, rank=0, values=(rounded(values[metric.name]),))
            for metric in self._suite.metrics
        )
        return protocol.Sampled(
            workload=workload,
            stopped="fixed",
            compilations=0,
            client_cpu_s=None,
            counters=(),
            work=(),
            samples=samples,
            requests=None,
            ran=(),
            timer_overhead_s=timer_s,
            warm_up_s=round(warm_up_s, 6),
            warm_up_calls=0,
        )


def _read_all(paths: Sequence[Path]) -> float:
    """Read files, so that the kernel holds them in memory, and return how long that took."""
    started = time.perf_counter()
    for path in paths:
        path.read_bytes()
    return time.perf_counter() - started


def words(suite: Suite, side: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return a worker's arguments, but for where its inputs are."""
    given = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    return ("--suite", suite.name, "--side", side, *given)


def main(argv: Sequence[str] | None = None) -> int:
    """Do the job that comes on stdin."""
    given = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(prog="benchmarks.evidence.worker")
    for option in ("--suite", "--side", "--inputs"):
        parser.add_argument(option, required=True)
    suite = find(parser.parse_known_args(given)[0].suite)
    for name in suite.sizes:
        parser.add_argument(f"--{name}", type=int, required=True)
    asked = parser.parse_args(given)
    sizes = {name: getattr(asked, name) for name in suite.sizes}
    session = Conversation.over_stdio()
    SideWorker(suite, suite.side(asked.side), Path(asked.inputs), sizes, session).run(session.hear_job())
    session.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
