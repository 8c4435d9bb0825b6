"""Owns the least that can be done with a store: read each record's bytes and let its model validate them.

`python -m benchmarks.evidence.validate ROOT` prints how many it loaded. Like the check, it looks for no cycles while it
does so: that would cost a third more, and records hold none. Nothing is kept, digested or looked at.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.evidence.projects import LOGS
from evidence.schema import Record
from evidence.store import RECORD_NAME


def record_files(root: Path) -> Iterator[str]:
    """Yield the path of every record of a project."""
    for folder, _, names in os.walk(root / LOGS):
        if RECORD_NAME in names:
            yield f"{folder}/{RECORD_NAME}"


def main() -> int:
    """Load every record and print how many there are."""
    gc.disable()
    count = 0
    for path in record_files(Path(sys.argv[1])):
        with open(path, "rb") as stream:  # noqa: PTH123 - the least that can be done
            Record.model_validate_json(stream.read())
        count += 1
    sys.stdout.write(f"{count} records\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
