"""Owns how profiles get into a record: beside its cells before it is saved, for a saved record never changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.profile.summaries import Taken
from evidence.schema import Record, Unavailable

PROFILE = "profile"
"""How a record calls the profile that it does not have."""


def attach(record: Record, found: Sequence[Taken | Unavailable]) -> tuple[Record, Mapping[str, bytes]]:
    """Return the record with what was profiled and what could not be, and the bytes of its new artifacts.

    Where anything was asked for, the note that none was taken goes; what could not be taken says why instead.
    """
    taken = [one for one in found if isinstance(one, Taken)]
    lacking = [one for one in found if isinstance(one, Unavailable)]
    noted = [one for one in record.unavailable if not (found and one.what == PROFILE)]
    changes = {
        "profiles": (*record.profiles, *(one.profile for one in taken)),
        "artifacts": (*record.artifacts, *(one.artifact for one in taken)),
        "unavailable": (*noted, *lacking),
    }
    return record.model_copy(update=changes), {one.artifact.path: one.content for one in taken}
