"""Owns a nursery: a process that imports what a worker needs, touches no device, and is forked once a repetition.

`python -m benchmarks.nursery DESCRIPTOR`, the number of a socket on which `benchmarks.nurseries` speaks. A nursery
reads an Order, imports, and says why it will not be forked, or null. Then, for each packet with a child's stdin,
stdout and stderr, it forks, says the child's process id, waits, and says its exit code. It ends when the socket does.
A child does what `python -m MODULE WORD…` would, in a process group of its own, and dies with its nursery.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from pydantic import TypeAdapter

from benchmarks import standin
from benchmarks.standin import Facts

PACKET_BYTES = 1 << 16
"""The longest packet either side sends."""

_TASKS = Path("/proc/self/task")
_CUDA_LIBRARY = "libcuda.so.1"
_CUDA_NOT_INITIALISED = 3
_PR_SET_PDEATHSIG = 1


class Forkable(Protocol):
    """A worker's module."""

    def prepare(self, words: Sequence[str]) -> None:
        """Import what a worker with these arguments will use, and run nothing of it."""

    def main(self, words: Sequence[str]) -> int:
        """Do the job that comes on stdin and return the exit code."""


@dataclass(frozen=True, slots=True)
class Order:
    """Whose children a nursery raises, and what it says of devices while it imports."""

    module: str
    words: tuple[str, ...]
    facts: Facts | None


ORDER: TypeAdapter[Order] = TypeAdapter(Order)


def prepared(order: Order) -> tuple[Forkable | None, str | None]:
    """Import a worker's module and what it needs; return it, or why this process must not be forked."""
    unanswered: list[str] = []
    try:
        with contextlib.ExitStack() as stack:
            if order.facts is not None:
                unanswered = stack.enter_context(standin.standing_in(order.facts))
            worker = cast(Forkable, importlib.import_module(order.module))
            worker.prepare(order.words)
    except Exception as error:  # noqa: BLE001 - a fresh process raises it again, where it is the finding of a cell
        said = f"importing raised {type(error).__name__}: {_first_line(error)}"
        return None, _asked(unanswered) or said
    gc.collect()
    # What imports made stays: children neither look through it for garbage nor copy its pages by doing so.
    gc.freeze()
    reason = _asked(unanswered) or obstacle() or (None if order.facts is None else _trial(order.facts))
    return (None, reason) if reason else (worker, None)


def _first_line(said: object) -> str:
    return (str(said).strip().splitlines() or ["no message"])[0]


def _asked(unanswered: Sequence[str]) -> str | None:
    return f"importing asks a device for {unanswered[0]}" if unanswered else None


def obstacle() -> str | None:
    """Return why this process must not be forked, or None: it has threads, or a device's driver is in use."""
    if threads := _threads():
        return f"importing started threads: {', '.join(threads)}"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "importing made a context on a device"
    return "importing initialised CUDA's driver" if _is_cuda_initialised() else None


def _threads() -> list[str]:
    """Return the names of this process's threads but the first; a library that starts one gives it a name."""
    names = []
    for task in _TASKS.iterdir():
        if task.name != str(os.getpid()):
            # One that has just ended is none.
            with contextlib.suppress(OSError):
                names.append((task / "comm").read_text(encoding="utf-8", errors="replace").strip())
    return sorted(names)


def _is_cuda_initialised() -> bool:
    """Ask the driver for what it refuses until it is initialised; torch does not know of what others initialise."""
    try:
        library = ctypes.CDLL(_CUDA_LIBRARY, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return bool(library.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != _CUDA_NOT_INITIALISED)


def _trial(facts: Facts) -> str | None:
    """Let a child use the device, and return what went wrong, or None."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = standin.difference(facts) or ""
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, no process is forked from this one
            said = f"{type(error).__name__}: {_first_line(error)}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as answer:
        said = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        return f"a trial fork that used the device died with code {code}"
    return f"a trial fork that used the device: {said}" if said else None


def _serve(channel: socket.socket) -> None:
    """Fork for every packet until the session is gone. Returns in the children, and never in the nursery."""
    nursery = os.getpid()
    while True:
        packet, descriptors, _, _ = socket.recv_fds(channel, PACKET_BYTES, 3)
        if not packet:
            os._exit(0)
        child = os.fork()
        if child == 0:
            channel.close()
            _be_a_worker(descriptors, nursery)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        # Set on both sides: whoever hears the child's id may count on its group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.setpgid(child, child)
        channel.send(json.dumps(child).encode())
        channel.send(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _be_a_worker(descriptors: Sequence[int], nursery: int) -> None:
    """Make this fork what a fresh process is: its own group, streams and random numbers. Python reseeds its own."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != nursery:
        os._exit(1)
    os.setpgid(0, 0)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def main() -> int:
    """Be a nursery, and in its children a worker."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    order = ORDER.validate_json(channel.recv(PACKET_BYTES))
    worker, reason = prepared(order)
    channel.send(json.dumps(reason).encode())
    if worker is None:
        return 0
    _serve(channel)
    sys.argv = [order.module, *order.words]
    return worker.main(order.words)


if __name__ == "__main__":
    raise SystemExit(main())
