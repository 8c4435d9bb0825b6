"""Owns turns: sessions of one machine that measure one after the other, while what they import and compile overlaps.

Two sessions at once disturb each other. A session that takes turns prepares, then waits until no other one measures.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_NAME = "evidence-turn"
_POLL_S = 0.1


def lock_path() -> Path:
    """Return the file that this user's sessions lock on this machine, whichever work tree they run in."""
    return Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}.lock"


@contextlib.contextmanager
def turn(
    path: Path | None = None, *, ends_by_s: float = math.inf, waiting: Callable[[], None] | None = None
) -> Iterator[bool]:
    """Wait for the turn and hold it; whoever holds it and dies gives it up, since the kernel unlocks its file.

    Yields whether the turn came by `ends_by_s`, of `time.monotonic()`. `waiting` is called once if it is not free.
    """
    descriptor = os.open(path or lock_path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        is_mine = _is_taken(descriptor)
        if not is_mine and waiting is not None:
            waiting()
        while not is_mine and time.monotonic() < ends_by_s:
            time.sleep(_POLL_S)
            is_mine = _is_taken(descriptor)
        yield is_mine
    finally:
        # A fork of this process shares the lock; unlocking ends it for both.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _is_taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
