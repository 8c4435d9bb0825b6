"""Owns what a check prints: pure renderers of a report as text, JSON, GitHub annotations, SARIF and JUnit.

Messages quote records, claims and pages, and are untrusted: control characters are shown, not sent, and long texts cut.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evidence import __version__, statistics
from evidence.checker.registry import Rule
from evidence.checker.runs import Ignored, Report
from evidence.diagnostics import Diagnostic, Location, Severity
from evidence.readings import Quantity, process_values
from evidence.schema import Cell, Crashed, Imported, Metric, Rejected, Skipped
from evidence.stance import evidence_of, stance_of
from evidence.store import Loaded
from evidence.units import counted

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_NO_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_LONGEST = 1000
_MOST_PLACES = 5


def safe(text: str) -> str:
    """Return text that can be printed: control, bidirectional and invisible characters escaped, and not over long."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), cut)


def summary(report: Report) -> str:
    """Return the last line of every text report: counts that a script can read."""
    counts = [counted(report.count(Severity.ERROR), "error"), counted(report.count(Severity.WARNING), "warning")]
    if report.ignored:
        counts.append(f"{len(report.ignored)} ignored")
    if report.before:
        counts.append(f"{report.before} from before the change")
    return f"evidence: {', '.join(counts)} in {counted(report.logs, 'log')}, {counted(report.pages, 'page')}"


def text(report: Report, *, colour: bool = False) -> str:
    """Render for a terminal: by file, each finding with what to do and the places that print it, then the summary."""
    lines: list[list[tuple[str, str]]] = []
    for path, found in itertools.groupby(report.diagnostics, key=lambda one: one.at.path):
        lines.append([(safe(path), "bold")])
        for diagnostic in found:
            lines += _lines(diagnostic)
    lines += [[(_ignored(ignored), "dim")] for ignored in report.ignored]
    lines.append([(summary(report), "bold")])
    return _coloured(lines) if colour else "".join("".join(part for part, _ in line) + "\n" for line in lines)


def _coloured(lines: Iterable[Sequence[tuple[str, str]]]) -> str:
    from rich.console import Console
    from rich.text import Text  # slow to import, and of use only where somebody looks

    console = Console(force_terminal=True, highlight=False, emoji=False, markup=False)
    with console.capture() as captured:
        for line in lines:
            console.print(Text.assemble(*line), soft_wrap=True)
    return captured.get()


def _lines(diagnostic: Diagnostic) -> Iterator[list[tuple[str, str]]]:
    style = "red" if diagnostic.severity is Severity.ERROR else "yellow"
    what = f"{diagnostic.severity} {diagnostic.code} {diagnostic.name}"
    yield [(f"  {diagnostic.at.line}: ", ""), (what, style), (f": {safe(diagnostic.message)}", "")]
    if diagnostic.fix:
        yield [(f"      fix: {safe(diagnostic.fix)}", "")]
    if diagnostic.cited:
        yield [(f"      printed by {_places(diagnostic.cited)}", "dim")]


def _places(cited: Sequence[Location]) -> str:
    more = f" and {len(cited) - _MOST_PLACES} more" if len(cited) > _MOST_PLACES else ""
    return safe(", ".join(map(str, cited[:_MOST_PLACES]))) + more


def _ignored(one: Ignored) -> str:
    whose = f"{one.by.reason} ({one.by.owner}, until {one.by.until})"
    found = one.diagnostic
    return safe(f"ignored: {found.code} {found.name} at {found.at}: {whose}")


def json_text(report: Report) -> str:
    """Render as one JSON object: counts, diagnostics, and what was ignored by whom."""
    document = {
        "version": __version__,
        "logs": report.logs,
        "pages": report.pages,
        "calls": report.calls,
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "diagnostics": [_plain(one) for one in report.diagnostics],
        "ignored": [
            {
                **_plain(one.diagnostic),
                "reason": safe(one.by.reason),
                "owner": safe(one.by.owner),
                "until": one.by.until.isoformat(),
            }
            for one in report.ignored
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _plain(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": str(diagnostic.severity),
        **_place(diagnostic.at),
        "message": safe(diagnostic.message),
        "fix": safe(diagnostic.fix),
        "cited": [_place(place) for place in diagnostic.cited],
    }


def _place(at: Location) -> dict[str, Any]:
    return {"path": safe(at.path), "line": at.line, "pointer": safe(at.pointer)}


def github(report: Report) -> str:
    """Render as workflow commands, which GitHub shows beside the lines of a pull request."""
    lines = []
    for one in report.diagnostics:
        title = f"{one.code} {one.name}"
        place = f"file={_property(one.at.path)},line={one.at.line},title={_property(title)}"
        fix = f"\nfix: {safe(one.fix)}" if one.fix else ""
        lines.append(f"::{one.severity} {place}::{_data(safe(one.message) + fix)}")
    return "\n".join([*lines, summary(report)]) + "\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe(text)).replace(":", "%3A").replace(",", "%2C")


def sarif(report: Report, rules: Sequence[Rule]) -> str:
    """Render as SARIF 2.1.0, with every rule's page; what was ignored is a suppressed result."""
    index = {rule.code: number for number, rule in enumerate(rules)}
    results = [_result(one, index) for one in report.diagnostics]
    results += [
        {
            **_result(one.diagnostic, index),
            "suppressions": [{"kind": "external", "status": "accepted", "justification": _ignored(one)}],
        }
        for one in report.ignored
    ]
    driver = {
        "name": "evidence",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_descriptor(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": results,
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _descriptor(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(next(iter(rule.sections.values()), rule.summary).split())},
        "help": {"text": rule.hint or rule.summary, "markdown": rule.doc},
        "defaultConfiguration": {"level": str(rule.severity)},
    }


def _result(diagnostic: Diagnostic, index: dict[str, int]) -> dict[str, Any]:
    fix = f" Fix: {safe(diagnostic.fix)}" if diagnostic.fix else ""
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": str(diagnostic.severity),
        "message": {"text": safe(diagnostic.message) + fix},
        "locations": [_physical(diagnostic.at)],
    }
    if diagnostic.code in index:
        result["ruleIndex"] = index[diagnostic.code]
    if diagnostic.at.pointer:
        result["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": safe(diagnostic.at.pointer)}]
    if diagnostic.cited:
        result["relatedLocations"] = list(map(_related, enumerate(diagnostic.cited, start=1)))
    return result


def _related(numbered: tuple[int, Location]) -> dict[str, Any]:
    number, place = numbered
    return {"id": number, "message": {"text": "printed here"}, **_physical(place)}


def _physical(at: Location) -> dict[str, Any]:
    artifact = {"uri": quote(PurePosixPath(at.path).as_posix()), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(1, at.line)}}}


def junit(report: Report, rules: Sequence[Rule]) -> str:
    """Render as JUnit XML: a case for each finding, and one that passes for each rule without any.

    An error is a failure. A warning passes and says so in its output; what is ignored is skipped, with the reason.
    """
    from xml.etree import ElementTree

    errors, skipped = report.count(Severity.ERROR), len(report.ignored)
    cases: list[ElementTree.Element] = []
    for found in report.diagnostics:
        case, told = _case(found), f"{safe(found.message)}\nfix: {safe(found.fix)}\n{_places(found.cited)}".rstrip()
        if found.severity is Severity.ERROR:
            failure = ElementTree.SubElement(case, "failure", message=_xml(safe(found.message)), type=found.code)
            failure.text = _xml(f"{safe(str(found.at))}: {told}")
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(f"warning: {told}")
        cases.append(case)
    for one in report.ignored:
        cases.append(_case(one.diagnostic))
        ElementTree.SubElement(cases[-1], "skipped", message=_xml(_ignored(one)))
    seen = {found.code for found in report.diagnostics} | {one.diagnostic.code for one in report.ignored}
    for rule in rules:
        if rule.code not in seen:
            cases.append(ElementTree.Element("testcase", classname=f"evidence.{rule.code}", name=rule.name))
    counts = {"tests": str(len(cases)), "failures": str(errors), "errors": "0", "skipped": str(skipped)}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "evidence", **counts})
    suite.extend(cases)
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _case(found: Diagnostic) -> Element:
    """A case named by its place, so that a viewer groups them by rule."""
    from xml.etree import ElementTree

    name = _xml(f"{found.name} at {safe(str(found.at))}")
    place = {"file": _xml(safe(found.at.path)), "line": str(max(1, found.at.line))}
    return ElementTree.Element("testcase", {"classname": f"evidence.{found.code}", "name": name, **place})


def _xml(text: str) -> str:
    """Return text without the few characters that XML cannot hold even escaped."""
    return _NO_XML.sub("\ufffd", text)


FORMATS: dict[str, Callable[[Report, Sequence[Rule]], str]] = {
    "text": lambda report, _: text(report),
    "json": lambda report, _: json_text(report),
    "github": lambda report, _: github(report),
    "sarif": sarif,
    "junit": junit,
}
"""Name of a format -> what renders a report, and the rules it was made by, in it."""


def rule_text(rule: Rule) -> str:
    """Return what `evidence explain` prints of a rule: its page."""
    waiver = "It can be ignored, with a reason, an owner and a last day." if rule.waivable else "It is never ignored."
    return f"# {rule.code} {rule.name}\n\n{rule.doc}\n\nSeverity: {rule.severity}. {waiver}\n"


def rule_list(rules: Iterable[Rule]) -> str:
    """Return one line a rule: code, name, severity and what it finds."""
    return "".join(f"{rule.code} {rule.name:<26} {rule.severity:<8} {rule.summary}\n" for rule in rules)


def record_text(loaded: Loaded) -> str:
    """Return what `evidence show` prints of a record: stance, command, gates, and each cell with its target metrics."""
    record = loaded.record
    evidence = evidence_of(loaded)
    lines = [f"{record.log}  sha256 {loaded.sha256[:12]}, {loaded.size:,} bytes"]
    lines += [f"  {fact}: {words}" for fact, words in stance_of((loaded,), [(loaded, cell) for cell in record.cells])]
    lines.append(f"  command: {evidence.command}")
    lines += [f"  gate {gate.name}: {gate.state}, {gate.counts}" for gate in evidence.gates]
    lines += [f"  {cell.workload} / {cell.arm}: {_cell(loaded, cell)}" for cell in record.cells]
    lines += [f"  limitation: {limitation}" for limitation in evidence.limitations]
    return "".join(f"{safe(line)}\n" for line in lines)


def _cell(loaded: Loaded, cell: Cell) -> str:
    if isinstance(cell, Rejected):
        return f"rejected: {cell.gate.message}"
    if isinstance(cell, Crashed):
        return f"crashed in {cell.phase}: {cell.message}"
    if isinstance(cell, Skipped):
        return f"skipped: {cell.reason}"
    if isinstance(cell, Imported):
        found = [f"{one.metric} {one.statistic} {one.value:g}" for one in cell.reported]
        return f"imported: {', '.join(found) or 'nothing reported'}"
    targets = [metric for metric in loaded.record.metrics if metric.role == "target"]
    shown = [text for metric in targets if (text := _location(loaded, cell, metric))]
    return f"{', '.join(shown) or 'no target metric'}, n {len(cell.processes)}"


def _location(loaded: Loaded, cell: Cell, metric: Metric) -> str:
    values = process_values(loaded.record, cell, Quantity(metric.name))
    if len(values) < 2:
        return ""
    interval = statistics.location(values)
    return f"{metric.name} {interval.value:.4g} {metric.unit} ({interval.low:.4g} to {interval.high:.4g})"
