"""Owns how records of older schema versions become current ones: one function a version, applied in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evidence.errors import UnknownVersionError
from evidence.schema.record import SCHEMA_VERSION

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Version -> function that turns a document of it into one of the next version. Version 1 is the first."""


def migrate(document: dict[str, Any]) -> dict[str, Any]:
    """Bring a document to the current schema version.

    Raises:
        UnknownVersionError: the version is absent, not a number, or newer than this package.
    """
    version = document.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= SCHEMA_VERSION:
        raise UnknownVersionError(
            f"schema_version is {version!r:.80}, this package reads 1 to {SCHEMA_VERSION}",
            pointer="/schema_version",
            fix="upgrade perf-evidence, or write the record with a version it knows",
        )
    for step in range(version, SCHEMA_VERSION):
        document = MIGRATIONS[step](document)
    return document
