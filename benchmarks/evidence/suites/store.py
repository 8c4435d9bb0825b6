"""Owns the suite `store`: what a whole check of many records costs beside only letting their models validate them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from benchmarks import ROOT
from benchmarks.evidence.faults import plant
from benchmarks.evidence.projects import CLAIMED, LOGS, digest_of_files, files_of, series_in, write_store
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
from evidence.ledger import digest_of
from evidence.schema import Record


def _prepare(folder: Path, sizes: Sizes) -> Path:
    root = folder / "store"
    root.mkdir()
    write_store(root, sizes["records"], sizes["seed"])
    return root


def _settings(inputs: Path, sizes: Sizes) -> Mapping[str, str]:
    series = series_in(sizes["records"])
    return {
        "records": str(sizes["records"]),
        "series": str(series),
        "claims": str(min(CLAIMED, series)),
        "record bytes": str(sum(Path(path).stat().st_size for path in record_files(inputs))),
        "seed": str(sizes["seed"]),
        "inputs sha256": digest_of_files(inputs),
    }


def _validate(inputs: Path, written: Path) -> tuple[str, ...]:
    return "-m", "benchmarks.evidence.validate", str(inputs)


def _check(inputs: Path, written: Path) -> tuple[str, ...]:
    return "-m", "evidence.check", "--root", str(inputs)


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
    done = run_untimed(_check(inputs, scratch), ROOT)
    yield from _held_check(Ran(inputs, scratch, done.stdout, done.returncode), sizes)
    spoilt = scratch / "spoilt"
    spoilt.mkdir()
    planted = plant(spoilt, sizes["seed"])
    done = run_untimed((*_check(spoilt, scratch), "--format", "json"), ROOT)
    yield Check("exit code of the spoilt store", "" if done.returncode == 1 else f"{done.returncode}, not 1")
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = {"diagnostics": []}
    found = {(one["code"], one["path"]) for one in said["diagnostics"]}
    for fault in planted:
        is_found = (fault.code, fault.path) in found
        yield Check(fault.what, "" if is_found else f"{fault.code} was not found at {fault.path}")


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
    summary="the whole check of a project with many records, beside validating them alone",
    sizes={"records": 10_000, "seed": 1},
    prepare=_prepare,
    warmed=files_of,
    settings=_settings,
    sides=(
        Side("validate", "baseline", "benchmarks.evidence.validate:main", _validate, "load", _loads, _held_validate),
        Side("check", "candidate", "evidence.cli:main", _check, "faults", _finds, _held_check),
    ),
    axes=("implementation",),
    metrics=(metric(WALL_TIME, "target"), metric(CPU_TIME, "target"), metric(PEAK_MEMORY, "guard")),
    measured=("evidence/checker/**/*.py", "evidence/schema/**/*.py", "evidence/store.py", "evidence/book.py"),
    gates=("benchmarks/evidence/faults.py", "benchmarks/evidence/suites/store.py"),
    limitations=(
        "the records are synthetic: two series in three are of a kernel, one of an engine; their source is one commit",
        "one log of every series is cited, by environment calls; ten claims and ten tables at most are evaluated",
        "the page cache is warm: a fresh process reads files that were read before; cold means no more than fresh",
    ),
)
