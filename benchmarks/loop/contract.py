"""Owns the task contract: what is to be faster, against what, on which machine, and what must not be touched for it.

It is written before any code and never changed; every row of the journal names its digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from benchmarks.loop.reasons import LoopError, Reason
from evidence.ledger import digest_of
from evidence.repository import Repository
from evidence.schema.base import (
    Argument,
    Commit,
    Model,
    Name,
    PositiveAmount,
    PositiveCount,
    RelativePath,
    Sha256,
    Text,
    require_unique,
)

Direction = Literal["forward", "backward", "forward-backward"]
FOLDER = "docs/loops"
"""Where loops lie: below docs, so that a row does not dirty the source that it is about."""
FILE_NAME = "contract.json"
OWN_TREE = "repository"
"""The baseline is code of the tree that is measured."""


class Frozen(Model):
    """One file that no iteration may change."""

    path: RelativePath
    sha256: Sha256


class Bucket(Model):
    """Shapes that one entry point serves: a row of the dispatch table."""

    condition: Text
    """As a caller would test it, such as `T >= 16384`."""
    workloads: Annotated[tuple[Name, ...], Field(min_length=1)]


class Accepted(Model):
    """A guard that may get worse, and why."""

    guard: Name
    """A workload, or a guard metric such as peak_memory."""
    reason: Text


class MechanismClaim(Model):
    """What is expected to move if the change works as meant, and in which kernel."""

    kernel: Name
    """Part of the name of the changed kernel: the one with the most time."""
    metric: Name
    """A counter of a profile, or `bandwidth` or `flop_rate`, read as a share of the device's peak."""
    moves: Literal["up", "down"]


class Criteria(Model):
    """What a promotion asks beside what it always asks."""

    target_speedup: Annotated[float, Field(gt=1)]
    sessions: Annotated[int, Field(ge=2)]
    """Sessions of one source in which the candidate must be faster."""
    frozen_tests: bool
    """Whether each cell must hold the outcome of the op's frozen test files beside the numeric gate."""
    mutants_killed: Annotated[float, Field(ge=0, le=1)]
    """Least share of mutants that the gate must refuse; 0: not asked."""
    accepted: tuple[Accepted, ...]
    mechanism: MechanismClaim


class Contract(Model):
    """One task."""

    task: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,60}$")]
    op: Name
    entry_point: Name
    """`module:attribute` of the candidate."""
    baseline_entry_point: Name
    candidate: Name
    """The arm that iterations change."""
    baseline: Name
    """The arm it is compared with."""
    baseline_source: Name
    """Git ref, `name==version`, or `repository`: code of this tree, whose file is frozen."""
    baseline_commit: Commit | None
    """What a git ref named when the loop started; null: it is none. An author leaves it out."""
    hardware: Name
    """Device as a record names it."""
    language: Name
    backend: Name
    workloads: Annotated[tuple[Name, ...], Field(min_length=1)]
    """The targets, by the names that records give them."""
    guards: tuple[Name, ...]
    modes: Annotated[tuple[Direction, ...], Field(min_length=1)]
    validation: tuple[Argument, ...]
    """Command that must end with 0 before anything is measured; empty: the measuring command gates by itself."""
    benchmark: Annotated[tuple[Argument, ...], Field(min_length=1)]
    """Command that gates, measures and adds a record to the store."""
    logs: RelativePath
    frozen: Annotated[tuple[Frozen, ...], Field(min_length=1)]
    cap: PositiveCount
    """Measured iterations at most."""
    floor_share: Annotated[PositiveAmount, Field(le=1)] | None
    """Share of the roofline at which nothing is left to gain; null: no such end."""
    buckets: tuple[Bucket, ...]
    criteria: Criteria

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for what, names in (("workloads", (*self.workloads, *self.guards)), ("modes", self.modes)):
            require_unique(what, names)
        require_unique("frozen files", (one.path for one in self.frozen))
        known = {*self.workloads, *self.guards}
        for bucket in self.buckets:
            if unknown := sorted(set(bucket.workloads) - known):
                raise ValueError(f"bucket {bucket.condition!r}: {unknown[0]!r} is neither target nor guard")
        if self.candidate == self.baseline:
            raise ValueError("the candidate is its own baseline")
        return self

    @property
    def folder(self) -> str:
        """Where the contract and its journal lie, from the repository's root."""
        return f"{FOLDER}/{self.task}"


def dump(contract: Contract) -> bytes:
    """Return the text of a contract, the same for the same contract."""
    return (contract.model_dump_json(indent=1) + "\n").encode()


def digest(contract: Contract) -> str:
    """Return the sha256 of its text."""
    return hashlib.sha256(dump(contract)).hexdigest()


def draft(path: Path, root: Path) -> Contract:
    """Read a contract as an author writes it, in JSON: `frozen` lists paths alone, which are digested now.

    Raises:
        LoopError: it is no contract, or a frozen file is not there.
    """
    import json

    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise LoopError(Reason.USAGE, f"{path}: {error}") from None
    if isinstance(document, dict) and isinstance(document.get("frozen"), list):
        document["frozen"] = [_hashed(entry, root) for entry in document["frozen"]]
    if isinstance(document, dict):
        document.setdefault("baseline_commit", _baseline_commit(document.get("baseline_source"), root))
    return _validated(json.dumps(document).encode(), path)


def _baseline_commit(source: object, root: Path) -> str | None:
    """Return the commit that a baseline is, so that a tag that moves later changes nothing."""
    if not isinstance(source, str) or "==" in source or source == OWN_TREE:
        return None
    repository = Repository.find(root)
    return repository.resolve(source) if repository is not None else None


def read(path: Path) -> Contract:
    """Read a contract that was started.

    Raises:
        LoopError: it is not there, or not as it was written.
    """
    try:
        data = path.read_bytes()
    except OSError:
        raise LoopError(Reason.USAGE, f"no contract at {path}", fix="python -m benchmarks.loop start DRAFT") from None
    made = _validated(data, path)
    if dump(made) != data:
        raise LoopError(Reason.EDITED_ROW, f"{path} is not as it was written", fix="restore it from git")
    return made


def _validated(data: bytes, path: Path) -> Contract:
    try:
        return Contract.model_validate_json(data)
    except ValidationError as error:
        one = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(map(str, one["loc"])) or "contract"
        raise LoopError(Reason.USAGE, f"{path}: {place}: {one['msg']}") from None


def _hashed(entry: object, root: Path) -> object:
    if not isinstance(entry, str):
        return entry
    file = root / entry
    if not file.is_file():
        raise LoopError(Reason.USAGE, f"no file {entry} to freeze")
    return {"path": entry, "sha256": digest_of(file)}


def changed(contract: Contract, root: Path) -> Sequence[str]:
    """Return the frozen files that are not as they were."""
    return [
        one.path
        for one in contract.frozen
        if not (root / one.path).is_file() or digest_of(root / one.path) != one.sha256
    ]
