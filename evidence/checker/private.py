"""Owns what must not be published with a log: patterns of private data, and a fast search of texts for them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_PRIVATE_NET = rf"(?:10\.{_OCTET}|192\.168|172\.(?:1[6-9]|2[0-9]|3[01])|169\.254)\.{_OCTET}\.{_OCTET}"
_TOP_LEVEL = r"(?:com|org|net|edu|gov|mil|cloud|local|lan|internal|intranet|corp|localdomain)"

_KINDS: tuple[tuple[str, str], ...] = (
    (
        "an access token or key",
        r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|sk-[\w-]{20,}"
        r"|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|xox[abprs]-[\w-]{10,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}"
        r"|(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY"
        r"|(?i:(?:api|access|auth|secret)[_-]?(?:key|token)|password|passwd)[\"']?\s{0,3}[=:]\s{0,3}[\"']?[^\s\"'*]{6,}",
    ),
    ("an address with a password in it", r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^/\s:@]{1,100}:[^/\s@]{1,100}@"),
    (
        "a home directory",
        r"(?<![\w.~-])/(?:home|Users)/[^/\s\"'<>]+|(?<![\w.~/-])/root(?![\w.-])|\b[A-Za-z]:[\\/]{1,4}(?i:users)[\\/]{1,4}\w+",
    ),
    (
        "an e-mail address or a name on a machine",
        r"(?<![\w.+-])[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+\b",
    ),
    (
        "a machine's network address",
        rf"(?<![\w.=-]){_PRIVATE_NET}(?![\w.])|(?<=[/@])(?!127\.|0\.0\.0\.0)(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.])"
        rf"|(?<![\w.=-])(?!127\.|0\.0\.0\.0)(?:{_OCTET}\.){{3}}{_OCTET}(?=:[0-9]{{2,5}}(?![\w.]))"
        r"|(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])",
    ),
    (
        "a machine's name",
        rf"(?<![\w./@-])[a-z][a-z-]{{0,40}}[0-9][a-z0-9-]{{0,40}}(?:\.[a-z0-9-]{{1,63}})*\.{_TOP_LEVEL}(?![\w.-])"
        r"|(?<![\w./@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\.(?:local|lan|internal|intranet|corp|localdomain)(?![\w.-])",
    ),
    (
        "a device's serial number",
        r"\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-|(?i:\bserial(?:[ _-]?(?:no|number))?)[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
        r"(?=[A-Za-z0-9-]{0,20}[0-9])[A-Za-z0-9-]{6,}",
    ),
)
_SIGNS: tuple[tuple[str, ...], ...] = (
    (
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "sk-", "akia", "aiza", "xox", "npm_"),
        *("pypi-", "eyj", "-----begin", "password", "passwd"),
    ),
    ("://",),
    ("/home/", "users", "/root"),
    ("@",),
    (),
    (),
    ("gpu-", "mig-", "serial"),
)
"""What a text of each kind holds in lower case, one of them at least; none: a pattern in `_TRACES` tells."""
_OWNERS = ("api", "access", "auth", "secret")
_SECRETS = tuple(map("".join, itertools.product(_OWNERS, ("", "_", "-"), ("key", "token"))))
"""Further signs of the first kind: many, so looked for only where one of their first words is."""
_TRACES = {
    4: (
        *(re.compile(rf"{before}(?:[0-9]{{1,3}}\.){{3}}") for before in "/@"),
        re.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}:[0-9]"),
        re.compile(r":[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:"),
        re.compile(r"1(?<![\w.=-]1)(?:0|72|92|69)(?:\.[0-9]{1,3}){2}\."),
    ),
    5: (re.compile(rf"\.{_TOP_LEVEL}"),),
}
"""Patterns that begin with one character are looked for ten times as fast as one that begins with any of several."""
_MOST_CLEAN = 200_000
_DIGEST_LENGTH = 64
_APART = "\n" * 5
"""More than any pattern reaches over."""


def kinds_in(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield (kind, line) of what is private in a text file; bytes that are no text hold nothing to look through."""
    text = data.decode(errors="replace")
    for kind, start in search(text):
        yield kind, text.count("\n", 0, start) + 1


def private_text(texts: Iterable[str], clean: set[str]) -> tuple[str, str] | None:
    """Return what is private in texts, and the first text that is; None if none is.

    Args:
        texts: Every text of a record. Records repeat most of theirs, so looking through new ones only makes the search
            cheap enough for every record.
        clean: Texts that are known to hold nothing private; it grows.
    """
    unseen = {text for text in texts if text not in clean}
    new = [text for text in unseen if len(text) != _DIGEST_LENGTH or not text.isalnum()]
    if next(search(_APART.join(new)), None) is not None:
        for text in texts:
            for kind, _ in search(text):
                return kind, text
    if len(clean) > _MOST_CLEAN:
        clean.clear()
    clean.update(new)
    return None


def search(text: str) -> Iterator[tuple[str, int]]:
    """Yield the kind and place of everything private in a text, in order.

    The patterns take a microsecond a character. So only those run of which a text shows a sign: a search for fixed
    letters is a hundred times as fast, and most texts show none. Beyond ASCII, letters have more than one lower case,
    and every pattern runs.
    """
    possible = _possible(text)
    for match in _pattern(possible).finditer(text) if possible else ():
        yield _KINDS[int(str(match.lastgroup)[1:])][0], match.start()


def _possible(text: str) -> tuple[int, ...]:
    if not text.isascii():
        return tuple(range(len(_KINDS)))
    lowered = text.lower()
    return tuple(
        index
        for index, signs in enumerate(_SIGNS)
        if any(sign in lowered for sign in signs)
        or any(trace.search(text) for trace in _TRACES.get(index, ()))
        or (index == 0 and _holds_secret(lowered))
    )


def _holds_secret(lowered: str) -> bool:
    return any(owner in lowered for owner in _OWNERS) and any(sign in lowered for sign in _SECRETS)


@functools.cache
def _pattern(kinds: tuple[int, ...]) -> re.Pattern[str]:
    """Return what finds these kinds, earlier ones first where two begin at one place."""
    return re.compile("|".join(f"(?P<k{kind}>{_KINDS[kind][1]})" for kind in kinds))
