"""Owns taking a profile on this machine: run a program under a profiler, read what it wrote, keep the summary.

What cannot be taken is `Unavailable` with its reason: no profile is a reason to lose a measurement.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from benchmarks import privacy
from benchmarks.profile import ncu, torch_trace
from benchmarks.profile.summaries import MAXIMUM_BYTES, ProfileError, Summary, Taken, name_of, taken
from evidence.schema import Unavailable

Tool = Literal["torch", "ncu"]
TOOLS: tuple[Tool, ...] = get_args(Tool)
"""The first runs on any device."""
_NO_PERMISSION = "ERR_NVGPUCTRPERM"
_TOLD = 300


@dataclass(frozen=True, slots=True)
class Request:
    """One cell to be profiled, and the program that makes its call."""

    arm: str
    workload: str
    target: tuple[str, ...]
    """What runs the call once between starting and stopping a profiler; `--trace FILE` makes it write torch's trace."""
    shown: tuple[str, ...]
    """The same as a record holds it: without paths of this machine."""
    environment: Mapping[str, str]
    root: Path
    timeout_s: float = 300.0


def collect(request: Request, tool: Tool) -> Taken | Unavailable:
    """Profile one cell; a profile that cannot be taken says why."""
    what = f"{tool} profile of {request.arm} on {request.workload}"[:200]
    try:
        summary, command = _by_ncu(request) if tool == "ncu" else _by_torch(request)
    except ProfileError as error:
        return Unavailable(what=what, reason=privacy.scrubbed(error.message, request.root))
    return taken(_private(summary, request.root), request.arm, request.workload, command)


def _by_ncu(request: Request) -> tuple[Summary, tuple[str, ...]]:
    if shutil.which(ncu.TOOL) is None:
        raise ProfileError("ncu is not installed here")
    done = _run(request, ncu.command(request.target), ncu.VARIABLES)
    if _NO_PERMISSION.encode() in done.stdout + done.stderr:
        raise ProfileError("ncu may not read the counters of this device (ERR_NVGPUCTRPERM)")
    _require_success(done)
    return ncu.read(done.stdout), ncu.command(request.shown)


def _by_torch(request: Request) -> tuple[Summary, tuple[str, ...]]:
    with tempfile.TemporaryDirectory(prefix="evidence-trace-") as folder:
        path = Path(folder) / "trace.json"
        _require_success(_run(request, (*request.target, "--trace", str(path)), {}))
        if not path.is_file():
            raise ProfileError("torch's profiler wrote no trace")
        if path.stat().st_size > MAXIMUM_BYTES:
            raise ProfileError(f"torch's trace has {path.stat().st_size:,} bytes")
        return torch_trace.read(path.read_bytes()), (*request.shown, "--trace", "trace.json")


def _run(request: Request, command: Sequence[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **request.environment, **variables}
    try:
        return subprocess.run(
            command,
            cwd=request.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=request.timeout_s,
        )
    except subprocess.TimeoutExpired:
        raise ProfileError(f"profiling took longer than {request.timeout_s:.0f} s") from None
    except OSError as error:
        raise ProfileError(f"{Path(command[0]).name} cannot be run: {error.strerror}") from None


def _require_success(done: subprocess.CompletedProcess[bytes]) -> None:
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing was said"]
        raise ProfileError(f"profiling ended with {done.returncode}: {said[-1][:_TOLD]}")


def _private(summary: Summary, root: Path) -> Summary:
    """The summary without places of this machine in the names of kernels."""
    kernels = tuple(replace(one, name=name_of(privacy.scrubbed(one.name, root))) for one in summary.kernels)
    return replace(summary, kernels=kernels, why=privacy.scrubbed(summary.why, root))
