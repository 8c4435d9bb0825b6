"""Owns what these runners say of their own commands, for the check: what a command measures, and what a record shows.

The check imports it; nothing here imports what measures.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import ROOT, privacy
from benchmarks.ops import selection, verification
from benchmarks.ops.control import CONTROL
from benchmarks.ops.registry import Shape
from benchmarks.options import flag_text, kept_in, set_text
from evidence.schema import OpWorkload, Record

_BRIEF = ("--processes", "2", "--nurseries", "1", "--minimum-samples", "2", "--maximum-samples", "3")
_BRIEF_TIMES = ("--budget", "0.2", "--warm-up", "0.05", "--further-warm-up", "0.05")
_TIMERS = {"cpu": "torch-timer", "cuda": "do-bench"}


@dataclass(frozen=True, slots=True)
class OpsRunner:
    """`python -m benchmarks.ops.run`."""

    def parser(self) -> argparse.ArgumentParser:
        """Return its real parser."""
        return selection.parser()

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return what a run measures and keeps, defaults written out; None where it only lists ops."""
        if options["list"]:
            return None
        asked = argparse.Namespace(**options)
        chosen = selection.selection(asked)
        found = {
            "--op": set_text(op.name for op in chosen.ops),
            "--implementations": set_text(chosen.implementations),
            "--baseline": chosen.baseline,
            "--alternatives": set_text(chosen.alternatives),
            "--shapes": set_text(case.shape.name for case in chosen.cases),
            "--guards": set_text(chosen.guards),
            "--directions": set_text(case.direction for case in chosen.cases),
            "--dtype": chosen.dtype,
            "--device": chosen.device,
            "--no-control": flag_text(not chosen.has_control),
            "--slowed": f"{100 * chosen.slowed:g}",
            **_measuring(asked, chosen),
            "--domain": asked.domain,
            "--name": selection.log_title(asked, chosen),
        }
        return found if asked.dry_run else {**found, "--log": flag_text(asked.log)}

    def recorded(self, record: Record) -> Mapping[str, str]:
        """Return what a record shows of its configuration by itself: its arms, workloads and domain."""
        loads = [load for load in record.workloads if isinstance(load, OpWorkload)]
        shapes = {load.name: Shape(tuple((d.name, d.size) for d in load.shape)).name for load in loads}
        slowed = [switch.value for arm in record.arms for switch in arm.switches if switch.name == selection.SLOWED]
        arms = [arm for arm in record.arms if arm.role != "control" and not arm.switches]
        devices = {rank.device for arm in arms for rank in arm.ranks}
        return {
            "--op": set_text(load.op for load in loads),
            "--implementations": set_text(arm.name for arm in arms),
            "--baseline": set_text(arm.name for arm in arms if arm.role == "baseline"),
            "--alternatives": set_text(arm.name for arm in arms if arm.role == "alternative"),
            "--shapes": set_text(shapes.values()),
            "--guards": set_text(shapes[load.name] for load in loads if load.role == "guard"),
            "--directions": set_text(load.direction for load in loads),
            "--dtype": set_text(load.dtype for load in loads),
            "--device": "cpu" if devices == {None} else "cuda",
            "--no-control": flag_text(all(arm.role != "control" for arm in record.arms)),
            "--slowed": slowed[0].partition(" ")[0] if slowed else "0",
            "--domain": record.log.partition("/")[0],
        }

    def variables(self, options: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a record would hold of variables that are given."""
        chosen = selection.selection(argparse.Namespace(**options))
        settings, _ = privacy.variables(selection.variables(chosen, given))
        return {setting.name: setting.value for setting in settings if setting.name in given}

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return the words of the same run into another store; of options given twice the last one counts."""
        return _again(words, logs, brief=brief)


@dataclass(frozen=True, slots=True)
class VerifyRunner:
    """`python -m benchmarks.ops.verify`."""

    def parser(self) -> argparse.ArgumentParser:
        """Return its real parser."""
        return verification.parser()

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return what a run gates, compares and keeps, defaults written out; None where it only lists ops."""
        if options["list"]:
            return None
        given = argparse.Namespace(**options)
        asked = verification.resolve(given)
        chosen = asked.selection
        cases = [case for case in chosen.cases if case.op in chosen.ops]
        found = {
            "--op": asked.op.name,
            "--backend": asked.implementation.name,
            "--base": asked.base or "none",
            "--repo": given.repo or "none",
            "--modes": set_text(verification.mode_of(case.direction) for case in cases),
            "--shapes": set_text(case.shape.name for case in cases),
            "--dtype": chosen.dtype,
            "--device": chosen.device,
            "--gate-k": asked.gate_k or "none",
            "--test-file": asked.test_file.relative_to(ROOT).as_posix(),
            "--no-gate": flag_text(not asked.has_tests),
            "--mutants": flag_text(asked.has_mutants),
            "--profile": flag_text(asked.has_profile),
            **_measuring(given, chosen),
            "--domain": given.domain,
            "--name": given.name or f"verify_{asked.op.name}",
        }
        return found if given.dry_run else {**found, "--log": flag_text(given.log)}

    def recorded(self, record: Record) -> Mapping[str, str]:
        """Return what a record shows of its configuration by itself: its code, workloads, gate and domain."""
        loads = [load for load in record.workloads if isinstance(load, OpWorkload) and load.op != CONTROL.name]
        arms = {arm.role: arm for arm in record.arms}
        code = arms.get("candidate") or arms["baseline"]
        devices = {rank.device for rank in code.ranks}
        return {
            "--op": set_text(load.op for load in loads),
            "--backend": code.name,
            "--modes": set_text(verification.mode_of(load.direction) for load in loads),
            "--shapes": set_text(Shape(tuple((d.name, d.size) for d in load.shape)).name for load in loads),
            "--dtype": set_text(load.dtype for load in loads),
            "--device": "cpu" if devices == {None} else "cuda",
            "--no-gate": flag_text(not any(gate.kind == "tests" for gate in record.gates)),
            "--domain": record.log.partition("/")[0],
        }

    def variables(self, options: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a record would hold of variables that are given."""
        chosen = verification.resolve(argparse.Namespace(**options)).selection
        settings, _ = privacy.variables(selection.variables(chosen, given))
        return {setting.name: setting.value for setting in settings if setting.name in given}

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return the words of the same run into another store; of options given twice the last one counts."""
        return _again(words, logs, brief=brief)


def _measuring(asked: argparse.Namespace, chosen: selection.Selection) -> dict[str, str]:
    """Return how cells are measured, defaults written out."""
    found = {
        "--processes": str(chosen.processes),
        "--threads": str(chosen.threads),
        "--timer": asked.timer or _TIMERS[chosen.device],
        "--sharing": chosen.sharing,
        "--start": chosen.start,
        "--minimum-samples": str(asked.minimum_samples),
        "--maximum-samples": str(asked.maximum_samples),
        "--target-spread": "none" if asked.target_spread is None else f"{asked.target_spread:g}",
        "--budget": f"{asked.budget:g}",
        "--warm-up": f"{asked.warm_up:g}",
        "--further-warm-up": f"{asked.warm_up if asked.further_warm_up is None else asked.further_warm_up:g}",
        "--recheck": asked.recheck,
        "--gate-processes": str(chosen.gate_processes),
    }
    return {**found, "--nurseries": str(chosen.nurseries)} if chosen.start == "fork" else found


def _again(words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
    return (*words, *((*_BRIEF, *_BRIEF_TIMES) if brief else ()), *kept_in(words, logs))


RUNNER = OpsRunner()
VERIFY = VerifyRunner()
