"""Owns metrics: what a number is, in which unit, which way is better. Reserved names mean one thing everywhere."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from evidence.schema.base import Model, Name

Unit = Literal["s", "B", "J", "1", "1/s", "token/s", "B/s", "FLOP/s", "bit/B"]
Better = Literal["lower", "higher", "neither"]
Level = Literal["iteration", "request", "process", "gate"]

RESERVED: dict[str, tuple[Unit, Better]] = {
    "time": ("s", "lower"),
    "wall_time": ("s", "lower"),
    "ttft": ("s", "lower"),
    "tpot": ("s", "lower"),
    "itl": ("s", "lower"),
    "latency": ("s", "lower"),
    "throughput": ("token/s", "higher"),
    "request_throughput": ("1/s", "higher"),
    "peak_memory": ("B", "lower"),
    "energy": ("J", "lower"),
    "bandwidth": ("B/s", "neither"),
    "flop_rate": ("FLOP/s", "neither"),
    "token_agreement": ("1", "higher"),
    "bits_per_byte": ("bit/B", "lower"),
}
"""Name -> unit and direction. Derived rates have no direction: a kernel that moves fewer bytes is not worse."""


class Metric(Model):
    """One measured or derived quantity."""

    name: Name
    unit: Unit
    better: Better
    of: Level
    """What one value belongs to. `iteration` and `process` values are stored; `request` and `gate` ones derive."""
    role: Literal["target", "guard", "context"]
    """Declared before measuring: what the run is about, what must not get worse, what is only told."""

    @model_validator(mode="after")
    def _reserved_names_keep_their_meaning(self) -> Self:
        known = RESERVED.get(self.name)
        if known and known != (self.unit, self.better):
            raise ValueError(f"{self.name} is reserved: its unit is {known[0]!r} and {known[1]!r} is better")
        return self
