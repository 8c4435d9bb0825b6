"""Owns what these runners say of their own commands, for the check: what a command compares, and what a record shows.

The check imports it; nothing here imports what measures.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import privacy
from benchmarks.calibration import options as study
from benchmarks.calibration import selection
from benchmarks.ops.registry import Shape
from benchmarks.options import flag_text, kept_in, set_text
from evidence.schema import ForeignWorkload, OpWorkload, Record

_BRIEF = ("--processes", "2", "--samples", "5", "--nurseries", "1", "--warm-up", "0.1", "--further-warm-up", "0.05")


@dataclass(frozen=True, slots=True)
class TimersRunner:
    """`python -m benchmarks.calibration.timers`."""

    def parser(self) -> argparse.ArgumentParser:
        """Return its real parser."""
        return selection.parser()

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return what a run compares and keeps, defaults written out."""
        asked = argparse.Namespace(**options)
        chosen = selection.selection(asked)
        found = {
            "--calls": set_text(call.text for call in chosen.calls.timed),
            "--timer": asked.timer,
            "--processes": str(chosen.processes),
            "--samples": str(chosen.samples),
            "--nurseries": str(chosen.nurseries),
            "--warm-up": f"{asked.warm_up:g}",
            "--further-warm-up": f"{asked.further_warm_up:g}",
            "--no-control": flag_text(not chosen.has_control),
            "--domain": asked.domain,
            "--name": asked.name or selection.TITLE,
        }
        return found if asked.dry_run else {**found, "--log": flag_text(asked.log)}

    def recorded(self, record: Record) -> Mapping[str, str]:
        """Return what a record shows of its configuration by itself: its calls, its control and its domain."""
        calls = []
        for load in record.workloads:
            if isinstance(load, OpWorkload):
                told = {setting.name: setting.value for setting in load.parameters}
                shape = Shape(tuple((dimension.name, dimension.size) for dimension in load.shape))
                calls.append(f"{load.op}:{told.get('implementation', '')}:{shape.name}")
        return {
            "--calls": set_text(calls),
            "--no-control": flag_text(all(arm.role != "control" for arm in record.arms)),
            "--domain": record.log.partition("/")[0],
        }

    def variables(self, options: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a record would hold of variables that are given."""
        del options
        settings, _ = privacy.variables(selection.variables(given))
        return {setting.name: setting.value for setting in settings if setting.name in given}

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return the words of the same run into another store; of options given twice the last one counts."""
        return (*words, *(_BRIEF if brief else ()), *kept_in(words, logs))


@dataclass(frozen=True, slots=True)
class StudyRunner:
    """`python -m benchmarks.calibration.study`."""

    def parser(self) -> argparse.ArgumentParser:
        """Return its real parser."""
        return study.parser()

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return what a study counts and keeps, defaults written out."""
        asked = argparse.Namespace(**options)
        study.refuse(asked)
        return {
            "logs": set_text(asked.sessions),
            "--from": asked.store,
            "--processes": str(asked.processes),
            "--domain": asked.domain,
            "--name": asked.name or study.TITLE,
            "--log": flag_text(asked.log),
        }

    def recorded(self, record: Record) -> Mapping[str, str]:
        """Return what a record shows of its configuration by itself: the logs it read and its domain."""
        told = [load.settings for load in record.workloads if isinstance(load, ForeignWorkload)]
        sessions = {setting.value for settings in told for setting in settings if setting.name == "session"}
        return {"logs": set_text(sessions - {study.TOTAL}), "--domain": record.log.partition("/")[0]}

    def variables(self, options: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a record would hold of variables that are given."""
        del options
        settings, _ = privacy.variables(given)
        return {setting.name: setting.value for setting in settings}

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return the words of the same study into another store: it is brief in any case."""
        del brief
        return (*words, *kept_in(words, logs))


TIMERS = TimersRunner()
STUDY = StudyRunner()
