from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.programs import Program, program_of


@pytest.mark.parametrize(
    ("text", "kind", "name", "arguments"),
    [
        ("python -m a.b --c d", "module", "a.b", "--c d"),
        ("/usr/bin/python3.11 -W error -u -m a.b x", "module", "a.b", "x"),
        (".venv/bin/python -X dev a/b.py x", "script", "a/b.py", "x"),
        ("python -c 'x'", "", "", ""),
        ("python", "", "", ""),
        ("bash -e run.sh x", "script", "run.sh", "x"),
        ("bash -c 'python x'", "", "", ""),
        ("source env.sh", "script", "env.sh", ""),
        ("./run.sh x", "script", "./run.sh", "x"),
        ("benchmarks/run.py x", "script", "benchmarks/run.py", "x"),
        (".venv/bin/evidence check", "name", "evidence", "check"),
        ("make bench X=1", "make", "make", "bench X=1"),
        ("sudo nice -n 10 python -m a", "module", "a", ""),
        ("env A=1 python -m a", "module", "a", ""),
        ("time make x", "make", "make", "x"),
        ("torchrun --nproc-per-node 2 train.py --x", "script", "train.py", "--x"),
        ("torchrun --nproc-per-node 2 -m a.b --x", "module", "a.b", "--x"),
        ("accelerate launch --num_processes 2 train.py", "script", "train.py", ""),
        ("uv run python -m a", "module", "a", ""),
        ("uv run evidence check", "name", "evidence", "check"),
        ("uv pip install x", "name", "uv", "pip install x"),
        ("mpirun -n 2 python a.py", "script", "a.py", ""),
        ("nsys profile -o x python a.py", "script", "a.py", ""),
        ("vllm serve x", "name", "vllm", "serve x"),
        ("/usr/bin/env", "name", "/usr/bin/env", ""),
    ],
)
def test_the_program_behind_a_command(text: str, kind: str, name: str, arguments: str) -> None:
    found = program_of(shlex.split(text))
    assert (found.kind, found.name, " ".join(found.arguments)) == (kind, name, arguments)


@given(
    st.lists(
        st.sampled_from(["python", "-m", "bash", "-c", "sudo", "uv", "run", "x.py", "make", "torchrun", "", "-", "a=b"])
    )
)
def test_any_words_have_one(words: list[str]) -> None:
    assert isinstance(program_of(words), Program)
