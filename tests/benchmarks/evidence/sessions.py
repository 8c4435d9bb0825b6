"""Owns small real sessions of a suite: few processes, small inputs, everything else as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks import ROOT, capture
from benchmarks.evidence import plan
from benchmarks.evidence.selection import DOMAIN, NAME, Selection, variables
from benchmarks.evidence.suite import Sizes, Suite
from benchmarks.session import incomplete_path, run_and_save
from evidence.schema import Record

STORE = {"records": 24, "claims": 2, "pages": 5, "calls": 20, "seed": 3}
SITE = {"pages": 3, "tables": 2, "series": 2, "seed": 3}


def prepared_by(suite: Suite, prepare: Callable[[Path, Sizes], Path]) -> Suite:
    return replace(suite, prepare=prepare)


def measure(
    suite: Suite, folder: Path, sizes: Mapping[str, int], *, processes: int = 2, has_control: bool = True
) -> Record:
    """Measure a suite for real and return the record as it was saved below the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = variables(os.environ)
    provenance, withheld = capture.provenance([suite.name], runner=NAME, seed=3, root=ROOT, environment=environment)
    made = plan.build(
        Selection(suite, sizes, has_control=has_control, processes=processes),
        suite.prepare(folder, sizes),
        provenance=provenance,
        withheld=withheld,
        environment=environment,
        timeout_s=120.0,
        domain=DOMAIN,
        name=suite.name,
        limitations=(),
    )
    logs = folder / "logs"
    return run_and_save(replace(made, is_progress_shown=False), logs, incomplete_path(logs, made.header.log))
