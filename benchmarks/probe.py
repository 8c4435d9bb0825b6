"""Owns the probe: what only a process with torch can tell, read once in a process of its own and thrown away with it.

`python -m benchmarks.probe DEVICE TIMER THREADS` prints one JSON object.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from benchmarks import standin
from benchmarks.capture import Probed
from benchmarks.options import UnsuitableError
from benchmarks.standin import Facts
from benchmarks.timing import Choice, choose

_FACTS: TypeAdapter[Facts | None] = TypeAdapter(Facts | None)


class ProbeError(UnsuitableError):
    """The probe ended without an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a process with torch said, and the timer that measures here."""

    torch: Probed
    timer: Choice
    facts: Facts | None
    """What devices say of themselves, where one is measured."""


def ask(device: str, timer: str, threads: int, *, root: Path, environment: Mapping[str, str]) -> Answer:
    """Run the probe in a fresh process.

    Raises:
        ProbeError: it failed; the message is the last line it wrote.
    """
    command = [sys.executable, "-m", "benchmarks.probe", device, timer, str(threads)]
    done = subprocess.run(command, cwd=root, env=dict(environment), capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ProbeError(f"this machine cannot measure: {last}", fix="see what --dry-run would need") from None
    torch = said["torch"]
    probed = Probed(torch["runtime"], torch["runtime_reason"], tuple(torch["devices"]))
    return Answer(probed, Choice(**said["timer"]), _FACTS.validate_python(said["facts"]))


def _torch() -> dict[str, Any]:
    try:
        import torch
    except ImportError:
        return {"runtime": None, "runtime_reason": "torch is not installed", "devices": []}
    found = [torch.cuda.get_device_properties(index) for index in range(torch.cuda.device_count())]
    devices = [
        {
            "model": properties.name,
            "uuid": str(properties.uuid),
            "memory_bytes": properties.total_memory,
            "l2_bytes": properties.L2_cache_size,
            "compute_capability": f"{properties.major}.{properties.minor}",
        }
        for properties in found
    ]
    runtime = f"CUDA {torch.version.cuda}" if torch.version.cuda else None
    return {"runtime": runtime, "runtime_reason": "torch is built for no accelerator", "devices": devices}


def main() -> int:
    """Print what this machine's torch and timers say."""
    device, timer, threads = sys.argv[1:]
    torch = _torch()
    if device == "cuda" and not torch["devices"]:
        sys.stderr.write("torch sees no accelerator\n")
        return 1
    facts = _FACTS.dump_python(standin.read() if device == "cuda" else None)
    said = {"torch": torch, "timer": asdict(choose(device, timer, int(threads))), "facts": facts}
    sys.stdout.write(json.dumps(said) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
