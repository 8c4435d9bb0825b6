"""Owns the form of rule tests: a table of changes to a sound record, each with what must be found."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.schema import Record, Setting, Timed
from evidence.schema.text import dump
from tests import factories
from tests.evidence.checker.sites import Site, codes

GONE = object()
"""Takes a key out of the record."""


@dataclass(frozen=True)
class Case:
    """One change to a sound record. `also` are other rules that cannot but fire."""

    rule: str
    name: str
    fires: bool
    edits: Mapping[str, Any]
    base: str = "toy"
    also: tuple[str, ...] = ()
    files: Mapping[str, bytes] | None = None

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.name}"


def bad(rule: str, name: str, edits: Mapping[str, Any], **more: Any) -> Case:
    """A change that the rule must find."""
    return Case(rule, name, True, edits, **more)


def good(rule: str, name: str, edits: Mapping[str, Any], **more: Any) -> Case:
    """A change that comes near and that the rule must let pass."""
    return Case(rule, name, False, edits, **more)


def edited(record: Record, edits: Mapping[str, Any]) -> bytes:
    """Return a record's bytes with the parts at JSON pointers changed; `*` is every item of a list.

    A callable makes the new value of the old one; GONE takes the key out.
    """
    document = json.loads(dump(record))
    for pointer, value in edits.items():
        _edit(document, pointer.split("/")[1:], value)
    return json.dumps(document, indent=1).encode()


def _edit(here: Any, parts: list[str], value: Any) -> None:
    head, rest = parts[0], parts[1:]
    keys = range(len(here)) if head == "*" else [int(head) if isinstance(here, list) else head]
    for key in keys:
        if rest:
            _edit(here[key], rest, value)
        elif value is GONE:
            del here[key]
        elif callable(value):
            here[key] = value(here[key])
        else:
            here[key] = value


def bases(site: Site) -> dict[str, Callable[[], Record]]:
    """The sound records that cases start from."""
    sources = (site.source, factories.package_source())

    def engine() -> Record:
        sound = factories.engine_record("engine/toy_20260901", sources=sources)
        return sound.model_copy(update={"cells": tuple(map(_walled, sound.cells))})

    def sweep() -> Record:
        loads = tuple(factories.workload(f"n{size}", size) for size in (1024, 65536))
        slots = {("eager", 1024): 0, ("eager", 65536): 1, ("fused", 1024): 2, ("fused", 65536): 3}
        cells = tuple(
            factories.timed(arm, f"n{size}", slot=slot, median_s=1e-3 if size == 1024 else 6e-2)
            for (arm, size), slot in slots.items()
        )
        arms = (factories.arm("eager"), factories.arm("fused", "candidate"))
        return site.record("kernels/sweep_20260901", workloads=loads, cells=cells, arms=arms)

    return {
        "toy": site.record,
        "engine": engine,
        "sweep": sweep,
        "import": lambda: factories.imported_record("engine/foreign_20260901"),
        "switched": lambda: site.record(
            axes=("implementation", "mode"),
            arms=tuple(
                arm.model_copy(update={"switches": (Setting(name="mode", value="on"),)}) for arm in site.record().arms
            ),
        ),
    }


def _walled(cell: Any) -> Timed:
    """A cell whose wall time is the span of its requests."""
    processes = []
    for process in cell.processes:
        columns = list(process.samples)
        span = max(latency for latency in process.requests.latency_s)
        columns[0] = columns[0].model_copy(update={"values": (span,)})
        processes.append(process.model_copy(update={"samples": tuple(columns)}))
    return cell.model_copy(update={"processes": tuple(processes)})


FILES = {
    "engine": {"timeline.jsonl": factories.TIMELINE},
    "import": {"raw.json": b'{"p50": 0.125, "duration": 12, "itl": -1}\n'},
}
UNGATED = ["EV101", "EV103", "EV104", "EV214", "EV301"]
"""What the synthetic import lacks by itself."""


def judge(site: Site, case: Case) -> None:
    """Run every rule on the changed record and compare all that they find."""
    record = bases(site)[case.base]()
    site.add(edited(record, case.edits), record.log, {**FILES.get(case.base, {}), **(case.files or {})})
    found = codes(site.check())
    by_itself = UNGATED if case.base == "import" else []
    if by_itself:
        assert (case.rule in found) is case.fires, site.check()
        return
    expected = [case.rule] * case.fires + list(case.also)
    assert sorted(found) == sorted(expected), site.check()
