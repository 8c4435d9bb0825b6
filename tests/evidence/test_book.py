"""The book: each item evaluated once against the store, or what is wrong with it, said once."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence import ledger
from evidence.book import Book, Unrenderable
from evidence.errors import RecordError, UnknownNameError
from evidence.store import Store
from tests.factories import (
    book,
    engine_record,
    gate,
    imported_record,
    loaded,
    outcomes_record,
    project,
    record,
    sweep,
    timed,
)

CLAIMS = """
tables:
  toy:
    title: The toy op
    series: kernels/toy
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: eager
claims:
  toy-fused:
    statement: Fusing is {ratio} faster on {device}.
    series: kernels/toy
    metric: time
    baseline: eager
    candidate: fused
    expect: better
    mechanism: {unknown: nothing was profiled}
"""


def found(one: Book) -> list[tuple[str, str, str]]:
    return [(code, str(finding.at), finding.message) for code, finding in one.findings]


def test_items_by_id(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS, record())
    assert one.ids == ("toy", "toy-fused")
    assert one.findings == ()
    assert one.standing == ("toy-fused",)
    assert one.table("toy").title == "The toy op"
    assert one.built_table("toy").view is one.table("toy")
    assert one.statement("toy-fused").text == "Fusing is 1.25× faster on Synthetic GPU A."
    assert one.statement("toy-fused") is one.statement("toy-fused")
    assert one.logs_of("toy") == one.logs_of("toy-fused") == ("kernels/toy_20260901",)
    assert one.logs_of("nothing") == ()
    assert str(one.place("toy")) == "docs/claims/page.yml:3"
    assert str(one.place("toy-fused")) == "docs/claims/page.yml:11"
    assert set(one.claims.claims) == {"toy-fused"}


def test_an_empty_project_has_an_empty_book(tmp_path: Path) -> None:
    made = project(tmp_path)
    one = Book(made, Store(made.logs))
    assert (one.ids, one.findings, one.standing, one.log_status) == ((), (), (), {})


def test_ids_that_are_not_there_name_the_nearest_of_their_kind(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS, record())
    for call in (one.statement, lambda id_: one.value(id_, "ratio")):
        with pytest.raises(UnknownNameError) as caught:
            call("toy-fuse")
        assert (caught.value.kind, caught.value.nearest) == ("claim", "toy-fused")
    for call in (one.table, one.built_table):
        with pytest.raises(UnknownNameError) as caught:
            call("toys")
        assert (caught.value.kind, caught.value.nearest) == ("table", "toy")
    with pytest.raises(UnknownNameError):
        one.table("toy-fused")
    with pytest.raises(UnknownNameError):
        one.statement("toy")


@pytest.mark.parametrize(("field", "text"), [("ratio", "1.25×"), ("N", "1024"), ("verdict", "FASTER"), ("count", "1")])
def test_one_field_of_a_claim(tmp_path: Path, field: str, text: str) -> None:
    assert book(tmp_path, CLAIMS, record()).value("toy-fused", field).text == text


def test_a_field_that_means_nothing_cannot_be_shown(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS, record())
    with pytest.raises(Unrenderable, match=r"toy-fused: \{rato\} is neither") as caught:
        one.value("toy-fused", "rato")
    assert caught.value.fix == "did you mean {ratio}?"
    assert caught.value.findings == ()


def test_what_is_wrong_with_an_item_is_one_finding_at_its_key(tmp_path: Path) -> None:
    text = CLAIMS.replace("expect: better", "expect: worse").replace("[time, {ratio: time}]", "[tyme]")
    one = book(tmp_path, text, record())
    assert [(code, at) for code, at, _ in found(one)] == [
        ("EV601", "docs/claims/page.yml:8"),
        ("EV602", "docs/claims/page.yml:17"),
    ]
    assert found(one)[0][2] == "toy: kernels/toy_20260901: no metric 'tyme'"
    assert one.standing == ()
    assert one.logs_of("toy") == ()
    with pytest.raises(Unrenderable, match=r"toy: .*no metric 'tyme'") as caught:
        one.table("toy")
    assert caught.value.findings == one.findings[:1]
    with pytest.raises(Unrenderable, match="expect is worse"):
        one.statement("toy-fused")
    with pytest.raises(Unrenderable, match="expect is worse"):
        one.value("toy-fused", "ratio")


def test_a_malformed_item_is_told_once_and_not_missed(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS.replace("statement:", "statemnt:"), record())
    assert [code for code, _ in one.findings] == ["EV620"]
    assert one.ids == ("toy",)
    with pytest.raises(Unrenderable, match="toy-fused is malformed in its claims file") as caught:
        one.statement("toy-fused")
    assert caught.value.findings == ()


def test_a_record_that_does_not_load_is_told_by_its_own_rule_only(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS, record())
    (tmp_path / "docs/benchmark_logs/kernels/toy_20260901/record.json").write_text("{")
    assert one.findings == ()
    assert one.standing == ()
    with pytest.raises(Unrenderable, match="its log does not load: not JSON") as caught:
        one.table("toy")
    assert caught.value.findings == ()
    with pytest.raises(RecordError):
        one.log("kernels/toy")


def test_a_count_that_no_record_has_is_a_finding_and_no_crash(tmp_path: Path) -> None:
    text = CLAIMS.replace("metric: time", "metric: time/tokens").replace("[time, {ratio: time}]", "[time/tokens]")
    one = book(tmp_path, text, record())
    assert [code for code, _ in one.findings] == ["EV601", "EV601"]
    assert "no count 'tokens'" in found(one)[0][2]


def test_a_metric_without_direction_in_a_ratio_is_a_finding(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS.replace("{ratio: time}", "{ratio: bandwidth}"), record())
    assert [code for code, _ in one.findings] == ["EV601"]


# Which log a series stands on.


def test_a_series_stands_on_its_newest_log(tmp_path: Path) -> None:
    newer = record("kernels/toy_20260908")
    one = book(tmp_path, CLAIMS, record(), newer, record("kernels/toy_20260908"))
    assert one.log("kernels/toy").record.log == "kernels/toy_20260908-2"
    assert one.log("kernels/toy_20260901").record.log == "kernels/toy_20260901"
    with pytest.raises(UnknownNameError):
        one.log("kernels/toys")


def test_a_log_with_a_status_is_passed_over_unless_there_is_no_other(tmp_path: Path) -> None:
    retired = "logs:\n  kernels/toy_20260908: {do_not_cite: the fan was off}\n"
    one = book(tmp_path, CLAIMS + retired, record(), record("kernels/toy_20260908"))
    assert one.log("kernels/toy").record.log == "kernels/toy_20260901"
    assert one.findings == ()
    assert one.log_status["kernels/toy_20260908"].do_not_cite == "the fan was off"
    both = retired + "  kernels/toy_20260901: {historical: the first run}\n"
    other = book(tmp_path / "other", CLAIMS + both, record(), record("kernels/toy_20260908"))
    assert other.log("kernels/toy").record.log == "kernels/toy_20260908"
    assert [(code, finding.at.line) for code, finding in other.findings] == [("EV612", 13)]
    # A table may show it, under its banner.
    assert other.table("toy").banner is not None


def test_a_status_of_a_log_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS + "logs:\n  kernels/toy_20260902: {historical: x}\n", record())
    assert found(one) == [
        ("EV601", "docs/claims/page.yml:20", "logs.kernels/toy_20260902: no log 'kernels/toy_20260902'")
    ]
    assert "did you mean 'kernels/toy_20260901'?" in one.findings[0][1].fix


def test_a_superseded_claim_stands_and_is_not_called(tmp_path: Path) -> None:
    wide = CLAIMS.split("claims:\n")[1].replace("toy-fused", "toy-wide")
    one = book(tmp_path, f"{CLAIMS}    status: {{superseded_by: toy-wide}}\n{wide}", record())
    assert one.findings == ()
    assert one.standing == ("toy-fused", "toy-wide")
    with pytest.raises(Unrenderable, match="toy-fused is superseded") as caught:
        one.statement("toy-fused")
    ((code, finding),) = caught.value.findings
    assert (code, str(finding.at)) == ("EV611", "docs/claims/page.yml:19")
    assert caught.value.fix == "call 'toy-wide' instead"


# Numbers that no sentence may stand on.


def test_a_diagnostic_says_why_it_is_none(tmp_path: Path) -> None:
    partial = gate(scope="partial", selection="one shape of nine")
    one = book(tmp_path, CLAIMS, record(gates=(partial,)))
    shown = one.diagnostic("toy-fused", "candidate:us")
    assert (shown.figure.text, shown.logs) == ("802 µs", ("kernels/toy_20260901",))
    assert shown.reasons == ("the gate numeric ran on a selection only", "one session")
    again = book(tmp_path / "again", CLAIMS, record(), record("kernels/toy_20260908"))
    assert again.diagnostic("toy-fused", "ratio").label == "diagnostic"


def test_a_number_of_an_import_names_its_format(tmp_path: Path) -> None:
    claims = (
        "logs:\n  engine/foreign_20260903: {do_not_cite: from a vendor}\n"
        "claims:\n  foreign:\n    statement: It takes {value}.\n    series: engine/foreign\n"
        "    metric: wall_time\n    arm: served\n"
    )
    made = project(tmp_path)
    (made.claims / "page.yml").write_text(claims)
    loaded(imported_record(), made.logs, {"raw.json": b'{"p50": 0.125, "duration": 12, "itl": -1}\n'})
    one = Book(made, Store(made.logs))
    with pytest.raises(Unrenderable, match="do not cite"):
        one.value("foreign", "value")
    assert one.diagnostic("foreign", "value").label == (
        "diagnostic: not to be cited: from a vendor; imported from toy-bench-json; one session"
    )


def test_a_diagnostic_of_nothing_names_the_nearest(tmp_path: Path) -> None:
    one = book(tmp_path, CLAIMS, record())
    with pytest.raises(UnknownNameError):
        one.diagnostic("toy-fuse", "ratio")
    with pytest.raises(Unrenderable, match="neither a quantity") as caught:
        one.diagnostic("toy-fused", "ratios")
    assert caught.value.fix == "did you mean {ratio}?"


def test_files_are_read_together(tmp_path: Path) -> None:
    made = project(tmp_path)
    (made.claims / "more.yml").write_text(CLAIMS.replace("toy-fused", "more-fused").replace("  toy:", "  more:"))
    one = book(tmp_path, CLAIMS, record())
    assert one.ids == ("more", "more-fused", "toy", "toy-fused")
    clash = made.claims / "zzz.yml"
    clash.write_text("tables:\n  toy-fused: {title: x, series: kernels/toy, rows: [N], columns: [time]}\n")
    again = Book(made, Store(made.logs))
    assert [code for code, _ in again.findings] == ["EV621"]


def test_hostile_ids_series_and_fields_are_findings(tmp_path: Path) -> None:
    nasty = ("../../etc/passwd", "<script>alert(1)</script>", "x" * 4000, "a\\0b", "kernels/../toy", "🙂")
    for index, name in enumerate(nasty):
        text = CLAIMS.replace("series: kernels/toy", f"series: '{name}'")
        one = book(tmp_path / str(index), text, record())
        assert [code for code, _ in one.findings] == ["EV601", "EV601"]
        with pytest.raises(UnknownNameError):
            one.table(name)


def test_what_is_in_a_record_is_text_all_the_way(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)> | {{ 7*7 }} {ratio} *x*"
    one = book(tmp_path, CLAIMS, record(limitations=(evil,)))
    assert evil in one.statement("toy-fused").evidence[0].limitations


def test_every_outcome_of_a_cell_in_one_book(tmp_path: Path) -> None:
    text = CLAIMS.replace("kernels/toy", "kernels/outcomes").replace(
        "    expect: better", "    where: {N: 1024}\n    expect: better"
    )
    one = book(tmp_path, text, outcomes_record(), engine_record(), sweep({"eager": {1: 1e-3}, "fused": {1: 1e-3}}))
    assert one.findings == ()
    assert one.table("toy").tally == "1 faster · 1 rejected · 1 crashed · 1 skipped"
    assert set(ledger.read(tmp_path / "docs/benchmark_logs"))


def test_numbers_beyond_reason_are_a_finding_and_no_crash(tmp_path: Path) -> None:
    huge = timed(median_s=1e200)
    one = book(tmp_path, CLAIMS, record(cells=(huge, *record().cells[1:])))
    assert [code for code, _ in one.findings] == ["EV601", "EV601"]
    assert all("number below 1e+150" in finding.message for _, finding in one.findings)


def test_the_status_of_an_item(tmp_path: Path) -> None:
    text = CLAIMS.replace("    baseline: eager\nclaims", "    baseline: eager\n    status: {historical: kept}\nclaims")
    one = book(tmp_path, text + "    status: {superseded_by: toy-wide}\n", record())
    table, claim = one.status("toy"), one.status("toy-fused")
    assert table is not None
    assert claim is not None
    assert (table.historical, claim.superseded_by) == ("kept", "toy-wide")
    assert one.status("nothing") is None


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "message"),
    [
        ("The toy op", "3.6x faster", "EV622", 4, "'3.6x' is typed into the title"),
        ("The toy op", "The toy on Synthetic GPU A", "EV622", 4, "the device 'Synthetic GPU A' is typed"),
        ("The toy op", "The toy always wins", "EV604", 4, "'always' is wider"),
        ("[time,", "[{value: time, title: best of 9},", "EV622", 8, "'9' is typed into the columns"),
        ("[time,", "[{text: speed, by: N, cells: {1024: 618 tok/s}},", "EV622", 8, "'618' is typed"),
        (
            "eager\nclaims",
            "eager\n    notes: [{where: {N: 1024}, why: 5 % off}]\nclaims",
            "EV622",
            10,
            "'5' is typed into the notes",
        ),
        (
            "eager\nclaims",
            "eager\n    omit: [{where: {arm: fused}, why: 2 runs}]\nclaims",
            "EV622",
            10,
            "'2' is typed into the omit",
        ),
        (
            "eager\nclaims",
            "eager\n    not_covered: [{where: {N: 8}, why: 80 GB}]\nclaims",
            "EV622",
            10,
            "'80' is typed",
        ),
        (
            "series: kernels/toy\n    rows",
            "series: kernels/toy_20260901\n    rows",
            "EV620",
            5,
            "pinned to its date, and nothing says why",
        ),
        (
            "series: kernels/toy\n    metric",
            "series: kernels/toy_20260901\n    metric",
            "EV620",
            13,
            "pinned to its date",
        ),
        (
            "expect: better\n",
            "expect: better\n    also: {l: {series: kernels/toy_20260901, expect: better}}\n",
            "EV620",
            18,
            "pinned to its date",
        ),
    ],
)
def test_what_an_author_must_not_write(tmp_path: Path, old: str, new: str, code: str, line: int, message: str) -> None:
    assert old in CLAIMS
    text = CLAIMS.replace("columns: [time, {ratio: time}]", "columns: [time]") if "omit" in new else CLAIMS
    ((rule, finding),) = book(tmp_path, text.replace(old, new), record()).findings
    assert (rule, finding.at.line) == (code, line)
    assert message in finding.message


@pytest.mark.parametrize("status", ["historical: the first run", "do_not_cite: the fan was off"])
def test_a_status_is_a_reason_to_pin(tmp_path: Path, status: str) -> None:
    pinned = CLAIMS.split("claims:")[0].replace("series: kernels/toy", "series: kernels/toy_20260901")
    one = book(tmp_path, f"{pinned}    status: {{{status}}}\n", record(), record("kernels/toy_20260908"))
    assert one.findings == ()
    assert one.logs_of("toy") == ("kernels/toy_20260901",)
    other = book(tmp_path / "other", f"{pinned}logs: {{kernels/toy_20260901: {{{status}}}}}\n", record())
    assert other.findings == ()
    assert other.table("toy").banner is not None
