"""Owns finding the blocks that `evidence sync` fills: pairs of comments in Markdown that no macro runs on.

`<!-- evidence: claim ID -->…<!-- /evidence -->`, likewise `says ID`, `value ID FIELD`, `diagnostic ID FIELD`,
`table ID` and `figure ID`. What stands between two comments never decides where other blocks are, so filling one moves
no other.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast

from evidence.errors import nearest
from evidence.pages import masks

Kind = Literal["claim", "says", "value", "diagnostic", "table", "figure"]
KINDS: dict[str, tuple[str, ...]] = {
    "claim": ("ID",),
    "says": ("ID",),
    "value": ("ID", "FIELD"),
    "diagnostic": ("ID", "FIELD"),
    "table": ("ID",),
    "figure": ("ID",),
}
"""What may stand in an opening comment, and the words after it."""
CLOSING = "<!-- /evidence -->"
FILLER = "\0"
"""Stands for what is held to a record, where text is searched."""

_ALONE = ("table", "figure")
"""Kinds that are Markdown of their own: among words, or in a list, they would not be read as it."""
_WAIVER = "allow"
_ANY = re.compile(r"<!--\s*/?\s*evidence\b")
_MARK = r"<!--\s*(?:/\s*evidence\b|evidence\b(?!\s*:\s*allow\b))"
_PAIR = re.compile(
    rf"(<!--\s*evidence\b(?!\s*:\s*allow\b)(?:(?!-->|<!--).)*-->)((?:(?!{_MARK}).)*)(?=<!--\s*/\s*evidence\b)", re.S
)
_COMMENT = re.compile(r"<!--(?P<inside>.*?)(?:-->|\Z)", re.DOTALL)
_OURS = re.compile(r"\s*(?P<slash>/?)\s*evidence\b(?P<rest>.*)", re.DOTALL)
_SEAL = re.compile(r"[0-9a-f]{12}")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_HEADING = re.compile(
    r"^[ ]{0,3}(#{1,6})[ \t]+([^\n]*)|^([^\n#>|\-*+ ][^\n]*)\r?\n[ ]{0,3}(=+|-+)[ \t\r]*$", re.MULTILINE
)
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)?(?![\w.]*/)", re.IGNORECASE)
_ELEMENTS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    "|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    "|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr"
    "|track|ul"
)
_HTML_BLOCK = re.compile(
    rf"[ \t>]*(?:[-*+][ \t]+)?(?:</?(?:{_ELEMENTS})(?:[\s/>]|$)|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>[ \t\r]*$)",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """One pair of comments. Offsets are of the text as given."""

    kind: Kind
    id: str
    field: str
    """Of a value; empty for the others."""
    logs: tuple[str, ...]
    seal: str
    """Digest that a sealed block is held to; empty for one that follows its claim."""
    start: int
    """Where the opening comment begins."""
    inner: tuple[int, int]
    """Where what is filled in begins and ends."""
    end: int
    """After the closing comment."""
    line: int
    is_inline: bool
    """It stands among words; the others stand on lines of their own."""
    indent: str
    """What stands before it on its lines, spaces or tabs; empty for one among words."""
    newline: str
    """How lines end where it stands."""
    release: str
    """The heading of the release that it stands under; empty for what is not released or no heading."""

    @property
    def key(self) -> str:
        """What it asks for, as written in its comment."""
        return " ".join(filter(None, (self.kind, self.id, self.field)))


class BlockFault(NamedTuple):
    """A comment that means to be one of ours and is not."""

    line: int
    message: str
    fix: str


@dataclass(slots=True)
class Blocks:
    """What a text holds."""

    blocks: list[Block] = field(default_factory=list)
    faults: list[BlockFault] = field(default_factory=list)


class _Opening(NamedTuple):
    match: re.Match[str]
    kind: Kind
    words: tuple[str, ...]
    logs: tuple[str, ...]
    seal: str


def is_marked(text: str) -> bool:
    """Whether a text may hold a block; most hold none, and need not be read."""
    return _ANY.search(text) is not None


def parse(text: str) -> Blocks:
    """Find the blocks of a text. Those in code, in HTML blocks and inside other comments are text."""
    if not is_marked(text):
        return Blocks()
    return _Parser(text).run()


def blank(text: str, *, keeps_lines: bool = True) -> str:
    """The text with what is filled into its blocks blanked, offset for offset: that is held to records.

    The comments stay, and what is between becomes FILLER, which is no space: what follows must not look like code.
    """
    parts, end = [], 0
    filled = re.compile(r"[^\n]" if keeps_lines else r".", re.DOTALL)
    for block in parse(text).blocks:
        parts += [text[end : block.inner[0]], filled.sub(FILLER, text[slice(*block.inner)])]
        end = block.inner[1]
    return "".join([*parts, text[end:]])


def releases(text: str) -> tuple[tuple[int, str], ...]:
    """Return where each heading stands and the release it belongs to, empty for none; code is to be masked."""
    found: list[tuple[int, str]] = []
    above: list[tuple[int, str]] = []
    for match in _HEADING.finditer(text):
        level = len(match[1]) if match[1] else 1 if match[4].startswith("=") else 2
        title = (match[2] or match[3] or "").strip().rstrip("#").strip()
        above = [one for one in above if one[0] < level]
        own = title if _VERSION.search(title) and "unreleased" not in title.lower() else ""
        above.append((level, own or (above[-1][1] if above else "")))
        found.append((match.start(), above[-1][1]))
    return tuple(found)


def release_at(headings: Sequence[tuple[int, str]], offset: int) -> str:
    """Return the release that an offset stands under, of the headings of its text."""
    at = bisect.bisect_right(headings, offset, key=lambda heading: heading[0]) - 1
    return headings[at][1] if at >= 0 else ""


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        # What is filled in must decide nothing: it is blanked before code and HTML are looked for.
        skeleton = _PAIR.sub(lambda match: match[1] + masks.BLANK * len(match[2]), text)
        self.code = masks.code(skeleton)
        self.found = Blocks()

    def run(self) -> Blocks:
        opened: _Opening | None = None
        dropped = 0
        for comment, ours in self._comments():
            if not ours["slash"]:
                if opened is not None:
                    dropped += 1
                    self._unclosed(opened, f"before the block on line {self._line(comment.start())} begins")
                opened = self._opening(comment, ours["rest"])
                dropped += opened is None
            elif ours["rest"].strip():
                self._fault(comment, f"{_short(comment[0])} closes nothing", f"write {CLOSING}")
            elif opened is not None:
                self._close(opened, comment)
                opened = None
            elif dropped:
                dropped -= 1
            else:
                self._fault(comment, "this closes a block that does not begin", "write the opening comment, or drop it")
        if opened is not None:
            self._unclosed(opened, "before the text ends")
        return self.found

    @functools.cached_property
    def html(self) -> list[tuple[int, int]]:
        """Spans of HTML blocks: from a line that begins with a tag to the next blank one."""
        spans: list[tuple[int, int]] = []
        position, opened, was_blank = 0, -1, True
        for line in self.code.split("\n"):
            is_blank = not line.strip()
            if opened < 0 and not is_blank and _HTML_BLOCK.match(line) and (was_blank or _is_element(line)):
                opened = position
            elif opened >= 0 and is_blank:
                spans.append((opened, position))
                opened = -1
            position += len(line) + 1
            was_blank = is_blank
        if opened >= 0:
            spans.append((opened, position))
        return spans

    @functools.cached_property
    def releases(self) -> tuple[tuple[int, str], ...]:
        """Where each heading stands, and the release it belongs to."""
        return releases(self.code)

    def _is_html(self, offset: int) -> bool:
        at = bisect.bisect_right(self.html, (offset, len(self.text))) - 1
        return at >= 0 and offset < self.html[at][1]

    def _comments(self) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
        """Yield every comment that names us and is not text, in order."""
        for comment in _COMMENT.finditer(self.code):
            ours = _OURS.match(comment["inside"])
            if ours is None or _is_waiver(ours["rest"]) or self._is_html(comment.start()):
                continue
            if comment[0].endswith("-->") and len(comment[0]) >= len("<!---->"):
                yield comment, ours
            else:
                self._fault(comment, "this comment is not closed", "end it with -->")

    def _opening(self, comment: re.Match[str], rest: str) -> _Opening | None:
        """Read an opening comment; None if it is none, which is reported."""
        forms = "write <!-- evidence: claim ID -->, says ID, value ID FIELD, diagnostic ID FIELD, table ID or figure ID"
        if not rest.startswith(":"):
            self._fault(comment, f"{_short(comment[0])} is no block: a colon follows `evidence`", forms)
            return None
        words = rest[1:].split()
        plain = [word for word in words if "=" not in word]
        named = [tuple(word.split("=", 1)) for word in words if "=" in word]
        if not plain or plain[0] not in KINDS:
            said = plain[0] if plain else ""
            hint = nearest(said, (*KINDS, _WAIVER))
            message = f"{_short(said)!r} is no kind of block" if said else "this comment says nothing to fill in"
            self._fault(comment, message, f"did you mean {hint!r}? {forms}" if hint else forms)
            return None
        kind, given = plain[0], tuple(plain[1:])
        form = f"<!-- evidence: {' '.join((kind, *KINDS[kind]))} -->"
        if len(given) != len(KINDS[kind]):
            missing = "needs " + KINDS[kind][len(given)] if len(given) < len(KINDS[kind]) else "has words too many"
            self._fault(comment, f"this {kind} {missing}", f"write {form}")
            return None
        unknown = [key for key, _ in named if key not in ("log", "seal")]
        logs = tuple(value for key, value in named if key == "log")
        seals = [value for key, value in named if key == "seal"]
        if unknown or len(seals) > 1 or bool(logs) != bool(seals) or not all(map(_SEAL.fullmatch, seals)):
            message = (
                f"unknown word {_short(unknown[0])!r}" if unknown else "a sealed block has log=… and seal=<12 hex>"
            )
            self._fault(comment, message, f"write {form}, and let `evidence sync --seal` seal it")
            return None
        return _Opening(comment, cast(Kind, kind), given, logs, seals[0] if seals else "")

    def _close(self, opening: _Opening, comment: re.Match[str]) -> None:
        text, start, end = self.text, opening.match.start(), comment.end()
        inner = opening.match.end(), comment.start()
        indent = text[text.rfind("\n", 0, start) + 1 : start]
        content = text[slice(*inner)]
        at_margin = not indent.strip(" \t\ufeff")
        after = re.match(r"[ \t]*(\r?\n|\Z)", text[inner[0] : inner[1]] + "\0")
        starts_line = at_margin and after is not None
        below = re.match(r"[ \t]*(\r?\n|\Z)", text[end:])
        if opening.kind in _ALONE:
            fresh = at_margin and not content.strip()
            if not (starts_line or fresh) or indent.strip("\ufeff") or below is None:
                self._fault(
                    opening.match,
                    f"a {opening.kind} stands on lines of its own, at the margin",
                    "move the comments there",
                )
                return
        elif starts_line:
            if below is None or text[text.rfind("\n", 0, inner[1]) + 1 : inner[1]].strip(" \t"):
                message = "the block begins on a line of its own and does not end on one"
                self._fault(opening.match, message, f"write {CLOSING} alone on its line")
                return
        elif _BLANK_LINE.search(content):
            self._unclosed(opening, "in its paragraph")
            return
        self.found.blocks.append(
            Block(
                kind=opening.kind,
                id=opening.words[0],
                field=opening.words[1] if len(opening.words) > 1 else "",
                logs=opening.logs,
                seal=opening.seal,
                start=start,
                inner=inner,
                end=end,
                line=self._line(start),
                is_inline=not (starts_line or opening.kind in _ALONE),
                indent=indent.strip("\ufeff") if starts_line else "",
                newline=self._newline(start),
                release=release_at(self.releases, start),
            )
        )

    def _newline(self, start: int) -> str:
        at = self.text.find("\n", start)
        at = at if at >= 0 else self.text.find("\n")
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def _unclosed(self, opening: _Opening, where: str) -> None:
        message = f"the block {' '.join((opening.kind, *opening.words))!r} is not closed {where}"
        self._fault(opening.match, _short(message, 160), f"write {CLOSING} after it; blocks do not nest")

    def _fault(self, comment: re.Match[str], message: str, fix: str) -> None:
        self.found.faults.append(BlockFault(self._line(comment.start()), message, fix))

    def _line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1


def _is_waiver(rest: str) -> bool:
    return rest.lstrip(": \t\r\n").split(None, 1)[:1] == [_WAIVER]


def _is_element(line: str) -> bool:
    """Whether a line begins an HTML block even inside a paragraph."""
    return re.match(rf"[ \t>]*(?:[-*+][ \t]+)?</?(?:{_ELEMENTS})(?:[\s/>]|$)", line, re.IGNORECASE) is not None


def _short(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
