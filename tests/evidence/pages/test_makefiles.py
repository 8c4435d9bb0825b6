from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.makefiles import parse

MAKEFILE = """\
# a comment
PYTHON ?= python3
BIN := .venv/bin
RUN = $(BIN)/python -m bench
MODEL = small

.PHONY: bench docs
docs: check | folder ## Build
\t@$(BIN)/mkdocs build \\
\t  --strict
check:
\t-$(RUN) --model $(MODEL) > $@.txt
folder: ; mkdir -p $$HOME/x
all bench: check
"""


def test_targets_with_what_they_need_and_run() -> None:
    made = parse(MAKEFILE)
    assert list(made.targets) == [".PHONY", "docs", "check", "folder", "all", "bench"]
    assert made.is_whole
    assert list(made.commands_of("docs")) == [
        (12, ".venv/bin/python -m bench --model small > $@.txt"),
        (13, "mkdir -p $HOME/x"),
        (9, ".venv/bin/mkdocs build --strict"),
    ]


def test_variables_given_on_the_command_line_win() -> None:
    assert [text for _, text in parse(MAKEFILE).commands_of("check", {"MODEL": "large"})] == [
        ".venv/bin/python -m bench --model large > $@.txt"
    ]


def test_what_brings_in_more_targets_is_noticed() -> None:
    assert not parse("include other.mk\na:\n\tb\n").is_whole
    assert not parse("%.o: %.c\n\tcc $<\n").is_whole
    assert not parse("ifeq ($(A),b)\nx:\nendif\n").is_whole


def test_a_circle_ends() -> None:
    assert list(parse("a: b\n\techo a\nb: a\n\techo b\nX = $(X)\n").commands_of("a")) == [(4, "echo b"), (2, "echo a")]
    assert parse("X = $(Y)\nY = $(X)\n").expand("$(X)")


@given(st.text(alphabet="ab:=$(){}\t\n\\ #%;", max_size=80))
def test_any_text_is_read(text: str) -> None:
    made = parse(text)
    for target in made.targets:
        list(made.commands_of(target))
