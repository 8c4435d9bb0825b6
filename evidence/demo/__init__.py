"""Owns the throwaway project of `evidence demo`: a git repository, a benchmark that is really run, a claim, a page.

Nothing in it is invented: the two arms are timed on the machine that asks, in fresh processes, each after its gate.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

from evidence import __version__, lock, printed, store
from evidence.book import Book
from evidence.demo import counting
from evidence.errors import EvidenceError
from evidence.ledger import digest_of
from evidence.project import Project
from evidence.repository import Repository
from evidence.schema import Record
from evidence.store import Store

PROCESSES = 7
BASELINE, CANDIDATE, CONTROL = "loop", "counter", "loop-again"
CLAIM = "letters-counted"
CLAIMS = "docs/claims/index.yml"
PAGE = "docs/index.md"
_SOURCE = "counting.py"
_WORKLOAD = f"n{counting.LENGTH}"
_WAYS = {BASELINE: "loop", CANDIDATE: "counter", CONTROL: "loop"}
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==\S+")

_CLAIMS = """\
claims:
  letters-counted:
    statement: On {device}, counting {letters} letters takes {ratio} less processor time with a Counter than in a loop.
    series: @SERIES
    metric: cpu_time
    baseline: loop
    candidate: counter
    expect: better
    mechanism: {unknown: no profile was taken}
tables:
  counting:
    title: Counting letters, two ways
    series: @SERIES
    rows: [letters]
    across: arm
    columns: [cpu_time, {ratio: cpu_time}]
    baseline: loop
"""
_PAGE = """\
# Counting letters

{{ ev.claim("letters-counted") }}

{{ ev.table("counting") }}
"""
_MKDOCS = """\
site_name: A throwaway project
theme: {name: material, font: false}
plugins:
  - macros: {modules: [evidence.macros], on_undefined: strict}
  - evidence
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """The project as made."""

    root: Path
    log: str

    @property
    def record(self) -> Path:
        """The one record."""
        return self.root / "docs/benchmark_logs" / self.log / store.RECORD_NAME


def make(root: Path, told: Callable[[int, int], None] = lambda done, of: None) -> Demo:
    """Make the project in an empty folder: commit the benchmark, run it, keep its record, claim what it says.

    Args:
        root: Where to.
        told: Is told how many processes have run, and how many there will be.

    Raises:
        EvidenceError: git is not installed, or the benchmark failed.
    """
    if shutil.which("git") is None:
        raise EvidenceError(
            "git is not installed, and the demo makes a repository", fix="install git, then run it again"
        )
    shutil.copyfile(Path(counting.__file__), root / _SOURCE)
    _write(root / "mkdocs.yml", _MKDOCS)
    _write(root / ".gitignore", "site/\n")
    _git(root, "init", "--quiet")
    commit(root, "A benchmark")
    record = _measured(root, told)
    log = store.save(root / "docs/benchmark_logs", record)
    _write(root / CLAIMS, _CLAIMS.replace("@SERIES", log.rpartition("_")[0]))
    _write(root / PAGE, _PAGE)
    write_lock(root)
    commit(root, "A claim and its evidence")
    return Demo(root, log)


def write_lock(root: Path) -> None:
    """Write the lock, as `evidence update` would."""
    project = Project.find(root)
    text = lock.dump(printed.facts_of(Book(project, Store(project.logs))))
    _write(project.claims / lock.FILE_NAME, text)


def commit(root: Path, message: str) -> None:
    """Commit everything, as nobody in particular."""
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message", message)


def _git(root: Path, *arguments: str) -> None:
    names = {
        f"GIT_{who}_{what}": "demo@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    config = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=", "-c", "core.autocrlf=false")
    environment = {**os.environ, **names, "GIT_CONFIG_NOSYSTEM": "1"}
    for inherited in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        environment.pop(inherited, None)
    done = subprocess.run(
        ["git", *config, *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise EvidenceError(f"git {arguments[0]} failed: {done.stderr.strip()}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _measured(root: Path, told: Callable[[int, int], None]) -> Record:
    """Run every arm in turn, a fresh process each time, and return the record of the run."""
    started_at = datetime.now(UTC)
    zero = perf_counter()
    processes: dict[str, list[dict[str, Any]]] = {arm: [] for arm in _WAYS}
    results: list[Mapping[str, Any]] = []
    states = [(0.0, _load())]
    total = PROCESSES * len(_WAYS)
    for index in range(PROCESSES):
        for arm, way in _WAYS.items():
            begun = perf_counter() - zero
            result = _run(root, way)
            ended = perf_counter() - zero
            results.append(result)
            processes[arm].append(_process(index, begun, ended, result["samples"]))
            states.append((ended, _load()))
            told(len(results), total)
    wrong = max(result["wrong"] + result["wrong_timed"] for result in results)
    if wrong:
        raise EvidenceError("a way of counting miscounts, so nothing may be timed")
    return Record.model_validate_json(
        json.dumps(
            {
                **_run_facts(root, started_at, datetime.now(UTC)),
                "conditions": [_conditions(states)],
                "methods": [_method(results)],
                "cells": [_cell(arm, found) for arm, found in processes.items()],
            }
        )
    )


def _run(root: Path, way: str) -> Mapping[str, Any]:
    command = [sys.executable, "-I", _SOURCE, way]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise EvidenceError(f"the benchmark failed: {done.stderr.strip()[-500:]}")
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


def _load() -> float | None:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _conditions(states: list[tuple[float, float | None]]) -> dict[str, Any]:
    loads = [load for _, load in states]
    known = all(load is not None for load in loads)
    missing = [] if known else [{"field": "load", "reason": "this system has no load average"}]
    return {
        "kind": "host",
        "host": "h0",
        "at_s": [round(at, 6) for at, _ in states],
        "load": loads if known else None,
        "cpu_clock_hz": None,
        "missing": [{"field": "cpu_clock_hz", "reason": "not read"}, *missing],
    }


def _process(index: int, begun: float, ended: float, samples: list[float]) -> dict[str, Any]:
    return {
        "index": index,
        "started_s": round(begun, 6),
        "ended_s": round(ended, 6),
        "stopped": "fixed",
        "compilations": 0,
        "client_cpu_s": None,
        "counters": [],
        "work": [],
        "samples": [{"metric": "cpu_time", "rank": 0, "values": samples}],
        "requests": None,
    }


def _cell(arm: str, processes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": "timed",
        "arm": arm,
        "workload": _WORKLOAD,
        "gate": _passed("before", counting.GATE_SEEDS, len(counting.GATE_SEEDS)),
        "further": [_passed("timed-outputs", counting.TIMED_SEEDS, counting.SAMPLES)],
        "method": "process-time",
        "ran": [],
        "processes": processes,
        "discards": [],
        "cross_checks": [],
    }


def _passed(phase: str, seeds: tuple[int, ...], texts: int) -> dict[str, Any]:
    counts = {
        "name": "counts",
        "elements": texts * len(counting.LETTERS) * PROCESSES,
        "mismatched": 0,
        "non_finite": 0,
        "maximum_absolute": 0.0,
        "maximum_relative": 0.0,
        "rms_to_fp64": None,
    }
    return {
        "outcome": "passed",
        "gate": "exact-counts",
        "source": "repository",
        "phase": phase,
        "seeds": list(seeds),
        "detail": {"kind": "numeric", "tensors": [counts]},
    }


def _method(results: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "name": "process-time",
        "timer_requested": "time.process_time",
        "timer_used": "time.process_time",
        "fallback_reason": None,
        "timer_overhead_s": max(result["overhead_s"] for result in results),
        "warm_up_s": min(result["warm_up_s"] for result in results),
        "warm_up_calls": counting.WARM_UP,
        "flush_bytes": 0,
        "allocates_outputs": True,
        "minimum_samples": counting.SAMPLES,
        "maximum_samples": counting.SAMPLES,
        "target_spread": None,
        "budget_s": None,
        "processes": PROCESSES,
        "order": "interleaved",
    }


def _run_facts(root: Path, started_at: datetime, ended_at: datetime) -> dict[str, Any]:
    """Everything of the record but what was sampled."""
    machine = re.sub(r"[^a-z0-9]+", "-", platform.machine().lower()).strip("-") or "machine"
    arms = (("baseline", BASELINE), ("candidate", CANDIDATE), ("control", CONTROL))
    reference = {"implementation": "builtins:str.count", "source": "python", "stack": None, "dtype": "integers"}
    return {
        "schema_version": 1,
        "log": f"demo/counting_{machine}_{started_at:%Y%m%d}",
        "started_at": started_at.isoformat().replace("+00:00", "Z"),
        "ended_at": ended_at.isoformat().replace("+00:00", "Z"),
        "provenance": {
            "argv": ["evidence", "demo"],
            "directory": ".",
            "variables": [],
            "runner": "evidence.demo",
            "runner_version": __version__,
            "seed": counting.GATE_SEEDS[0],
            "source": "repository",
        },
        "origin": None,
        "sources": [_source(root)],
        "hosts": [_host()],
        "stacks": [_stack()],
        "axes": ["implementation"],
        "arms": [_arm(role, name) for role, name in arms],
        "workloads": [
            {
                "kind": "foreign",
                "name": _WORKLOAD,
                "role": "target",
                "settings": [{"name": "letters", "value": str(counting.LENGTH)}],
                "work": [{"of": "steps", "count": counting.LENGTH}],
            }
        ],
        "metrics": [{"name": "cpu_time", "unit": "s", "better": "lower", "of": "iteration", "role": "target"}],
        "gates": [
            {
                "name": "exact-counts",
                "kind": "numeric",
                "command": [],
                "scope": "full",
                "selection": None,
                "reference": reference,
                "tolerances": [{"of": "absolute", "limit": 0.0}],
                "frozen": [],
                "variables": [],
                "log": None,
                "mutants": None,
                "mutants_killed": None,
            }
        ],
        "profiles": [],
        "artifacts": [],
        "unavailable": [{"what": "profile", "reason": "the demo takes none"}],
        "limitations": ["a demonstration: a few seconds on one machine, not a study of Python"],
        "supersedes": [],
    }


def _arm(role: str, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "control_of": BASELINE if role == "control" else None,
        "implementation": f"counting:{_WAYS[name]}",
        "source": "repository",
        "ranks": [{"host": "h0", "device": None, "stack": "main"}],
        "command": ["python", "-I", _SOURCE, _WAYS[name]],
        "switches": [],
        "mechanism": [],
        "outputs": "same",
    }


def _source(root: Path) -> dict[str, Any]:
    repository = Repository(root)
    commit_ = repository.commit()
    tree = repository.commit_tree_sha256(commit_) if commit_ else None
    return {
        "kind": "git",
        "name": "repository",
        "repository": None,
        "commit": commit_,
        "commit_tree_sha256": tree,
        "tree_sha256": repository.work_tree_sha256(),
        "paths": [{"path": _SOURCE, "sha256": digest_of(root / _SOURCE)}],
        "missing": [{"field": "repository", "reason": "a throwaway repository without a remote"}],
    }


def _host() -> dict[str, Any]:
    """Read this machine, as far as the standard library can."""
    unread = "the standard library does not tell it here"
    found: dict[str, Any] = {
        "interconnect": None,
        "driver": None,
        "cpu_model": next(_cpu_models(), None),
        "cpu_cores": os.cpu_count(),
        "cpu_affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "cpu_governor": None,
        "memory_bytes": _memory(),
        "os": f"{platform.system()} {platform.release()}",
        "kernel": platform.release() or None,
    }
    missing = [{"field": name, "reason": unread} for name, value in found.items() if value is None]
    return {"name": "h0", "accelerators": [], **found, "missing": missing}


def _cpu_models() -> Iterator[str]:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        yield from re.findall(r"^model name\s*:\s*(\S.*)$", info.read_text(encoding="utf-8", errors="replace"), re.M)
    yield from filter(None, (platform.processor(), platform.machine()))


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _stack() -> dict[str, Any]:
    pins = {f"{one.name}=={one.version}" for one in metadata.distributions()}
    return {
        "name": "main",
        "executable": "python",
        "python": platform.python_version(),
        "runtime": None,
        "container": None,
        "packages": sorted(filter(_PACKAGE.fullmatch, pins)),
        "missing": [
            {"field": "runtime", "reason": "no accelerator is used"},
            {"field": "container", "reason": "not looked for"},
        ],
    }
