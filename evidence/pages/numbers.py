"""Owns finding numbers that an author typed where a measurement belongs: ratios, changes, rates, bandwidths, times.

It reads prose only: code, comments, calls, mathematics and markup are masked. What only looks like a measurement is
told by the words beside it: shapes (`64 × 4,096`), counts of devices (`8× H200`), versions, thresholds, settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, get_args

from evidence.pages import guards
from evidence.pages.context import Place, lowered, place

Family = Literal["ratio", "percentage", "rate", "bandwidth", "FLOP rate", "time", "size", "table", "output"]
"""What a typed number looks like."""
FAMILIES: tuple[Family, ...] = get_args(Family)

_SPACE = r"(?:[ \u00a0]|&nbsp;)?"
_MARKED = r"(?:[ ]{2,23}|\*\*|__)?"
"""What is left of markup between a number and its sign."""
# The pattern begins with a set of characters and looks back from there: only so does the scan skip text quickly.
_START = r"\d(?<![^\W_]\d)(?<![.#§×^]\d)(?<![^\W_]_\d)(?<![\w.)\]]-\d)(?<!\d:\d)(?<![\w.]/\d)"
_MORE = r"(?:,\d{3}(?!\d)|\d)*(?:\.\d+)?"
_RANGE = rf"(?:{_SPACE}(?:[-–—~/→]|->|to\b){_SPACE}\d+(?:,\d{{3}})*(?:\.\d+)?)?"
_COUNTED = (
    r"(?:tok(?:en)?s?|req(?:uest)?s?|it(?:er(?:ation)?)?s?|steps?|samples?|images?|imgs?|frames?|op(?:eration)?s?"
    r"|quer(?:y|ies)|rows?|records?|pages?|doc(?:ument)?s?|words?|char(?:acter)?s?|seq(?:uence)?s?|messages?|msgs?"
    r"|events?|calls?|packets?|items?|batch(?:es)?|sentences?|examples?|transactions?|keys?|lookups?|prompts?|t"
    r"|points?|files?|lines?|inferences?|embeddings?|generations?)"
)
_SECOND = r"(?:s|sec|seconds?)\b"
_DIGITS = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_NUMERALS = (
    f"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    f"|(?:{_TENS})(?:[- ](?:{_DIGITS}))?|hundred|thousand"
)
_THAN = (
    r"(?:as[ \n]|the[ \n]|more[ \n]|less[ \n]|better\b|worse\b|high|low|fast|slow|larg|small|fewer|cheap|quick|short"
    r"|accel|speed|improv|throughput)"
)
_UNITS = "|".join(
    (
        rf"(?P<ratio>{_MARKED}(?:[xX×]|&times;|&#215;|\\times\b)(?![\w×/\\=]|\*\w"
        r"|-(?!fast|slow|better|worse|high|low|small|larg|speed|improv|reduc)[A-Za-z]))",
        r"(?P<percentage>%|per[ \n]?cent\b|(?:percentage[ \n])?points?\b)",
        rf"(?P<bandwidth>(?:[KMGTPk]i?)?(?:B|b|[Bb]its?|[Bb]ytes?)(?:/{_SPACE}{_SECOND}|ps\b|[ \n]per[ \n]second\b))",
        r"(?P<flops>[KMGTPE]F(?:LOPS|lops)\b|[KMGTPE]?(?:FLOP|flop|Flop)s?/s(?:ec)?\b|[TP](?:FLOP|flop|Flop"
        r"|FLop)s?\b|TOPS\b)",
        rf"(?P<rate>[kKMB]?{_SPACE}(?:(?:[a-z]+[ \n]){{0,2}}?{_COUNTED}{_SPACE}(?:/{_SPACE}|[ \n]per[ \n]){_SECOND}"
        r"|[QRT]PS\b|[qrt]ps\b|fps\b(?!/)|FPS\b(?!/)|IOPS\b))",
        r"(?P<time>-?(?:ns|[µμu]s(?:ec)?|ms(?:ec)?|s|secs?|(?:milli|micro|nano)?seconds?)\b(?!['’]"
        r"|-[a-z]))",
        rf"(?P<times>-?fold\b|(?:times|orders?[ \n]of[ \n]magnitude)[ \n](?={_THAN}))",
    )
)
_UNIT = re.compile(rf"{_START}{_MORE}{_RANGE}{_SPACE}(?:{_UNITS})")

_COST = (
    r"(?:throughput|latency|latencies|speed|(?:run|wall|compute|start(?:up)?|build|compile|training|step"
    r"|decode|prefill)?"
    r"[- ]?times?|memory|bandwidth|performance|ttft|tpot|tokens|requests|rate|efficiency|cost|overhead"
    r"|traffic|footprint)"
)
_HOW = r"(?:fast|slow|quick|efficient|expensive|cheap|high|low|good|long|(?:much|many|little)[ \n]" + _COST + ")"
_WORDS: tuple[tuple[Family, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "ratio",
        ("twice", "thrice", "half "),
        re.compile(
            rf"(?:twice|thrice|half)[ \n](?:as[ \n]{_HOW}\b|(?:of[ \n])?(?:the|its)[ \n](?:\w+[ \n])?{_COST}\b"
            r"|faster\b|slower\b)"
        ),
    ),
    ("ratio", ("fold", "times"), re.compile(rf"(?:{_NUMERALS})(?:-?fold\b|[ \n]times[ \n](?={_THAN}))")),
    (
        "ratio",
        ("halv", "doubl", "tripl", "quadrupl"),
        re.compile(
            rf"(?:halv|doubl|tripl|quadrupl)(?:e[sd]?|ing)[ \n](?:(?!each|every|as\b"
            rf"|down\b)\w+[ \n]){{0,2}}?{_COST}\b"
            rf"|{_COST}[ \n](?:(?:is|was|are|were|has|have|nearly|roughly|almost|more than|been)[ \n]){{0,2}}"
            r"(?:halved|doubled|tripled|quadrupled)\b"
        ),
    ),
    (
        "ratio",
        (" half",),
        re.compile(
            rf"(?:cuts?|cutting|reduces?|reduced|slash\w*)[ \n][^.;\n]{{0,40}}{_COST}[^.;\n]{{0,20}}(?:in"
            rf"|by)[ \n]half\b"
        ),
    ),
    ("ratio", ("of magnitude",), re.compile(rf"orders?[ \n]of[ \n]magnitude[ \n](?={_THAN})")),
    (
        "ratio",
        ("factor of",),
        re.compile(
            rf"(?:by|a)[ \n](?:a[ \n])?factor[ \n]of[ \n](?:up[ \n]to[ \n]"
            rf"|about[ \n])?[~≈]?(?:\d+(?:\.\d+)?|{_NUMERALS})\b"
        ),
    ),
    (
        "ratio",
        ("speedup", "speed-up"),
        re.compile(
            r"speed-?ups?[ \n]?(?:of|is|was|=|:)[ \n]?(?:up[ \n]to[ \n]|about[ \n])?\*{0,2}[~≈]?\d+(?:\.\d+)?"
            r"(?![\d.]*[ ]?(?:%|x|×|percent))"
        ),
    ),
    (
        "ratio",
        ("third", "quarter", "fifth"),
        re.compile(
            rf"(?:(?:a|one|two|three)[ \n](?:thirds?|quarters?|fifths?))[ \n](?:(?:less|more|fewer|of[ \n]the)[ \n])?"
            rf"(?:{_COST}\b|faster\b|slower\b|quicker\b|cheaper\b)"
        ),
    ),
    (
        "ratio",
        ("×",),
        re.compile(r"×(?<!\d×)(?<!\d[ \u00a0]×)\d+(?:\.\d+)?(?![\d.]*[ \u00a0]?[×x*\d])"),
    ),
    (
        "size",
        (" less", " more", " fewer", "smaller", "saves", "saved"),
        re.compile(
            r"\d[\d,]*(?:\.\d+)?[ \u00a0]?[kmgt]i?b[ \n]"
            r"(?:less|more|fewer|smaller|of[ \n](?:memory|vram|ram)[ \n](?:less|saved))\b"
            r"|saves?[ \n](?:about[ \n]|up[ \n]to[ \n])?\d[\d,]*(?:\.\d+)?[ \u00a0]?[kmgt]i?b\b"
        ),
    ),
    (
        "percentage",
        ("percent", "per cent", "points"),
        re.compile(
            rf"(?:one|{_NUMERALS})[ \n](?:percent|per[ \n]cent|(?:percentage[ \n])?points?)[ \n]"
            rf"(?={_THAN}|of[ \n]the\b)"
        ),
    ),
)
"""Numbers in words: patterns over small letters, each run only round its triggers."""
_BEFORE, _AFTER = 90, 90


class Typed(NamedTuple):
    """A number that somebody typed: its line in the body, its text, and what it looks like."""

    line: int
    text: str
    family: Family


_FORMS: dict[str, tuple[Family, Callable[[re.Match[str], Place], bool]]] = {
    "ratio": ("ratio", guards.is_ratio),
    "bandwidth": ("bandwidth", guards.is_bandwidth),
    "flops": ("FLOP rate", guards.is_flops),
    "rate": ("rate", guards.is_rate),
    "time": ("time", guards.is_time),
    "times": ("ratio", guards.is_times),
}


def typed_numbers(prose: str) -> Iterator[Typed]:
    """Yield the typed numbers of masked prose, the first of each line."""
    found: dict[int, Typed] = {}
    spans = [
        (match.start(), prose[match.start() : match.end()], family) for match, family in _matches(prose, lowered(prose))
    ]
    line, at = 1, 0
    for start, text, family in sorted(spans):
        line += prose.count("\n", at, start)
        at = start
        if line not in found:
            found[line] = Typed(line, " ".join(text.split()), family)
    yield from found.values()


def _matches(prose: str, lower: str) -> Iterator[tuple[re.Match[str], Family]]:
    for match in _UNIT.finditer(prose):
        kind = match.lastgroup or ""
        around = place(prose, lower, *match.span())
        if kind == "percentage":
            if guards.is_percentage(match, around, _sign(prose, match.start())):
                yield match, "percentage"
        else:
            family, is_result = _FORMS[kind]
            if is_result(match, around):
                yield match, family
    for family, triggers, pattern in _WORDS:
        for match in _near(triggers, pattern, lower):
            is_inside = lower[max(0, match.start() - 1) : match.start()].isalnum()
            if not is_inside and guards.is_in_words(match, place(prose, lower, *match.span())):
                yield match, family


def _near(triggers: tuple[str, ...], pattern: re.Pattern[str], lower: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern round its triggers: to look for a word is far quicker than for the pattern."""
    end = 0
    present = [trigger for trigger in triggers if trigger in lower]
    places = sorted(found.start() for trigger in present for found in re.finditer(re.escape(trigger), lower))
    for at in places:
        if at >= end and (match := pattern.search(lower, max(end, at - _BEFORE), at + _AFTER)) and match.end() > at:
            end = match.end()
            yield match


def _sign(prose: str, start: int) -> str:
    """The sign before a number, where it is one and no dash between words."""
    opens = prose[max(0, start - 2) : start - 1] in ("", " ", "(", "*", "_", "|", "\n", "[", "~")
    return prose[start - 1 : start] if opens else ""
