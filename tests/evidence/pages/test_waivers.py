from __future__ import annotations

import datetime

import pytest

from evidence.pages.waivers import waivers

COMMENT = '<!-- evidence: allow EV701 because="a vendor figure" owner="@docs" until=2027-01-31 -->'


def test_a_waiver_is_read_with_its_words() -> None:
    (found,) = waivers(f"text\n\n{COMMENT}\nIt is 2× faster.\n")
    assert (found.line, found.rule, found.because, found.owner) == (3, "EV701", "a vendor figure", "@docs")
    assert found.until == datetime.date(2027, 1, 31)
    assert found.text == COMMENT
    assert found.fault == ""


@pytest.mark.parametrize(
    ("below", "last"),
    [
        ("one\ntwo\n\nthree", 3),
        ("\none\n\ntwo", 3),
        ("- one\n\n    more\n\n- two\n\nthree", 6),
        ("| a |\n|---|\n| 1 |\n\nnext", 4),
        ("```bash\na\n\nb\n```\nnext", 6),
        ("", 2),
    ],
)
def test_a_waiver_covers_the_block_below(below: str, last: int) -> None:
    (found,) = waivers(f"{COMMENT}\n{below}")
    assert found.lines == (1, last)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ('EV701 because="x" owner="@d"', "needs until"),
        ('EV701 owner="@d" until=2027-01-31', "needs because"),
        ('EV701 because="x" until=2027-01-31', "needs owner"),
        ('EV701 because="x" owner="@d" until=soon', "no date"),
        ('because="x" owner="@d" until=2027-01-31', "names one rule"),
    ],
)
def test_a_waiver_that_lacks_something_is_none(words: str, fault: str) -> None:
    (found,) = waivers(f"<!-- evidence: allow {words} -->\ntext")
    assert fault in found.fault


def test_a_waiver_in_code_is_an_example() -> None:
    assert list(waivers(f"```html\n{COMMENT}\n```\n\n`{COMMENT}`\n")) == []
