"""Owns what a run ran on: hosts with their accelerators, and software stacks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evidence.schema.base import Captured, Count, Name, PositiveAmount, PositiveCount, RelativePath, Sha256


class Accelerator(Captured):
    """One GPU or NPU of a host, as its driver describes it."""

    model: Name
    uuid_sha256: Sha256 | None
    """Digest of the device's UUID: tells two devices apart without naming either."""
    memory_bytes: PositiveCount | None
    l2_bytes: PositiveCount | None
    compute_capability: Name | None
    vbios: Name | None
    ecc_enabled: bool | None
    mig_enabled: bool | None
    persistence_enabled: bool | None
    power_limit_w: PositiveAmount | None
    max_sm_clock_hz: PositiveAmount | None
    max_memory_clock_hz: PositiveAmount | None


class Host(Captured):
    """One machine, by a name that says nothing about where it stands."""

    name: Name
    accelerators: tuple[Accelerator, ...]
    interconnect: Name | None
    """How its accelerators are joined; null with a reason where there are none or it cannot be read."""
    driver: Name | None
    cpu_model: Name | None
    cpu_cores: PositiveCount | None
    cpu_affinity: tuple[Count, ...] | None
    """Logical cores the run was allowed to use."""
    cpu_governor: Name | None
    memory_bytes: PositiveCount | None
    os: Name | None
    kernel: Name | None


Package = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==\S+$", max_length=200)]


class Stack(Captured):
    """One interpreter with its packages."""

    name: Name
    executable: RelativePath | None
    """Relative to the repository, or the bare program name."""
    python: Name
    runtime: Name | None
    """Accelerator runtime, such as `CUDA 13.0`."""
    container: Name | None
    packages: tuple[Package, ...]
    """Sorted `name==version`."""
