"""Owns the account of a study: logs read, every trial in them judged and counted, and the record of all that.

Nothing is measured here. Every count follows from the logs and from the code that compares, both of which the record
pins by digest, so it comes out the same each time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import capture
from benchmarks.calibration import counts
from benchmarks.calibration.options import TOTAL
from benchmarks.calibration.trials import Kind, Trial, cells_on_trial, not_tried, tally, trials
from benchmarks.options import UsageError
from evidence import ledger
from evidence.importers.session_stream import CellEvent, Ended, Gated, Header, Measured, Started, read
from evidence.schema import (
    Arm,
    Failed,
    ForeignWorkload,
    FrozenPath,
    Gate,
    Method,
    Outcome,
    Passed,
    Process,
    Provenance,
    Rank,
    Record,
    Samples,
    Setting,
    TestsDetail,
    Unavailable,
)
from evidence.store import RECORD_NAME, Loaded, Store

ARM = "judge"
GATE = "every-trial-is-counted"
_KINDS: tuple[Kind, ...] = ("a-a", "planted")
COMPARING = ("evidence/compare.py", "evidence/readings.py", "evidence/statistics.py")
COUNTING = ("benchmarks/calibration/counts.py", "benchmarks/calibration/trials.py")
FROZEN = "benchmarks/calibration/account.py"
"""What says what the gate asks."""
_NO_TORCH = capture.Probed(None, "nothing here runs on an accelerator", ())
_LIMITATIONS = (
    "nothing was timed: verdicts of other logs are counted, on the devices that those logs name",
    "trials of one session share its processes where one process measured all its workloads, so they are not "
    "independent, and the intervals of the rates, which suppose that they are, are too narrow",
    "a trial tells of the calls, shapes and days that were measured, and of nothing else",
)


@dataclass(frozen=True, slots=True)
class Study:
    """The logs that were read, the trials in them, and the fewest processes a side that count."""

    read: tuple[Loaded, ...]
    trials: tuple[Trial, ...]
    least_processes: int

    def of(self, kind: Kind) -> tuple[Trial, ...]:
        """Return the trials of one kind."""
        return tuple(trial for trial in self.trials if trial.kind == kind)


def studied(store: Store, logs: Sequence[str], least_processes: int) -> Study:
    """Read logs and judge every trial in them.

    Raises:
        UnknownNameError: there is no such log.
        UsageError: a log is named twice, or none of them holds a trial.
        RecordError: a log is no record.
    """
    if repeated := sorted(log for log, times in Counter(logs).items() if times > 1):
        raise UsageError(f"log {repeated[0]!r} is named twice, so its trials would count twice")
    loaded = tuple(store.load(log) for log in logs)
    found = tuple(trial for one in loaded for trial in trials(one.entry.log, one.record))
    if not found:
        raise UsageError("none of these logs has a control or an arm that was slowed on purpose")
    return Study(loaded, found, least_processes)


def faults(study: Study, digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what had to hold, and how it does not: a digest that the ledger has, and one trial a cell, none dropped."""
    counted = Counter((trial.log, trial.arm, trial.workload) for trial in study.trials)
    for one in study.read:
        log = one.entry.log
        listed = digests.get(f"{log}/{RECORD_NAME}")
        yield f"digest of {log}", "" if listed == one.sha256 else "it is not the one in the ledger"
        for arm, workload in cells_on_trial(one.record):
            times = counted.pop((log, arm, workload), 0)
            yield f"{arm} on {workload} of {log}", "" if times == 1 else f"counted {times} times"
    for log, arm, workload in counted:
        yield f"{arm} on {workload} of {log}", "there is no such cell"


def outcome(checks: Sequence[tuple[str, str]]) -> Outcome:
    """Return whether all of them hold; having none is no pass."""
    wrong = [f"{what}: {fault}" for what, fault in checks if fault]
    detail = TestsDetail(
        collected=len(checks), passed=len(checks) - len(wrong), failed=len(wrong), skipped=0, allowed_skips=()
    )
    if wrong or not checks:
        message = f"{wrong[0]} ({len(wrong)} of {len(checks)})" if wrong else "nothing was checked"
        reason = "mismatch" if wrong else "no-test-selected"
        return Failed.model_validate(
            {
                "gate": GATE,
                "source": capture.REPOSITORY,
                "reason": reason,
                "message": message,
                "seeds": (),
                "detail": detail,
            }
        )
    return Passed(gate=GATE, source=capture.REPOSITORY, phase="before", seeds=(), detail=detail)


def rows(study: Study) -> dict[str, tuple[tuple[Setting, ...], counts.Values]]:
    """Return each workload's settings and values: all trials of a kind together, then each trial."""
    models = {one.entry.log: _measured_on(one.record) for one in study.read}
    together: dict[str, tuple[tuple[Setting, ...], counts.Values]] = {
        kind: (
            _settings(f"{kind}-{TOTAL}", TOTAL, TOTAL, TOTAL, TOTAL, ", ".join(dict.fromkeys(models.values()))),
            counts.of_all(
                tally(study.trials, kind, study.least_processes),
                kind,
                sum(not_tried(one.record, kind) for one in study.read),
            ),
        )
        for kind in _KINDS
        if study.of(kind)
    }
    each = {
        f"{trial.log} {trial.arm} {trial.workload}": (
            _settings(trial.kind, trial.log, trial.arm, trial.workload, trial.said, models[trial.log]),
            counts.of_trial(trial, study.least_processes),
        )
        for trial in study.trials
    }
    return {**together, **each}


def _settings(
    study: str, session: str, compared: str, cell: str, verdict: str, measured_on: str
) -> tuple[Setting, ...]:
    told = {
        "study": study,
        "session": session,
        "compared": compared,
        "cell": cell,
        "verdict": verdict,
        "measured_on": measured_on,
    }
    return tuple(Setting(name=name, value=value) for name, value in told.items())


def _measured_on(record: Record) -> str:
    """Return the models of the devices that a log's arms ran on."""
    hosts = {host.name: host for host in record.hosts}
    models = [
        hosts[rank.host].cpu_model if rank.device is None else hosts[rank.host].accelerators[rank.device].model
        for arm in record.arms
        for rank in arm.ranks
    ]
    return ", ".join(dict.fromkeys(model or "unknown" for model in models))


def build(
    study: Study,
    *,
    root: Path,
    store: Path,
    provenance: Provenance,
    withheld: Sequence[Unavailable],
    domain: str,
    name: str,
    limitations: Sequence[str],
) -> Record:
    """Return the record of a study, made from a raw stream as any session's is.

    Raises:
        UsageError: the store of the logs lies outside the repository, so that its files are none of its source.
    """
    started_at = datetime.now(UTC)
    began_s = time.monotonic()
    told = rows(study)
    judged = outcome(tuple(faults(study, ledger.read(store))))
    header = Header(
        log=f"{domain}/{name}_{capture.device_slug(capture.machine(_NO_TORCH).host, None)}_{started_at:%Y%m%d}",
        started_at=started_at,
        provenance=provenance,
        sources=(capture.git_source(root, (*COMPARING, *COUNTING, *_paths(study, root))),),
        hosts=(capture.machine(_NO_TORCH).host,),
        stacks=(capture.stack(_NO_TORCH, root),),
        axes=(),
        arms=(_arm(),),
        workloads=tuple(
            ForeignWorkload(name=workload, role="target", work=(), settings=settings)
            for workload, (settings, _) in told.items()
        ),
        metrics=counts.metrics([values for _, values in told.values()]),
        method=_method(),
        gates=(_gate(root),),
        unavailable=(*withheld, Unavailable(what="profile", reason="nothing was timed")),
        limitations=(*_LIMITATIONS, *limitations),
        supersedes=(),
    )
    reading = capture.Watch(()).read(0.0, ())
    events = _events({workload: values for workload, (_, values) in told.items()}, judged, began_s)
    stream = [header, reading, *events, Ended(ended_at=datetime.now(UTC))]
    return read("".join(event.model_dump_json() + "\n" for event in stream).encode())


def _paths(study: Study, root: Path) -> tuple[str, ...]:
    paths = [one.entry.path.resolve() for one in study.read]
    if outside := [path for path in paths if not path.is_relative_to(root)]:
        raise UsageError(f"{outside[0].parent.name} lies outside the repository", fix="study committed logs")
    return tuple(path.relative_to(root).as_posix() for path in paths)


def _arm() -> Arm:
    return Arm(
        name=ARM,
        role="baseline",
        control_of=None,
        implementation="evidence.compare:compare",
        source=capture.REPOSITORY,
        ranks=(Rank(host=capture.HOST, device=None, stack=capture.STACK),),
        command=(),
        switches=(),
        mechanism=(),
        outputs="same",
    )


def _method() -> Method:
    return Method(
        name="recomputation",
        timer_requested="evidence.compare.compare",
        timer_used="evidence.compare.compare",
        fallback_reason=None,
        timer_overhead_s=None,
        warm_up_s=0.0,
        warm_up_calls=0,
        flush_bytes=0,
        allocates_outputs=True,
        minimum_samples=1,
        maximum_samples=1,
        target_spread=None,
        budget_s=None,
        processes=1,
        order="interleaved",
    )


def _gate(root: Path) -> Gate:
    return Gate(
        name=GATE,
        kind="tests",
        command=(),
        scope="full",
        selection=None,
        reference=None,
        tolerances=(),
        frozen=(FrozenPath(path=FROZEN, sha256=ledger.digest_of(root / FROZEN)),),
        variables=(),
        log=None,
        mutants=None,
        mutants_killed=None,
    )


def _events(values: Mapping[str, counts.Values], judged: Outcome, began_s: float) -> Iterator[CellEvent]:
    """Yield the gate of every workload and, if it passed, its counts, which one process made one after the other."""
    ended_s = 0.0
    for workload, counted in values.items():
        yield Gated(arm=ARM, workload=workload, phase="before", outcome=judged)
        if isinstance(judged, Failed):
            continue
        yield Started(arm=ARM, workload=workload, phase="timing", process=0)
        started_s = max(ended_s, round(time.monotonic() - began_s, 6))
        ended_s = started_s + 1e-6
        yield Measured(
            arm=ARM,
            workload=workload,
            process=Process(
                index=0,
                started_s=started_s,
                ended_s=ended_s,
                stopped="fixed",
                compilations=0,
                client_cpu_s=None,
                counters=(),
                work=(),
                samples=tuple(Samples(metric=name, rank=0, values=(float(one),)) for name, one in counted.items()),
                requests=None,
            ),
            ran=(),
            timer_overhead_s=None,
            warm_up_s=0.0,
            warm_up_calls=0,
        )
