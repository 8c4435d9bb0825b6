from __future__ import annotations

import pytest

from evidence.pages.commands import commands


def test_commands_are_joined_and_prompts_dropped() -> None:
    body = "```bash\n# a comment\nOMP_NUM_THREADS=1 python -m benchmarks.ops.run \\\n  --op toy\n\nmake check\n```\n"
    found = list(commands(body))
    assert [(one.line, one.module) for one in found] == [(3, "benchmarks.ops.run"), (6, "")]
    assert found[0].words == ("python", "-m", "benchmarks.ops.run", "--op", "toy")
    assert found[0].equals(("/usr/bin/python3", "-m", "benchmarks.ops.run", "--op", "toy"))
    assert not found[0].equals(("python", "-m", "benchmarks.ops.run", "--op", "other"))


def test_lines_without_a_prompt_are_output_where_others_have_one() -> None:
    found = list(commands("```console\n$ python a.py --x\nit's output\n```"))
    assert [one.text for one in found] == ["python a.py --x"]
    assert found[0].module == "a.py"


def test_quotes_that_do_not_close_leave_no_words() -> None:
    assert [one.words for one in commands('```sh\necho "open\n```')] == [()]


@pytest.mark.parametrize(
    "text", ["--ckpt <ckpt>", "--model my_weight", "--data /path/to/data", "--out /home/me/x", "--n ..."]
)
def test_placeholders_are_found(text: str) -> None:
    (found,) = commands(f"```bash\npython -m benchmarks.ops.run {text}\n```")
    assert found.placeholder


def test_other_blocks_hold_no_commands() -> None:
    assert list(commands("```python\nimport x\n```\n\n```\nplain\n```")) == []
