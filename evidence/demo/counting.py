"""Owns two ways of counting letters, and their timer: what `evidence demo` measures, one arm in a process.

`python counting.py counter` prints one process's samples as JSON. It needs nothing but the standard library, and takes
processor time, because a demo must not depend on what else a machine is doing.
"""

from __future__ import annotations

import json
import random
import string
import sys
import time
from collections import Counter
from collections.abc import Mapping

LETTERS = string.ascii_lowercase
LENGTH = 100_000
SAMPLES, WARM_UP = 12, 3
GATE_SEEDS, TIMED_SEEDS = (1, 2, 3), (4, 5)
_EMPTY_READINGS = 1000


def loop(text: str) -> Mapping[str, int]:
    """Count in a loop, into a dictionary."""
    counts: dict[str, int] = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1
    return counts


def counter(text: str) -> Mapping[str, int]:
    """Count with the standard library's Counter."""
    return Counter(text)


WAYS = {"loop": loop, "counter": counter}


def wrong(counts: Mapping[str, int], text: str) -> int:
    """Return how many letters have another count than a search of the text for each of them gives."""
    return sum(counts.get(letter, 0) != text.count(letter) for letter in LETTERS)


def main(way: str) -> dict[str, object]:
    """Check one way against the search, then time it on two texts in turn, and check those results as well."""
    count = WAYS[way]
    before = sum(wrong(count(text), text) for text in map(_drawn, GATE_SEEDS))
    texts = [_drawn(seed) for seed in TIMED_SEEDS]
    readings = [time.process_time() for _ in range(_EMPTY_READINGS)]
    warming = time.process_time()
    for index in range(WARM_UP):
        count(texts[index % 2])
    warm = time.process_time()
    samples, after = [], 0
    for index in range(SAMPLES):
        text = texts[index % 2]
        started = time.process_time()
        counts = count(text)
        samples.append(round(time.process_time() - started, 9))
        after += wrong(counts, text)
    return {
        "wrong": before,
        "wrong_timed": after,
        "samples": samples,
        "overhead_s": (readings[-1] - readings[0]) / (_EMPTY_READINGS - 1),
        "warm_up_s": warm - warming,
    }


def _drawn(seed: int) -> str:
    return "".join(random.Random(seed).choices(LETTERS, k=LENGTH))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
