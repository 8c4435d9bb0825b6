"""What the project stands for: take one piece of evidence away, and both the check and the strict build fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.checker.sites import write_lock
from tests.projects import MKDOCS, write_project

LOG = "docs/benchmark_logs/kernels/toy_20260901"
RECORD = f"{LOG}/record.json"
CLAIMS = "docs/claims/features.yml"
LOCK = "docs/claims/evidence.lock"
PAGE = "docs/features.md"
ENVIRONMENT = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic project of which neither the check nor the build has anything to say."""
    return write_project(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def site(sound: Path, tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "site-copy"
    shutil.copytree(sound, root)
    yield root
    shutil.rmtree(root)


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return run(root, "-m", "evidence.check")


def build(root: Path) -> subprocess.CompletedProcess[str]:
    return run(root, "-m", "mkdocs", "build", "--strict", "--site-dir", "site")


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=root, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def edit(path: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        text = (root / path).read_text()
        changed = change(text)
        assert changed != text, "the mutation changes nothing"
        (root / path).write_text(changed)

    return apply


def record(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Edit the record as somebody would who also mends the ledger, so that only the record itself can tell."""

    def apply(root: Path) -> None:
        document = json.loads((root / RECORD).read_text())
        change(document)
        (root / RECORD).write_text(json.dumps(document, indent=1))
        sums = root / "docs/benchmark_logs/SHA256SUMS"
        digest = subprocess.run(["sha256sum", root / RECORD], capture_output=True, text=True, check=True).stdout[:64]
        sums.write_text(re.sub(r"[0-9a-f]{64}(?=  kernels/toy_20260901/record.json)", digest, sums.read_text()))

    return apply


def fail_the_gate(document: dict[str, Any]) -> None:
    document["cells"][1]["gate"]["detail"]["tensors"][0]["mismatched"] = 41


def select_in_the_gate(document: dict[str, Any]) -> None:
    document["gates"][0] |= {"scope": "partial", "selection": "N1024"}


def dirty_the_source(document: dict[str, Any]) -> None:
    document["sources"][0]["tree_sha256"] = "f" * 64


def one_digit(text: str) -> str:
    match = re.search(r'"values":\s*\[\s*0\.00\d*?([1-8])', text)
    assert match is not None
    return text[: match.start(1)] + str(int(match[1]) + 1) + text[match.end(1) :]


def rename_the_log(root: Path) -> None:
    (root / LOG).rename(root / LOG.replace("toy", "toys"))


BREAKAGES = [
    # What is done, how, the rule that names it, and where it says it is.
    ("environment removed", record(lambda d: d.update(hosts=[], stacks=[])), "EV101", rf"{RECORD}.*\n\s+\d+: "),
    ("driver emptied", record(lambda d: d["hosts"][0].update(driver="")), "EV102", rf"{RECORD}.*\n\s+\d+: "),
    ("command removed", record(lambda d: d.update(provenance=None)), "EV103", rf"{RECORD}.*\n\s+\d+: "),
    ("gate removed", record(lambda d: d["cells"][1].pop("gate")), "EV301", rf"{RECORD}.*\n\s+\d+: "),
    ("gate red", record(fail_the_gate), "EV302", rf"{RECORD}.*\n\s+\d+: "),
    ("gate a selection", record(select_in_the_gate), "EV303", r""),
    ("a digit of a sample", edit(RECORD, one_digit), "EV005", rf"{RECORD}|SHA256SUMS"),
    ("a digit, ledger mended", record(lambda d: d.update(limitations=["another"])), "EV006", r"SHA256SUMS.*\n\s+\d+: "),
    ("log renamed", rename_the_log, "EV003", r"toys_20260901/record\.json"),
    ("artifact deleted", lambda root: (root / f"{LOG}/gate.txt").unlink(), "EV007", rf"{RECORD}.*\n\s+\d+: "),
    ("record truncated", edit(RECORD, lambda text: text[: len(text) // 2]), "EV001", rf"{RECORD}.*\n\s+\d+: "),
    (
        "series misspelt",
        edit(CLAIMS, lambda t: t.replace("kernels/toy", "kernels/tyo", 1)),
        "EV601",
        rf"{CLAIMS}\s+4: ",
    ),
    ("unknown macro", edit(PAGE, lambda t: t.replace("ev.table", "ev.tabel")), "EV702", rf"{PAGE}\s+5: "),
    ("macros off", edit(PAGE, lambda t: "---\nrender_macros: false\n---\n" + t), "EV904", rf"{PAGE}\s+6: "),
    ("expect contradicted", edit(CLAIMS, lambda t: t.replace("better", "worse")), "EV602", rf"{CLAIMS}\s+8: "),
    ("a number in the lock", edit(LOCK, lambda t: t.replace("1.25×", "1.95×")), "EV610", rf"{LOCK}\s+3: "),
    ("lock removed", lambda root: (root / LOCK).unlink(), "EV610", rf"{LOCK}\s+1: "),
    ("dirty source", record(dirty_the_source), "EV105", rf"{RECORD}.*\n\s+\d+: "),
]


@pytest.fixture(scope="module", autouse=True)
def _has_an_artifact(sound: Path) -> None:
    """Give the log an artifact, as its runner would have, and commit everything."""
    text = b"24 passed\n"
    document = json.loads((sound / RECORD).read_text())
    digest = subprocess.run(["sha256sum"], input=text, capture_output=True, check=True).stdout[:64].decode()
    document["artifacts"] = [
        {"path": "gate.txt", "role": "gate-log", "sha256": digest, "bytes": len(text), "arms": [], "workloads": []}
    ]
    (sound / f"{LOG}/gate.txt").write_bytes(text)
    record(lambda d: d.update(artifacts=document["artifacts"]))(sound)
    with (sound / "docs/benchmark_logs/SHA256SUMS").open("a") as sums:
        sums.write(f"{digest}  kernels/toy_20260901/gate.txt\n")
    write_lock(sound)
    git(sound, "add", "--all")
    git(sound, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--message", "artifact")


def test_the_sound_site_passes_both(site: Path) -> None:
    checked, built = check(site), build(site)
    assert (checked.returncode, built.returncode) == (0, 0), checked.stdout + built.stderr
    assert (site / "site/features/index.html").is_file()


@pytest.mark.parametrize(
    ("breaks", "code", "place"), [one[1:] for one in BREAKAGES], ids=[one[0].replace(" ", "-") for one in BREAKAGES]
)
def test_each_breakage_fails_the_check_and_the_build(
    site: Path, breaks: Callable[[Path], None], code: str, place: str
) -> None:
    breaks(site)
    checked = check(site)
    assert checked.returncode == 1, checked.stdout
    found = checked.stdout
    assert f" {code} " in found, found
    assert re.search(place, found), found
    assert re.search(rf"{code} .*\n\s+fix: \S", found), found
    built = build(site)
    assert built.returncode != 0
    assert re.search(rf"[\w./-]+:\d+: {code} ", built.stderr + built.stdout), built.stderr
    assert not (site / "site").exists(), "a failing build writes no page"


def test_a_store_without_records_is_not_a_pass(site: Path) -> None:
    shutil.rmtree(site / "docs/benchmark_logs")
    checked = check(site)
    assert checked.returncode == 2
    assert "EV905" in checked.stdout


def test_pages_without_calls_are_not_a_pass(site: Path) -> None:
    (site / PAGE).write_text("# Features\n\nNothing is claimed.\n")
    checked = check(site)
    assert checked.returncode == 2
    assert "EV905" in checked.stdout


def test_the_mkdocs_configuration_of_the_tests_is_the_projects(site: Path) -> None:
    """The synthetic sites are built under the same switches as the real one: strict, macros before evidence."""
    real = (Path(__file__).parents[1] / "mkdocs.yml").read_text()
    for line in ("strict: true", "on_undefined: strict", "  - evidence"):
        assert line in real
        assert line in MKDOCS.replace("{modules: [evidence.macros], on_undefined: strict}", "on_undefined: strict")
