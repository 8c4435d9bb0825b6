"""Errors carry the message and the one thing to do apart, and a wrong name names the nearest."""

from __future__ import annotations

import inspect

import pytest

from evidence import errors
from evidence.errors import (
    DuplicateNameError,
    EvidenceError,
    ItemError,
    LedgerError,
    RecordError,
    UnknownNameError,
    UnknownVersionError,
    nearest,
)


def test_every_error_is_one_of_the_package_and_stands_in_the_tree() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    assert errors.__doc__ is not None
    for kind in kinds:
        assert issubclass(kind, EvidenceError)
        assert kind.__name__ in errors.__doc__


def test_message_and_fix_are_kept_apart() -> None:
    error = EvidenceError("what", fix="do this")
    assert (str(error), error.message, error.fix) == ("what", "what", "do this")
    assert EvidenceError("what").fix == ""


def test_errors_carry_their_place() -> None:
    record = RecordError("what", pointer="/cells/0", line=7, fix="restore")
    assert (record.pointer, record.line, record.fix) == ("/cells/0", 7, "restore")
    assert isinstance(UnknownVersionError("what"), RecordError)
    assert LedgerError("what", line=3).line == 3
    item = ItemError("EV602", "what", "also", "latency", fix="reread")
    assert (item.code, item.parts, item.fix) == ("EV602", ("also", "latency"), "reread")


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("walltime", ("wall_time", "latency"), "wall_time"),
        ("wall_time", ("latency", "ttft"), None),
        ("x", (), None),
        ("", ("a",), None),
    ],
)
def test_the_nearest_name(name: str, known: tuple[str, ...], found: str | None) -> None:
    assert nearest(name, known) == found


def test_an_unknown_name_lists_what_there_is_and_stops_at_twelve() -> None:
    error = UnknownNameError("metric", "walltime", ("wall_time", "latency"))
    assert (error.kind, error.name, error.known) == ("metric", "walltime", ("latency", "wall_time"))
    assert error.message == "no metric 'walltime'"
    assert error.fix == "did you mean 'wall_time'? known: latency, wall_time"
    many = UnknownNameError("log", "?", (f"log{index:02}" for index in range(20)))
    assert many.fix.endswith("log11, …")
    assert UnknownNameError("log", "?", ()).fix == "known: none"


def test_two_of_one_name_name_both_places() -> None:
    error = DuplicateNameError("op", "gla", ("a.py", "b.py"))
    assert error.message == "two ops are named 'gla': a.py, b.py"
    assert error.places == ("a.py", "b.py")
