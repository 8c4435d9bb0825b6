"""Owns what `benchmarks.engine.run` is asked for: its options, and how they resolve. Nothing is run.

Nothing here imports what measures, so that a command can be read where it could not run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.engine import models
from benchmarks.engine.study import Arrangement, Asked, Option, Side, Study, find, studies
from benchmarks.engine.workloads import SCALES, Load, Scale
from benchmarks.options import UsageError, add_places
from evidence.errors import UnknownNameError

NAME = "benchmarks.engine.run"
WORKER = "benchmarks.engine.worker"
DOMAIN = "engine"
DTYPES = ("fp32", "bf16", "fp16")
Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked to be measured, resolved."""

    study: Study
    arrangement: Arrangement
    model: models.Model
    named_model: str
    """As it was asked for: a name, or a folder."""
    dtype: str
    asked: Asked
    arms: tuple[Side, ...]
    """In the order of their turns; the control comes last."""
    loads: tuple[Load, ...]
    processes: int
    threads: int
    start: Literal["spawn", "fork"]
    nurseries: int
    gate_processes: int
    is_in_turn: bool
    agreement: float
    """The least share of leading tokens that must agree, of arms whose tokens may be other ones."""

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self.asked.device

    def words(self, side: Side, *, is_recorded: bool = False) -> tuple[str, ...]:
        """Return a worker's arguments; as a record holds them, the name of a model stands for its folder."""
        twin = side.name.removesuffix("-again") if side.role == "control" else side.name
        model = self.model.name if is_recorded else self.named_model
        more = [word for name, values in self.asked.more.items() if values for word in (f"--{name}", *values)]
        return (
            *("--study", self.study.name, "--arm", twin, "--model", model, "--dtype", self.dtype),
            *("--device", self.device, "--scale", self.asked.scale),
            *("--agreement", f"{self.agreement:g}", *more),
        )


def parser() -> argparse.ArgumentParser:
    """Return the command's options: a word or two name the study, and each has options of its own beside the common."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}", description="Prove that arms of an engine say the same, then time them."
    )
    groups: dict[str, argparse._SubParsersAction[argparse.ArgumentParser]] = {}
    first = made.add_subparsers(dest="command", required=True, metavar="STUDY")
    for study in studies().values():
        if len(study.command) == 1:
            leaf = first.add_parser(study.command[0], help=study.about)
        else:
            group, name = study.command
            if group not in groups:
                below = first.add_parser(group, help=f"studies of the {group}")
                groups[group] = below.add_subparsers(dest="study", required=True, metavar="NAME")
            leaf = groups[group].add_parser(name, help=study.about)
        leaf.set_defaults(study=study.name)
        _add_common(leaf, study)
    return made


def _add_common(leaf: argparse.ArgumentParser, study: Study) -> None:
    what = leaf.add_argument_group("what to measure")
    what.add_argument("--model", default="tiny", help=f"{', '.join(models.SHAPES)}, or a folder (default tiny)")
    what.add_argument("--dtype", choices=DTYPES, help="fp32 on a processor, bf16 on an accelerator, unless given")
    what.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where it runs (default cpu)")
    what.add_argument("--scale", choices=SCALES, help="of the workloads: small on a processor, full on an accelerator")
    what.add_argument("--arms", nargs="+", metavar="NAME", help="which arms beside the baseline; all unless given")
    what.add_argument("--workloads", nargs="+", metavar="NAME", help="all unless given")
    what.add_argument(
        "--agreement",
        type=float,
        default=0.001,
        metavar="SHARE",
        help="the least share of leading tokens that arms agree in whose tokens may differ (default 0.001)",
    )
    for option in study.options:
        what.add_argument(
            f"--{option.name}", nargs="+", default=list(option.default), metavar=option.metavar, help=option.about
        )
    how = leaf.add_argument_group("how")
    how.add_argument("--dry-run", action="store_true", help="print the plan and the commands, and run nothing")
    how.add_argument(
        "--resume", action="store_true", help="go on with the newest interrupted session that would measure the same"
    )
    how.add_argument(
        "--in-turn",
        action="store_true",
        help="import, then wait until no other session of this machine that was told so gates or measures",
    )
    how.add_argument("--no-control", action="store_true", help="leave out the arm that repeats the baseline")
    how.add_argument(
        "--processes",
        type=int,
        default=study.processes,
        help=f"fresh processes for each arm and workload (default {study.processes})",
    )
    how.add_argument("--threads", type=int, default=1, help="threads inside torch (default 1)")
    how.add_argument(
        "--start",
        choices=("fork", "spawn"),
        default="fork",
        help="fork: processes begin with everything imported; spawn: each imports (default fork)",
    )
    how.add_argument("--nurseries", type=int, default=1, help="processes an arm is forked from in turn (default 1)")
    how.add_argument(
        "--gate-processes", type=int, default=1, metavar="NUMBER", help="gates that may run at once (default 1)"
    )
    how.add_argument(
        "--timeout",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="the longest a worker may be silent, and a trial may last (default 600)",
    )
    how.add_argument(
        "--deadline",
        type=float,
        metavar="SECONDS",
        help="end this long after the command began, with as many whole rounds of processes as fit",
    )
    add_places(leaf, domain=DOMAIN, name="the study and the model")


def selection(options: argparse.Namespace, model: models.Model | None = None) -> Selection:
    """Resolve the options; `model` is what their `--model` stands for, where nothing will be run with it.

    Raises:
        UsageError: they make no measurement.
        UnknownNameError: a name that is none; it names the nearest.
        AxisError: arms that differ in more than they declare.
    """
    study = find(options.study)
    device: Device = options.device
    scale: Scale = options.scale or ("full" if device == "cuda" else "small")
    asked = study.asked(device, scale, {option.name: given(option, options) for option in study.options})
    arrangement = study.arranged(asked)
    if min(options.processes, options.threads, options.nurseries, options.gate_processes) < 1:
        raise UsageError("--processes, --threads, --nurseries and --gate-processes are at least 1")
    if not 0 <= options.agreement <= 1:
        raise UsageError("--agreement is a share of tokens, between 0 and 1")
    baseline, *others = arrangement.sides
    chosen = _chosen("arm", options.arms, [side.name for side in others])
    arms = [baseline, *(side for side in others if side.name in chosen)]
    if not options.no_control:
        arms.append(baseline.again())
    loads = _chosen("workload", options.workloads, [one.name for one in arrangement.loads])
    return Selection(
        study=study,
        arrangement=arrangement,
        model=models.find(options.model) if model is None else model,
        named_model=options.model,
        dtype=options.dtype or ("bf16" if device == "cuda" else "fp32"),
        asked=asked,
        arms=tuple(arms),
        loads=tuple(one for one in arrangement.loads if one.name in loads),
        processes=options.processes,
        threads=options.threads,
        start=options.start,
        nurseries=options.nurseries,
        gate_processes=options.gate_processes,
        is_in_turn=options.in_turn,
        agreement=options.agreement,
    )


def given(option: Option, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the values of a study's own option."""
    return tuple(getattr(options, option.name.replace("-", "_")))


def _chosen(kind: str, names: Sequence[str] | None, known: Sequence[str]) -> frozenset[str]:
    for name in names or ():
        if name not in known:
            raise UnknownNameError(kind, name, known)
    return frozenset(known if names is None else names)


def variables(selection: Selection, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers: the caller's, with threads pinned, and nothing fetched from anywhere.

    Arrow, which transformers imports where it is there, would start a thread, and a process with threads is not forked.
    """
    pinned = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(selection.threads))
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    threadless = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
    return {**environment, **pinned, **offline, **threadless, "PYTHONUNBUFFERED": "1"}


def log_label(selection: Selection, name: str | None) -> str:
    """Return what a log is named after."""
    return name or f"{selection.study.name}_{selection.model.name}"
