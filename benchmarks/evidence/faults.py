"""Owns the faults that are planted in a small synthetic project, each with the rule that has to find it, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence.projects import CLAIMS, LOGS, write_store
from benchmarks.evidence.records import GATE_LOG, log_of
from evidence import ledger
from evidence.schema import DeviceConditions, GitSource, Record, Samples, Timed
from evidence.store import RECORD_NAME

_LAST_DIGIT = re.compile(r"(\d)(?=\])")
_OTHER_DIGEST = "f" * 64


@dataclass(frozen=True, slots=True)
class Planted:
    """One fault, and what has to be found of it: a rule, at a file of the project."""

    what: str
    code: str
    path: str


@dataclass(frozen=True, slots=True)
class _Spoilt:
    """A fault of a record, planted before its digest enters the ledger: a run that was bad, honestly recorded."""

    what: str
    code: str
    change: Callable[[Record], Record]


@dataclass(frozen=True, slots=True)
class _Tampered:
    """A fault of files, planted after the ledger was committed: evidence that somebody touched."""

    what: str
    code: str
    act: Callable[[Path, str], str]
    """From the project and a log to the file, below the project, where the rule points."""


def plant(root: Path, seed: int) -> tuple[Planted, ...]:
    """Write a small project of the same records as `write_store` makes, with every fault in a log of its own."""
    spoilt = {4 * place: fault for place, fault in enumerate(_SPOILT)}
    # Every fourth record has an artifact, which the faults of files may be about.
    tampered = {4 * (len(_SPOILT) + place): fault for place, fault in enumerate(_TAMPERED)}
    records = 4 * (len(_SPOILT) + len(_TAMPERED))
    write_store(root, records, seed, {index: fault.change for index, fault in spoilt.items()})
    found = [
        Planted(fault.what, fault.code, f"{LOGS}/{log_of(index)}/{RECORD_NAME}") for index, fault in spoilt.items()
    ]
    found += [Planted(fault.what, fault.code, fault.act(root, log_of(index))) for index, fault in tampered.items()]
    return tuple(found)


def edit_digit(root: Path, log: str) -> str:
    """Change the last digit of the first column of samples of a log, and return the file."""
    path = root / LOGS / log / RECORD_NAME
    text = path.read_text(encoding="utf-8")
    start = text.index('"values": [')
    edited = text[:start] + _LAST_DIGIT.sub(lambda match: "3" if match[1] == "7" else "7", text[start:], count=1)
    path.write_text(edited, encoding="utf-8")
    return path.relative_to(root).as_posix()


def _remove_artifact(root: Path, log: str) -> str:
    (root / LOGS / log / GATE_LOG).unlink()
    return f"{LOGS}/{log}/{RECORD_NAME}"


def _edit_artifact(root: Path, log: str) -> str:
    path = root / LOGS / log / GATE_LOG
    path.write_text(path.read_text(encoding="utf-8").replace("passed", "failed", 1), encoding="utf-8")
    return path.relative_to(root).as_posix()


def _edit_ledger(root: Path, log: str) -> str:
    path = root / LOGS / ledger.FILE_NAME
    lines = ledger.read(path.parent)
    lines[f"{log}/{GATE_LOG}"] = _OTHER_DIGEST
    path.write_text(ledger.dump(lines), encoding="utf-8")
    return path.relative_to(root).as_posix()


def _forget_key(root: Path, log: str) -> str:
    path = root / LOGS / log / RECORD_NAME
    path.write_text(path.read_text(encoding="utf-8").replace('"axes"', '"axis"', 1), encoding="utf-8")
    return path.relative_to(root).as_posix()


def _contradict(root: Path, log: str) -> str:
    path = root / CLAIMS
    path.write_text(path.read_text(encoding="utf-8").replace("expect: better", "expect: worse", 1), encoding="utf-8")
    return CLAIMS


def _call_nothing(root: Path, log: str) -> str:
    path = root / "docs/index.md"
    path.write_text(f'{path.read_text(encoding="utf-8")}\n{{{{ ev.claim("claim-of-nothing") }}}}\n', encoding="utf-8")
    return path.relative_to(root).as_posix()


def _dirty(made: Record) -> Record:
    sources = tuple(
        source.model_copy(update={"tree_sha256": _OTHER_DIGEST}) if isinstance(source, GitSource) else source
        for source in made.sources
    )
    return made.model_copy(update={"sources": sources})


def _unknown_commit(made: Record) -> Record:
    sources = tuple(
        source.model_copy(update={"commit": "f" * 40}) if isinstance(source, GitSource) else source
        for source in made.sources
    )
    return made.model_copy(update={"sources": sources})


def _shared(made: Record) -> Record:
    conditions = tuple(
        columns.model_copy(update={"foreign_processes": (1,) * len(columns.at_s)})
        if isinstance(columns, DeviceConditions)
        else columns
        for columns in made.conditions
    )
    return made.model_copy(update={"conditions": conditions})


def _private(made: Record) -> Record:
    return made.model_copy(update={"limitations": ("its weights lay in /home/somebody/weights",)})


def _few_processes(made: Record) -> Record:
    return _with_cells(made, lambda cell: cell.model_copy(update={"processes": cell.processes[:3]}))


def _compiled(made: Record) -> Record:
    def compiled(cell: Timed) -> Timed:
        processes = tuple(one.model_copy(update={"compilations": 2}) for one in cell.processes)
        return cell.model_copy(update={"processes": processes})

    return _with_cells(made, compiled)


def _too_fast(made: Record) -> Record:
    """Divide every time by so much that no host or device clock could have told it."""

    def shrunk(cell: Timed) -> Timed:
        processes = tuple(
            one.model_copy(update={"samples": tuple(map(_shrunk, one.samples))}) for one in cell.processes
        )
        return cell.model_copy(update={"processes": processes})

    return _with_cells(made, shrunk)


def _shrunk(column: Samples) -> Samples:
    return column.model_copy(update={"values": tuple(value / 1000 for value in column.values)})


def _with_cells(made: Record, change: Callable[[Timed], Timed]) -> Record:
    cells = tuple(change(cell) if isinstance(cell, Timed) else cell for cell in made.cells)
    return made.model_copy(update={"cells": cells})


_SPOILT = (
    _Spoilt("a work tree that was not committed", "EV105", _dirty),
    _Spoilt("a commit that is in no history", "EV106", _unknown_commit),
    _Spoilt("a device that others used", "EV109", _shared),
    _Spoilt("a home directory", "EV113", _private),
    _Spoilt("too few processes", "EV201", _few_processes),
    _Spoilt("times below the timer's floor", "EV208", _too_fast),
    _Spoilt("compilations while the clock ran", "EV211", _compiled),
)
_TAMPERED = (
    _Tampered("an edited digit", "EV005", edit_digit),
    _Tampered("a removed artifact", "EV007", _remove_artifact),
    _Tampered("an edited artifact", "EV005", _edit_artifact),
    _Tampered("a rewritten line of the ledger", "EV006", _edit_ledger),
    _Tampered("a renamed key", "EV001", _forget_key),
    _Tampered("a claim that its log contradicts", "EV602", _contradict),
    _Tampered("a call of a claim that is not there", "EV702", _call_nothing),
)
