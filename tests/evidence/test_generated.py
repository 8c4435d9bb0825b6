from __future__ import annotations

from pathlib import Path

import pytest

from evidence import generated
from evidence.book import Book
from evidence.checker.catalogue import RULES
from evidence.pages.tokens import Mint
from evidence.schema import HostConditions, Record
from tests import factories
from tests.factories import book
from tests.projects import CLAIMS

LOG = "kernels/toy_20260901"
RAW = b'{"p50": 0.125, "duration": 12, "itl": -1}\n'


def rendered(made: Book, *logs: str) -> dict[str, str]:
    """Every page with its tokens replaced, as HTML in Markdown."""
    mint = Mint()
    parts: dict[int, generated.Make] = {}

    def token(make: generated.Make) -> str:
        index, text = mint.token()
        parts[index] = make
        return text

    pages = dict(generated.log_pages(logs, made, token))
    return {path: mint.replace(text, lambda index: parts[index]("../").html) for path, text in pages.items()}


def test_every_rule_has_a_page_and_a_line_in_the_index() -> None:
    pages = dict(generated.rule_pages(RULES))
    assert set(pages) == {"rules/index.md", *(f"rules/{rule.code}.md" for rule in RULES)}
    for rule in RULES:
        assert f"]({rule.code}.md)" in pages["rules/index.md"]
        assert "## How to fix it" in pages[f"rules/{rule.code}.md"]
        assert "render_macros: false" in pages[f"rules/{rule.code}.md"]


def test_a_log_has_everything_that_stands_in_it_on_its_page(tmp_path: Path) -> None:
    page = rendered(book(tmp_path, CLAIMS, factories.record()), LOG)["logs/kernels/toy_20260901.md"]
    for text in (
        "Synthetic GPU A",
        "python -m benchmarks.ops.run",
        "1,900 to 1,900 MHz",
        "control of eager",
        "1,001.0",
    ):
        assert text in page, text
    assert 'href="../benchmark_logs/kernels/toy_20260901/record.json"' in page
    assert 'id="ev-toy-fused"' in page
    assert "## Claims that stand on it" in page


def test_a_machine_without_devices_shows_its_own_readings(tmp_path: Path) -> None:
    load = HostConditions(host="h0", at_s=(0.0, 1.0), load=(0.25, 1.5), cpu_clock_hz=(2e9, 3e9), missing=())
    page = rendered(book(tmp_path, "{}", factories.record(conditions=(load,))), LOG)["logs/kernels/toy_20260901.md"]
    assert "0.25 to 1.50, 2 readings" in page
    assert "2,000 to 3,000 MHz, 2 readings" in page
    assert "not throttled" not in page


def test_a_log_without_claims_says_nothing_of_them(tmp_path: Path) -> None:
    page = rendered(book(tmp_path, "{}", factories.record()), LOG)["logs/kernels/toy_20260901.md"]
    assert "Claims" not in page


@pytest.mark.parametrize(
    ("record", "files"),
    [
        (factories.engine_record(), None),
        (factories.outcomes_record(), None),
        (factories.imported_record(), {"raw.json": RAW}),
    ],
    ids=["engine", "outcomes", "imported"],
)
def test_every_kind_of_record_has_a_page(tmp_path: Path, record: Record, files: dict[str, bytes] | None) -> None:
    made = book(tmp_path, "{}")
    factories.loaded(record, tmp_path / "docs/benchmark_logs", files)
    pages = rendered(made, record.log)
    page = pages[f"logs/{record.log}.md"]
    assert "## Cells" in page
    assert "ev-error" not in page
    assert record.log in pages["logs/index.md"]


def test_a_record_that_does_not_load_has_a_page_that_says_so(tmp_path: Path) -> None:
    made = book(tmp_path, CLAIMS, factories.record())
    (tmp_path / "docs/benchmark_logs" / LOG / "record.json").write_text("{}")
    assert "ev-error" in rendered(made, LOG)[f"logs/{LOG}.md"]
