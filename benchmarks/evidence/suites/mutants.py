"""Owns the suite `mutants`: of the faults done to a clean site, how many the check finds, in all and by class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.evidence.suite import Check, Ran, Side, Sizes, Suite
from evidence.schema import Metric

ALL = "all"
LETTERS = tuple("ABCDEFGHIJS")
CAUGHT, APPLIED = "caught", "applied"

_LAST = re.compile(r"caught (\d+) of (\d+)\n?\Z")
_SEEDS = "seeds.txt"


def _prepare(folder: Path, sizes: Sizes) -> Path:
    """Write, for each class and for all, which sites are to be made: the sites themselves take longer to copy."""
    root = folder / "mutants"
    for part in (ALL, *LETTERS):
        (root / part).mkdir(parents=True)
        (root / part / _SEEDS).write_text(f"{sizes['seed']} {sizes['sites']}\n", encoding="utf-8")
    return root


def _files(inputs: Path) -> tuple[Path, ...]:
    return (inputs / _SEEDS,)


def _settings(inputs: Path, sizes: Sizes) -> Mapping[str, str]:
    return {"class": inputs.name, "sites": str(sizes["sites"]), "seed": str(sizes["seed"])}


def _command(inputs: Path, written: Path) -> tuple[str, ...]:
    seed, sites = (inputs / _SEEDS).read_text(encoding="utf-8").split()
    classes = () if inputs.name == ALL else ("--classes", inputs.name)
    # A miss is a result of this suite and no failure of it: the exit code tells of a run that did not end.
    program = "import sys; from benchmarks.evidence.mutants.__main__ import main; sys.exit(main() > 1)"
    return "-c", program, "--seed", seed, "--sites", sites, *classes


def _counts(ran: Ran) -> Mapping[str, float]:
    match = _LAST.search(ran.said)
    return {CAUGHT: float(match[1]), APPLIED: float(match[2])} if match else {}


def _held(ran: Ran, sizes: Sizes) -> Iterator[Check]:
    counted = _counts(ran)
    yield Check("the score", "" if counted else "it did not say how many were caught")
    yield Check("mutations", "" if counted.get(APPLIED) else "none was done")


def _gate(inputs: Path, scratch: Path, sizes: Sizes) -> Iterator[Check]:
    """The check finds nothing in the clean sites, and every rule that a mutation names is one that there is."""
    from benchmarks.evidence.mutants.mutation import mutations
    from benchmarks.evidence.mutants.score import check
    from benchmarks.evidence.mutants.site import write_site
    from evidence.checker.catalogue import RULES

    for seed in range(sizes["seed"], sizes["seed"] + sizes["sites"]):
        root = scratch / str(seed)
        root.mkdir()
        write_site(root, seed)
        found = check(root)
        yield Check(f"the clean site of seed {seed}", f"{found[0].code} {found[0].message}" if found else "")
    known = {rule.code for rule in RULES}
    for one in mutations():
        if inputs.name in (ALL, one.letter):
            unknown = sorted(set(one.codes) - known)
            yield Check(one.name, f"there is no rule {unknown[0]}" if unknown else "")


def _metric(name: str, better: str, role: str) -> Metric:
    return Metric.model_validate({"name": name, "unit": "1", "better": better, "of": "process", "role": role})


SUITE = Suite(
    name="mutants",
    module=__name__,
    summary="how many of the faults that are done to a clean site the check finds",
    sizes={"sites": 3, "seed": 1},
    prepare=_prepare,
    warmed=_files,
    settings=_settings,
    sides=(Side("check", "baseline", "evidence.checker.runs:run", _command, "clean-sites", _gate, _held),),
    axes=(),
    metrics=(_metric(CAUGHT, "higher", "target"), _metric(APPLIED, "neither", "context")),
    measured=("evidence/**/*.py", "benchmarks/evidence/mutants/**/*.py"),
    gates=("benchmarks/evidence/mutants/score.py", "benchmarks/evidence/suites/mutants.py"),
    limitations=(
        "the mutations are those that its authors thought of: a fault that none of them resembles may pass",
        "a mutation counts as caught if one of the rules it names points at what was touched, or at what reads it",
        "one kind of clean site, with other numbers and devices by seed",
    ),
    parts=(ALL, *LETTERS),
    counts=_counts,
)
