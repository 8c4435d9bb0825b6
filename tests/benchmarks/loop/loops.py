"""Owns throwaway repositories with a loop in them. Every number is invented; what measures is `measure.py` here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def draft(**changes: Any) -> dict[str, Any]:
    """A contract as an author writes it."""
    criteria = {
        "target_speedup": 1.2,
        "sessions": 2,
        "frozen_tests": False,
        "mutants_killed": 0,
        "accepted": [],
        "mechanism": {"kernel": "fused_kernel", "metric": "moved_bytes", "moves": "down"},
    }
    found = {
        "task": "toy",
        "op": "toy",
        "entry_point": "toy.ops:fused",
        "baseline_entry_point": "toy.ops:eager",
        "candidate": "fused",
        "baseline": "eager",
        "baseline_source": "toy==1.0",
        "hardware": "Synthetic GPU A",
        "language": "Python",
        "backend": "toy",
        "workloads": ["n8192"],
        "guards": ["n1024"],
        "modes": ["forward"],
        "validation": [],
        "benchmark": ["python", "-m", "tests.benchmarks.loop.measure"],
        "logs": "docs/benchmark_logs",
        "frozen": ["gate.py"],
        "cap": 8,
        "floor_share": None,
        "buckets": [
            {"condition": "N >= 4096", "workloads": ["n8192"]},
            {"condition": "N < 4096", "workloads": ["n1024"]},
        ],
        "criteria": criteria,
    }
    return {**found, **changes}


@dataclass(frozen=True)
class Sandbox:
    """A repository with a kernel, a frozen gate, and the command over it."""

    root: Path

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, subject: str = "Change the kernel", *paths: str) -> None:
        self.git("add", "--all", *paths)
        self.git("commit", "--quiet", "--message", subject)

    def kernel(self, *, commits: bool = True, **asked: Any) -> None:
        """Write the kernel, which says what measuring it gives, and commit that one change."""
        (self.root / "kernel.json").write_text(json.dumps(asked, indent=1) + "\n")
        if commits:
            self.commit()

    def loop(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command as a user does."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}
        command = [sys.executable, "-m", "benchmarks.loop", *words]
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)

    def iterate(self, direction: str = "try it", **variables: str) -> subprocess.CompletedProcess[str]:
        return self.loop("iterate", "--direction", direction, **variables)

    @property
    def journal(self) -> Path:
        return self.root / "docs/loops/toy/journal.jsonl"

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    @property
    def statuses(self) -> list[str]:
        return [row["status"] for row in self.rows]


def sandbox(root: Path, contract: dict[str, Any] | None = None, *, starts: bool = True) -> Sandbox:
    """A repository in which nothing was tried yet; the draft lies outside of it."""
    root.mkdir(parents=True, exist_ok=True)
    made = Sandbox(root)
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("config", "user.name", "Tester")
    made.git("config", "user.email", "tester@example.invalid")
    (root / "gate.py").write_text("def test_it():\n    assert True\n")
    (root / "kernel.json").write_text("{}\n")
    made.commit("Begin")
    path = root.parent / f"{root.name}-draft.json"
    path.write_text(json.dumps(contract or draft()))
    if starts:
        done = made.loop("start", str(path))
        assert done.returncode == 0, done.stderr
    return made


def times(seconds: float, guard: float = 1e-3) -> dict[str, float]:
    return {"1024": guard, "8192": seconds}


def run_all(made: Sandbox, kernels: Sequence[dict[str, Any]]) -> None:
    """Iterate over kernels, each one change on the best."""
    for asked in kernels:
        made.kernel(**asked)
        done = made.iterate(str(asked))
        assert done.returncode == 0, done.stderr
