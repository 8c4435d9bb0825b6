"""Owns where the measured code came from (sources), and how a run was started (provenance) or imported (origin)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evidence.schema.base import (
    Argument,
    Captured,
    Commit,
    Model,
    Name,
    RelativePath,
    Setting,
    Sha256,
    Text,
    UtcTime,
)


class SourcePath(Model):
    """One measured file and its digest."""

    path: RelativePath
    sha256: Sha256


class GitSource(Captured):
    """Code from a git work tree. Tree digests leave out docs/, so that writing a log does not dirty its own source."""

    kind: Literal["git"] = "git"
    name: Name
    repository: Text | None
    """Public address, without credentials; null if the repository has none."""
    commit: Commit | None
    commit_tree_sha256: Sha256 | None
    """sha256 over the sorted lines `mode blob-id path` of the commit's files outside docs/."""
    tree_sha256: Sha256 | None
    """The same over the work tree: tracked files and untracked ones that are not ignored."""
    paths: tuple[SourcePath, ...]
    """The files that were measured: what a stale-source check watches."""

    @property
    def is_dirty(self) -> bool | None:
        """Whether the work tree differed from its commit; None where either is not known."""
        if self.tree_sha256 is None or self.commit_tree_sha256 is None:
            return None
        return self.tree_sha256 != self.commit_tree_sha256


class PackageSource(Captured):
    """Code from an installed package."""

    kind: Literal["package"] = "package"
    name: Name
    package: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[^\s=]+$", max_length=200)]
    """`name==version`."""
    record_sha256: Sha256 | None
    """Digest of the distribution's RECORD file, which lists every installed file's digest."""
    commit: Commit | None
    """The commit it was built from, where its metadata says."""


Source = Annotated[GitSource | PackageSource, Field(discriminator="kind")]


class Provenance(Model):
    """How the run was started: enough to start it again."""

    argv: Annotated[tuple[Argument, ...], Field(min_length=1)]
    """The command as run, program first."""
    directory: RelativePath
    """Working directory, relative to the repository's root."""
    variables: tuple[Setting, ...]
    """Allow-listed environment variables that were set."""
    runner: Name
    runner_version: Name
    seed: int
    source: Name
    """Name of the source the harness itself came from."""


class Origin(Captured):
    """The foreign file an imported record was read from."""

    format: Name
    tool: Name
    tool_version: Name | None
    url: Text | None
    file: RelativePath
    """The artifact that holds the original bytes."""
    measured_at: UtcTime | None
    """Null where the file gives no time, or one without a zone."""
