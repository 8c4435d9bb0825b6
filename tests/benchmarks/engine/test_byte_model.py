"""Tests of the script that trains the byte model: on texts it is told of, held out by name, and the same every time."""

from __future__ import annotations

import hashlib
import json
import runpy
import shutil
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ROOT
from benchmarks.engine import accuracy, models
from benchmarks.engine.runner import RUNNER
from evidence import runners

pytest.importorskip("torch")
pytest.importorskip("transformers")

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "train_byte_model.py"))
SMALL = ("--hidden", "64", "--layers", "1", "--windows", "4", "--batch", "2")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few packages of this Python's own library, with a file in each folder that is left out."""
    folder = tmp_path_factory.mktemp("library")
    for name in ("email", "json", "logging"):
        shutil.copytree(Path(sysconfig.get_path("stdlib")) / name, folder / name)
    for name in ("test", "site-packages/pip", "json/tests"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "left_out.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "_sysconfigdata__linux.py").write_text("prefix = '/home/someone'\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "bytes"
    assert SCRIPT["main"](["--out", str(out), "--library", str(library), "--steps", "30", *SMALL]) == 0
    return out


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def test_the_manifest_says_what_was_read_and_what_was_written(trained: Path, library: Path) -> None:
    found = manifest(trained)
    read = {**found["trained_on"], **found["held_out"]}
    assert found["trained_on"].keys().isdisjoint(found["held_out"])
    assert {path.relative_to(library).as_posix() for path in library.rglob("*.py") if "left_out" not in path.name} == {
        *read,
        "_sysconfigdata__linux.py",
    }
    for path, digest in read.items():
        assert hashlib.sha256((library / path).read_bytes()).hexdigest() == digest
    assert found["files"].keys() == {path.name for path in trained.iterdir()} - {"manifest.json"}
    for name, digest in found["files"].items():
        assert hashlib.sha256((trained / name).read_bytes()).hexdigest() == digest


def test_windows_are_of_texts_that_are_held_out(trained: Path, library: Path) -> None:
    held_out = [(library / path).read_bytes() for path in manifest(trained)["held_out"]]
    read = [(library / path).read_bytes() for path in manifest(trained)["trained_on"]]
    windows = [bytes(row) for row in accuracy.windows_of(trained)]
    assert [len(window) for window in windows] == [accuracy.WINDOW] * 4
    for window in windows:
        assert any(window in text for text in held_out)
        assert not any(window in text for text in read)


def test_it_learns_and_is_measured_on_what_it_never_saw(trained: Path) -> None:
    model = models.find(str(trained))
    these = accuracy.passages(model)
    assert (these.task, these.measure) == ("held-out-text", "bits_per_byte")
    measured = accuracy.bits_per_byte(models.build(model, "fp32", "cpu"), these.rows)
    assert measured == pytest.approx(manifest(trained)["bits_per_byte"]["held_out"], abs=1e-4)
    assert measured < 6  # bits; a model that knows nothing needs 8


def test_a_seed_stands_for_its_weights(library: Path, tmp_path: Path) -> None:
    def weights(name: str, seed: str) -> str:
        out = tmp_path / name
        SCRIPT["main"](["--out", str(out), "--library", str(library), "--steps", "2", "--seed", seed, *SMALL])
        digest: str = manifest(out)["files"]["model.safetensors"]
        return digest

    assert weights("one", "3") == weights("again", "3") != weights("other", "4")


def test_what_the_library_holds_too_little_of_is_refused(library: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="are asked for"):
        SCRIPT["main"](["--out", str(tmp_path), "--library", str(library), "--windows", "100000"])
    assert not list(tmp_path.iterdir())


def test_a_model_that_was_not_made_yet_says_how(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(models.LOCAL, "byte", tmp_path / "byte")  # type: ignore[misc]
    with pytest.raises(models.ModelError, match="not made yet") as refused:
        models.find("byte")
    assert f"\n{str(refused.value.fix).removeprefix('make ')}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_command_that_names_it_is_one_before_it_was_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(models.LOCAL, "byte", tmp_path / "byte")  # type: ignore[misc]
    options = runners.parse(RUNNER, ("quant", "--model", "byte", "--dtype", "bf16", "--log"))
    assert options is not None
    configuration = RUNNER.configuration(options)
    assert configuration is not None
    assert configuration["--model"] == "byte"
    assert configuration["--name"] == "quant_byte"
