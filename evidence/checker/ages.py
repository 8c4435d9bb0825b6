"""Owns how old evidence may be: days, and commits on the measured paths, for all logs or for a class of them.

```toml
[tool.evidence.maximum_age]
days = 180
commits = 50
classes = [{series = "evidence/", days = 30}, {status = "historical", days = "unlimited", commits = "unlimited"}]
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evidence.errors import ProjectError, nearest
from evidence.schema.claims import Status

UNLIMITED = "unlimited"
STATUSES = tuple(Status.model_fields)

_LIMITS = ("days", "commits")
_SELECTORS = ("series", "status")


class Limits(NamedTuple):
    """The most days and commits a log may be old; None: as old as it likes."""

    days: int | None = None
    commits: int | None = None


class AgeClass(NamedTuple):
    """Limits for the logs of series that begin with a text, or that have a status, or both."""

    series: str
    status: str
    limits: Limits

    def covers(self, series: str, status: Status | None) -> bool:
        """Whether a log of a series, shown with a status, is of this class."""
        has_status = not self.status or (status is not None and getattr(status, self.status) is not None)
        return has_status and series.startswith(self.series)


class Ages(NamedTuple):
    """The policy of a project. What is kept for its history has no age unless a class gives it one."""

    limits: Limits = Limits()
    classes: tuple[AgeClass, ...] = ()

    def of(self, series: str, status: Status | None) -> Limits:
        """Return the limits of a log: those of the first class that covers it, else the general ones."""
        for one in self.classes:
            if one.covers(series, status):
                return one.limits
        return Limits() if status is not None and status.historical is not None else self.limits

    @property
    def is_empty(self) -> bool:
        """Whether nothing is limited."""
        return all(one == Limits() for one in (self.limits, *(one.limits for one in self.classes)))


def read_ages(where: str, value: object) -> Ages:
    """Read the setting `maximum_age`; `where` names its file.

    Raises:
        ProjectError: it is not of the documented form.
    """
    if value is None:
        return Ages()
    table = _mapping(f"{where}: maximum_age", value, (*_LIMITS, "classes"))
    general = _limits(f"{where}: maximum_age", table, Limits())
    classes = table.get("classes", [])
    if not isinstance(classes, list):
        raise ProjectError(
            f"{where}: maximum_age.classes is not a list", fix='write classes = [{series = "cpu/", days = 30}]'
        )
    return Ages(
        general, tuple(_class(f"{where}: maximum_age.classes[{n}]", one, general) for n, one in enumerate(classes))
    )


def _class(where: str, value: object, general: Limits) -> AgeClass:
    table = _mapping(where, value, (*_LIMITS, *_SELECTORS))
    texts = {key: table.get(key, "") for key in _SELECTORS}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise ProjectError(f"{where}: {key} is not text", fix=f'write {key} = "…"')
    if not any(texts.values()):
        raise ProjectError(
            f"{where} names neither series nor status", fix='write series = "kernels/" or status = "historical"'
        )
    series, status = str(texts["series"]), str(texts["status"])
    if status and status not in STATUSES:
        hint = nearest(status, STATUSES)
        fix = f"did you mean {hint!r}?" if hint else f"one of {', '.join(STATUSES)}"
        raise ProjectError(f"{where}: no status {status!r}", fix=fix)
    return AgeClass(series, status, _limits(where, table, general))


def _limits(where: str, table: Mapping[str, object], general: Limits) -> Limits:
    found: dict[str, int | None] = {}
    for key in _LIMITS:
        value = table.get(key, getattr(general, key))
        if value == UNLIMITED:
            value = None
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ProjectError(
                f"{where}: {key} is no number of {key}", fix=f'write {key} = 180, or {key} = "{UNLIMITED}"'
            )
        found[key] = value
    return Limits(**found)


def _mapping(where: str, value: object, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ProjectError(f"{where} is not a table", fix="write maximum_age = {days = 180, commits = 50}")
    for key in value:
        if key not in known:
            hint = nearest(key, known)
            raise ProjectError(
                f"{where}: unknown key {key!r}", fix=f"did you mean {hint!r}?" if hint else f"keys: {', '.join(known)}"
            )
    return value
