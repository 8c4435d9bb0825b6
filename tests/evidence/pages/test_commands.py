from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.commands import commands, inline_commands


def test_commands_are_joined_and_comments_dropped() -> None:
    body = "```bash\n# a comment\nOMP_NUM_THREADS=1 python -m benchmarks.ops.run \\\n  --op toy\n\nmake check\n```\n"
    one, two = commands(body)
    assert (one.line, one.program.kind, one.program.name) == (3, "module", "benchmarks.ops.run")
    assert one.words == ("python", "-m", "benchmarks.ops.run", "--op", "toy")
    assert one.assigned == (("OMP_NUM_THREADS", "1"),)
    assert (two.line, two.program.kind, two.program.arguments) == (6, "make", ("check",))


@pytest.mark.parametrize("prompt", ["$ ", "% ", "(venv) $ ", "me@box:~/work$ ", "[me@box work]$ ", "❯ "])
def test_lines_without_a_prompt_are_output_where_others_have_one(prompt: str) -> None:
    found = list(commands(f"```console\n{prompt}python a.py \\\n> --x\nit's output\n{prompt}ls\n```"))
    assert [one.words for one in found] == [("python", "a.py", "--x"), ("ls",)]
    assert [one.line for one in found] == [2, 5]


def test_what_a_shell_refuses_has_no_words_and_a_reason() -> None:
    (found,) = commands('```sh\necho "open\n```')
    assert (found.words, found.line, found.fault) == ((), 2, 'a quote " is not closed')


@pytest.mark.parametrize(
    "text",
    [
        *("--ckpt <ckpt>", "--model <your model>", "--model my_weight", "--model my-model", "--data /path/to/data"),
        *("--n ...", "--n …", "--model $MODEL", "--model MODEL_PATH", "--out DIR", "--model YOUR_MODEL", "--key XXX"),
        *("--model [your model]", "--model=path/to/x", "--repo YOUR-ORG/repo"),
    ],
)
def test_stand_ins_are_found(text: str) -> None:
    (found,) = commands(f"```bash\npython -m benchmarks.ops.run {text}\n```")
    assert found.stand_in


@pytest.mark.parametrize(
    "text",
    [
        *(
            "--shapes b1-t512-h4-d64",
            "--dtype bf16",
            "--dtype FP8",
            "--model Qwen/Qwen3-0.6B",
            "go test ./...",
            "< in > out",
        ),
        *(
            "--name qk_norm",
            "docker run -e HF_TOKEN x",
            "--out ${OUT:-results}",
            "'a b'",
            "--myopic",
            "--key=K1",
            "HEAD~1",
        ),
    ],
)
def test_values_are_no_stand_ins(text: str) -> None:
    (found,) = commands(f"```bash\npython -m benchmarks.ops.run {text}\n```")
    assert not found.stand_in


@pytest.mark.parametrize(
    "text",
    [
        "/home/me/x",
        "~/data",
        "--x=/Users/me/x",
        "$HOME/x",
        "--x C:\\\\Users\\\\me",
        "/root/x",
        "~me/x",
        "/mnt/nvme/x",
        "/scratch/x",
    ],
)
def test_places_on_a_machine_are_found(text: str) -> None:
    (found,) = commands(f"```bash\npython x.py {text}\n```")
    assert found.home


@pytest.mark.parametrize(
    "text", ["rm -r ~/.cache", "docker run -v $PWD:/data/x y", "python x.py /tmp/x", "a home/x", "a b~/c"]
)
def test_places_that_everybody_has_are_none(text: str) -> None:
    (found,) = commands(f"```bash\n{text}\n```")
    assert not found.home


def test_a_console_without_prompts_may_hold_output() -> None:
    assert list(commands("```console\nit's done\n```")) == []
    assert [one.words for one in commands("```console\nmake x\n```")] == [("make", "x")]
    assert [one.fault for one in commands("```bash\nit's done\n```")] == ["a quote ' is not closed"]


def test_commands_in_running_text() -> None:
    body = (
        "Run `python -m a.b --x`, or\n`make\ntest`; see `a.b`, `--x`, `python`, ``A=1 bash run.sh``.\n\n    python -m c"
    )
    found = list(inline_commands(body))
    assert [(one.line, one.program.name) for one in found] == [(1, "a.b"), (2, "make"), (3, "run.sh")]
    assert list(inline_commands("<!-- `make x` -->\n```\n`make x`\n```")) == []


def test_a_variable_that_adds_to_itself_is_set() -> None:
    (found,) = commands("```bash\nexport MODULES=$MODULES:src CC=${CC:-gcc}\n```")
    assert not found.stand_in


def test_a_variable_that_an_earlier_block_sets_is_known() -> None:
    found = list(commands("```bash\nexport MODEL=a\n```\n\ntext\n\n```bash\npython x.py $MODEL $OTHER\n```"))
    assert found[-1].words == ("python", "x.py", "a", "$OTHER")
    assert found[-1].stand_in == "$OTHER"


@pytest.mark.parametrize(
    ("block", "count"),
    [
        ("```python\nimport x\n```", 0),
        ("```\nplain words\n```", 0),
        ("```\npython -m x\nmake y\n```", 2),
        ("```text\n$ ls\nout\n```", 1),
        ("```text\n550 tok/s\n$ 5\n```", 0),
        ("!!! note\n\n    ```bash\n    ls\n    ```", 1),
        ("```{.bash .annotate}\nls\n```", 1),
        ("    indented", 0),
        ("text\n\n    $ make x\n    out\n\ntext", 1),
        ("text\n\n\tpython -m a\n\tmake x\n", 2),
        ("- item\n\n    make x\n", 0),
    ],
)
def test_blocks_of_other_languages_hold_no_commands(block: str, count: int) -> None:
    assert len(list(commands(block))) == count


def test_lines_may_end_as_on_windows() -> None:
    (found,) = commands("```bash\r\npython a.py \\\r\n  --x\r\n```\r\n")
    assert found.words == ("python", "a.py", "--x")


@given(st.text(alphabet="ab $\"'`\\\n(){}<>|&;#=-%>\t", max_size=80))
def test_any_block_is_read(text: str) -> None:
    for found in commands(f"```console\n{text}\n```"):
        assert found.line >= 1
        assert isinstance(found.stand_in + found.home, str)


def test_a_secret_is_for_the_reader_to_fill_in() -> None:
    assert not any(one.stand_in for one in commands("```bash\nexport HF_TOKEN=<your token>\n```"))
    assert any(one.stand_in for one in commands("```bash\nexport MODEL=<your model>\n```"))
