"""The builder of commands: what it prints, what it refuses, and that it runs nothing."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from benchmarks import ROOT
from benchmarks.ops import verification
from benchmarks.ops.building import build, main
from benchmarks.ops.outcomes import DENIED
from evidence.errors import EvidenceError

SCRIPT = "scripts/fla_verify_op_command.py"


def test_the_command_of_the_seed_is_built():
    words = ["--op", "chunk_gla", "--base", "HEAD", "--modes", "fwd", "fwdbwd"]
    done = subprocess.run([sys.executable, SCRIPT, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    command = shlex.split(done.stdout.splitlines()[0])
    at = command.index("python")
    assert command[at:] == ["python", "-m", "benchmarks.ops.verify", *words]
    assert command[0] == "env"
    assert {command[index + 1] for index, word in enumerate(command[:at]) if word == "-u"} == set(DENIED)
    assert "OMP_NUM_THREADS=1" in command[:at]
    assert "# may be used for: one of the two sessions that a promotion needs" in done.stdout
    assert done.stdout.rstrip().endswith("unverified: nothing was run")


def test_a_built_command_parses_to_what_was_asked():
    words = ["--op", "linear_attn", "--gate-k", "tail and not (b1 or $(touch x))", "--shapes", "b1-t64-h2-d16"]
    words[3] = "tail and not (b1 or 'x;y')"
    command = shlex.split(build(words).command)
    options = verification.parser().parse_args(command[command.index("benchmarks.ops.verify") + 1 :])
    assert options.gate_k == words[3]


def test_the_note_says_what_a_run_may_be_used_for():
    def note(*words: str) -> str:
        return build(["--op", "linear_attn", *words]).notes[0]

    assert "fast signal only" in note("--gate-k", "linear")
    assert "a first look only" in note("--no-gate")
    assert "Nothing is compared" in note()
    assert "two sessions" in note("--base", "HEAD")


def test_a_selection_that_matches_no_word_is_told():
    notes = build(["--op", "linear_attn", "--gate-k", "T8192", "--modes", "fwd"]).notes
    assert any("it will likely select nothing (exit 11)" in note for note in notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--op", "chunk_gl"], "did you mean 'chunk_gla'"),
        (["--op", "chunk_gla", "--base", "no-such-ref"], "no commit 'no-such-ref'"),
        (["--op", "chunk_gla", "--base", "main; rm -rf /"], "neither a git ref nor NAME==VERSION"),
        (["--op", "chunk_gla", "--base", "$(id)"], "neither a git ref nor NAME==VERSION"),
        (["--op", "chunk_gla", "--base", "einops==0.8.0"], "holds no code of chunk_gla"),
        (["--op", "chunk_gla", "--gate-k", "a and"], "is no expression"),
        (["--op", "chunk_gla", "--gate-k", "a b"], "is no expression"),
        (["--op", "chunk_gla", "--shapes", "b1"], "no shape"),
        (["--list"], "needs no builder"),
        ([], "no op is named"),
    ],
)
def test_what_makes_no_command_is_refused(words, said, capsys):
    with pytest.raises(EvidenceError):
        build(words)
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_mode_that_is_none_is_refused_by_the_parser(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--op", "chunk_gla", "--modes", "sideways"])
    assert left.value.code == 2
    assert "invalid choice: 'sideways'" in capsys.readouterr().err
