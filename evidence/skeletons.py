"""Owns the skeleton of a feature section and of a claim: text added to a page and to a claims file, nothing replaced.

What is known from the log is filled in; what only an author can say is left to EV716 and to the claims' own rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence import claims as claims_files
from evidence import yaml_lines
from evidence.checker.rules.unwritten import MARK, TO_WRITE
from evidence.errors import DuplicateNameError, EvidenceError, UnknownNameError
from evidence.pages import front_matter, masks
from evidence.project import Project
from evidence.readings import coordinates, known_metrics
from evidence.schema import Record
from evidence.store import Store

SCHEMA_LINE = "# yaml-language-server: $schema=../schemas/claims.schema.json\n"

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TOP_KEY = re.compile(r"[A-Za-z_]+:")
_PLAIN = re.compile(r"[A-Za-z][\w./-]*(?: [\w./-]+)*")
_WORDS = frozenset({"null", "true", "false", "on", "off", "yes", "no", "y", "n"})
_NO_ROWS = ("workload", "device", "arm", "shape", "scenario")


@dataclass(frozen=True, slots=True)
class Addition:
    """A file as it will be: its text, and the line from which it is new."""

    path: Path
    text: str
    line: int

    def write(self) -> None:
        """Write the file; its folder is made if it is not there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.text, encoding="utf-8")


def section(project: Project, name: str, page: Path, series: str | None) -> tuple[Addition, ...]:
    """Return the page with a section of that name at its end and, where a series is named, its claims file.

    Raises:
        EvidenceError: the page has such a section, the ids are taken, or the claims file cannot be added to.
        UnknownNameError: there is no such series.
    """
    identity = _identity(name)
    held = page.read_text(encoding="utf-8") if page.is_file() else f"# {page.stem.replace('_', ' ').capitalize()}\n"
    _require_new_heading(held, name, project.name(page))
    parts = [f"## {name}", MARK.format(what="what it does and when it applies, in a paragraph")]
    if series is not None:
        table = f"{identity}-table"
        parts += [_call("claim", identity), _call("chart", table), _call("table", table)]
        parts += ["To see it again, from the repository's root:", _call("reproduce", table)]
    parts += [
        "### Where it loses",
        MARK.format(what="what got worse, on which shapes and devices; a loss is shown like a win"),
    ]
    text = _ended(held) + "\n" + "\n\n".join(parts) + "\n"
    made = [Addition(page, text, held.count("\n") + 2)]
    if series is not None:
        file = project.claims / f"{page.stem}.yml"
        made.insert(0, _with_items(project, file, identity, series, name))
    return tuple(made)


def claim(project: Project, identity: str, series: str, file: Path | None) -> Addition:
    """Return a claims file with the skeleton of one claim more.

    Raises:
        EvidenceError: the id is none or taken, or the claims file cannot be added to.
        UnknownNameError: there is no such series.
    """
    if not _ID.fullmatch(identity):
        raise EvidenceError(
            f"{identity!r} is no id", fix="write small letters, digits and hyphens, such as fused-norm-wins"
        )
    return _with_items(project, file or _only_file(project), identity, series, None)


def _identity(name: str) -> str:
    found = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not found or "\n" in name or "{" in name:
        raise EvidenceError(f"{name!r} is no name of a section", fix="write words, such as Fused norm")
    return found[:70].strip("-")


def _require_new_heading(text: str, name: str, page: str) -> None:
    split = front_matter.split(text)
    for number, line in enumerate(masks.code(split.body).split("\n"), start=1):
        if line.startswith("#") and line.lstrip("#").strip().casefold() == name.casefold():
            raise EvidenceError(
                f"{page}:{number + split.offset}: there is a section {name!r}", fix="choose another name, or edit it"
            )


def _only_file(project: Project) -> Path:
    files = sorted(project.claims.glob("*.yml"))
    if len(files) != 1:
        listed = ", ".join(path.name for path in files) or "none"
        raise EvidenceError(f"which claims file? there are: {listed}", fix="name one by --file docs/claims/<page>.yml")
    return files[0]


def _with_items(project: Project, file: Path, identity: str, series: str, title: str | None) -> Addition:
    """Return a claims file with a claim more, and a table of the whole series if a title is given."""
    record = Store(project.logs).newest(series).record
    known = claims_files.load(project.claims, project.root)
    wanted = [identity] if title is None else [identity, f"{identity}-table"]
    for one in wanted:
        if one in known.claims or one in known.tables or one in known.malformed:
            at = known.claims.get(one) or known.tables.get(one)
            raise DuplicateNameError("item", one, [str(at.at()) if at else "a claims file", "the new one"])
    text = file.read_text(encoding="utf-8") if file.is_file() else SCHEMA_LINE
    added = text
    if title is not None:
        added = _inserted(added, "tables", _table(record, series, wanted[1], title), project.name(file))
    added = _inserted(added, "claims", _claim(record, series, identity), project.name(file))
    _require_kept(text, added, wanted, project.name(file))
    return Addition(file, added, _first_difference(text, added))


def _claim(record: Record, series: str, identity: str) -> list[str]:
    baseline, candidate = _arms(record)
    metric = _metrics(record)[0]
    where = _where(record)
    fields = "{value}" if candidate is None else "{ratio}, {candidate} and {baseline}"
    lines = [
        f"{identity}:",
        f"  statement: {flow(f'On {{device}}, {TO_WRITE} with {fields}.')}",
        f"  series: {flow(series)}",
        f"  metric: {flow(metric)}",
    ]
    if candidate is None:
        return [*lines, f"  arm: {flow(baseline)}", *where]
    return [
        *lines,
        f"  baseline: {flow(baseline)}",
        f"  candidate: {flow(candidate)}",
        *where,
        "  # expect: better, worse, same or inconclusive, as you believe before you look",
        "  # mechanism: {text: …, evidence: …}, or what was tried",
        f"  mechanism: {{unknown: {TO_WRITE}}}",
    ]


def _where(record: Record) -> list[str]:
    """Return the first workload, where there are several: a claim over more needs a word such as {ratio.geomean}."""
    if len(record.workloads) < 2:
        return []
    return [f"  where: {{workload: {flow(record.workloads[0].name)}}}"]


def _table(record: Record, series: str, identity: str, title: str) -> list[str]:
    baseline, candidate = _arms(record)
    metrics = _metrics(record)
    columns: list[object] = [*metrics]
    if candidate is not None:
        columns = [{"ratio": metrics[0]}, *metrics]
    words = " ".join(re.findall(r"[^\W\d]+", title)) or "All cells"
    lines = [
        f"{identity}:",
        f"  title: {flow(words)}",
        f"  series: {flow(series)}",
        f"  rows: {flow(_rows(record))}",
    ]
    if candidate is not None:
        lines.append("  across: arm")
    lines.append(f"  columns: {flow(columns)}")
    return [*lines, f"  baseline: {flow(baseline)}"] if candidate is not None else lines


def _arms(record: Record) -> tuple[str, str | None]:
    """Return the arm of comparison and the first of those compared with it."""
    by_role = {role: [arm.name for arm in record.arms if arm.role == role] for role in ("baseline", "candidate")}
    rest = [arm.name for arm in record.arms if arm.control_of is None]
    baseline = (by_role["baseline"] or rest)[0]
    others = by_role["candidate"] or [name for name in rest if name != baseline]
    return baseline, next((name for name in others if name != baseline), None)


def _metrics(record: Record) -> list[str]:
    """Return the metrics a table must show: the targets first, then whatever else has a direction."""
    declared = sorted(record.metrics, key=lambda metric: metric.role != "target")
    shown = [metric.name for metric in declared if metric.better != "neither"]
    return shown or list(known_metrics(record))[:1]


def _rows(record: Record) -> list[str]:
    """Return the axes that tell workloads apart; one that does not vary where none does."""
    places = [coordinates(record, workload) for workload in record.workloads]
    axes = [axis for axis in places[0] if axis not in _NO_ROWS]
    varying = [axis for axis in axes if len({place.get(axis) for place in places}) > 1]
    told = {tuple(place.get(axis) for axis in varying) for place in places}
    return varying if varying and len(told) == len(places) else ["workload"]


def _inserted(text: str, key: str, lines: Sequence[str], name: str) -> str:
    """Return YAML with an item more below a key of the root, written as its neighbours are; no other byte moves."""
    held = text.split("\n")
    top = next((number for number, line in enumerate(held) if re.match(rf"\ufeff?{key}:", line)), None)
    if top is None:
        return _ended(text) + "\n".join([f"{key}:", *(f"  {line}" for line in lines)]) + "\n"
    rest = held[top].split(":", 1)[1].strip()
    if rest and not rest.startswith("#"):
        raise EvidenceError(
            f"{name}:{top + 1}: {key} are written on one line", fix="write one item a line, then run again"
        )
    end = next((number for number in range(top + 1, len(held)) if _TOP_KEY.match(held[number])), len(held))
    while end > top + 1 and not held[end - 1].strip():
        end -= 1
    indent = next(
        (len(line) - len(line.lstrip()) for line in held[top + 1 : end] if line.strip()[:1] not in ("", "#")), 2
    )
    made = [" " * max(indent, 1) + line for line in lines]
    below = held[end:] or [""]
    return "\n".join([*held[:end], *made, *below])


def _require_kept(before: str, after: str, wanted: Sequence[str], name: str) -> None:
    """Refuse to write what would change anything that stands there.

    Raises:
        EvidenceError: the file would not read as it did, or the new items would not stand in it.
    """
    old, new = yaml_lines.read(before).value or {}, yaml_lines.read(after).value
    fault = EvidenceError(f"{name}: cannot be added to without changing it", fix="add the item by hand")
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        raise fault
    for key, items in old.items():
        if isinstance(items, Mapping) and any(new.get(key, {}).get(one) != item for one, item in items.items()):
            raise fault
    if any(one not in {**(new.get("tables") or {}), **(new.get("claims") or {})} for one in wanted):
        raise fault


def _first_difference(before: str, after: str) -> int:
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    return next((number for number, (old, new) in enumerate(pairs, start=1) if old != new), before.count("\n") + 1)


def _call(macro: str, identity: str) -> str:
    return f'{{{{ ev.{macro}("{identity}") }}}}'


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def flow(value: object) -> str:
    """Write a value as YAML reads it on one line: text plainly where that is safe, quoted where it is not."""
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) is not None and value.lower() not in _WORDS
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(flow, value)) + "]"
    return json.dumps(value)


def require_series(project: Project, series: str) -> None:
    """Look a series up.

    Raises:
        UnknownNameError: there is none; the nearest names are in its fix.
    """
    names = {entry.series for entry in Store(project.logs).entries}
    if series not in names:
        raise UnknownNameError("series", series, names)
