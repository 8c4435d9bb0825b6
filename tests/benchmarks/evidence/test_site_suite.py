from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.evidence.sites import BARE, KINDS, MACROS, TYPED, numbers_in, numbers_of
from benchmarks.evidence.suite import CPU_TIME, WALL_TIME
from benchmarks.evidence.suites.site import SUITE
from evidence.schema import Record, Rejected, Timed
from tests.benchmarks.evidence.sessions import SITE, measure, prepared_by

PAGE = "docs/part-00/page-001.md"


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> tuple[Path, Record]:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).resolve().parents[3])
        return folder, measure(SUITE, folder, SITE, processes=1)


def test_all_three_sites_show_every_number(measured):
    folder, record = measured
    total = sum(sum(numbers.values()) for numbers in numbers_of(folder / "sites").values())
    assert total > SITE["pages"] * SITE["tables"] * 6 * 9
    assert [arm.name for arm in record.arms] == [TYPED, MACROS, BARE, f"{TYPED}-again"]
    for cell in record.cells:
        assert isinstance(cell, Timed)
        assert [outcome.compared for outcome in (cell.gate, *cell.further)] == [total + 1] * 2
        assert {column.metric for process in cell.processes for column in process.samples} == {CPU_TIME, WALL_TIME}


def test_the_sites_differ_in_how_their_tables_are_written_and_in_nothing_else(measured):
    folder, record = measured
    assert record.axes == ("tables",)
    assert {arm.implementation for arm in record.arms} == {"mkdocs.__main__:cli"}
    texts = {kind: (folder / "sites" / kind / PAGE).read_text(encoding="utf-8") for kind in KINDS}
    heads = {text[: text.index("\n\n", text.index("\n\n") + 2)] for text in texts.values()}
    assert len(heads) == 1
    assert texts[MACROS].count("{{ ev.table(") == SITE["tables"]
    assert texts[TYPED].count('??? note "Evidence: ') == SITE["tables"]
    for said in ("instrument:", "**Command**", "**Environment**", "**Gate**", "record.json", "**Limitations**"):
        assert texts[TYPED].count(said) >= SITE["tables"]
        assert said not in texts[BARE]


def test_a_number_that_is_not_shown_rejects_its_site_alone(tmp_path):
    def spoilt(folder, sizes):
        root = SUITE.prepare(folder, sizes)
        page = root / TYPED / PAGE
        lines = page.read_text(encoding="utf-8").split("\n")
        rows = [line for line in lines if line.startswith("|")]
        page.write_text("\n".join(line for line in lines if line != rows[2]), encoding="utf-8")
        return root

    record = measure(prepared_by(SUITE, spoilt), tmp_path, SITE, processes=1, has_control=False)
    typed, macros, bare = record.cells
    assert isinstance(typed, Rejected)
    assert "part-00/page-001/index.html: stands there" in typed.gate.message
    assert isinstance(macros, Timed)
    assert isinstance(bare, Timed)


@pytest.mark.parametrize(
    ("text", "found"),
    [("1.251× [1.248 – 1.255] FASTER", ["1.251", "1.248", "1.255"]), ("13312", ["13312"]), ("fp—", [])],
)
def test_numbers_are_counted_as_they_are_printed(text, found):
    assert sorted(numbers_in(text).elements()) == sorted(found)
