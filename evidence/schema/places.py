"""Owns where in a JSON text a pointer stands: findings name a line, and records carry none."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_VALUES = json.JSONDecoder(strict=False)


def pointer_of(parts: tuple[str | int, ...]) -> str:
    """Write path parts as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def line_of(text: str, pointer: str) -> int:
    """Return the line of the deepest part of `pointer` that the JSON text holds, counting from 1.

    Works on broken text too: it reads tokens, and stops at the first thing it cannot follow. What holds no part of the
    pointer is passed over in one step, as long as it is a value.
    """
    wanted = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    best, depth, end = 1, 0, 0
    # One frame an open container: its current key or index, and whether it is an object.
    frames: list[tuple[str | int, bool]] = []
    expect_key = False
    is_sound = True
    while match := _TOKEN.search(text, end):
        token, end = match[0], match.end()
        if frames and depth < len(wanted) and len(frames) == depth + 1:
            key, is_object = frames[-1]
            here = not is_object or (not expect_key and token not in ":,}")
            if here and str(key) == wanted[depth] and token not in ",]":
                depth += 1
                best = text.count("\n", 0, match.start()) + 1
                if depth == len(wanted):
                    return best
        if token in "{[" and len(frames) > depth and is_sound:
            after = _end_of_value(text, match.start())
            if after is not None:
                end, expect_key = after, False
                continue
            is_sound = False
        if token in "{[":
            frames.append(("", True) if token == "{" else (0, False))
            expect_key = token == "{"
        elif token in "}]":
            if not frames or len(frames) <= depth:
                return best
            frames.pop()
            expect_key = False
        elif token == "," and frames:
            key, is_object = frames[-1]
            frames[-1] = (key, True) if is_object else (int(key) + 1, False)
            expect_key = is_object
        elif expect_key and frames and token.startswith('"'):
            frames[-1] = (_key(token), True)
            expect_key = False
    return best


def _end_of_value(text: str, start: int) -> int | None:
    """Return where a value ends; None if it is none, or is nested too deep to tell."""
    try:
        return _VALUES.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _key(token: str) -> str:
    try:
        return str(json.loads(token, strict=False)) if "\\" in token else token[1:-1]
    except ValueError:
        return token[1:-1]
