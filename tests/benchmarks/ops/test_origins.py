"""Where code is imported from, and the proof of it: each in a process of its own, for imports cannot be taken back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.ops.origins import OriginError, import_root, package_of
from tests.benchmarks.ops import checkouts


def told(program: str, *words: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


PROVE = """
import sys, importlib
from pathlib import Path
from benchmarks.ops.origins import proof, redirect
package, module, origin = sys.argv[1:]
redirect(package, Path(origin))
print(importlib.import_module(module).__file__)
print(proof(package, Path(origin)).value)
"""


def test_a_package_is_imported_from_its_origin_and_proved(tmp_path: Path):
    naive = checkouts.write(tmp_path)
    pytest.importorskip("torch")
    file, proof = told(PROVE, "fla", "fla.ops.linear_attn.naive", str(tmp_path)).splitlines()
    assert file == str(naive)
    assert proof.startswith("fla: 4 files, sha256 ")
    naive.write_text(naive.read_text() + "\n")
    assert told(PROVE, "fla", "fla.ops.linear_attn.naive", str(tmp_path)).splitlines()[1] != proof


def test_kernels_of_this_repository_come_from_another_tree_and_the_harness_does_not(tmp_path: Path):
    room = tmp_path / "benchmarks/ops/kernels"
    room.mkdir(parents=True)
    (room / "__init__.py").touch()
    (room / "toy.py").touch()
    (tmp_path / "benchmarks/timing.py").write_text("raise RuntimeError")
    program = PROVE + "import benchmarks.timing; print(benchmarks.timing.__file__)"
    lines = told(program, "benchmarks.ops.kernels", "benchmarks.ops.kernels.toy", str(tmp_path)).splitlines()
    assert lines[0] == str(room / "toy.py")
    assert lines[2] == str(ROOT / "benchmarks/timing.py")


def test_what_was_imported_before_is_refused(tmp_path: Path):
    program = "import benchmarks.ops.kernels\n" + PROVE
    said = told(program, "benchmarks.ops.kernels", "benchmarks.ops.kernels", str(tmp_path))
    assert "is imported already, before its origin was chosen" in said


def test_what_is_not_in_the_origin_is_not_taken_from_elsewhere(tmp_path: Path):
    (tmp_path / "fla").mkdir()
    (tmp_path / "fla/__init__.py").touch()
    assert "holds no fla.ops" in told(PROVE, "fla", "fla.ops.gla", str(tmp_path))


def test_a_module_that_lies_elsewhere_is_no_proof(tmp_path: Path):
    checkouts.write(tmp_path)
    program = PROVE.replace("proof(package, Path(origin))", "proof('evidence', Path(origin))")
    assert "lies elsewhere" in told(program, "fla", "fla.ops", str(tmp_path))


def test_the_package_of_a_target_is_what_a_baseline_replaces():
    assert package_of("fla.ops.gla:chunk_gla") == "fla"
    assert package_of("benchmarks.ops.kernels.qk_norm:fused") == "benchmarks.ops.kernels"


def test_a_checkout_without_the_package_is_refused(tmp_path: Path):
    checkouts.write(tmp_path / "src")
    assert import_root("fla", tmp_path) == tmp_path / "src"
    with pytest.raises(OriginError, match="there is no torch in it"):
        import_root("torch", tmp_path)
