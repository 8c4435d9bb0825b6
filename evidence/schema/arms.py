"""Owns arms: the things compared, each one implementation from one source on its ranks with its switches."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evidence.schema.base import Argument, Count, Model, Name, Setting, require_unique

Role = Literal["baseline", "candidate", "alternative", "control"]


class Rank(Model):
    """One process slot of an arm: a device of a host (null: its CPU) under a stack."""

    host: Name
    device: Count | None
    stack: Name


class Arm(Model):
    """One side of a comparison."""

    name: Name
    role: Role
    control_of: Name | None
    """For a control: the arm it must equal. Null otherwise."""
    implementation: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$", max_length=200)]
    """`module:name` of what runs."""
    source: Name
    ranks: tuple[Rank, ...]
    command: tuple[Argument, ...]
    """The worker's argv; empty if the arm ran in the runner's own process."""
    switches: tuple[Setting, ...]
    mechanism: tuple[Name, ...]
    """Counters that must be positive for the arm to have done what its name says."""
    outputs: Literal["same", "may-differ"]
    """Whether the arm may give other outputs than its reference."""

    @model_validator(mode="after")
    def _control_names_its_twin(self) -> Self:
        require_unique(f"switches of arm {self.name}", (switch.name for switch in self.switches))
        if (self.role == "control") != (self.control_of is not None):
            raise ValueError("control_of names the twin of a control arm, and of nothing else")
        return self
