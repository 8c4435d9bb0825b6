"""Owns what lies beside a record: files, profiles read from them, and what could not be had."""

from __future__ import annotations

from typing import Literal

from evidence.schema.base import Count, Model, Name, RelativePath, Sha256, Text


class Artifact(Model):
    """One file of the log, by its digest: one digest of the record pins the whole log."""

    path: RelativePath
    """Relative to the log's directory."""
    role: Literal["gate-log", "profile", "timeline", "texts", "prompts", "raw", "log"]
    sha256: Sha256
    bytes: Count
    arms: tuple[Name, ...]
    """Which arms it belongs to; empty: all."""
    workloads: tuple[Name, ...]


class ProfileMetric(Model):
    """One counter of a profiler, with the unit the profiler gives."""

    name: Name
    unit: Name
    value: float


class Profile(Model):
    """What a profiler said of one cell. Profiled times are not timings."""

    arm: Name
    workload: Name
    tool: Name
    bottleneck: Literal["memory", "compute", "register", "launch", "dispatch", "unknown"]
    top_kernels: tuple[Name, ...]
    metrics: tuple[ProfileMetric, ...]
    artifact: RelativePath


class Unavailable(Model):
    """Something a reader would expect and the run does not have."""

    what: Name
    reason: Text


class Superseded(Model):
    """An older log this one replaces."""

    log: Name
    sha256: Sha256
    reason: Text
