"""Owns cells: one arm on one workload, as a tagged union. Only a cell with a passed gate holds timings."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evidence.schema.base import (
    Amount,
    Count,
    Model,
    Name,
    PositiveAmount,
    Setting,
    Text,
    require_unique,
)
from evidence.schema.gates import Failed, Outcome, Passed
from evidence.schema.workloads import Work


class Samples(Model):
    """Values of one metric on one rank, in the order they were taken, in the metric's unit."""

    metric: Name
    rank: Count
    values: Annotated[tuple[Amount, ...], Field(min_length=1)]


class Requests(Model):
    """One row a request, in order of submission. Null times: the request failed."""

    enqueued_s: tuple[Amount, ...] | None
    """From the process's start; null: not known."""
    prompt_tokens: tuple[Count, ...]
    cached_tokens: tuple[Count, ...] | None
    """Prompt tokens found in a prefix cache; null: the engine does not say."""
    output_tokens: tuple[Count, ...]
    ttft_s: tuple[PositiveAmount | None, ...]
    """Enqueue to first token."""
    latency_s: tuple[PositiveAmount | None, ...]
    """Enqueue to last token."""

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        rows = len(self.prompt_tokens)
        for field, column in self.__dict__.items():
            if column is not None and len(column) != rows:
                raise ValueError(f"{field} has {len(column)} rows, prompt_tokens has {rows}")
        if rows == 0:
            raise ValueError("requests without a row")
        for index, (first, last) in enumerate(zip(self.ttft_s, self.latency_s, strict=True)):
            if first is not None and last is not None and first > last:
                raise ValueError(f"request {index}: the first token comes after the last")
        return self


class Counter(Model):
    """How often a mechanism fired in one process."""

    name: Name
    count: Count


class Process(Model):
    """One fresh process: the unit of inference."""

    index: Count
    started_s: Amount
    """Start and end of its window, from the record's start."""
    ended_s: Amount
    stopped: Literal["spread", "maximum", "budget", "fixed"]
    """Which rule ended the sampling."""
    compilations: Count | None
    """Compilations inside the window; null: not watched."""
    client_cpu_s: Amount | None
    """CPU seconds of the load generator; null: there is none."""
    counters: tuple[Counter, ...]
    work: tuple[Work, ...]
    """What it counted itself, where that is not the workload's own and not in `requests`."""
    samples: tuple[Samples, ...]
    requests: Requests | None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.ended_s <= self.started_s:
            raise ValueError("a process ends after it starts")
        if self.work and self.requests is not None:
            raise ValueError("work is counted in `work` or in `requests`, not in both")
        if not self.samples and self.requests is None:
            raise ValueError("a process that measured nothing")
        require_unique("sample columns", (f"{column.metric} of rank {column.rank}" for column in self.samples))
        require_unique("counters", (counter.name for counter in self.counters))
        require_unique("amounts", (amount.of for amount in self.work))
        return self


class Discard(Model):
    """A process left out, and why."""

    process: Count
    reason: Text


class CrossCheck(Model):
    """The same cell under a second timer."""

    method: Name
    processes: Annotated[tuple[Process, ...], Field(min_length=1)]


class Timed(Model):
    """A cell whose gate passed, with its samples by process."""

    kind: Literal["timed"] = "timed"
    arm: Name
    workload: Name
    gate: Passed
    """The proof on this cell's own shape, dtype and inputs, where one exists."""
    further: tuple[Passed, ...]
    """Shared gates, such as the frozen tests."""
    method: Name
    ran: tuple[Setting, ...]
    """Settings in effect: kernel chosen, autotuned configuration, backend."""
    processes: Annotated[tuple[Process, ...], Field(min_length=1)]
    discards: tuple[Discard, ...]
    cross_checks: tuple[CrossCheck, ...]

    @model_validator(mode="after")
    def _processes_agree(self) -> Self:
        require_unique("processes", (str(process.index) for process in self.processes))
        shapes = {tuple((s.metric, s.rank) for s in process.samples) for process in self.processes}
        if len(shapes) > 1:
            raise ValueError("processes of one cell hold different sample columns")
        return self


class Rejected(Model):
    """A cell whose gate failed: it has no timings."""

    kind: Literal["rejected"] = "rejected"
    arm: Name
    workload: Name
    gate: Failed
    further: tuple[Outcome, ...]


class Skipped(Model):
    """A cell that was not tried."""

    kind: Literal["skipped"] = "skipped"
    arm: Name
    workload: Name
    reason: Text


class Crashed(Model):
    """A cell that was tried and did not end."""

    kind: Literal["crashed"] = "crashed"
    arm: Name
    workload: Name
    cause: Literal["oom", "timeout", "error"]
    phase: Name
    """Where: gate, warm-up, timing, interrupted."""
    message: Text


class Reported(Model):
    """One aggregate of a foreign file."""

    metric: Name
    statistic: Name
    value: float
    pointer: Text
    """Where in the raw file it stands."""


class Unread(Model):
    """A value of a foreign file that stands for nothing measured."""

    pointer: Text
    found: Text
    reason: Text


class Imported(Model):
    """A cell read from a foreign file."""

    kind: Literal["imported"] = "imported"
    arm: Name
    workload: Name
    reported: tuple[Reported, ...]
    unread: tuple[Unread, ...]
    processes: tuple[Process, ...]
    work: tuple[Work, ...]
    outcome: Outcome | None
    """Null: the file records no verification."""


Cell = Annotated[Timed | Rejected | Skipped | Crashed | Imported, Field(discriminator="kind")]
