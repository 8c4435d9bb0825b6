from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import EvidenceError
from evidence.pages.declared import read

ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
group = parser.add_argument_group("what")
group.add_argument("--model", "-m", required=True)
group.add_argument("--dtype", choices=("bf16", "fp8"), default="bf16")
parser.add_argument("--shapes", nargs="+")
parser.add_argument("--log", action="store_true")
parser.add_argument("mode")
parser.add_argument("rest", nargs="?")
"""
CLICK = """
import click
@click.command()
@click.option("--model", required=True)
@click.option("--fast/--slow", is_flag=True)
@click.option("--dtype", type=click.Choice(["bf16", "fp8"]))
@click.argument("mode")
def main(): ...
"""


def said(source: str, words: str) -> str:
    declared = read(source)
    assert declared is not None
    try:
        declared.require(words.split())
    except EvidenceError as error:
        return f"{error.message} {error.fix}"
    return ""


@pytest.mark.parametrize("source", [ARGPARSE, CLICK])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--model x serve", ""),
        ("--model=x --dtype fp8 serve", ""),
        ("--help", ""),
        ("--model x", "it needs mode"),
        ("serve", "it needs --model"),
        ("--modle x serve", "did you mean --model?"),
        ("--model x --dtype fp9 serve", "--dtype is never 'fp9' did you mean fp8?"),
    ],
)
def test_words_are_held_to_what_is_declared(source: str, words: str, message: str) -> None:
    found = said(source, words)
    assert message in found
    assert bool(message) is bool(found)


def test_words_of_options_are_no_arguments() -> None:
    assert said(ARGPARSE, "-m x serve --shapes a b --log") == ""
    assert "it needs mode" in said(ARGPARSE, "--log -m x --shapes a b")
    assert said(ARGPARSE, "--mod x --log serve") == ""
    assert said(CLICK, "--model x --slow serve") == ""


@pytest.mark.parametrize(
    "more",
    [
        "Engine.add_cli_args(parser)",
        "parser.parse_known_args()",
        "for name in NAMES: parser.add_argument(f'--{name}')",
        "parser.add_argument(*NAMES)",
        "parser.add_argument('--x', **more)",
        "other = argparse.ArgumentParser(parents=[base])",
    ],
)
def test_where_more_may_be_declared_no_option_is_unknown(more: str) -> None:
    assert said(f"{ARGPARSE}\n{more}", "--model x --other y serve") == ""
    assert "it needs --model" in said(f"{ARGPARSE}\n{more}", "serve")


def test_commands_below_a_command_are_left_alone() -> None:
    assert (
        said(
            f"{ARGPARSE}\nsub = parser.add_subparsers()\nsub.add_parser('a').add_argument('--y', required=True)",
            "b --x",
        )
        == ""
    )


@pytest.mark.parametrize(
    "source",
    ["x = 1", "import argparse", "def (", "import fire\nfire.Fire()", "import tyro, argparse\nx.add_argument('--y')"],
)
def test_other_sources_declare_nothing_that_can_be_read(source: str) -> None:
    assert read(source) is None


@given(st.lists(st.sampled_from(["--model", "--log", "--shapes", "x", "-", "--", "-m", "--model=", "=", ""])))
def test_any_words_are_judged(words: list[str]) -> None:
    declared = read(ARGPARSE)
    assert declared is not None
    try:
        declared.require(words)
    except EvidenceError as error:
        message = error.message
        assert message
