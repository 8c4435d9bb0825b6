"""Tests of the report formats: what is untrusted stays text in each of them."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.checker import reports
from evidence.checker.catalogue import RULES
from evidence.checker.ignores import Ignore
from evidence.checker.runs import Ignored, Report
from evidence.diagnostics import Diagnostic, Location, Severity

HOSTILE = "\x1b[31mred\x1b]8;;http://x\x07 [bold]markup[/bold] \u202egnp.exe\u2066 ::error::x\r\n%0A,:'\"<b>&\x00"


def diagnostic(**changes: Any) -> Diagnostic:
    values: dict[str, Any] = {
        "code": "EV105",
        "name": "dirty-source",
        "severity": Severity.ERROR,
        "at": Location("docs/benchmark_logs/toy/record.json", 28, "/sources/0/tree_sha256"),
        "message": "source 'repository' had changes",
        "fix": "Commit the change, then measure again.",
        "cited": (Location("docs/index.md", 3),),
    }
    return Diagnostic(**{**values, **changes})


def ignored(one: Diagnostic) -> Ignored:
    entry = Ignore("EV105", None, "an old log", "toy-team", datetime.date(2026, 12, 31), Location("evidence.toml", 1))
    return Ignored(one, entry)


def report(*found: Diagnostic, **changes: Any) -> Report:
    return Report(**{"diagnostics": found, "ignored": (), "logs": 14, "pages": 5, "calls": 9, **changes})


def test_text_groups_by_file_and_ends_with_counts() -> None:
    warning = diagnostic(code="EV108", name="stale-source", severity=Severity.WARNING, fix="", cited=())
    text = reports.text(report(diagnostic(), warning, ignored=(ignored(diagnostic()),)))
    assert text.splitlines() == [
        "docs/benchmark_logs/toy/record.json",
        "  28: error EV105 dirty-source: source 'repository' had changes",
        "      fix: Commit the change, then measure again.",
        "      printed by docs/index.md:3",
        "  28: warning EV108 stale-source: source 'repository' had changes",
        "ignored: EV105 dirty-source at docs/benchmark_logs/toy/record.json:28: an old log (toy-team, until 2026-12-31)",  # noqa: E501
        "evidence: 1 error, 1 warning, 1 ignored in 14 logs, 5 pages",
    ]


def test_a_clean_report_is_one_line() -> None:
    assert reports.text(report(logs=1, pages=1)) == "evidence: 0 errors, 0 warnings in 1 log, 1 page\n"


def test_many_places_are_counted() -> None:
    cited = tuple(Location(f"docs/p{index}.md", index) for index in range(1, 9))
    assert "docs/p5.md:5 and 3 more" in reports.text(report(diagnostic(cited=cited)))


def test_colour_is_only_sent_when_asked_for() -> None:
    assert "\x1b[" not in reports.text(report(diagnostic()))
    assert "\x1b[31m" in reports.text(report(diagnostic()), colour=True)


@pytest.mark.parametrize("form", reports.FORMATS)
def test_hostile_text_stays_text(form: str) -> None:
    hostile = diagnostic(
        message=HOSTILE,
        fix=HOSTILE,
        at=Location(f"docs/{HOSTILE}", 1, f"/{HOSTILE}"),
        cited=(Location(HOSTILE, 2),),
    )
    printed = reports.FORMATS[form](report(hostile, ignored=(ignored(hostile),)), RULES)
    assert not set("\x00\x07\x1b\r\u202e\u2066") & set(printed)
    if form in ("json", "sarif"):
        assert not re.search(r"\\u(0000|0007|001b|202e|2066)", printed.replace("\\\\", ""))
    if form == "text":
        assert "[bold]markup[/bold]" in printed


@given(text=st.text())
def test_safe_text_is_one_printable_line(text: str) -> None:
    safe = reports.safe(text)
    assert len(safe.splitlines()) <= 1
    assert all(character.isprintable() or character in safe for character in safe)
    assert reports.safe(safe) == safe or len(safe) > 1000


def test_long_text_is_cut() -> None:
    assert len(reports.safe("x" * 10**6)) < 1100


@given(message=st.text(), path=st.text(min_size=1))
def test_github_annotations_are_one_line_each(message: str, path: str) -> None:
    lines = reports.github(report(diagnostic(message=message, at=Location(path, 3)))).split("\n")
    assert len(lines) == 3
    place, _, _ = lines[0].removeprefix("::error ").partition("::")
    keys = [pair.partition("=")[0] for pair in place.split(",")]
    assert keys == ["file", "line", "title"]


@given(message=st.text(), line=st.integers(min_value=1))
def test_json_is_json_and_says_the_same(message: str, line: int) -> None:
    document = json.loads(reports.json_text(report(diagnostic(message=message, at=Location("a", line)))))
    assert document["errors"] == 1
    assert document["diagnostics"][0]["line"] == line
    assert document["diagnostics"][0]["message"] == reports.safe(message)


def test_sarif_is_of_the_form_code_scanning_reads() -> None:
    space = diagnostic(code="EV302", name="red-gate", at=Location("docs/a b#c.json", 0), cited=())
    document = json.loads(reports.sarif(report(diagnostic(), space, ignored=(ignored(diagnostic()),)), RULES))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "evidence"
    assert [rule["id"] for rule in driver["rules"]] == [rule.code for rule in RULES]
    for rule in driver["rules"]:
        assert rule["name"].isalnum()
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning")
    assert len(run["results"]) == 3
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[\w.~/%-]+", uri)
        assert unquote(uri).startswith("docs/")
        assert location["physicalLocation"]["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
    (suppression,) = run["results"][2]["suppressions"]
    assert suppression["kind"] == "external"
    assert "toy-team" in suppression["justification"]
    assert run["results"][0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "docs/index.md"
    assert run["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "/sources/0/tree_sha256"


def test_junit_has_a_failure_for_each_error_and_a_pass_for_each_clean_rule() -> None:
    warning = diagnostic(code="EV108", name="stale-source", severity=Severity.WARNING)
    twice = diagnostic(at=Location("docs/other.md", 0))
    text = reports.junit(report(diagnostic(), twice, warning, ignored=(ignored(diagnostic(code="EV110")),)), RULES)
    suites = ElementTree.fromstring(text)
    (suite,) = suites
    cases = suite.findall("testcase")
    assert suites.attrib == {key: value for key, value in suite.attrib.items() if key != "name"}
    assert int(suite.attrib["tests"]) == len(cases) == 4 + len(RULES) - 3
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) == 2
    assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped")) == 1
    first = cases[0]
    assert first.attrib["classname"] == "evidence.EV105"
    assert (first.attrib["file"], first.attrib["line"]) == ("docs/benchmark_logs/toy/record.json", "28")
    failure = first.find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "source 'repository' had changes", "type": "EV105"}
    assert "fix: Commit the change, then measure again.\ndocs/index.md:3" in (failure.text or "")
    assert "warning: " in (suite.findtext("testcase/system-out") or "")
    assert "an old log (toy-team, until 2026-12-31)" in suite.findall("testcase/skipped")[0].attrib["message"]


@given(message=st.text(), path=st.text(min_size=1))
def test_junit_is_xml_whatever_a_finding_says(message: str, path: str) -> None:
    found = diagnostic(message=message, fix=message, at=Location(path, 3))
    suites = ElementTree.fromstring(reports.junit(report(found), RULES))
    assert suites.attrib["failures"] == "1"
