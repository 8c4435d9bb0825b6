"""Owns what the demo breaks: what an author might do to the throwaway project, and the rule that each runs into."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evidence import ledger, store
from evidence.demo import CLAIMS, PAGE, Demo
from evidence.lock import FILE_NAME as LOCK


@dataclass(frozen=True, slots=True)
class Refusal:
    """One breakage: what is done, the rule that must see it, and how it is done."""

    what: str
    code: str
    act: Callable[[Demo], None]


def _digit(demo: Demo) -> None:
    text = demo.record.read_text(encoding="utf-8")
    match = re.search(r'"values": \[\s*0\.\d*?([1-9])', text)
    if match is None:  # every sample has a digit that is not zero
        raise AssertionError("the record holds no sample")
    at = match.start(1)
    demo.record.write_text(f"{text[:at]}{int(text[at]) % 9 + 1}{text[at + 1 :]}", encoding="utf-8")


def _edited(change: Callable[[dict[str, Any]], None]) -> Callable[[Demo], None]:
    """Edit the record and mend its line in the ledger, so that the digest does not give it away."""

    def act(demo: Demo) -> None:
        document = json.loads(demo.record.read_bytes())
        change(document)
        demo.record.write_text(json.dumps(document, indent=1), encoding="utf-8")
        path = demo.root / "docs/benchmark_logs" / ledger.FILE_NAME
        name = f"{demo.log}/{store.RECORD_NAME}"
        path.write_text(ledger.dump({name: ledger.digest_of(demo.record)}), encoding="utf-8")

    return act


def _swapped(path: str, old: str, new: str) -> Callable[[Demo], None]:
    def act(demo: Demo) -> None:
        target = demo.root / path
        text = target.read_text(encoding="utf-8")
        if old not in text:
            raise AssertionError(f"{path} does not hold {old!r}")
        target.write_text(text.replace(old, new, 1), encoding="utf-8")

    return act


def _relocked(demo: Demo) -> None:
    target = demo.root / "docs/claims" / LOCK
    text = target.read_text(encoding="utf-8")
    target.write_text(re.sub(r"takes [\d.]+×", "takes 99×", text), encoding="utf-8")


def _red(document: dict[str, Any]) -> None:
    document["cells"][1]["gate"]["detail"]["tensors"][0]["mismatched"] = 2


def _nowhere(document: dict[str, Any]) -> None:
    document["hosts"] = []


def _lost(document: dict[str, Any]) -> None:
    del document["cells"][1]


REFUSALS = (
    Refusal("A digit of the record is edited", "EV005", _digit),
    Refusal("The environment is cut out of the record, and the ledger mended", "EV101", _edited(_nowhere)),
    Refusal("The gate's own counts say that two letters were miscounted", "EV302", _edited(_red)),
    Refusal("A row is dropped from the record", "EV001", _edited(_lost)),
    Refusal(
        "A number is typed into the page",
        "EV701",
        _swapped(PAGE, "# Counting letters\n", "# Counting letters\n\nIt is 5.0× faster.\n"),
    ),
    Refusal("The author expected the opposite", "EV602", _swapped(CLAIMS, "expect: better", "expect: worse")),
    Refusal(
        "The statement says more than was measured",
        "EV604",
        _swapped(CLAIMS, "takes {ratio}", "always takes {ratio}"),
    ),
    Refusal("A series is misspelt", "EV601", _swapped(CLAIMS, "series: demo/counting", "series: demo/countign")),
    Refusal("A printed value is edited in the lock", "EV610", _relocked),
)
