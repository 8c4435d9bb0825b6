from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import runners
from evidence.errors import DuplicateNameError
from evidence.schema import Record
from tests.factories import record

ROOT = Path(__file__).parents[2]
RAN: list[str] = []


class Toy:
    """A runner of any parser."""

    def __init__(self, made: argparse.ArgumentParser | click.Command) -> None:
        self.made = made

    def parser(self) -> argparse.ArgumentParser | click.Command:
        return self.made

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        return {name: str(value) for name, value in options.items()}

    def recorded(self, record: Record) -> Mapping[str, str]:
        return {"log": record.log}

    def variables(self, options: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, str]:
        return {}

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        return tuple(words)


def by_argparse() -> Toy:
    made = argparse.ArgumentParser(prog="toy")
    made.add_argument("--version", action="version", version="1")
    made.add_argument("--model", required=True)
    made.add_argument("--out", type=argparse.FileType("w"))
    below = made.add_subparsers(dest="command", required=True)
    bench = below.add_parser("bench")
    bench.add_argument("--processes", type=int, default=9)
    return Toy(made)


def by_click() -> Toy:
    @click.group()
    @click.option("--model", required=True, callback=lambda *_: RAN.append("callback"))
    @click.version_option("1")
    def toy(model: str) -> None:
        RAN.append("toy")

    @toy.command()
    @click.option("--processes", type=int, default=9)
    @click.option("--way", type=click.Choice(["a", "b"]))
    @click.option("--data", type=click.Path(exists=True))
    @click.option("--out", type=click.File("w"))
    @click.argument("more", nargs=-1, type=click.Path(path_type=Path))
    def bench(**_: object) -> None:
        RAN.append("bench")

    return Toy(toy)


@pytest.mark.parametrize("made", [by_argparse, by_click])
def test_words_become_options_and_nothing_runs(made: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RAN.clear()
    options = runners.parse(made(), ["--model", "x", "bench", "--processes", "3"])
    assert options is not None
    assert (options["model"], options["processes"]) == ("x", 3)
    assert (runners.parse(made(), ["--model=x", "bench"]) or {})["processes"] == 9
    assert runners.parse(made(), ["--help"]) is None
    assert runners.parse(made(), ["--version"]) is None
    assert capsys.readouterr() == ("", "")
    assert RAN == []


def test_files_are_not_opened(tmp_path: Path) -> None:
    runners.parse(by_argparse(), ["--model", "x", "--out", str(tmp_path / "a"), "bench"])
    words = ["--model", "x", "bench", "--out", str(tmp_path / "b"), "--data", str(tmp_path / "none")]
    assert runners.parse(by_click(), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("made", [by_argparse, by_click])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench"], "--model"),
        (["--model", "x"], "command"),
        (["--model", "x", "bench", "--proceses", "3"], "did you mean --processes?"),
        (["--model", "x", "bench", "--processes", "three"], "three"),
        (["--model", "x", "bnech"], "bnech"),
    ],
)
def test_what_a_parser_refuses_is_said(made: Any, words: list[str], said: str) -> None:
    with pytest.raises(runners.UnparseableError) as caught:
        runners.parse(made(), words)
    assert said in f"{caught.value.message} {caught.value.fix}"


def test_a_word_too_many_is_said_by_argparse() -> None:
    with pytest.raises(runners.UnparseableError, match="more"):
        runners.parse(by_argparse(), ["--model", "x", "bench", "more"])
    assert (runners.parse(by_click(), ["--model", "x", "bench", "more"]) or {})["more"] == ("more",)


def test_this_command_line_is_a_program_of_its_own() -> None:
    points = runners.known(ROOT, runners.PROGRAMS)
    evidence = runners.load(points["evidence"])
    for words in (["check", "--strict"], ["verify", "x", "--cell", "a/b"], ["explain", "EV101"], ["update"]):
        assert runners.parse(evidence, words) is not None
    with pytest.raises(runners.UnparseableError, match="did you mean 'reproduce'"):
        runners.parse(evidence, ["reprodce", "x"])
    with pytest.raises(runners.UnparseableError) as caught:
        runners.parse(runners.load(points["evidence.check"]), ["--strikt"])
    assert "--strict" in f"{caught.value.message} {caught.value.fix}"


def test_no_choice_is_said_by_click() -> None:
    with pytest.raises(runners.UnparseableError, match="'c'"):
        runners.parse(by_click(), ["--model", "x", "bench", "--way", "c"])


@pytest.mark.parametrize("made", [by_argparse, by_click])
@given(
    words=st.lists(
        st.sampled_from(["--model", "x", "bench", "--processes", "3", "--", "-", "--out", "", "--help", "-1"])
    )
)
def test_any_words_are_parsed_or_refused(made: Any, words: list[str]) -> None:
    try:
        options = runners.parse(made(), words)
    except runners.UnparseableError as error:
        options = None
        message = error.message
        assert message
    assert options is None or "model" in options


def test_options_are_compared_by_name() -> None:
    ours = runners.by_words(["serve", "--model", "a", "--n=3", "--log"])
    assert ours == {"argument 1": "serve", "--model": "a", "--n": "3", "--log": "given"}
    assert runners.differences(ours, runners.by_words(["serve", "--log", "--n", "3", "--model", "b"])) == (
        ("--model", "a", "b"),
    )
    assert runners.differences({"a": "1"}, {"b": "2"}) == (("b", "", "2"), ("a", "1", ""))
    assert runners.by_words(["--shift", "-1"]) == {"--shift": "-1"}


def test_this_project_reaches_its_own_runners_and_no_other_does(tmp_path: Path) -> None:
    assert set(runners.known(ROOT)) >= {"benchmarks.ops.run", "benchmarks.evidence.run"}
    assert "benchmarks.ops.run" not in runners.known(tmp_path)


def test_two_packages_of_one_runner_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    points = tuple(EntryPoint("toy", f"evidence.{module}:X", runners.GROUP) for module in ("a", "b"))
    monkeypatch.setattr(runners, "_declared", lambda _: points)
    with pytest.raises(DuplicateNameError, match="toy"):
        runners.known(ROOT)


def test_a_runner_that_cannot_be_imported_says_so() -> None:
    for value in ("evidence.nothing:X", "evidence.errors:NOTHING"):
        with pytest.raises(runners.RunnerError, match="toy"):
            runners.load(EntryPoint("toy", value, runners.GROUP))


def test_the_runners_are_read_without_what_they_measure() -> None:
    import subprocess

    program = (
        "import sys\n"
        "for name in ('torch', 'triton', 'psutil', 'pynvml', 'numpy', 'fla'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from evidence import runners\n"
        "for point in runners.known(Path('.')).values():\n"
        "    runner = runners.load(point)\n"
        "    assert runners.parse(runner, ['--help']) is None\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_record_shows_what_its_runner_reads() -> None:
    assert by_click().recorded(record())["log"] == record().log
