r"""Owns the form of docs/claims/evidence.lock: which log each series stands on, and every text printed from it.

The file is UTF-8 with line feeds. Its first line is `HEADER`; each further line is one fact, `KEY = "TEXT"`, and names
its owner, so that a line of a diff reads alone. The facts stand in the order of their lines as text, by code point, so
that a change moves no neighbour; before the facts of each claim, table and series is an empty line, so that git merges
two branches that moved different ones. Any TOML reader reads it, `tomllib` among them.

    claims.<id>.note = "<verdicts>"
    claims.<id>.says = "<sentence>"
    series."<series>".log = "<date>"
    series."<series>".sha256 = "<digest>"
    series."<series>".stance = "<device> · <software>"
    tables.<id>."<row>" = "<cell> | <cell>"

Ids are bare keys. Series and rows are always quoted, as texts are: between quotation marks, with `\"`, `\\`, `\t`,
`\n` and `\r`; every other control or invisible character (`UNSEEN`) as `\u` with four hexadecimal digits in lower case,
or `\U` with eight. What is no character of Unicode (half a surrogate pair) is U+FFFD.

Only `log` is a decision: it is the log's name after `<series>_`, such as `20261130` or `20261130-2`. Everything else
follows from it, the claims files and the records:

- `sha256` is the digest of the bytes of the log's record.json.
- `stance` is the models of the devices that the arms ran on, in order of arms and ranks, each once, joined by `, `
  (a rank without a device is on its host's CPU); then ` · `; then the software fact of a stance line (torch, triton and
  the packages that were measured, driver, Python).
- `says` is a claim's statement with its fields filled in.
- `note` is what stands under it: verdict, interval, n, cells, and each other reading after its name, joined by `; `.
- A row's key is its values on the axes of `rows`, joined by ` / `. Where an earlier row of the table has the same key,
  ` (2)` is added, or the first number that is free.
- A row's text is its other cells in the order of `columns`, each column once for each arm or value across, joined by
  ` | `. A value is followed by a space and its column's unit, if it has one; a ratio or a change by a space and its
  verdict's word. Intervals are left out. A cell without a number is `—`, then a space and its outcome or verdict in
  capitals, then `: ` and the reason, if there is one that no cell before it in the row gave. A cell of text, and a
  baseline's own cell, is its text.
- A row's key and every text is cut to `LIMIT` characters, the last of them then `…`.

Series with a date (`kernels/toy_20261130`) are pinned by the claims files themselves and have no lines. A claim or
table that its logs do not bear out may have lines or none; nothing is held to them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

FILE_NAME = "evidence.lock"
HEADER = (
    "# Which log each series stands on, and what is printed from it. Written by `evidence update`: review its diff."
)
LIMIT = 2_000
"""Characters of one text."""

Section = Literal["claims", "series", "tables"]
Key: TypeAlias = tuple[Section, str, str]
"""Section, owner (an id or a series), and what of it (`says`, `log`, a row)."""

UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that a reader of a diff could not see, or that would turn the text round them."""

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_BARE = "([A-Za-z0-9_-]+)"
_CLAIM, _SERIES = rf"(claims)\.{_BARE}\.(note|says)", rf"(series)\.{_QUOTED}\.(log|sha256|stance)"
_LINE = re.compile(rf"(?:{_CLAIM}|{_SERIES}|(tables)\.{_BARE}\.{_QUOTED}) = {_QUOTED}")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\", '"': r"\""}
_LONG = {short[1]: character for character, short in _SHORT.items()}
_TO_ESCAPE = re.compile(rf'["\\]|[\ud800-\udfff]|{UNSEEN.pattern}')
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))")
_CONFLICT = re.compile(r"(?:<{7}|>{7}|\|{7})(?: .*)?|={7}")
_MOST_SHOWN = 80
_UPDATE = "run `evidence update`"


class Fault(NamedTuple):
    """A line that is no fact, or not where or how it is written."""

    line: int
    message: str
    fix: str = _UPDATE


@dataclass(frozen=True, slots=True)
class Lock:
    """The facts of a lock, the line of each, and what is wrong with its form."""

    facts: Mapping[Key, str] = field(default_factory=dict)
    lines: Mapping[Key, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    is_void: bool = False
    """It could not be read, or a merge left both sides in it: it says nothing."""
    _in_order: list[tuple[str, int]] = field(default_factory=list, repr=False, compare=False)

    @property
    def pins(self) -> dict[str, str]:
        """Series -> the log it stands on."""
        named = ((key, text) for key, text in self.facts.items() if (key[0], key[2]) == ("series", "log"))
        return {key[1]: f"{key[1]}_{text}" for key, text in named}

    def place_of(self, key: Key, text: str) -> int:
        """Return the line where a fact that is missing would stand."""
        if not self._in_order:
            self._in_order.extend(
                sorted((line_of(other, said), self.lines[other]) for other, said in self.facts.items())
            )
        at = bisect_left(self._in_order, (line_of(key, text), 0))
        return self._in_order[at][1] if at < len(self._in_order) else max(self.lines.values(), default=1) + 1


def read(path: Path) -> Lock | None:
    """Return a lock file; None if there is none."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        fault = Fault(1, f"cannot be read: {error}", f"restore it, or remove it and {_UPDATE}")
        return Lock(faults=(fault,), is_void=True)


def date_of(log: str, series: str) -> str:
    """Return what a lock says of a log, its name after that of its series: `20261130-2`."""
    return log.removeprefix(f"{series}_")


def dump(facts: Mapping[Key, str]) -> str:
    """Return the text of a lock."""
    lines = [HEADER]
    above: tuple[str, str] | None = None
    for line, key in sorted((line_of(key, text), key) for key, text in facts.items()):
        lines += [line] if key[:2] == above else ["", line]
        above = key[:2]
    return "\n".join(lines) + "\n"


def line_of(key: Key, text: str) -> str:
    """Return one fact as its line."""
    section, owner, what = key
    name = _quoted(owner) if section == "series" else owner
    return f"{section}.{name}.{_quoted(what) if section == 'tables' else what} = {_quoted(text)}"


def parse(text: str) -> Lock:
    """Read a lock; a line that is no fact is a fault and hides nothing else, unless a merge left its marks."""
    facts: dict[Key, str] = {}
    lines: dict[Key, int] = {}
    faults: list[Fault] = []
    above = ""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        if _CONFLICT.fullmatch(line):
            fix = f"keep one side whole (git checkout --ours or --theirs), then {_UPDATE}"
            return Lock(faults=(Fault(number, "a merge left both sides here", fix),), is_void=True)
        if number == 1:
            faults += [] if line == HEADER else [Fault(1, "the first line is not that of a lock")]
        if number == 1 or not line:
            continue
        key, value = _fact(line)
        if key is None or line_of(key, value) != line:
            faults.append(Fault(number, f"{_shown(line)} is not as `evidence update` writes it"))
        elif key in facts:
            faults.append(Fault(number, f"{_shown(line.partition(' = ')[0])} stands here and on line {lines[key]}"))
        else:
            facts[key], lines[key] = value, number
            if line < above:
                faults.append(Fault(number, f"{_shown(line.partition(' = ')[0])} stands out of order"))
            above = line
    return Lock(facts, lines, tuple(faults))


def _fact(line: str) -> tuple[Key | None, str]:
    match = _LINE.fullmatch(line)
    if match is None:
        return None, ""
    section, owner, what, text = (group for group in match.groups() if group is not None)
    return (cast(Section, section), _unquoted(owner), _unquoted(what)), _unquoted(text)


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{_TO_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    point = ord(character)
    if 0xD800 <= point <= 0xDFFF:
        return "\ufffd"
    return _SHORT.get(character) or (f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}")


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(_read, text) if "\\" in text else text


def _read(match: re.Match[str]) -> str:
    """Read one escape; what is none of ours stays as it is and does not read back."""
    if match[3]:
        return _LONG.get(match[3], match[0])
    point = int(match[1] or match[2], 16)
    return chr(point) if point < 0x110000 else match[0]


def _shown(line: str) -> str:
    return repr(line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…")
