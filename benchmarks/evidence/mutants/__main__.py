"""Owns the command that prints the mutation score: `python -m benchmarks.evidence.mutants`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.evidence.mutants.mutation import CLASSES, mutations
from benchmarks.evidence.mutants.score import Verdict, by_class, score


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was missed, the score of each class, and last how many of all were caught; 1 if any was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evidence.mutants",
        description="Do to a clean site what authors do, check it each time, and count what a rule saw.",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first site (default 1)")
    parser.add_argument("--sites", type=int, default=3, metavar="N", help="sites, each of its own seed (default 3)")
    parser.add_argument("--classes", default="", metavar="LETTERS", help="only these classes, such as AG")
    options = parser.parse_args(argv)
    wanted = [one for one in mutations() if one.letter in (options.classes or CLASSES)]
    found: list[Verdict] = []
    for seed in range(options.seed, options.seed + options.sites):
        for verdict in score(seed, wanted):
            found.append(verdict)
            if not verdict.is_caught:
                sys.stdout.write(f"missed: {_told(verdict)}\n")
    for letter, (caught, tried) in by_class(found).items():
        sys.stdout.write(f"{letter}  {caught:>5} of {tried:<5}  {CLASSES[letter]}\n")
    caught = sum(verdict.is_caught for verdict in found)
    sys.stdout.write(f"caught {caught} of {len(found)}\n")
    return 0 if caught == len(found) else 1


def _told(verdict: Verdict) -> str:
    one = verdict.mutation
    instead = ", ".join(dict.fromkeys(finding.code for finding in verdict.found)) or "nothing"
    expected = " or ".join(one.codes)
    return f"{one.letter} {one.name}, seed {verdict.seed}: {one.what}; expected {expected}, found {instead}"


if __name__ == "__main__":
    sys.exit(main())
