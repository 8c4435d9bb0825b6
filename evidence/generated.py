"""Owns the pages that no author writes: one a rule, from its docstring, and one a log, from its record.

Nothing from a record stands in the Markdown of these pages: only tokens do, and the HTML that replaces them is escaped.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from evidence import figures, ledger, tables
from evidence.book import Book
from evidence.checker.registry import Rule
from evidence.claims import Placed
from evidence.diagnostics import Finding, Location
from evidence.errors import EvidenceError
from evidence.pages.tokens import Piece
from evidence.readings import conditions_of_cells
from evidence.renderers import html
from evidence.renderers.fold import LOGS as LOGS_FOLDER
from evidence.renderers.fold import facts
from evidence.renderers.markup import address, link
from evidence.schema import Arm, Conditions, DeviceConditions, HostConditions, Imported
from evidence.schema.claims import TableSpec
from evidence.selection import ARM
from evidence.stance import evidence_of, stance_of
from evidence.store import Loaded

RULES, LOGS = "rules", "logs"
VERIFIER = "reverify.py"
"""The second implementation, at the root of every site."""
FOLDERS = (RULES, LOGS)
"""Folders below docs that hold these pages and nothing else."""

Render = Callable[[Loaded, str], str]
"""From a record and the way to the site's root to HTML."""
Make = Callable[[str], Piece]
"""From the way to the site's root to what stands in a token's place."""
Mint = Callable[[Make], str]
"""Gives a token for it."""

_FAMILIES = {
    "0": "Reading and the ledger",
    "1": "Environment and provenance",
    "2": "Samples and method",
    "3": "Gate",
    "4": "Comparison",
    "5": "Plausibility",
    "6": "Claims and tables",
    "7": "Pages",
    "9": "The checker",
}


def rule_pages(rules: Sequence[Rule]) -> Iterator[tuple[str, str]]:
    """Yield path below docs and Markdown of the index of rules and of each rule's page."""
    ordered = sorted(rules, key=lambda rule: rule.code)
    lines = ["Each rule has a code and a name; both select it, and so does the beginning of a code.", ""]
    for family, members in itertools.groupby(ordered, key=lambda rule: rule.code[2]):
        lines += [f"## {_FAMILIES.get(family, 'More')}", "", "| Rule | Severity | What it finds |", "|---|---|---|"]
        for rule in members:
            summary = rule.summary.replace("|", "\\|")
            lines.append(f"| [{rule.code} {rule.name}]({rule.code}.md) | {rule.severity} | {summary} |")
        lines.append("")
    yield f"{RULES}/index.md", _page("Rules", lines)
    for rule in ordered:
        waiver = "It can be waived, with a reason, an owner and a date." if rule.waivable else "It cannot be waived."
        lines = [rule.doc, "", f"Severity: {rule.severity}. {waiver} [All rules](index.md)"]
        yield f"{RULES}/{rule.code}.md", _page(f"{rule.code} {rule.name}", lines)


def verifier() -> Path:
    """Return the file of the second implementation: beside this package where it is installed, else in its checkout."""
    beside = Path(__file__).with_name(VERIFIER)
    return beside if beside.is_file() else Path(__file__).parents[1] / "docs" / VERIFIER


def log_path(log: str) -> str:
    """Return the path below docs of a log's page."""
    return f"{LOGS}/{log}.md"


def log_pages(logs: Sequence[str], book: Book, mint: Mint) -> Iterator[tuple[str, str]]:
    """Yield path below docs and Markdown of the index of logs and of each log's page; records are read when placed."""
    standing: dict[str, list[str]] = {}
    for claim in book.claims.claims:
        for log in book.logs_of(claim):
            standing.setdefault(log, []).append(claim)
    lines = ["Raw evidence, a page a log. A log is never edited; SHA256SUMS lists all of its files.", ""]
    lines += ["## Check it yourself", "", mint(lambda root: Piece(_verified(root), "reverify.py", is_block=True)), ""]
    for domain, members in itertools.groupby(logs, key=lambda log: log.partition("/")[0]):
        links = [f"- [{mint(_words(log))}]({quote(log)}.md)" for log in members]
        lines += [f"## {mint(_words(domain))}", "", *links, ""]
    yield f"{LOGS}/index.md", _page("Logs", lines)
    for log in logs:
        yield log_path(log), _log_page(log, standing.get(log, ()), book, mint)


def _log_page(log: str, claims: Iterable[str], book: Book, mint: Mint) -> str:
    sections: list[tuple[str, list[Render]]] = [
        ("", [_stance]),
        ("Command", [_command]),
        ("Environment", [lambda loaded, root: html.environment(evidence_of(loaded))]),
        ("Conditions", [_conditions]),
        ("Gates", [lambda loaded, root: html.gates(evidence_of(loaded).gates, root)]),
        ("Arms", [_arms]),
        ("Cells", [functools.partial(_cells, book)]),
        ("Files and limitations", [_files]),
        ("Claims that stand on it", [functools.partial(_claim, book, id_) for id_ in claims]),
        ("Check it yourself", [lambda loaded, root: _verified(root)]),
    ]
    lines: list[str] = []
    for heading, renders in sections:
        lines += [f"## {heading}", ""] if heading and renders else []
        lines += [f"{mint(functools.partial(_part, book, log, render))}\n" for render in renders]
    return _page(log, lines, heading=mint(_words(log)))


def _part(book: Book, log: str, render: Render, root: str) -> Piece:
    """One part of a log's page; a record that does not load has its finding where it lies, and here a box."""
    try:
        content = render(book.log(log), root)
    except EvidenceError as error:
        content = html.error_box(log, [("EV001", Finding(Location(log), error.message, error.fix))])
    return Piece(content, log, is_block=True)


def _stance(loaded: Loaded, root: str) -> str:
    return html.stance(stance_of([loaded], [(loaded, cell) for cell in loaded.record.cells]))


def _command(loaded: Loaded, root: str) -> str:
    return html.reproduce([evidence_of(loaded)])


def _conditions(loaded: Loaded, root: str) -> str:
    pairs: list[tuple[str, str]] = []
    if any(isinstance(columns, DeviceConditions) for columns in loaded.record.conditions):
        found = sorted(conditions_of_cells(loaded.record, loaded.record.cells))
        pairs.append(("devices", ", ".join(found) or "clean: not throttled, not capped, not shared"))
    for columns in loaded.record.conditions:
        name = f"{columns.host}, device {columns.device}" if isinstance(columns, DeviceConditions) else columns.host
        pairs += [(f"{name}: {title}", _range(values, unit)) for title, values, unit in _readings(columns)]
    return facts(pairs or [("readings", "the record holds none")])


def _readings(columns: Conditions) -> tuple[tuple[str, Sequence[float] | None, tuple[float, str]], ...]:
    if isinstance(columns, HostConditions):
        return (("load", columns.load, (1, "")), ("clock", columns.cpu_clock_hz, (1e6, "MHz")))
    return (
        ("processor clock", columns.sm_clock_hz, (1e6, "MHz")),
        ("memory clock", columns.memory_clock_hz, (1e6, "MHz")),
        ("temperature", columns.temperature_c, (1, "°C")),
        ("power", columns.power_w, (1, "W")),
    )


def _range(values: Sequence[float] | None, unit: tuple[float, str]) -> str:
    if not values:
        return "not recorded"
    factor, name = unit
    low, high = (f"{end / factor:,.{0 if name else 2}f}" for end in (min(values), max(values)))
    return f"{low} to {high}{f' {name}' if name else ''}, {len(values)} readings"


def _arms(loaded: Loaded, root: str) -> str:
    return facts([(arm.name, _arm(arm)) for arm in loaded.record.arms])


def _arm(arm: Arm) -> str:
    twin = f" of {arm.control_of}" if arm.control_of else ""
    switches = "".join(f", {switch.name} = {switch.value}" for switch in arm.switches)
    return f"{arm.role}{twin}: {arm.implementation}{switches}"


def _cells(book: Book, loaded: Loaded, root: str) -> str:
    log, record = loaded.entry.log, loaded.record
    columns = tuple(metric.name for metric in record.metrics)
    if columns and not any(isinstance(cell, Imported) for cell in record.cells):
        spec = TableSpec(title=f"Cells of {log}", series=(log,), rows=("workload", ARM), columns=columns)
        built = tables.build(Placed(log, spec, log, {}), book.log, book.log_status)
        return html.table(built.view, root)
    return facts([(f"{cell.arm} on {cell.workload}", cell.kind) for cell in record.cells])


def _files(loaded: Loaded, root: str) -> str:
    evidence = evidence_of(loaded)
    folder = evidence.raw.rpartition("/")[0]
    links = [link(address(root, evidence.raw), "record.json")]
    links += [link(address(root, f"{folder}/{one.path}"), html.escape(one.path)) for one in loaded.record.artifacts]
    files = "".join(f"<li>{one}</li>" for one in links)
    limits = "".join(f"<li>{html.escape(text)}</li>" for text in evidence.limitations)
    return f"<ul>{files}</ul><ul>{limits}</ul>"


def _verified(root: str) -> str:
    """Say how a reader computes every number again, from which files."""
    named = (VERIFIER, figures.FILE_NAME, f"{LOGS_FOLDER}/{ledger.FILE_NAME}")
    verifier, published, sums = (link(address(root, name), name.rpartition("/")[2]) for name in named)
    return (
        f"<p>{verifier} needs nothing but Python 3.11 and shares no code with what made this site. Fetch the site "
        f"whole, or clone its repository, and run <code>python {VERIFIER} site</code>. It holds each record to {sums}, "
        "judges each gate again, computes every number again from the raw samples, and compares it with what is "
        f"printed; {published} says what each is read from.</p>"
    )


def _claim(book: Book, id_: str, loaded: Loaded, root: str) -> str:
    return html.claim(book.statement(id_), root)


def _words(text: str) -> Make:
    piece = Piece(html.escape(text), text, is_block=False)
    return lambda root: piece


def _page(title: str, lines: Iterable[str], heading: str = "") -> str:
    """A page that mkdocs-macros leaves alone: what it says is not a template."""
    head = f"---\ntitle: {json.dumps(html.escape(title))}\nrender_macros: false\n---\n"
    return "\n".join([head, f"# {heading or title}", "", *lines])
