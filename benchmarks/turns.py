"""Owns turns: sessions of one machine that measure one after the other, while what they import and compile overlaps.

Two sessions at once disturb each other. A session that takes turns prepares, then waits until no other one measures.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

_NAME = "evidence-turn"


def lock_path() -> Path:
    """Return the file that this user's sessions lock on this machine, whichever work tree they run in."""
    return Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}.lock"


@contextlib.contextmanager
def turn(path: Path | None = None) -> Iterator[None]:
    """Wait for the turn and hold it; whoever holds it and dies gives it up, since the kernel unlocks its file."""
    descriptor = os.open(path or lock_path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # A fork of this process shares the lock; unlocking ends it for both.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
