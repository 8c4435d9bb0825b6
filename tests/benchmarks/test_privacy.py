from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.privacy import PrivacyError, command_line, directory_of, program, scrubbed, variables

ROOT = Path("/srv/work/repository")


def test_an_interpreter_is_named_by_its_place_in_the_repository_or_bare():
    assert program(f"{ROOT}/.venv/bin/python", ROOT) == ".venv/bin/python"
    assert program("/usr/bin/python3.12", ROOT) == "python3.12"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--op", "toy", "--shapes", "b1-t64"], ("--op", "toy", "--shapes", "b1-t64")),
        ([f"{ROOT}/a/plan.yml"], ("a/plan.yml",)),
        ([f"--plan={ROOT}/a/plan.yml", "x/../y"], ("--plan=a/plan.yml", "y")),
        (["--logs", "/elsewhere", "--log"], ("--log",)),
        (["--logs=/elsewhere", "--log"], ("--log",)),
        (["--logs", "docs/benchmark_logs"], ("--logs", "docs/benchmark_logs")),
        (["--logs"], ("--logs", "")),
        (["--limitation", "forward / backward only"], ("--limitation", "forward / backward only")),
    ],
)
def test_paths_in_a_command_stay_inside_the_repository(words, kept):
    assert command_line(words, ROOT, ROOT, destinations=("--logs",)) == kept


@pytest.mark.parametrize("word", ["/etc/passwd", "../other/plan.yml", "--plan=/etc/passwd", "--plan=../x"])
def test_a_word_that_leads_outside_is_refused(word):
    with pytest.raises(PrivacyError, match="outside the repository"):
        command_line(["--op", word] if not word.startswith("-") else [word], ROOT, ROOT)


def test_a_command_runs_inside_the_repository():
    assert directory_of(ROOT, ROOT) == "."
    assert directory_of(ROOT / "benchmarks", ROOT) == "benchmarks"
    with pytest.raises(PrivacyError):
        directory_of(Path("/elsewhere"), ROOT)


def test_only_variables_that_matter_are_kept_and_none_that_holds_a_place():
    told, withheld = variables(
        {
            "OMP_NUM_THREADS": "1",
            "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128",
            "CUDA_VISIBLE_DEVICES": "GPU-00000000-1111-2222-3333-444444444444",
            "TRITON_CACHE_DIR": "cache",
            "TRITON_REDIS_HOST": "somewhere",
            "NCCL_DEBUG": "10.0.0.1",
            "FLA_CI_ENV": "1",
            "HOME": "/home/someone",
            "AWS_SECRET": "x",
        }
    )
    assert [setting.name for setting in told] == ["FLA_CI_ENV", "OMP_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF"]
    assert withheld == ("CUDA_VISIBLE_DEVICES", "NCCL_DEBUG", "TRITON_CACHE_DIR", "TRITON_REDIS_HOST")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"no file {ROOT}/benchmarks/x.py", "no file benchmarks/x.py"),
        ("in /usr/lib/python3.12/site-packages/torch/nn.py, line 3", "in …/nn.py, line 3"),
        ("open('/home/someone/.cache/x')", "open('…/x')"),
        ("see https://example.com/a/b?token=c", "see …"),
        ("3 of 4 and/or 5/6 at 2 GB/s", "3 of 4 and/or 5/6 at 2 GB/s"),
        ("a/b.py: relative", "a/b.py: relative"),
        ("  spaces and \x00 ", "spaces and"),
    ],
)
def test_messages_lose_their_places(text, shown):
    assert scrubbed(text, ROOT) == shown


@given(st.text())
def test_a_scrubbed_message_holds_no_absolute_path(text):
    shown = scrubbed(f"{text} /home/someone/{text}", ROOT)
    assert "/home/someone" not in shown
    assert len(shown) <= 2002
