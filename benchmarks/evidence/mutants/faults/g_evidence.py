"""Owns mutations of class G: evidence that was moved, copied or edited."""

from __future__ import annotations

import hashlib
import json
import re

from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import LEDGER, Mutant, cells, processes, rescale
from benchmarks.evidence.projects import LOGS
from benchmarks.evidence.records import Document
from evidence import ledger
from evidence.store import RECORD_NAME


def _edit_a_sample(mutant: Mutant, *, is_ledger_mended: bool = True) -> None:
    with mutant.record(mutant.log("kernels/fuse"), is_ledger_mended=is_ledger_mended) as record:
        values = record["cells"][0]["processes"][0]["samples"][0]["values"]
        values[0] = float(f"{values[0] * mutant.drawn(0.9, 0.99):.9g}")


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
    _edit_a_sample(mutant)


@mutation("G", "EV006", base="main")
def edited_on_a_branch(mutant: Mutant) -> None:
    """A sample and its line of the ledger are changed and committed on a branch."""
    _edit_a_sample(mutant)


@mutation("G", "EV006")
def edited_and_committed(mutant: Mutant) -> None:
    """A sample and its line of the ledger are changed and committed, so that the last commit agrees."""
    _edit_a_sample(mutant)


@mutation("G", "EV006")
def environment_edited_and_committed(mutant: Mutant) -> None:
    """A driver is changed in a record, with its line of the ledger, and committed."""
    with mutant.record(mutant.log("engine/norm")) as record:
        record["hosts"][0]["driver"] = f"{mutant.rng.randint(590, 690)}.{mutant.rng.randint(10, 99)}"


@mutation("G", "EV006")
def baseline_slowed_and_committed(mutant: Mutant) -> None:
    """All samples of a baseline are made larger, with the ledger, and committed."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        for arm in ("default", "default-again"):
            rescale(record, "time", lambda _: 1.2, arm)


@mutation("G", "EV005", "EV006")
def line_taken_out_of_the_ledger(mutant: Mutant) -> None:
    """A line is taken out of the ledger, so that its file could be anything."""
    log = mutant.log("kernels/fuse")
    mutant.edit(LEDGER, lambda text: re.sub(rf"^.*{re.escape(log)}/record.json\n", "", text, flags=re.M))
    _edit_a_sample(mutant, is_ledger_mended=False)


@mutation("G", "EV005", "EV006")
def ledger_taken_away(mutant: Mutant) -> None:
    """The ledger is deleted."""
    mutant.remove(LEDGER)


@mutation("G", "EV005", "EV006")
def digest_left_pending(mutant: Mutant) -> None:
    """An edited record is listed as the pending line of a save that never was."""
    log = mutant.log("kernels/fuse")
    _edit_a_sample(mutant, is_ledger_mended=False)
    digest = hashlib.sha256(mutant.text(f"{LOGS}/{log}/{RECORD_NAME}").encode()).hexdigest()
    mutant.write(f"{LOGS}/{ledger.PENDING_NAME}", f"{digest}  {log}/{RECORD_NAME}\n")
    if mutant.rng.random() < 0.5:
        mutant.edit(LEDGER, lambda text: re.sub(rf"^.*{re.escape(log)}/record.json\n", "", text, flags=re.M))


@mutation("G", "EV003")
def renamed_log(mutant: Mutant) -> None:
    """A log is moved to another name, and its lines of the ledger with it."""
    old = mutant.log("kernels/fuse", is_second=True)
    new = old.replace("fuse", "fused")
    (mutant.root / LOGS / old).rename(mutant.root / LOGS / new)
    mutant.touched |= {f"{LOGS}/{old}", f"{LOGS}/{new}"}
    mutant.edit(LEDGER, lambda text: text.replace(old, new))
    mutant.edit("docs/claims/kernels.yml", lambda text: text.replace(old[:-9], new[:-9]))


@mutation("G", "EV006", "EV106", "EV107")
def renamed_log_and_its_record(mutant: Mutant) -> None:
    """A log is moved to another name, and its record says that it was always called so."""
    old = mutant.log("kernels/fuse", is_second=True)
    new = old.replace("fuse", "fused")
    (mutant.root / LOGS / old).rename(mutant.root / LOGS / new)
    mutant.touched |= {f"{LOGS}/{old}", f"{LOGS}/{new}"}
    mutant.edit(f"{LOGS}/{new}/{RECORD_NAME}", lambda text: text.replace(old, new))
    mutant.mend(old)
    mutant.mend(new)
    mutant.edit("docs/claims/kernels.yml", lambda text: text.replace(old[:-9], new[:-9]))


def _copy(mutant: Mutant, old: str, new: str) -> Document:
    record: Document = json.loads(mutant.text(f"{LOGS}/{old}/{RECORD_NAME}"))
    day = f"{new[-8:-4]}-{new[-4:-2]}-{new[-2:]}"
    return record | {"log": new, "started_at": f"{day}T10:00:00Z", "ended_at": f"{day}T11:00:00Z"}


def _publish(mutant: Mutant, record: Document) -> None:
    mutant.write(f"{LOGS}/{record['log']}/{RECORD_NAME}", json.dumps(record, indent=1))
    mutant.mend(record["log"])


@mutation("G", "EV004")
def copied_log(mutant: Mutant) -> None:
    """A log is copied under a new date, and says that it is of that day."""
    old = mutant.log("kernels/fuse")
    _publish(mutant, _copy(mutant, old, f"{old[:-8]}202603{mutant.rng.randint(10, 28)}"))


@mutation("G", "EV004")
def copied_log_of_an_engine(mutant: Mutant) -> None:
    """A log of requests is copied under a new date."""
    old = mutant.log("engine/norm")
    _publish(mutant, _copy(mutant, old, f"{old[:-8]}202603{mutant.rng.randint(10, 28)}"))


@mutation("G", "EV004", fault=22)
def copied_log_with_another_class(mutant: Mutant) -> None:
    """A log is there twice; in the copy an arm and its class have other names."""
    old = mutant.log("kernels/fuse", is_second=True)
    record = _copy(mutant, old, f"{old[:-8]}202603{mutant.rng.randint(10, 28)}")
    text = json.dumps(record).replace('"fused"', '"fused-v2"').replace("synthetic.ops:fused", "synthetic.ops:Fused")
    _publish(mutant, json.loads(text))


@mutation("G", "EV004")
def copied_log_of_another_device(mutant: Mutant) -> None:
    """A log is copied to a series of another device, and says that it ran there."""
    old = mutant.log("kernels/fuse")
    record = _copy(mutant, old, f"kernels/fuse_b200_202603{mutant.rng.randint(10, 28)}")
    record["hosts"][0]["accelerators"][0]["model"] = "NVIDIA B200"
    _publish(mutant, record)


@mutation("G", "EV004")
def copied_log_made_a_little_faster(mutant: Mutant) -> None:
    """A log is copied under a new date with every sample multiplied by one number."""
    old = mutant.log("kernels/fuse")
    record = _copy(mutant, old, f"{old[:-8]}202603{mutant.rng.randint(10, 28)}")
    factor = mutant.rng.uniform(0.95, 0.99)
    rescale(record, "time", lambda _: factor)
    _publish(mutant, record)


@mutation("G", "EV004")
def copied_log_in_another_order(mutant: Mutant) -> None:
    """A log is copied under a new date with the samples of each process shuffled."""
    old = mutant.log("kernels/fuse")
    record = _copy(mutant, old, f"{old[:-8]}202603{mutant.rng.randint(10, 28)}")
    for process in processes(record):
        for samples in process["samples"]:
            mutant.rng.shuffle(samples["values"])
    _publish(mutant, record)


@mutation("G", "EV004")
def samples_of_one_arm_given_to_another(mutant: Mutant) -> None:
    """Inside one record the twin of the baseline holds the baseline's own samples."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        for cell in cells(record, "plain"):
            twin = next(cells(record, "plain-again", cell["workload"]))
            for process, other in zip(cell["processes"], twin["processes"], strict=True):
                other["samples"] = process["samples"]


@mutation("G", "EV004")
def processes_copied_inside_a_cell(mutant: Mutant) -> None:
    """A cell's six processes are one process, six times."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        for cell in cells(record, "fused"):
            for process in cell["processes"]:
                process["samples"] = cell["processes"][0]["samples"]


@mutation("G", "EV007")
def deleted_artifact(mutant: Mutant) -> None:
    """A file that a record lists is deleted."""
    mutant.remove(f"{LOGS}/{mutant.log('engine/batching')}/timeline.jsonl")


@mutation("G", "EV005", "EV007")
def edited_artifact(mutant: Mutant) -> None:
    """The output of a gate is edited."""
    mutant.swap(f"{LOGS}/{mutant.log('engine/batching')}/gate.log", "passed", "PASSED")


@mutation("G", "EV007")
def edited_artifact_and_its_digest(mutant: Mutant) -> None:
    """The output of a gate and its line of the ledger are changed together."""
    log = mutant.log("engine/batching")
    mutant.swap(f"{LOGS}/{log}/gate.log", "passed", "PASSED")
    mutant.mend(log)


@mutation("G", "EV001")
def path_of_no_file(mutant: Mutant) -> None:
    """A gate's output has a path inside the record that none of its files has."""
    with mutant.record(mutant.log("engine/batching")) as record:
        record["gates"][0]["log"] = f"run-{mutant.rng.randint(2, 99)}/gate.log"


@mutation("G", "EV001", "EV005")
def record_that_is_a_link(mutant: Mutant) -> None:
    """A log is a link to another one."""
    old, new = mutant.log("engine/norm"), mutant.log("engine/prefix")
    mutant.remove(f"{LOGS}/{new}/{RECORD_NAME}")
    (mutant.root / LOGS / new / RECORD_NAME).symlink_to(mutant.root / LOGS / old / RECORD_NAME)


@mutation("G", "EV006", "EV005", is_committed=False)
def digests_of_two_logs_exchanged(mutant: Mutant) -> None:
    """Two lines of the ledger exchange their digests."""
    one, other = mutant.log("engine/norm"), mutant.log("engine/prefix")
    lines = ledger.parse(mutant.text(LEDGER))
    first, second = (lines[f"{log}/{RECORD_NAME}"] for log in (one, other))
    mutant.touched |= {f"{LOGS}/{log}/{RECORD_NAME}" for log in (one, other)}
    mutant.edit(LEDGER, lambda text: text.replace(first, "0").replace(second, first).replace("0  ", f"{second}  "))
