"""Owns how long a process takes, how much processor time and how much memory: one command, run once, waited for.

`python -I -S gauge.py OUTPUT COMMAND...` runs the command with everything it prints going to OUTPUT, and prints one
JSON object. It is a program of its own, of the standard library's smallest parts, because what the kernel tells as the
peak of a process is never below that of the process that started it: this one holds about 15 MB.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TIMER = "time.perf_counter and os.wait4"

_NOTHING = "true"
_OVERHEAD_SAMPLES = 7


@dataclass(frozen=True, slots=True)
class Gauged:
    """What one process took, its descendants included."""

    wall_s: float
    """From before it was started to when it was waited for."""
    cpu_s: float
    """User and system time, of children that were waited for too."""
    peak_bytes: int
    """The most that it, or one of its children, held resident."""
    code: int


def gauge(
    command: Sequence[str], *, directory: Path, output: Path, environment: Mapping[str, str] | None = None
) -> Gauged:
    """Run a command in a fresh process and return what it took."""
    program = (sys.executable, "-I", "-S", str(Path(__file__)), str(output), *command)
    done = subprocess.run(program, cwd=directory, env=environment, stdout=subprocess.PIPE, check=True)
    return Gauged(**json.loads(done.stdout))


def overhead_s(directory: Path) -> float:
    """Return how long it takes to start a program that does nothing, and to wait for it."""
    program = shutil.which(_NOTHING)
    if program is None:
        raise FileNotFoundError(f"there is no program `{_NOTHING}`")
    output = Path(os.devnull)
    return median(gauge((program,), directory=directory, output=output).wall_s for _ in range(_OVERHEAD_SAMPLES))


def main() -> int:
    """Run the command that is given, and print what it took."""
    output, *command = sys.argv[1:]
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, 1), (os.POSIX_SPAWN_DUP2, descriptor, 2)]
    started = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    wall_s = time.perf_counter() - started
    said = {
        "wall_s": wall_s,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * 1024,
        "code": os.waitstatus_to_exitcode(status),
    }
    sys.stdout.write(json.dumps(said))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
