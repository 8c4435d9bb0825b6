"""Owns a session's side of its nurseries: starts them, lets them fork in turn, and ends them however the run ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.nursery import ORDER, PACKET_BYTES, Order
from benchmarks.standin import Facts
from benchmarks.workers import Start, WorkerError

_PROGRAM = "benchmarks.nursery"


class Nursery:
    """One nursery, and the one child it has at a time."""

    def __init__(
        self,
        command: Sequence[str],
        facts: Facts | None,
        *,
        root: Path,
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> None:
        """Say whose children it raises: `command` is a worker's, `PYTHON -m MODULE WORD…`."""
        python, flag, module, *words = command
        if flag != "-m":
            raise ValueError(f"a nursery imports a module; {command[:2]} runs none")
        self._python, self._order = python, Order(module, tuple(words), facts)
        self._root, self._environment, self._timeout_s = root, dict(environment), timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._is_raising = False
        self._held = contextlib.ExitStack()

    def open(self) -> None:
        """Start it; it imports while others do."""
        with contextlib.ExitStack() as held:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._channel = held.enter_context(ours)
            self._stderr = held.enter_context(tempfile.TemporaryFile())
            with theirs:
                self._process = subprocess.Popen(
                    [self._python, "-m", _PROGRAM, str(theirs.fileno())],
                    cwd=self._root,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._stderr,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            self._held = held.pop_all()
        with contextlib.suppress(BrokenPipeError):
            self._channel.send(ORDER.dump_json(self._order))

    def refusal(self) -> str | None:
        """Wait until it has imported, and return why it will not be forked; it is gone then."""
        try:
            packet = self._packet(self._timeout_s)
        except TimeoutError:
            reason: str | None = f"it was silent for {self._timeout_s:g} s"
        else:
            reason = self._last_words() if packet is None else json.loads(packet)
        if reason is not None:
            self.close()
        return reason

    def start(self, stdin: int, stdout: int, stderr: int) -> Child:
        """Fork a worker onto these descriptors; a nursery that has died, or whose child does not, is started again.

        Raises:
            WorkerError: it died, or could not be started again.
        """
        if self._process is None or self._process.poll() is not None or self._is_raising:
            self.close()
            self.open()
            if reason := self.refusal():
                raise WorkerError("error", f"its nursery did not start again: {reason}")
        try:
            socket.send_fds(self._channel, [b"fork"], [stdin, stdout, stderr])
            packet = self._packet(self._timeout_s)
        except OSError:
            packet = None
        if packet is None:
            self.close()
            raise WorkerError("error", "its nursery died")
        self._is_raising = True
        return Child(int(json.loads(packet)), self)

    def exit_code(self, timeout: float | None) -> int:
        """Return its child's exit code as subprocess does; a child dies with its nursery, of SIGKILL.

        Raises:
            TimeoutExpired: the child runs on.
        """
        try:
            packet = self._packet(timeout)
        except TimeoutError:
            raise subprocess.TimeoutExpired(self._order.module, timeout or 0.0) from None
        self._is_raising = False
        if packet is None:
            self.close()
            return -signal.SIGKILL
        return int(json.loads(packet))

    def _packet(self, timeout: float | None) -> bytes | None:
        """Return what it says next, None if it is gone."""
        self._channel.settimeout(timeout)
        try:
            return self._channel.recv(PACKET_BYTES) or None
        except ConnectionError:
            return None

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return f"it died: {lines[-1]}" if lines else "it died"

    def close(self) -> None:
        """End it at once: it has nothing to put in order, and its child dies with it."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._held.close()
        self._process, self._is_raising = None, False


class Child:
    """A forked worker."""

    def __init__(self, pid: int, nursery: Nursery) -> None:
        """Belong to a nursery, which alone can wait for it."""
        self.pid = pid
        self._nursery = nursery
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code.

        Raises:
            TimeoutExpired: it runs on.
        """
        if self._code is None:
            self._code = self._nursery.exit_code(timeout)
        return self._code


class Nurseries:
    """Every nursery of a session, several an arm; a context manager that leaves none behind.

    No two arms share one, a control and its twin neither, so that the noise floor holds what differs between starts.
    """

    def __init__(self, of_arm: Mapping[str, Sequence[Nursery]]) -> None:
        """Hold the nurseries of each arm; none for arms that are not forked."""
        self._of_arm = {arm: tuple(nurseries) for arm, nurseries in of_arm.items()}
        self.refusals: dict[str, str] = {}
        """Why arms are not forked after all."""

    def __enter__(self) -> Self:
        """Start all, and wait until each has imported; an arm of which one refuses is not forked."""
        try:
            for nursery in self._all():
                nursery.open()
            for arm, nurseries in self._of_arm.items():
                reasons = [reason for nursery in nurseries if (reason := nursery.refusal()) is not None]
                if reasons:
                    self.refusals[arm] = reasons[0]
            for arm in self.refusals:
                self._end(self._of_arm.pop(arm))
        except BaseException:
            self._end(self._all())
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all."""
        self._end(self._all())

    def forked(self) -> tuple[str, ...]:
        """Return the arms that are forked."""
        return tuple(arm for arm, nurseries in self._of_arm.items() if nurseries)

    def start(self, arm: str, turn: int) -> Start | None:
        """Return how to start a process of an arm, None if it is not forked; its nurseries take turns."""
        nurseries = self._of_arm.get(arm, ())
        return nurseries[turn % len(nurseries)].start if nurseries else None

    def _all(self) -> list[Nursery]:
        return [nursery for nurseries in self._of_arm.values() for nursery in nurseries]

    @staticmethod
    def _end(nurseries: Sequence[Nursery]) -> None:
        for nursery in nurseries:
            nursery.close()
