"""Owns the state of machines during a run: columns with one reading at every process boundary."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evidence.schema.base import Amount, Captured, Count, Name

Column = tuple[Amount, ...] | None
Counts = tuple[Count, ...] | None


class _Columns(Captured):
    host: Name
    at_s: tuple[Amount, ...]
    """Seconds from the record's start, one for each reading."""

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        for field, value in self.__dict__.items():
            if field != "missing" and isinstance(value, tuple) and len(value) != len(self.at_s):
                raise ValueError(f"{field} has {len(value)} readings, at_s has {len(self.at_s)}")
        if any(after < before for before, after in pairwise(self.at_s)):
            raise ValueError("at_s goes back in time")
        return self


class DeviceConditions(_Columns):
    """Readings of one accelerator."""

    kind: Literal["device"] = "device"
    device: Count
    """Index into the host's accelerators."""
    sm_clock_hz: Column
    memory_clock_hz: Column
    temperature_c: Column
    power_w: Column
    energy_j: Column
    """Cumulative counter; energy of a window is a difference."""
    thermal_violation_ns: Counts
    """Cumulative; a positive difference over a window proves throttling."""
    power_violation_ns: Counts
    event_reasons: Counts
    """Driver bit mask of why clocks are where they are."""
    ecc_uncorrected: Counts
    foreign_processes: Counts
    """Processes on the device that are not this run's."""


class HostConditions(_Columns):
    """Readings of one host."""

    kind: Literal["host"] = "host"
    load: Column
    """One-minute load average."""
    cpu_clock_hz: Column


Conditions = Annotated[DeviceConditions | HostConditions, Field(discriminator="kind")]
