"""Owns servers of our own: started on a free port over a model's folder, waited for, asked over HTTP, and stopped.

What kind of server it is comes as a `Recipe`. It is a child of this process, in its process group, so it goes where
that is killed; and closing ends it with all that it started.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import psutil

from benchmarks.engine.engines import EngineError, Limits, spelling
from benchmarks.engine.engines.http import Dialect, HttpEngine
from benchmarks.engine.requests import Answer, Request

_HOST = "127.0.0.1"
_POLL_S = 0.05
_STOP_S = 10.0
_LAST_WORDS_BYTES = 4000


class Recipe(Protocol):
    """How one kind of server is started and asked."""

    @property
    def dialect(self) -> Dialect:
        """How it is asked."""

    @property
    def start_s(self) -> float:
        """Return the longest it may take until it answers."""

    def command(self, folder: Path, port: int, limits: Limits) -> Sequence[str]:
        """Return its program and arguments."""

    def variables(self) -> Mapping[str, str]:
        """Return what it gets in its environment beside what this process has."""

    def settings(self, limits: Limits) -> Mapping[str, str]:
        """Return what it was told, and what it leaves to itself."""


class Server:
    """One child process that listens."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], port: int) -> None:
        """Say what to run; nothing runs yet."""
        self._command, self._variables, self.port = tuple(command), dict(variables), port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it is asked."""
        return f"http://{_HOST}:{self.port}"

    def start(self, timeout_s: float) -> None:
        """Start it and wait until it says that it is well.

        Raises:
            EngineError: it ends, or does not say so in time.
        """
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        try:
            self._process = subprocess.Popen(
                self._command,
                env=environment(self._variables),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
            )
        except OSError as error:
            raise EngineError(f"the server cannot be started: {error}") from error
        ends_s = time.monotonic() + timeout_s
        while not self._is_well():
            if self._process.poll() is not None:
                raise EngineError(f"the server ended with code {self._process.returncode}: {self.last_words()}")
            if time.monotonic() > ends_s:
                raise EngineError(f"the server does not answer after {timeout_s:g} s: {self.last_words()}")
            time.sleep(_POLL_S)

    def _is_well(self) -> bool:
        connection = http.client.HTTPConnection(_HOST, self.port, timeout=2.0)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def last_words(self) -> str:
        """Return the last line that it wrote."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - _LAST_WORDS_BYTES))
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else "it said nothing"

    def stop(self) -> None:
        """End it and all that it started, by force if it takes too long."""
        if self._process is None:
            return
        family = [self._process_of(self._process.pid)] if self._process.poll() is None else []
        if family and family[0] is not None:
            with contextlib.suppress(psutil.Error):
                family += family[0].children(recursive=True)
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        for one in family:
            if one is not None:
                with contextlib.suppress(psutil.Error):
                    one.kill()
        self._process.wait()
        self._output.close()
        self._process = None

    @staticmethod
    def _process_of(pid: int) -> psutil.Process | None:
        try:
            return psutil.Process(pid)
        except psutil.Error:
            return None


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with these variables."""
    return {**os.environ, **variables}


def free_port() -> int:
    """Return a port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


class ServedEngine:
    """A server over this model, and the client that asks it."""

    def __init__(self, recipe: Recipe, model: Any) -> None:
        """Serve a built model by this recipe."""
        self._recipe, self._model = recipe, model
        self._held = contextlib.ExitStack()

    def open(self, limits: Limits) -> None:
        """Write the model to a folder, start the server over it, and connect.

        Raises:
            EngineError: the server does not come up.
        """
        folder = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="model-")))
        save(self._model, folder)
        self._limits = limits
        self.served_name = str(folder)
        port = free_port()
        server = Server(self._recipe.command(folder, port, limits), self._recipe.variables(), port)
        self._held.callback(server.stop)
        server.start(self._recipe.start_s)
        self.address = server.address
        self._client = HttpEngine(self.address, self.served_name, self._recipe.dialect)
        self._held.callback(self._client.close)
        self._client.open(limits)

    def submit(self, requests: Sequence[Request]) -> None:
        """Send requests."""
        self._client.submit(requests)

    def answer(self, timeout_s: float) -> Answer | None:
        """Return the next request that ended."""
        return self._client.answer(timeout_s)

    def counters(self) -> Mapping[str, int]:
        """Return what the client counted: a server says nothing of itself."""
        return self._client.counters()

    def settings(self) -> Mapping[str, str]:
        """Return what the server was told, and how it is asked."""
        return {**self._recipe.settings(self._limits), **self._client.settings()}

    def close(self) -> None:
        """Stop the server and remove the folder."""
        self._held.close()


def save(model: Any, folder: Path) -> None:
    """Write a model with the tokenizer of `spelling`, so that a server reads the same weights."""
    model.save_pretrained(folder)
    spelling.write(folder, int(model.config.vocab_size))


def program(name: str) -> str:
    """Return a program of this interpreter's environment.

    Raises:
        EngineError: there is none.
    """
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        raise EngineError(f"no program {name!r} beside this interpreter", fix="pip install 'perf-evidence[serving]'")
    return found
