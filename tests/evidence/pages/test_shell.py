from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.session import Session, Simple
from evidence.pages.shell import ShellError, read


def words(text: str) -> list[list[str]]:
    return [[word.text for word in one.words] for one in read(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\"f", [["a", "b c", "d ef"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a &&\n  b", [["a"], ["b"]]),
        ("a # said\n# alone\nb#c", [["a"], ["b#c"]]),
        ("a > x 2>&1 < y &> z", [["a"]]),
        ("a <model> --b=<your ckpt>", [["a", "<model>", "--b=<your ckpt>"]]),
        ("cat > f <<'E'\nit's\nE\nb", [["cat"], ["b"]]),
        ("cat <<-E\n\tx\n\tE\nb", [["cat"], ["b"]]),
        ("x=$(git log | head) `ls`", [["git", "log"], ["head"], ["ls"], [""]]),
        ("for x in 1 2; do\n a $x\ndone", [["a", "$x"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
        ("while a; do b; done | c", [["a"], ["b"], ["c"]]),
        ("case $1 in\n x) a;;\n *) b;;\nesac", [["a"], ["b"]]),
        ("f() { a; }\nf", [["a"], ["f"]]),
        ("(a; b) && { c; }", [["a"], ["b"], ["c"]]),
        ("diff <(a b) x", [["a", "b"], ["diff", "", "x"]]),
        ("echo $((1 + 2))", [["echo", ""]]),
        ("", []),
    ],
)
def test_text_is_split_as_a_shell_would(text: str, found: list[list[str]]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("ok\necho 'open\n", 2, "a quote ' is not closed"),
        ('a\nb "open\nc', 2, 'a quote " is not closed'),
        ("a &&", 1, "nothing follows '&&'"),
        ("a\n| b", 2, "nothing stands before '|'"),
        ("a $(b", 1, "'$(' is not closed"),
        ("a ${b", 1, "'${' is not closed"),
        ("(a", 1, "'(' is not closed"),
        ("a)", 1, "')' closes nothing"),
        ("a >", 1, "nothing follows '>'"),
        ("cat <<E\nx", 2, "the text up to 'E' does not end"),
        ("for x in 1; do a", 1, "'do' is not closed"),
        ("a; fi", 1, "'fi' closes nothing"),
        ("`a", 1, "a quote ` is not closed"),
    ],
)
def test_what_a_shell_refuses_is_refused(text: str, line: int, said: str) -> None:
    with pytest.raises(ShellError) as caught:
        list(read(text))
    assert (caught.value.line, caught.value.message) == (line, said)


def last(text: str, session: Session | None = None) -> Simple:
    return list(read(text, session))[-1]


def test_variables_that_the_text_sets_are_put_in() -> None:
    found = last("export MODEL=llama N=3\nSEED=1 a $MODEL --n ${N} --of ${X:-none} '$N' \"$HOME/x\" \\$N")
    assert [word.text for word in found.words] == ["a", "llama", "--n", "3", "--of", "none", "$N", "~/x", "$N"]
    assert found.assigned == {"MODEL": "llama", "N": "3", "SEED": "1"}


def test_variables_that_nothing_sets_are_named() -> None:
    found = last("a $MODEL ${CKPT} $PATH $1")
    assert [name for word in found.words for name in word.unset] == ["MODEL", "CKPT"]


def test_what_only_running_tells_is_marked() -> None:
    marked = [word.text for word in last("for x in 1 2; do a $x $(b) *.py c; done").words if word.is_open]
    assert marked == ["$x", "", "*.py"]


def test_directories_are_followed() -> None:
    assert last("cd b/c && d").directory == "b/c"
    assert last("cd b && cd .. && d").directory == "."
    assert last("cd .. && d").directory is None
    assert last("cd /tmp && d").directory is None
    assert last("git clone https://x.org/me/tool.git\ncd tool\nd").directory == "clone:tool"
    assert last("git clone https://x.org/me/tool.git\ncd tool\ncd src && d").directory == "clone:tool/src"
    assert last("git clone --depth 1 -b v1 https://x.org/me/tool here && cd here && d").directory == "clone:here"
    assert last("git clone --depth 1 git@x.org:me/tool.git && cd tool && d").directory == "clone:tool"


def test_a_session_goes_on_in_the_next_text() -> None:
    session = Session()
    list(read("export A=1\ncurl -O https://x.org/f.py\ncd b", session))
    assert last("a $A", session).words[1].text == "1"
    assert last("a", session).directory == "b"
    assert "f.py" in session.made


@given(st.text(alphabet="ab $\"'`\\\n(){}<>|&;#=-*~!if dofn\t", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    found: list[Simple] = []
    refused: list[int] = []
    try:
        found += read(text)
    except ShellError as error:
        refused.append(error.line)
    assert all(one.words or one.writes for one in found)
    assert all(1 <= line <= text.count("\n") + 1 for line in refused)


@given(st.text(max_size=80))
def test_nothing_is_run(text: str) -> None:
    before = sorted(Path().iterdir())
    with contextlib.suppress(ShellError):
        list(read(f"touch made-by-shell; {text}\n$(touch made-by-shell)"))
    assert sorted(Path().iterdir()) == before


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), min_size=1), min_size=1
    )
)
def test_quoted_words_come_back(given: list[str]) -> None:
    (found,) = read(shlex.join(["cmd", *given]))
    assert [word.text for word in found.words] == ["cmd", *given]


def test_depth_is_bounded() -> None:
    with pytest.raises(ShellError):
        list(read("$(" * 3000 + ")" * 3000))
