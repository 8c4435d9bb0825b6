"""Owns mutations of class G: evidence that was moved, copied or edited."""

from __future__ import annotations

import json
import re

from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import LEDGER, Mutant
from benchmarks.evidence.projects import LOGS
from evidence.store import RECORD_NAME


@mutation("G", "EV005", fault=22)
def one_digit(mutant: Mutant) -> None:
    """One digit of a sample is changed."""
    path = f"{LOGS}/{mutant.log('kernels/fuse')}/{RECORD_NAME}"

    def change(text: str) -> str:
        start = text.index('"values"')
        return text[:start] + re.sub(r"([0-9])(?=[,\]])", lambda m: str((int(m[1]) + 1) % 10), text[start:], count=1)

    mutant.edit(path, change)


@mutation("G", "EV006", fault=22, is_committed=False)
def one_digit_and_its_digest(mutant: Mutant) -> None:
    """A sample and its line of the ledger are changed together."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        values = record["cells"][0]["processes"][0]["samples"][0]["values"]
        values[0] = float(f"{values[0] * mutant.drawn(0.9, 0.99):.9g}")


@mutation("G", "EV003")
def renamed_log(mutant: Mutant) -> None:
    """A log is moved to another name, and its lines of the ledger with it."""
    old = mutant.log("kernels/fuse", is_second=True)
    new = old.replace("fuse", "fused")
    (mutant.root / LOGS / old).rename(mutant.root / LOGS / new)
    mutant.touched |= {f"{LOGS}/{old}", f"{LOGS}/{new}"}
    mutant.edit(LEDGER, lambda text: text.replace(old, new))
    mutant.edit("docs/claims/kernels.yml", lambda text: text.replace(old[:-9], new[:-9]))


@mutation("G", "EV004")
def copied_log(mutant: Mutant) -> None:
    """A log is copied under a new date, and says that it is of that day."""
    old = mutant.log("kernels/fuse")
    day = mutant.rng.randint(10, 28)
    new = f"{old[:-8]}202603{day}"
    record = json.loads(mutant.text(f"{LOGS}/{old}/{RECORD_NAME}"))
    record |= {"log": new, "started_at": f"2026-03-{day}T10:00:00Z", "ended_at": f"2026-03-{day}T11:00:00Z"}
    mutant.write(f"{LOGS}/{new}/{RECORD_NAME}", json.dumps(record, indent=1))
    mutant.mend(new)


@mutation("G", "EV007")
def deleted_artifact(mutant: Mutant) -> None:
    """A file that a record lists is deleted."""
    mutant.remove(f"{LOGS}/{mutant.log('engine/batching')}/timeline.jsonl")
