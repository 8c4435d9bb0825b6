"""The troubleshooting guide: each symptom that it prints is produced here, and each that is produced here is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.ops import summary, verify
from benchmarks.ops.outcomes import DENIED
from tests.benchmarks.ops import checkouts
from tests.benchmarks.ops.test_summary import compared, row, written

pytest.importorskip("torch")
pytest.importorskip("fla", exc_type=ImportError)

GUIDE = ROOT / "docs/guides/troubleshooting.md"
GATES = "tests/benchmarks/ops/toy_gates"
SYMPTOMS = re.findall(r"^```text\n(.+)\n```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
BRIEF = ("--shapes", "b1-t64-h2-d16", "--modes", "fwd", "--sharing", "arm", "--warm-up", "0.01", "--budget", "0.1")
FORK = ("--start", "fork", "--nurseries", "1")
FEW = ("--minimum-samples", "3", "--maximum-samples", "3")


@dataclass(frozen=True)
class Place:
    """Where a symptom is produced: a checkout, a folder of its own, and the variables that may be set."""

    checkout: Path
    folder: Path
    patch: pytest.MonkeyPatch


def op(*words: str) -> Callable[[Place], None]:
    def produce(place: Place) -> None:
        filled = [word.replace("CHECKOUT", str(place.checkout)) for word in words]
        verify.main(["--op", "linear_attn", *BRIEF, *FORK, *FEW, *filled])

    return produce


def gate(name: str, *words: str) -> Callable[[Place], None]:
    return op("--test-file", f"{GATES}/{name}.py", *words)


def of_file(base: list[object], head: list[object]) -> Callable[[Place], None]:
    return lambda place: produce_summary(place, compared(base, head))


def produce_summary(place: Place, content: object) -> None:
    summary.main([written(place.folder, content)])


def weakened(place: Place) -> None:
    place.patch.setenv("FLA_CI_ENV", "1")
    op()(place)


def not_released(place: Place) -> None:
    place.patch.setenv("PIP_NO_INDEX", "1")
    place.patch.setenv("PIP_FIND_LINKS", str(place.folder))
    op("--base", "fla-core==0.0.2")(place)


def not_committed(place: Place) -> None:
    fresh = ROOT / GATES / "fresh.py"
    fresh.write_text("def test_one():\n    assert True\n")
    try:
        op("--test-file", str(fresh), "--base", "HEAD")(place)
    finally:
        fresh.unlink()


def no_accelerator(place: Place) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is an accelerator")
    verify.main(["--op", "chunk_gla", "--no-gate"])


OWN = ("--repo", "CHECKOUT")
ONE = ("--processes", "1")
PRODUCERS: dict[str, Callable[[Place], None]] = {
    "1 of 2 tests failed": gate("red"),
    "::test_sum": gate("uninitialised"),
    "--gate-k T8192": gate("red", "--gate-k", "T8192"),
    "all 2 tests were skipped": gate("skipped"),
    "ALLOWED_SKIPS": gate("partly"),
    "there is no gate file": gate("absent"),
    "cannot be collected": gate("broken"),
    "20 gate-changed": not_committed,
    "18 subset-gate": gate("green", "--gate-k", "tail", *OWN, *ONE),
    "19 no-gate": op("--no-gate", *OWN, *ONE),
    "17 environment": weakened,
    "torch sees no accelerator": no_accelerator,
    "no commit 'quik'": op(*OWN, "--base", "quik"),
    "no commit 'origin/main'": op(*OWN, "--base", "origin/main"),
    "einops==0.8.0": op("--base", "einops==0.8.0"),
    "fla-core==0.0.2": not_released,
    "15 baseline-unavailable": op("--no-gate", *OWN, "--base", "broken", *ONE),
    "compares a commit with itself": op("--test-file", f"{GATES}/red.py", *OWN, "--base", "main"),
    "16 regression": op("--no-gate", *OWN, "--base", "quick", "--processes", "6"),
    "2 of 6 processes": op("--no-gate", *OWN, "--base", "main", "--processes", "2"),
    "21 lost-row": of_file([row(), row(T=1)], [row()]),
    "22 not-a-number": of_file([row()], [row(float("nan"))]),
    "23 duplicate-row": of_file([row()], [row(), row()]),
    "24 unmatched-shape": of_file([row(shape="B1_L32_H96_D2K", L=64)], [row(L=64)]),
    "neither a record": lambda place: produce_summary(place, {}),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    return checkouts.made(tmp_path_factory.mktemp("repositories") / "fla-checkout")


@pytest.mark.parametrize("fragment", PRODUCERS)
def test_a_symptom_is_printed_as_the_guide_says(fragment, checkout, tmp_path, monkeypatch, capfd):
    (symptom,) = [text for text in SYMPTOMS if fragment in text]
    monkeypatch.chdir(ROOT)
    for name in DENIED:
        monkeypatch.delenv(name, raising=False)
    PRODUCERS[fragment](Place(checkout, tmp_path, monkeypatch))
    out, err = capfd.readouterr()
    pattern = ".*".join(re.escape(part) for part in symptom.split("…"))
    assert re.search(pattern, out + err), out + err


def test_every_symptom_of_the_guide_is_produced():
    assert len(SYMPTOMS) == len(PRODUCERS)
    assert all(sum(fragment in text for fragment in PRODUCERS) == 1 for text in SYMPTOMS)
