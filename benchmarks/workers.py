"""Owns worker processes: started in a group of their own, heard with a time limit, and killed however the run ends.

How one starts is a `Start`: `spawned` here, or a nursery's fork.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn, Protocol, Self

import psutil
from pydantic import ValidationError

from benchmarks.protocol import GO, MESSAGE, Cause, Job, Message
from evidence.errors import EvidenceError

_LAST_WORDS_BYTES = 4000
_GRACE_S = 10.0
DEADLINE = "the deadline of its session"


class WorkerError(EvidenceError):
    """A worker died, fell silent, or said something that is no message."""

    def __init__(self, cause: Cause, message: str) -> None:
        """Keep the cause as a Crashed cell wants it."""
        super().__init__(message)
        self.cause: Cause = cause


class Running(Protocol):
    """A process that leads a group of its own."""

    pid: int

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code, or raise TimeoutExpired, both as subprocess does."""


Start = Callable[[int, int, int], Running]
"""Starts a process on these descriptors, its stdin, stdout and stderr."""


def spawned(command: Sequence[str], *, root: Path, environment: Mapping[str, str]) -> Start:
    """Return how to start a fresh process of a command."""

    def start(stdin: int, stdout: int, stderr: int) -> Running:
        return subprocess.Popen(
            list(command),
            cwd=root,
            env=dict(environment),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )

    return start


class Worker:
    """One worker process with its job; a context manager that leaves nothing of its process group behind."""

    def __init__(self, start: Start, job: Job, *, timeout_s: float, ends_by_s: float = math.inf) -> None:
        """Say how to start it, on entering the context; `ends_by_s` of `time.monotonic()` is the last it may speak."""
        self._start, self._job, self._timeout_s, self._ends_by_s = start, job, timeout_s, ends_by_s
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        """Start the process and hand it its job.

        Raises:
            WorkerError: it cannot be started.
        """
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self._stdin = os.fdopen(ours_in, "w", encoding="utf-8")
        self._stdout = os.fdopen(ours_out, encoding="utf-8")
        self._stderr = tempfile.TemporaryFile()
        try:
            self._process = self._start(theirs_in, theirs_out, self._stderr.fileno())
        except BaseException:
            self._stdout.close()
            self._close()
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        # A job can be longer than a pipe holds, and a worker that hangs while it starts reads none of it.
        self._sender = threading.Thread(target=self._send, args=(self._job.model_dump_json(),), daemon=True)
        self._sender.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let a worker that is done end by itself, and kill its group in any case."""
        if kind is None:
            self._ended()
        self._kill()
        self._listener.join(_GRACE_S)
        self._sender.join(_GRACE_S)
        self._close()

    def _close(self) -> None:
        for stream in (self._stdin, self._stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def process_ids(self) -> tuple[int, ...]:
        """Return the process and its descendants."""
        try:
            worker = psutil.Process(self._process.pid)
            return (worker.pid, *(child.pid for child in worker.children(recursive=True)))
        except psutil.Error:
            return (self._process.pid,)

    def go(self) -> None:
        """Let the worker begin what it is ready for."""
        self._send(GO)

    def interrupt(self) -> None:
        """Kill it while another thread listens, which hears of it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def hear(self) -> Message:
        """Return the worker's next message.

        Raises:
            WorkerError: it died, was silent for the time limit, or said something else; it is dead now.
        """
        left_s = self._ends_by_s - time.monotonic()
        try:
            line = self._lines.get(timeout=max(0.0, min(self._timeout_s, left_s)))
        except queue.Empty:
            self._kill()
            silent = f"silent for {self._timeout_s:g} s"
            raise WorkerError("timeout", silent if self._timeout_s <= left_s else f"silent until {DEADLINE}") from None
        if line is None:
            raise WorkerError("error", self._last_words(self._ended()))
        try:
            return MESSAGE.validate_json(line)
        except ValidationError:
            self._kill()
            raise WorkerError("error", f"the worker said what is no message: {line[:200]!r}") from None

    def _send(self, line: str) -> None:
        """Write one line; a worker that is gone is noticed when it is next listened to."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(line + "\n")
            self._stdin.flush()

    def _listen(self) -> None:
        # What left the worker's group can hold its stdout open: whoever else closed it here would wait for that.
        with self._stdout:
            for line in self._stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _ended(self) -> int | None:
        """Return its exit code, or None if it does not end, which a driver can keep even what was killed from."""
        try:
            return self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            return None

    def _kill(self) -> None:
        self.interrupt()
        self._ended()

    def _last_words(self, code: int | None) -> str:
        """Return how it ended and the last line it wrote."""
        if code is None:
            return "it closed its stdout and did not end"
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        if code == -signal.SIGKILL:
            how += ", as by an out-of-memory killer"
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _LAST_WORDS_BYTES))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return f"{how}: {lines[-1]}" if lines else how


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Turn a polite request to end into an exception, so that workers are killed on the way out."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    try:
        previous = signal.signal(signal.SIGTERM, leave)
    except ValueError:
        # Only the main thread may set handlers; elsewhere the caller answers for signals.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
