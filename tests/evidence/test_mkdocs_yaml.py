"""YAML as MkDocs reads it: the same values as PyYAML's safe loader, with lines, and no tag ever makes anything."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from evidence.mkdocs_yaml import Tagged, YamlError, line_of, load

TEXT = """\
a: no
b:
  - x
  - {c: 012, d: 2026-11-30}
<<: {e: 1}
f: *f
"""


def test_lines_of_keys_and_items() -> None:
    found = load(TEXT.replace("f: *f\n", ""))
    assert found == {"a": False, "b": ["x", {"c": 10, "d": found["b"][1]["d"]}], "e": 1}
    assert (line_of(found, "b"), line_of(found["b"], 1), line_of({}, "a")) == (2, 4, 1)


@pytest.mark.parametrize("text", [TEXT, "a: [", "a: !ENV x", "? [a]\n: b", "\t- a", "a: \x00"])
def test_what_cannot_be_read_says_why(text: str) -> None:
    with pytest.raises(YamlError):
        load(text)


def test_tags_are_kept_where_they_are_asked_for() -> None:
    assert load("a: !ENV [X, true]\nb: !!python/name:os.system", keeps_tags=True) == {
        "a": Tagged("!ENV"),
        "b": Tagged("tag:yaml.org,2002:python/name:os.system"),
    }


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(plain)
def test_values_are_those_of_the_safe_loader(value: object) -> None:
    text = yaml.safe_dump(value)  # all that is not ASCII is escaped: unescaped, the library loses some line ends
    assert load(text) == yaml.safe_load(text) == value


@given(st.text())
@example("0\t")
def test_any_text_is_read_or_refused(text: str) -> None:
    # Held to the same parser: where both are there, the one in Python refuses a few texts that the one in C reads.
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found = load(text)
    except YamlError:
        return
    assert found == yaml.load(text, Loader=parser) or found != found
