"""Owns finding results that an author pasted: tables of measurements, and what a program printed."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from evidence.pages import masks
from evidence.pages.numbers import Typed, typed_numbers

_RULE = re.compile(r"^[ \t>|:-]+$", re.MULTILINE)
_PER_SECOND = (
    r"(?:t|tok(?:en)?s?|req(?:uest)?s?|it(?:er(?:ation)?)?s?|steps?|samples?|images?|img|[mk]?ops?|frames?|rows?"
    r"|quer(?:y|ies)|messages?|items?|operations?|examples?|sentences?|words|docs?|documents?)"
    r"(?:[ ]?/[ ]?(?:s|sec|second)|[ ]per[ ]sec(?:ond)?)s?"
)
_QUANTITY_NAMES = (
    r"speed-?ups?|slow-?down|speed|ttft|tpot|itl|e2el?|latency|latencies|throughput|bandwidth|mfu|hfu|fps|qps|rps|tps"
    r"|run-?[ ]?time|elapsed|duration|time|seconds|secs|rtfx?|improvement|faster|slower|gain|overhead|prefill|decode"
)
_UNIT_NAMES = (
    rf"ns|[µμu]s|ms|msec|usec|{_PER_SECOND}|[kmgt]?i?b(?:ytes?|it)?/s(?:ec)?|[kmg]bps"
    r"|[kmgtp]flops?(?:/s)?|[tg]ops|\(s\)|\[s\]"
)
_HEAD = re.compile(
    rf"(?<![\w/-])(?:{_UNIT_NAMES}|{_QUANTITY_NAMES})(?![\w/-])|×|Δ|(?:diff|delta|change)\b", re.IGNORECASE
)
_HEAD_UNIT = re.compile(rf"(?<![\w/-])(?:{_UNIT_NAMES}|speed-?up)(?![\w/-])", re.IGNORECASE)
_HEAD_EXPLAINS = re.compile(
    r"\b(?:default|description|meaning|type|required|purpose|explanation|example|effect|when|recommend\w*"
    r"|comment|value|unit)s?\b",
    re.IGNORECASE,
)
_HEAD_KEY = re.compile(
    r"\b(?:option|flag|argument|parameter|param|variable|setting|env|field|key|knob|config\w*|constraint"
    r"|column|metric|name|term)s?\b",
    re.IGNORECASE,
)
_HEAD_SPEC = re.compile(
    r"\b(?:theoretical|spec\w*|rated|nominal|peak[ ](?:\w+[ ])?(?:t?flops|bandwidth|bw|compute|perf\w*)"
    r"|time-?outs?|interval|budget|target|threshold"
    r"|slo|limit|stamp|zone|date|complexity|complexities|released?|at a time|real[- ]?time|last|first time"
    r"|generation)\b",
    re.IGNORECASE,
)
_AROUND = r"[ \t*_~≈<>`]*"
_DECIMAL = r"[+−-]?\d(?:[\d,]|'\d)*(?:\.\d+)?(?:[eE][+-]?\d+)?"
_SPREAD = r"(?:[ \t]*(?:±|\+/-|\+-)[ \t]*[\d.]+[ \t]*%?)?"
_UNITS = r"(?:[xX×]|ns|[µμu]s|ms|s|secs?|seconds|mins?|\w+/s(?:ec)?|[KMGTP]?FLOPS|TFLOPs|tps|fps|[KMGT]i?bps)"
_NUMBER_CELL = re.compile(rf"{_AROUND}{_DECIMAL}{_SPREAD}[ \t]*(?:{_UNITS}|%|[KMB])?{_AROUND}(?:[(\[/,][^|]*)?")
_QUANTITY_CELL = re.compile(
    rf"{_AROUND}(?:{_DECIMAL}{_SPREAD}[ \t]*{_UNITS}(?![\w/])|[+−-]\d[\d,.]*[ \t]*%"
    rf"|{_DECIMAL}[ \t]*\({_DECIMAL}[ \t]*{_UNITS}\))"
    rf"{_AROUND}(?:[(/,;±→-][^|]{{0,24}}|[ ](?:faster|slower|less|more|better|worse|speed|higher|lower)[^|]{{0,24}})?"
)


class Tables(NamedTuple):
    """The tables of results on a page, and its prose without them and without those that explain settings."""

    typed: tuple[Typed, ...]
    rest: str


def tables(prose: str) -> Tables:
    """Find Markdown tables with measurements in them: by a unit in the head, or by the cells."""
    if "|" not in prose:
        return Tables((), prose)
    lines = prose.split("\n")
    found: list[Typed] = []
    index = at_offset = end = 0
    for match in _RULE.finditer(prose):
        if "|" not in match[0] or "-" not in match[0]:
            continue
        index += prose.count("\n", at_offset, match.start())
        at_offset = match.start()
        if index < end:
            continue
        end = index + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        title = lines[index - 1] if index else ""
        head = _cells(title)
        if not _explains(head):
            if not _is_measured(head, lines[index + 1 : end]):
                continue
            found.append(Typed(index, " ".join(title.split()), "table"))
        for at in range(max(0, index - 1), end):
            lines[at] = masks.BLANK * len(lines[at])
    return Tables(tuple(found), "\n".join(lines))


def _cells(line: str) -> list[str]:
    cells = line.strip(" \t>").split("|")
    return cells[1 if not cells[0].strip() else 0 : -1 if len(cells) > 1 and not cells[-1].strip() else None]


def _explains(head: list[str]) -> bool:
    """Whether a table explains options: what is in it are settings."""
    return any(map(_HEAD_KEY.search, head)) and any(map(_HEAD_EXPLAINS.search, head))


def _is_measured(head: list[str], lines: list[str]) -> bool:
    """Whether a column named like a measurement holds numbers, or cells anywhere hold numbers with units."""
    measured = [at for at, cell in enumerate(head) if at and _HEAD.search(cell) and not _HEAD_SPEC.search(cell)]
    given = frozenset(at for at, cell in enumerate(head) if _HEAD_SPEC.search(cell))
    quantities = 0
    for line in lines:
        cells = _cells(line)
        if any(at < len(cells) and _NUMBER_CELL.fullmatch(cells[at]) for at in measured):
            return True
        if (
            cells
            and _HEAD_UNIT.search(cells[0])
            and not _HEAD_SPEC.search(cells[0])
            and any(map(_NUMBER_CELL.fullmatch, cells[1:]))
        ):
            return True
        for at, cell in enumerate(cells):
            if at not in given and cell.strip()[-1:] not in "0123456789" and _QUANTITY_CELL.fullmatch(cell):
                quantities += 1
        if quantities > 1:
            return True
    return False


_PASTED = frozenset(
    {"", "text", "txt", "console", "output", "log", "plain", "plaintext", "shell", "bash", "sh", "none"}
)
_DATA = frozenset({"json", "jsonl", "csv", "tsv", "yaml", "yml"})
_SHELLS = frozenset({"shell", "bash", "sh", "console"})
_COMMAND = re.compile(
    r"^[ \t]*(?:[$#>%]|>>>|//|/\*|\*|[A-Z_]+=|[\w.]+[ ]?=[ ](?![~≈]?\d)"
    r"|(?:def|return|import|class|const|let|var|for|while)\b)"
    r"|=.*\d[ ]?[*×][ ]?\d|[;{}]$|\w\([^()]*\)$|[ ]--?[a-zA-Z][\w-]*\b"
)
"""A line that is typed, not printed."""
_WIDTH = 160
_LOOKED_AT = 100
"""Lines of a block that are read: results that come after that many others are no less results, and as rare."""
_LABELLED = re.compile(
    r"(?:throughput|latency|ttft|tpot|itl|tok(?:en)?s?[/_ ]s|tok(?:en)?s?[_ ]per[_ ]s|speed-?up|t?flops"
    r"|bandwidth|[kmg]b/s|elapsed|eval time|total time|run ?time|req/s)"
    r"[\w \t()/\[\]%.\"-]{0,40}[:=|][ \t]*[~≈]?\d[\d,]*\.\d+",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?![\w.]*\.\d)")
_FINE = re.compile(r"\.\d+[ \u00a0]?[mµμun]s")
_STAMP = re.compile(r"^[ \t]*(?:\[[^\]\n]*\]|\d{4}-\d\d-\d\d[T ][\d:.,]+Z?|\d\d:\d\d:\d\d[\d.,]*)")


def typed_output(body: str) -> Iterator[Typed]:
    """Yield blocks that hold results: what a program printed, pasted; and charts that were drawn by hand."""
    for fence in masks.fences(body):
        language = fence.info.partition(" ")[0].strip("{}.").lower()
        text = ""
        if language in _DATA:
            text = _result_in_data(fence.content)
        elif language in _PASTED:
            text = _result_in(fence.content, is_shell=language in _SHELLS)
        elif language == "mermaid" and _CHART.search(fence.content):
            text = "a chart of typed numbers"
        if text:
            yield Typed(fence.opens, text, "output")
    for line, content in masks.raw_text(body):
        if text := _result_in(content, is_shell=False):
            yield Typed(line, text, "output")


_CHART = re.compile(r"^\s*(?:bar|line)\s*(?:\"[^\"]*\"\s*)?\[\s*[\d.]+\s*,", re.MULTILINE)
_FIELD = re.compile(
    r"(?:^|[_\s,\";(])(?:ms|us|ns|sec|seconds|tok(?:ens)?_s|tokens_per_s\w*|gbps|tflops|speed-?up|latency|throughput|ttft|tpot)(?=$|[\s,\";)])",
    re.IGNORECASE,
)


def _result_in_data(content: str) -> str:
    """A labelled result, or a head of fields with units above a row of numbers."""
    if match := _LABELLED.search(content):
        return " ".join(match[0].split())
    head, _, rows = content.partition("\n")
    return head.strip() if "," in head and _FIELD.search(head) and re.search(r"\d\.\d|,\s*\d", rows) else ""


def _result_in(content: str, *, is_shell: bool) -> str:
    """The first result in what may have been printed; empty if there is none."""
    lines = [_STAMP.sub("", line[:_WIDTH]).rstrip() for line in content.split("\n", _LOOKED_AT)[:_LOOKED_AT]]
    printed = [line for line in lines if not _COMMAND.search(line)]
    if len(printed) * 2 < len([line for line in lines if line.strip()]) and not is_shell:
        return ""  # code, or a listing
    text = "\n".join(printed)
    for typed in typed_numbers(text):
        if typed.family != "time" or _FINE.search(typed.text):
            return typed.text
    if not is_shell and (match := _LABELLED.search(text)):
        return " ".join(match[0].split())
    for head, row in itertools.pairwise(printed):
        if _HEAD_UNIT.search(head) and len(_NUMBERS.findall(row)) > 1:
            return " ".join(head.split())
    return ""


_HTML_TABLE = re.compile(r"<table\b.*?(?:</table\s*>|\Z)", re.DOTALL | re.IGNORECASE)

_GAP = re.compile(r"[ ]{3,}|\n")


def _html_tables(prose: str, body: str) -> Tables:
    """Find tables written in HTML with measurements in their cells; the tags are masked in the prose."""
    if "<table" not in body.lower():
        return Tables((), prose)
    found: list[Typed] = []
    for match in _HTML_TABLE.finditer(masks.code(body)):
        inside = prose[match.start() : match.end()]
        cells = [cell for cell in _GAP.split(inside) if _QUANTITY_CELL.fullmatch(cell)]
        numbers = [one.text for one in typed_numbers(inside)]
        units = [cell for cell in _GAP.split(inside) if _HEAD_UNIT.search(cell) and not _HEAD_SPEC.search(cell)]
        if units and any(map(_NUMBER_CELL.fullmatch, _GAP.split(inside))):
            cells += [*units, *units]
        if len(cells) > 1 or len(numbers) > 1:
            line = prose.count("\n", 0, match.start()) + 1
            found.append(Typed(line, f"a table with {(numbers or cells)[0].strip()}", "table"))
            blank = "\n".join(masks.BLANK * len(part) for part in inside.split("\n"))
            prose = prose[: match.start()] + blank + prose[match.end() :]
    return Tables(tuple(found), prose)


_SPOKEN = re.compile(r"[\w.,~≈%×µ/+−-]+(?:[ ][\w.,~≈%×µ/+−-]+){0,5}")
_SPOKEN_WORD = re.compile(
    r"\b(?:faster|slower|quicker|cheaper|less|more|fewer|higher|lower|better|worse|speed-?up|down to|from"
    r"|tok/s|tokens/s|req/s|it/s|[KMGT]B/s|TFLOPS|TFLOP/s)\b"
)


def spoken_code(body: str) -> Iterator[Typed]:
    """Yield results that are words and only look like code: `1.8x faster`."""
    for offset, text in masks.code_spans(body):
        if _SPOKEN.fullmatch(text) and _SPOKEN_WORD.search(text):
            for one in typed_numbers(text):
                yield Typed(body.count("\n", 0, offset) + 1, one.text, one.family)


@functools.lru_cache(maxsize=512)
def typed(prose: str, body: str) -> tuple[Typed, ...]:
    """Return everything on a page that was typed where a measurement belongs; `prose` is its body, masked."""
    in_html = _html_tables(prose, body)
    found = tables(in_html.rest)
    return (*typed_numbers(found.rest), *in_html.typed, *found.typed, *typed_output(body))
