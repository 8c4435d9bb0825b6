"""Owns reading fields one by one, so that what cannot be read is null with its reason and costs no other field."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evidence.schema import Missing


class UnreadableError(Exception):
    """A field that cannot be read here; the text is the reason a record gives."""


def read_fields(
    readers: Mapping[str, Callable[[], object]], *expected: type[Exception]
) -> tuple[dict[str, object], tuple[Missing, ...]]:
    """Call each reader; one that raises, or returns nothing, leaves None and its reason.

    `expected` are errors of the library read from, besides those of the system and of a function that is not there.
    """
    values: dict[str, object] = {}
    missing: list[Missing] = []
    known: tuple[type[Exception], ...] = (UnreadableError, OSError, AttributeError, ValueError, *expected)
    for name, reader in readers.items():
        try:
            values[name] = reader()
            reason = "not reported" if values[name] is None else ""
        except known as error:
            values[name] = None
            reason = _reason(error)
        if reason:
            missing.append(Missing(field=name, reason=reason))
    return values, tuple(missing)


def _reason(error: Exception) -> str:
    """Return why, without the path that an OSError's own text would name."""
    text = (error.strerror or "") if isinstance(error, OSError) else str(error)
    return text or type(error).__name__
