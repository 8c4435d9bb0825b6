"""Owns how strong the numeric gates of a selection are: how many faulty variants of its op they refuse.

`python -m benchmarks.ops.strength OP IMPLEMENTATION DTYPE DEVICE CASE...` prints one JSON object, by gate.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.ops import gates
from benchmarks.ops.gates import Mutation
from benchmarks.ops.registry import Case, find
from benchmarks.ops.selection import Selection
from benchmarks.ops.workloads import case_of
from benchmarks.privacy import scrubbed
from evidence.errors import EvidenceError


class StrengthError(EvidenceError):
    """The mutants could not be tried."""


def measure(chosen: Selection, environment: Mapping[str, str], root: Path) -> Mapping[str, Mutation]:
    """Try the mutants in a process of their own, on the smallest case of each gate of the selection's one op.

    Raises:
        StrengthError: the implementation that is to be mutated fails itself.
    """
    (op,) = chosen.ops
    words = (op.name, chosen.implementations[0], chosen.dtype, chosen.device)
    names = [case.name for case in smallest(op.name, chosen.cases)]
    command = [sys.executable, "-m", "benchmarks.ops.strength", *words, *names]
    done = subprocess.run(command, cwd=root, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise StrengthError(f"the mutants could not be tried: {scrubbed(last, root)}")
    return {name: Mutation(tuple(found[0]), tuple(found[1])) for name, found in json.loads(done.stdout).items()}


def smallest(op: str, cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the smallest case of each of the op's gates."""
    by_gate: dict[str, Case] = {}
    for case in sorted((case for case in cases if case.op.name == op), key=_elements):
        by_gate.setdefault(gates.gate_name(case), case)
    return tuple(by_gate.values())


def _elements(case: Case) -> int:
    return sum(case.elements(operand) for operand in case.op.inputs)


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was tried and what survived."""
    name, implementation, dtype, device, *cases = sys.argv[1:] if argv is None else argv
    op = find(name)
    found = {}
    for text in cases:
        case = case_of(text, (op,), dtype)
        tried = gates.mutation(case, op.implementation(implementation), device)
        found[gates.gate_name(case)] = (tried.tried, tried.survivors)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
