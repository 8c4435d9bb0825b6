"""Owns what a session and its workers say to each other: one JSON object a line, over the worker's stdin and stdout.

A worker reads one Job. For each of its workloads it says Ready, waits for a line that says GO, works, and says what
came of it: Called from a call before the gate; Judged from a gate; Sampled, then perhaps Judged, from a clock; or
Failed. It ends after the last one, and at once when its stdin ends, so that a killed session leaves no worker behind.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from benchmarks.timing import Rules
from evidence.schema import Counter, Model, Outcome, Passed, Samples, Setting, Work
from evidence.schema.base import Amount, Count, Name, Sha256, Text
from evidence.schema.cells import Requests

GO = "go"
Cause = Literal["oom", "timeout", "error"]
Phase = Literal["compiling", "tuning", "gate", "timing"]
"""What a process does with each of its workloads: compile its kernels and measure nothing, which others may do at the
same time; call it once, so that autotuners choose; gate it; time it."""


class Assignment(Model):
    """One workload of a job. `proof` licenses its timing; `is_rechecked` asks to judge the timed outputs as well.

    `is_digested` asks a gate for the digest of the workload's inputs, which it gives where that is cheap.
    """

    workload: Name
    proof: Passed | None
    is_rechecked: bool
    is_digested: bool = False


class Job(Model):
    """What one process is to do, in order. `timer` and the rules do not matter to a gate."""

    phase: Phase
    timer: Name
    threads: Annotated[int, Field(gt=0)]
    minimum_samples: Count
    maximum_samples: Count
    target_spread: float | None
    budget_s: float | None
    warm_up_s: float
    further_warm_up_s: float
    """Warm-up of workloads after the first, in a process that has kept the device busy since."""
    assignments: tuple[Assignment, ...]

    def rules(self, *, is_first: bool) -> Rules:
        """Return the stop rules of a workload, of the process's first or of a later one."""
        names = {field.name for field in dataclasses.fields(Rules)} - {"warm_up_s"}
        warm_up_s = self.warm_up_s if is_first else self.further_warm_up_s
        return Rules(**{name: getattr(self, name) for name in names}, warm_up_s=warm_up_s)


class Ready(Model):
    """The worker turns to a workload and waits; for a clock, everything but the warm-up is done."""

    says: Literal["ready"] = "ready"
    workload: Name


class Called(Model):
    """A workload was called once, in so many seconds, with all that a first call brings."""

    says: Literal["called"] = "called"
    workload: Name
    seconds: Amount


class Judged(Model):
    """The outcome of a gate, and the digest of the inputs if it took it."""

    says: Literal["judged"] = "judged"
    workload: Name
    phase: Literal["before", "timed-outputs"]
    outcome: Outcome
    inputs_sha256: Sha256 | None = None


class Sampled(Model):
    """What one process measured on one workload; fields as in Process and Method."""

    says: Literal["sampled"] = "sampled"
    workload: Name
    stopped: Literal["spread", "maximum", "budget", "fixed"]
    compilations: Count | None
    client_cpu_s: Amount | None
    counters: tuple[Counter, ...]
    work: tuple[Work, ...]
    samples: tuple[Samples, ...]
    requests: Requests | None
    ran: tuple[Setting, ...]
    timer_overhead_s: Amount | None
    warm_up_s: Amount
    warm_up_calls: Count


class Failed(Model):
    """A workload that raised; the worker goes on with the next one."""

    says: Literal["failed"] = "failed"
    workload: Name
    cause: Cause
    phase: Name
    message: Text


Message = Annotated[Ready | Called | Judged | Sampled | Failed, Field(discriminator="says")]
MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
