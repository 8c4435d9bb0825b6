"""Owns how random records are drawn: sound ones from the factories, broken ones by mutation."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from evidence.schema import (
    Discard,
    FrozenPath,
    Record,
    Samples,
    Setting,
    Superseded,
    Timed,
    Tolerance,
    Unavailable,
    Work,
)
from tests.evidence.schema.documents import BASES, document, encoded, text_of
from tests.factories import DIGEST, engine_record, imported_record, outcomes_record, record

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)
AMOUNTS = st.floats(0, allow_nan=False, allow_infinity=False)
DURATIONS = st.floats(0, exclude_min=True, allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 2**63)
SETTINGS = st.builds(Setting, name=NAMES, value=TEXTS)


@functools.cache
def _bases() -> tuple[Record, ...]:
    return tuple(made() for made in (record, outcomes_record, engine_record, imported_record))


def _several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


def _unique(strategy: st.SearchStrategy[Any], key: Callable[[Any], str]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3, unique_by=key).map(tuple)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A sound record: one of the factories' with what is free drawn anew."""
    base = draw(st.sampled_from(_bases()))
    changes: dict[str, Any] = {
        "limitations": draw(_several(TEXTS)),
        "unavailable": draw(_several(st.builds(Unavailable, what=NAMES, reason=TEXTS))),
        "supersedes": draw(_several(st.builds(Superseded, log=NAMES, sha256=st.just(DIGEST), reason=TEXTS))),
        "started_at": base.started_at.replace(microsecond=draw(st.integers(0, 999_999))),
        "gates": tuple(
            gate.model_copy(
                update={
                    "command": draw(_several(TEXTS)),
                    "variables": draw(_several(SETTINGS)),
                    "frozen": draw(_several(st.just(FrozenPath(path="tests/test_ops.py", sha256=DIGEST)))),
                    "tolerances": (*gate.tolerances[:1], Tolerance(of="rms", limit=draw(AMOUNTS))),
                }
            )
            for gate in base.gates
        ),
        "cells": tuple(draw(_cell(cell)) if isinstance(cell, Timed) else cell for cell in base.cells),
    }
    if base.provenance is not None:
        argv = draw(st.lists(TEXTS | st.just(""), min_size=1, max_size=4).map(tuple))
        seed = draw(st.integers(-(2**63), 2**63))
        changes["provenance"] = base.provenance.model_copy(update={"argv": argv, "seed": seed})
    return base.model_copy(update=changes)


@st.composite
def _cell(draw: st.DrawFn, cell: Timed) -> Timed:
    processes = []
    for process in cell.processes[: draw(st.integers(1, 3))]:
        columns = tuple(
            Samples(metric=column.metric, rank=0, values=tuple(draw(DURATIONS) for _ in column.values[:3]))
            for column in process.samples
        )
        work = draw(
            _unique(
                st.builds(Work, of=st.sampled_from(("steps", "requests")), count=COUNTS.map(lambda n: n + 1)),
                lambda w: w.of,
            )
        )
        update = {
            "samples": columns,
            "work": () if process.requests is not None else work,
            "compilations": draw(st.none() | COUNTS),
            "client_cpu_s": draw(st.none() | AMOUNTS),
        }
        processes.append(process.model_copy(update=update))
    discards = draw(_several(st.builds(Discard, process=COUNTS, reason=TEXTS)))
    return cell.model_copy(
        update={"processes": tuple(processes), "ran": draw(_several(SETTINGS)), "discards": discards}
    )


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=8)


@st.composite
def broken_documents(draw: st.DrawFn) -> bytes:
    """A sound record with one to three values replaced by any JSON, dropped, doubled or swapped."""
    found = document(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = _somewhere(draw, found)
        match draw(st.sampled_from(("any", "drop", "double", "swap"))):
            case "drop":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(holder[key])
            case "swap":
                other, its = _somewhere(draw, found)
                holder[key] = copy.deepcopy(other[its])
            case _:
                holder[key] = draw(JSON)
    return encoded(found)


def _somewhere(draw: st.DrawFn, document: Any) -> tuple[Any, Any]:
    """Walk down a random way to a container that holds something."""
    here = document
    while True:
        keys = list(range(len(here))) if isinstance(here, list) else list(here)
        key = draw(st.sampled_from(keys[:40]))
        child = here[key]
        if not isinstance(child, dict | list) or not child or draw(st.integers(0, 4)) == 0:
            return here, key
        here = child


@st.composite
def broken_bytes(draw: st.DrawFn) -> bytes:
    """The bytes of a sound record with a few cut, doubled or replaced."""
    data = bytearray(text_of(draw(st.sampled_from(BASES))))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data) - 1))
        end = min(len(data), start + draw(st.integers(0, 8)))
        data[start:end] = draw(
            st.binary(max_size=4) | st.sampled_from([b"", b"null", b"NaN", b"1e999", b"{", b'"', b"-"])
        )
    return bytes(data)
