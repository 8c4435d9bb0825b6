"""Owns the suite `store`: what a whole check of many records costs beside only letting their models validate them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from benchmarks import ROOT
from benchmarks.evidence.faults import edit_digit, plant
from benchmarks.evidence.projects import LOGS, Site, digest_of_files, files_of, series_in, write_store
from benchmarks.evidence.suite import (
    CPU_TIME,
    PEAK_MEMORY,
    WALL_TIME,
    Check,
    Ran,
    Side,
    Sizes,
    Suite,
    exits_clean,
    metric,
    run_untimed,
)
from benchmarks.evidence.validate import record_files
from evidence import ledger
from evidence.checker.cache import VARIABLE
from evidence.ledger import digest_of
from evidence.schema import Record
from evidence.store import Store

_FEW = 20
"""Records of a small store."""


def _prepare(folder: Path, sizes: Sizes) -> Path:
    root = folder / "store"
    root.mkdir()
    site = Site(sizes["claims"], sizes["pages"], sizes["calls"])
    write_store(root, sizes["records"], sizes["seed"], site=site)
    return root


def _settings(inputs: Path, sizes: Sizes) -> Mapping[str, str]:
    series = series_in(sizes["records"])
    return {
        "records": str(sizes["records"]),
        "series": str(series),
        "claims": str(sizes["claims"]),
        "pages": str(sizes["pages"]),
        "calls": str(sizes["calls"]),
        "record bytes": str(sum(Path(path).stat().st_size for path in record_files(inputs))),
        "seed": str(sizes["seed"]),
        "inputs sha256": digest_of_files(inputs),
    }


def _validate(inputs: Path, written: Path) -> tuple[str, ...]:
    return "-m", "benchmarks.evidence.validate", str(inputs)


def _check(inputs: Path, written: Path) -> tuple[str, ...]:
    return "-m", "evidence.check", "--root", str(inputs)


def _afresh(inputs: Path, written: Path) -> Mapping[str, str]:
    """Keep answers in a folder that is empty yet: a check in full, which leaves an answer behind."""
    return {VARIABLE: str(written)}


def _again(inputs: Path, written: Path) -> Mapping[str, str]:
    """Keep answers beside the inputs, where the gate has left one."""
    return {VARIABLE: str(inputs.parent / "answers")}


def _loads(inputs: Path, scratch: Path, sizes: Sizes) -> Iterator[Check]:
    """Every record loads, and its bytes are those of the ledger."""
    lines = ledger.read(inputs / LOGS)
    listed = {path for path in lines if path.endswith("/record.json")}
    found = {Path(path).relative_to(inputs / LOGS).as_posix() for path in record_files(inputs)}
    for path in sorted(listed | found):
        yield Check(path, _fault_of(inputs / LOGS / path, lines.get(path)))


def _fault_of(path: Path, digest: str | None) -> str:
    try:
        Record.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        return f"does not load: {type(error).__name__}"
    return "" if digest_of(path) == digest else "is not what the ledger says"


def _finds(inputs: Path, scratch: Path, sizes: Sizes) -> Iterator[Check]:
    """The check finds nothing in the store, and in a small one each planted fault by its rule."""
    done = run_untimed(_check(inputs, scratch), ROOT, _afresh(inputs, scratch / "answers"))
    yield from _held_check(Ran(inputs, scratch, done.stdout, done.returncode), sizes)
    spoilt = scratch / "spoilt"
    spoilt.mkdir()
    planted = plant(spoilt, sizes["seed"])
    done = run_untimed((*_check(spoilt, scratch), "--format", "json"), ROOT, _afresh(spoilt, scratch / "answers"))
    yield Check("exit code of the spoilt store", "" if done.returncode == 1 else f"{done.returncode}, not 1")
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = {"diagnostics": []}
    found = {(one["code"], one["path"]) for one in said["diagnostics"]}
    for fault in planted:
        is_found = (fault.code, fault.path) in found
        yield Check(fault.what, "" if is_found else f"{fault.code} was not found at {fault.path}")


def _answers(inputs: Path, scratch: Path, sizes: Sizes) -> Iterator[Check]:
    """The second check says what the first one said; in a small store it finds a digit that was edited in between."""
    for _ in range(2):
        done = run_untimed(_check(inputs, scratch), ROOT, _again(inputs, scratch))
        yield from _held_check(Ran(inputs, scratch, done.stdout, done.returncode), sizes)
    small, variables = scratch / "small", _afresh(scratch, scratch / "answers")
    small.mkdir()
    write_store(small, _FEW, sizes["seed"])
    codes = [run_untimed(_check(small, scratch), ROOT, variables).returncode for _ in range(2)]
    yield Check("exit codes of a small store", "" if codes == [0, 0] else f"{codes}, not 0 twice")
    edit_digit(small, Store(small / LOGS).entries[0].log)
    done = run_untimed(_check(small, scratch), ROOT, variables)
    yield Check("an edited digit", "" if "EV005" in done.stdout else "EV005 was not found after the edit")


def _held_check(ran: Ran, sizes: Sizes) -> Iterator[Check]:
    yield exits_clean(ran)
    expected = f"0 errors, 0 warnings in {sizes['records']} logs"
    yield Check("findings in the clean store", "" if expected in ran.said else f"it did not say {expected!r}")


def _held_validate(ran: Ran, sizes: Sizes) -> Iterator[Check]:
    yield exits_clean(ran)
    expected = f"{sizes['records']} records\n"
    yield Check("records loaded", "" if ran.said == expected else f"it did not say {expected.strip()!r}")


SUITE = Suite(
    name="store",
    module=__name__,
    summary="the whole check of a project with many records, the first time and again, beside validating them alone",
    sizes={"records": 10_000, "claims": 100, "pages": 200, "calls": 2_000, "seed": 1},
    prepare=_prepare,
    warmed=files_of,
    settings=_settings,
    sides=(
        Side("validate", "baseline", "benchmarks.evidence.validate:main", _validate, "load", _loads, _held_validate),
        Side("check", "candidate", "evidence.cli:main", _check, "faults", _finds, _held_check, variables=_afresh),
        Side(
            "unchanged",
            "alternative",
            "evidence.checker.cache:answered",
            _check,
            "answers",
            _answers,
            _held_check,
            variables=_again,
        ),
    ),
    axes=("implementation",),
    metrics=(metric(WALL_TIME, "target"), metric(CPU_TIME, "target"), metric(PEAK_MEMORY, "guard")),
    measured=("evidence/checker/**/*.py", "evidence/schema/**/*.py", "evidence/store.py", "evidence/book.py"),
    gates=("benchmarks/evidence/faults.py", "benchmarks/evidence/suites/store.py"),
    limitations=(
        "the records are synthetic: two series in three are of a kernel, one of an engine; their source is one commit",
        "one log of every series is cited, by environment calls; the other calls are of the claims and tables in turn",
        "check and unchanged may use several processes, validate uses one; cpu_time is the sum over all of them",
        "the page cache is warm: a fresh process reads files that were read before; cold means no more than fresh",
    ),
)
