"""Owns which macros there are and what each takes: the check reads calls against it, the build runs calls by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evidence.errors import EvidenceError, UnknownNameError

Reference = Literal["item", "claim", "table", "figure", "log", "nothing"]
"""What the first argument names."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One macro: its parameters in order, those that may be left out, and what its result is on the page."""

    name: str
    parameters: tuple[str, ...]
    optional: tuple[str, ...]
    refers: Reference
    is_block: bool
    """It stands alone on its line; the others stand in running text."""

    def bind(self, arguments: Iterable[str], keywords: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Give each argument its parameter, as Python would.

        Raises:
            EvidenceError: one is missing, one is too many, or one is unknown.
        """
        given = list(arguments)
        bound = dict(zip(self.parameters, given, strict=False))
        for key, text in keywords:
            if key not in self.parameters or key in bound:
                raise EvidenceError(f"ev.{self.name} takes no {key!r} here", fix=f"write {self}")
            bound[key] = text
        missing = [name for name in self.parameters if not bound.get(name) and name not in self.optional]
        if missing or len(given) > len(self.parameters):
            fault = f"needs {missing[0]!r}" if missing else f"takes {len(self.parameters)} arguments at most"
            raise EvidenceError(f"ev.{self.name} {fault}", fix=f"write {self}")
        return bound

    def __str__(self) -> str:
        """Write the call as an author would."""
        shown = [
            f'{name}="…"' if name not in ("id", "field", "value", "log") else f'"{name}"' for name in self.parameters
        ]
        return f"{{{{ ev.{self.name}({', '.join(shown)}) }}}}"


SIGNATURES = {
    signature.name: signature
    for signature in (
        Signature("table", ("id",), (), "table", is_block=True),
        Signature("claim", ("id",), (), "claim", is_block=True),
        Signature("says", ("id",), (), "claim", is_block=False),
        Signature("value", ("id", "field"), (), "claim", is_block=False),
        Signature("diagnostic", ("id", "field"), (), "claim", is_block=False),
        Signature("figure", ("id",), (), "figure", is_block=True),
        Signature("chart", ("id", "kind"), ("kind",), "table", is_block=True),
        Signature("roofline", ("id", "ceilings"), ("ceilings",), "table", is_block=True),
        Signature("history", ("id",), (), "claim", is_block=True),
        Signature("environment", ("log",), (), "log", is_block=True),
        Signature("reproduce", ("id",), (), "item", is_block=True),
        Signature("status", (), (), "nothing", is_block=True),
        Signature("external", ("value", "source"), (), "nothing", is_block=False),
        Signature("spec", ("value", "device"), (), "nothing", is_block=False),
        Signature("target", ("value",), (), "nothing", is_block=False),
    )
}


def signature_of(macro: str) -> Signature:
    """Return a macro's signature.

    Raises:
        UnknownNameError: there is no such macro.
    """
    if macro not in SIGNATURES:
        raise UnknownNameError("macro", f"ev.{macro}", (f"ev.{name}" for name in SIGNATURES))
    return SIGNATURES[macro]
