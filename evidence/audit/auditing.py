"""Owns a run: pages read, files indexed, every number judged, tables that mix devices found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence.audit import documents, pages, words
from evidence.audit.binding import Binder
from evidence.audit.documents import Problem
from evidence.audit.index import Index
from evidence.audit.matching import Matcher
from evidence.audit.pages import Page
from evidence.audit.pools import Pools
from evidence.audit.ratios import Derivation, is_ratio
from evidence.audit.twins import Twins
from evidence.audit.verdicts import Audit, Judged, Mixed, Source, Verdict
from evidence.errors import EvidenceError

_DEVICE_WORDS = words.listed("gpu device devices hardware accelerator hw")
_NO_DEVICES = frozenset({"auto", "cuda", "cpu", "gpu", "null", "true", "false", "none"})
_NOT_NAMES = words.listed("memory mib gib mb gb count num n index id util utilization power temp driver version main")


@dataclass(frozen=True, slots=True)
class Run:
    """An audit, and the index that it was made against."""

    audit: Audit
    index: Index


def run(paths: Sequence[Path], logs: Sequence[Path]) -> Run:
    """Hold pages against the result files below some folders.

    Raises:
        EvidenceError: a page is no text, or there is no file that could be read.
        OSError: a page or folder cannot be opened.
    """
    read = [pages.read(path.read_bytes(), path.as_posix()) for path in paths]
    problems: list[Problem] = []
    files = list(documents.files_below(logs, leave_out=paths))
    index = Index(pages.vocabulary(read))
    for path, name in files:
        for row in documents.read(path, name, problems):
            index.add(row)
    index.close()
    if not index.rows:
        told = "; ".join(f"{one.file} {one.place}: {one.message}" for one in problems[:3])
        raise EvidenceError(
            f"no result file could be read below {', '.join(map(str, logs))}{': ' if told else ''}{told}",
            fix=f"name folders that hold {', '.join(sorted(documents.SUFFIXES))} files",
        )
    judged, mixed = judge(read, index)
    return Run(Audit(judged, mixed, tuple(problems), len(files), len(index.rows), len(index)), index)


def judge(read: Sequence[Page], index: Index) -> tuple[tuple[Judged, ...], tuple[Mixed, ...]]:
    """Judge every number of some pages against an index made for them."""
    binder = Binder(index, Matcher(index), Pools(index), Twins(index))
    found: list[Judged] = []
    mixed: list[Mixed] = []
    for page in read:
        binder.learn(page)
        verdicts = {id(one): binder.judge(one) for one in page.numbers if not is_ratio(one)}
        Derivation(binder, page, verdicts).run()
        found += [verdicts[id(one)] for one in page.numbers]
        mixed += mixed_devices(page, verdicts.values(), index)
    return tuple(found), tuple(mixed)


def mixed_devices(page: Page, judged: Iterable[Judged], index: Index) -> list[Mixed]:
    """Find tables whose numbers were measured on several devices that no label of theirs names."""
    by_table: dict[int, dict[str, Source]] = {}
    for one in judged:
        if one.printed.table is not None and one.verdict is Verdict.BOUND:
            for source in one.sources[:2]:
                if device := _device(index, source.row):
                    by_table.setdefault(id(one.printed.table), {}).setdefault(device, source)
    found = []
    for table in page.tables:
        devices = by_table.get(id(table), {})
        told = {word for cells in table.rows for cell in cells for word in words.labels(f"{cell.text}")}
        told |= {word for head in table.heads for word in words.labels(head)}
        shared = set.intersection(*(set(words.labels(name)) for name in devices)) if devices else set()
        untold = [name for name in devices if (set(words.labels(name)) - shared).isdisjoint(told)]
        if len(devices) > 1 and untold:
            found.append(Mixed(table.at, tuple(sorted(devices.items(), key=lambda item: item[0]))))
    return found


def _device(index: Index, row: int) -> str:
    """Return the name of what a row was measured on, if a field of it says."""
    for name, text in index.rows[row].texts.items():
        found = set(words.words(name.rsplit(".", 1)[-1]))
        is_device = not found.isdisjoint(_DEVICE_WORDS) and found.isdisjoint(_NOT_NAMES)
        if is_device and len(text) > 2 and text.lower() not in _NO_DEVICES:
            return " ".join(text.split())
    return ""
