"""Owns worker processes: started in a group of their own, heard with a time limit, and killed however the run ends."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
from pydantic import ValidationError

from benchmarks.protocol import GO, MESSAGE, Cause, Job, Message
from evidence.errors import EvidenceError

_LAST_WORDS_BYTES = 4000
_GRACE_S = 10.0


class WorkerError(EvidenceError):
    """A worker died, fell silent, or said something that is no message."""

    def __init__(self, cause: Cause, message: str) -> None:
        """Keep the cause as a Crashed cell wants it."""
        super().__init__(message)
        self.cause: Cause = cause


class Worker:
    """One worker process with its job; a context manager that leaves nothing of its process group behind."""

    def __init__(
        self, command: Sequence[str], job: Job, *, root: Path, environment: Mapping[str, str], timeout_s: float
    ) -> None:
        """Say what to run; it starts on entering the context."""
        self._command, self._job, self._root = list(command), job, root
        self._environment, self._timeout_s = dict(environment), timeout_s
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        """Start the process and hand it its job."""
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            self._command,
            cwd=self._root,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._send(self._job.model_dump_json())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let a worker that is done end by itself, and kill its group in any case."""
        if kind is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)
        self._kill()
        self._listener.join(_GRACE_S)
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
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

    def hear(self) -> Message:
        """Return the worker's next message.

        Raises:
            WorkerError: it died, was silent for the time limit, or said something else; it is dead now.
        """
        try:
            line = self._lines.get(timeout=self._timeout_s)
        except queue.Empty:
            self._kill()
            raise WorkerError("timeout", f"silent for {self._timeout_s:g} s") from None
        if line is None:
            self._process.wait()
            raise WorkerError("error", self._last_words())
        try:
            return MESSAGE.validate_json(line)
        except ValidationError:
            self._kill()
            raise WorkerError("error", f"the worker said what is no message: {line[:200]!r}") from None

    def _send(self, line: str) -> None:
        """Write one line; a worker that is gone is noticed when it is next listened to."""
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                stdin.write(line + "\n")
                stdin.flush()

    def _listen(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _last_words(self) -> str:
        """Return how it ended and the last line it wrote."""
        code = self._process.returncode
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        if code == -signal.SIGKILL:
            how += ", as by an out-of-memory killer"
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _LAST_WORDS_BYTES))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return f"{how}: {lines[-1]}" if lines else how
