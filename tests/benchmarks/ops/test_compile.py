"""The command that compiles, on real ops: those of a processor have nothing to compile, and are called all the same."""

from __future__ import annotations

import pytest

from benchmarks import ROOT
from benchmarks.ops.compile import main

torch = pytest.importorskip("torch")
SMALL = ["--shapes", "b1-t64-h2-d16", "--directions", "forward"]


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_every_case_is_called_and_nothing_is_measured(capfd):
    assert main(["--op", "linear_attn", "simple_gla", *SMALL, "--processes", "2"]) == 0
    said = capfd.readouterr().out.splitlines()
    cases = {(arm, op) for arm in ("recurrent", "chunk") for op in ("linear_attn", "simple_gla")}
    cases.add(("parallel", "simple_gla"))
    lines = [line.split() for line in said if line.startswith("compiled")]
    assert {(arm, name) for _, arm, _, name, *_ in lines} == {(arm, f"{op}-b1-t64-h2-d16-fwd") for arm, op in cases}
    assert said[-1].startswith("done       5 cases in ")
    assert "nothing was measured" in said[-1]


def test_what_raises_is_told_of_and_left_to_its_gate(capfd):
    words = ["--op", "hgrn", "--implementations", "chunk", "--shapes", "b1-t512-d256", "--directions", "forward"]
    assert main([*words, "--processes", "1"]) == 0
    assert "failed     chunk on b1-t512-d256-fwd: " in capfd.readouterr().out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_a_machine_without_the_device_is_unsuitable(capsys):
    assert main(["--op", "chunk_gla", "--processes", "2"]) == 4
    said = capsys.readouterr().err
    assert "torch sees no accelerator" in said
    assert "fix: run it where the sessions will run" in said
