"""Owns what the words of a page assert without a number: that one thing is faster, on what it ran, where it loses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evidence.pages.context import is_question, lowered, place

_BETTER = (
    r"faster|slower|quicker|speedier|cheaper|snappier|leaner|(?:more|less)[ \n](?:memory[- ])?efficient|better|worse"
)
_COPULA = re.compile(
    r"\b(?:is|are|was|were|runs?|ran|becomes?|became|gets?|got|performs?|stays?|proves?|executes?"
    r"|finish(?:es)?|decodes?"
    r"|trains?|loads?|serves?)[ \n](?:(?:\w+ly|much|far|still|even|also|a|lot|bit|the|now)[ \n]){0,3}$"
)
_COST = (
    r"(?:throughput|latency|latencies|decoding|decode|prefill|inference|training|performance|run ?time|bandwidth|ttft"
    r"|tpot|speed|serving)\b"
)
_COMPARISON = re.compile(
    rf"(?P<adjective>{_BETTER})\b"
    r"|(?P<verb>beats?\b|outperform(?:s|ed)?\b|outpaces?\b|surpass(?:es|ed)?\b|out-?runs\b|trounces?\b)"
    rf"|(?P<gain>(?:speeds[ \n]up|accelerates|boosts|improves|reduces|cuts|lowers"
    rf"|halves)[ \n](?:[\w-]+[ \n]){{0,2}}?{_COST})"
    r"|(?P<most>fastest\b|blazing(?:ly)?[- ]fast\b|lightning[- ]fast\b|best[- ]in[- ]class\b"
    r"|(?:state[- ]of[- ]the[- ]art|unmatched)[ \n](?:performance|speed|throughput|latency)\b"
    r"|(?:significant|huge|massive|dramatic)[ \n]speed-?ups?\b)"
)
_TRIGGERS = (
    *("faster", "slower", "quicker", "speedier", "cheaper", "snappier", "leaner", "better", "worse", "more", "less"),
    *("beat", "outperform", "outpace", "surpass", "outrun", "out-run", "trounce", "speeds", "accelerates", "boosts"),
    *(
        "improves",
        "reduces",
        "cuts",
        "lowers",
        "halves",
        "fastest",
        "blazing",
        "lightning",
        "best",
        "state",
        "unmatched",
    ),
    *("significant", "huge", "massive", "dramatic"),
)
"""How each comparison begins: to look for these words is far quicker than to look for the pattern."""
_DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|whether|if|unless|when|where|which|what|how|why|who|would|could"
    r"|might|may|should|must|can|will|to|nothing|none"
    r"|without|until|once|suppose|expect\w*|hope\w*|aims?|goal|target|want\w*|try|tries|whatever|whichever"
    r"|wherever|any|so that|says?|said|claims?|claimed"
    r"|called|judges?|selects?|selecting|pick(?:s|ing)?|choos\w+|find(?:s|ing)?|keeps?|return(?:s|ing)?"
    r"|for)\b|n['’]t\b"
)
_DIRECTION = re.compile(
    r"\b(?:lower|higher|less|more|smaller|bigger|larger|fewer|sooner|(?:above|below)[ \n]\S+)[ \n](?:is"
    r"|are)[ \n](?:always[ \n]|then[ \n])?$"
)
_IDLE = re.compile(
    r"[ \n](?:than[ \n](?:nothing|expected|necessary|needed|usual|it|that|this|allowed|the[ \n](?:limit"
    r"|threshold|bound|noise|minimum))\b|(?:or|and|/)[ \n](?:slower|faster|worse|better)\b|or[ \n])"
)
_QUOTE = re.compile(r"[\"“][^\"”]*$")
_CLAUSE = re.compile(r"[,:()—–]|\bbut\b|\bwhile\b|\bthan\b")
_CONCLUDES = re.compile(
    r"(?:therefore|thus|hence|in conclusion|we conclude|concludes?|(?:this|that|which|it|they"
    r"|these)[ \n](?:all[ \n])?(?:shows?|proves?|confirms?|demonstrates?|means)|as (?:shown|seen)"
    r"|pays?[ \n]off|worth(?:while)?|wins?|is a win|recommend(?:s|ed)?|prefer (?:the|it)|(?:so"
    r"|and)[ \n](?:use|enable|choose|prefer)|no overhead|negligible|comfortably|decisive(?:ly)?)\b"
)
_DENIED = re.compile(r"\b(?:not|no|never|nothing|neither|cannot|nor)\b|n['’]t\b")

_LOSING = re.compile(
    r"\b(?:los(?:es?|t|ing|s|ses)|slower|slowest|worse|worst|regress\w*|negative\w*|does not (?:help|pay"
    r"|win|gain)|do not (?:help|win)|no (?:gain|win|benefit)|costs? more|overhead|when not to"
    r"|where (?:it|this) (?:does not|fails)|drawbacks?|downsides?|trade-?offs?|falls? behind|trails?|behind)\b",
    re.IGNORECASE,
)

_CARDS = (
    r"(?:NVIDIA|AMD|Intel|Google|Apple|Ascend|Tesla|GeForce|Quadro|Radeon|Instinct)[ ][A-Z]?[\w-]*\d[\w-]*"
    r"|(?:RTX|GTX)[ ]?(?:PRO[ ])?\d{4}\w*"
    r"|(?:A(?:10|16|30|40|100|800)|[BH](?:20|100|200|300|800)|L(?:4|20|40S?)|T4|[PV]100)"
    r"(?:[ ]SXM\d?|[ ]PCIe|[ ]NVL)?|G[BH][23]00|MI\d{3}[A-Z]?|TPU[ ]?v\d\w*|Gaudi[ ]?\d|DGX[ ]\w+|Jetson[ ]\w+"
    r"|EPYC[ ]\d{4}\w*|Xeon[ ][\w-]*\d[\w+-]*|Ryzen[ ]\d[ ]\d{4}\w*"
)
_CAPITAL = re.compile(r"[A-Z][\w-]*")
_DEVICE = re.compile(rf"(?:{_CARDS})(?![\w/-]|\.\w)")
_PACKAGES = (
    r"torch|pytorch|triton|cuda(?:[ ]toolkit)?|cudnn|cublas|nccl|rocm|hip|driver|python|vllm|sglang"
    r"|flash[- ]?attn|flashattention|flash[- ]?attention|flash[- ]linear[- ]attention|fla(?:-core)?"
    r"|transformers|tensorrt(?:-llm)?|liger[-_ ]kernel|jax|numpy|xformers|deepspeed|megatron\w*"
    r"|onnxruntime|llama\.cpp|cutlass|linux|ubuntu|kernel"
)
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*(?:[a-z]+\d*|\+\w+)?")
_PACKAGE = re.compile(
    rf"(?<![\w/.-])(?:{_PACKAGES})(?:[ ](?:version|release|was|is|of|then)){{0,3}}[ ]?(?:==|=)?[ ]?v?$", re.IGNORECASE
)
_STATED = re.compile(
    r"commit(?<!\wcommit)[ ]+(?P<commit>[0-9a-f]{7,40})\b"
    r"|(?:measured|ran|recorded|benchmarked|logged|taken|timed|results?)\b[^.\n]{0,30}?(?P<date>\b20\d\d-\d\d-\d\d\b)"
)
_REQUIRED = re.compile(
    r"\b(?:requires?|required|needs?|or (?:newer|later|above|higher|greater|older)|at least|minimum"
    r"|supports?|supported|since|introduced|to \d+\.\d+|install\w*|compatible|works with|upgrade\w*"
    r"|deprecated|removed in|added in|starting|until|before|after)\b|>=|≥|\+$",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """What an author typed: its line in the body and its text."""

    line: int
    text: str
    kind: str = ""


def comparisons(prose: str) -> Iterator[Word]:
    """Yield statements that one thing is faster, better or cheaper: no questions, wishes, conditions or denials."""
    lower = lowered(prose)
    for start in sorted(_places(lower)):
        match = _COMPARISON.match(lower, start)
        if match and _is_stated(match, prose, lower):
            yield _word(prose, start, match[0])


def _places(lower: str) -> Iterator[int]:
    for trigger in _TRIGGERS:
        at = lower.find(trigger)
        while at >= 0:
            if not lower[max(0, at - 1) : at].isalnum():
                yield at
            at = lower.find(trigger, at + 1)


def _is_stated(match: re.Match[str], prose: str, lower: str) -> bool:
    around = place(prose, lower, *match.span())
    clause = _CLAUSE.split(around.before)[-1]
    if match["adjective"]:
        copula = _COPULA.search(around.before)
        if not copula and not around.after.startswith((" than", "\nthan")):
            return False
        if _IDLE.match(around.after) or _DIRECTION.search(around.before):
            return False
    if match[0] == "fastest" and not around.before.endswith(("the ", "the\n", "'s ")):
        return False
    if _DOUBT.search(clause) or _QUOTE.search(around.before.replace('\\"', "")):
        return False
    return not is_question(prose, match.end())


def conclusions(prose: str) -> Iterator[Word]:
    """Yield statements that conclude or compare: what evidence that may not be cited cannot carry."""
    yield from comparisons(prose)
    lower = lowered(prose)
    for match in _CONCLUDES.finditer(lower):
        if not lower[max(0, match.start() - 1) : match.start()].isalnum():
            around = place(prose, lower, *match.span())
            if not _DENIED.search(around.sentence) and not _QUOTE.search(around.before):
                yield _word(prose, match.start(), match[0])


def admits_losses(prose: str) -> bool:
    """Say whether a text tells where something loses."""
    return _LOSING.search(prose) is not None


def typed_stances(prose: str, devices: Iterable[str] = ()) -> Iterator[Word]:
    """Yield devices and package versions in running text; `devices` are the names that the logs on the page record."""
    lower = lowered(prose)
    for match in _VERSION.finditer(prose):
        package = _PACKAGE.search(prose, max(0, match.start() - 40), match.start())
        if package and not _is_required(prose, lower, package.start(), match.end()):
            yield _word(prose, package.start(), prose[package.start() : match.end()], "a version")
    for match in _STATED.finditer(lower):
        yield _word(prose, match.start(), match[0], "a commit" if match["commit"] else "a date")
    spans = [match.span() for match in _devices(prose)]
    spans += [
        found.span() for name in devices if name for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", prose)
    ]
    end = 0
    for first, last in sorted(spans, key=lambda span: (span[0], -span[1])):
        line = prose.rfind("\n", 0, first) + 1
        if first >= end and not prose[line:first].lstrip(" >").startswith("#"):
            yield _word(prose, first, prose[first:last], "a device")
        end = max(end, last)


def _is_required(prose: str, lower: str, start: int, end: int) -> bool:
    """Whether a version is one that is needed or allowed, not one that ran."""
    around = place(prose, lower, start, end)
    return _REQUIRED.search(around.sentence) is not None or around.after.startswith(("+", ".x"))


def devices_in(text: str) -> tuple[str, ...]:
    """Return the devices that a heading names."""
    return tuple(match[0] for match in _devices(text))


def _devices(text: str) -> Iterator[re.Match[str]]:
    end = 0
    for capital in _CAPITAL.finditer(text):
        start = capital.start()
        is_inside = start < end or text[max(0, start - 1) : start] in {"/", ".", "-", "_"}
        match = None if is_inside else _DEVICE.match(text, start)
        if match:
            end = match.end()
            yield match


def _word(prose: str, start: int, text: str, kind: str = "") -> Word:
    return Word(prose.count("\n", 0, start) + 1, " ".join(prose[start : start + len(text)].split()), kind)
