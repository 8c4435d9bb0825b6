"""A worker that measures nothing and misbehaves as told: `--behaviour WORKLOAD=WHAT`. Its numbers are invented.

It speaks `benchmarks.protocol` like a real one, so sessions run whole in tests without torch. Each process leaves a
file `pid-N` with its parent's id, how many jobs it has seen, and a random number.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import protocol
from evidence.schema import Samples, Setting
from tests import factories

JOBS: list[protocol.Job] = []
"""State of the module: what a process saw, and no other is to see."""


def say(message: protocol.Message) -> None:
    sys.stdout.write(message.model_dump_json() + "\n")
    sys.stdout.flush()


def hear() -> str:
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    return line


def sampled(workload: str, seconds: float) -> protocol.Sampled:
    time.sleep(seconds)
    return protocol.Sampled(
        workload=workload,
        stopped="maximum",
        compilations=0,
        client_cpu_s=None,
        counters=(),
        work=(),
        samples=(Samples(metric="time", rank=0, values=(1e-3, 1.1e-3, 1.05e-3)),),
        requests=None,
        ran=(Setting(name="kernel", value="toy"),),
        timer_overhead_s=1e-6,
        warm_up_s=0.5,
        warm_up_calls=7,
    )


def first_time(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def trace(folder: Path, phase: str, workload: str) -> None:
    """Leave what is done and when, for tests of what runs beside what."""
    (folder / f"{phase}-{workload}-{os.getpid()}").write_text(f"{time.monotonic()}")


def prepare(words: Sequence[str]) -> None:
    """Import slowly or not at all, if told so."""
    folder = Path(words[0])
    (folder / f"nursery-{os.getpid()}").touch()
    for what in behaviour_of(words).values():
        if what == "import-thread":
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        if what == "import-device":
            import torch

            torch.cuda.current_stream()


def behaviour_of(words: Sequence[str]) -> dict[str, str]:
    return dict(word.split("=") for word in words[2:])


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    folder, seconds, behaviour = Path(words[0]), float(words[1]), behaviour_of(words)
    job = protocol.Job.model_validate_json(hear())
    JOBS.append(job)
    (folder / f"pid-{os.getpid()}").write_text(f"{os.getppid()} {len(JOBS)} {random.random()}")
    for assignment in job.assignments:
        name = assignment.workload
        what = behaviour.get(name, "")
        if what == f"{job.phase}-import-error":
            raise ImportError(f"no kernel below {Path.cwd()}/kernels")
        say(protocol.Ready(workload=name))
        hear()
        if what == f"{job.phase}-exit" or (what == f"{job.phase}-exit-once" and first_time(folder / f"died-{name}")):
            sys.stderr.write("toy: giving up\n")
            sys.stderr.flush()
            os._exit(3)
        if what == f"{job.phase}-kill-once" and first_time(folder / f"died-{name}"):
            os.kill(os.getpid(), signal.SIGKILL)
        if what == f"{job.phase}-kill-nursery-once" and first_time(folder / f"died-{name}"):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
        if what == f"{job.phase}-hang":
            time.sleep(600)
        if what == f"{job.phase}-garbage":
            sys.stdout.write("Segmentation fault\n")
            sys.stdout.flush()
            time.sleep(600)
        if what == f"{job.phase}-oom" or (what == f"{job.phase}-oom-once" and first_time(folder / f"died-{name}")):
            say(protocol.Failed(workload=name, cause="oom", phase=job.phase, message="out of memory"))
        elif job.phase in ("compiling", "tuning"):
            trace(folder, job.phase, name)
            say(protocol.Called(workload=name, seconds=0.5))
        elif job.phase == "gate":
            trace(folder, job.phase, name)
            time.sleep(min(seconds, 0.1))
            outcome = factories.failed() if what == "reject" else factories.passed()
            say(protocol.Judged(workload=name, phase="before", outcome=outcome))
        else:
            say(sampled(name, seconds))
            if assignment.is_rechecked:
                wrong = factories.failed() if what == "wrong-later" else factories.passed(phase="timed-outputs")
                say(protocol.Judged(workload=name, phase="timed-outputs", outcome=wrong))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
