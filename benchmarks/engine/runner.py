"""Owns what this runner says of its own commands, for the check: what a command measures, and what a record shows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import privacy
from benchmarks.engine import models, selection
from benchmarks.engine.study import Study, find
from benchmarks.options import flag_text, kept_in, set_text
from evidence.schema import Arm, Record

_BRIEF = ("--processes", "2", "--nurseries", "1")
_TOLD = ("--model", "--dtype", "--device", "--scale", "--agreement")
"""What workers are told in so many words, and their commands show."""


@dataclass(frozen=True, slots=True)
class EngineRunner:
    """`python -m benchmarks.engine.run`."""

    def parser(self) -> argparse.ArgumentParser:
        """Return its real parser."""
        return selection.parser()

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return what a run measures and keeps, defaults written out."""
        asked = argparse.Namespace(**options)
        chosen = _chosen(asked)
        own = {f"--{name}": set_text(values) for name, values in chosen.asked.more.items()}
        found = {
            "study": chosen.study.name,
            "--model": chosen.model.name,
            "--dtype": chosen.dtype,
            "--device": chosen.device,
            "--scale": chosen.asked.scale,
            "--agreement": f"{chosen.agreement:g}",
            "--arms": set_text(side.name for side in chosen.arms if side.role != "control"),
            "--workloads": set_text(load.name for load in chosen.loads),
            "--no-control": flag_text(all(side.role != "control" for side in chosen.arms)),
            **own,
            "--processes": str(chosen.processes),
            "--threads": str(chosen.threads),
            "--start": chosen.start,
            **({"--nurseries": str(chosen.nurseries)} if chosen.start == "fork" else {}),
            "--gate-processes": str(chosen.gate_processes),
            "--domain": asked.domain,
            "--name": selection.log_label(chosen, asked.name),
        }
        return found if asked.dry_run else {**found, "--log": flag_text(asked.log)}

    def recorded(self, record: Record) -> Mapping[str, str]:
        """Return what a record shows of its configuration by itself: its workers were told the rest."""
        study = _study(record)
        words = record.arms[0].command
        return {
            "study": study.name,
            **{option: _after(words, option) for option in _TOLD},
            **{f"--{option.name}": _after(words, f"--{option.name}") for option in study.options},
            "--arms": set_text(arm.name for arm in record.arms if arm.role != "control"),
            "--workloads": set_text(load.name for load in record.workloads),
            "--no-control": flag_text(all(arm.role != "control" for arm in record.arms)),
            "--domain": record.log.partition("/")[0],
        }

    def variables(self, options: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a record would hold of variables that are given."""
        chosen = _chosen(argparse.Namespace(**options))
        settings, _ = privacy.variables(selection.variables(chosen, given))
        return {setting.name: setting.value for setting in settings if setting.name in given}

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return the words of the same run into another store; of options given twice the last one counts."""
        return (*words, *(_BRIEF if brief else ()), *kept_in(words, logs))


def _chosen(options: argparse.Namespace) -> selection.Selection:
    """Resolve the options; a model that is made here may be yet to be made, as in a fresh copy of the repository."""
    folder = models.LOCAL.get(options.model)
    return selection.selection(options, None if folder is None else models.Directory(folder))


def _study(record: Record) -> Study:
    arm: Arm = record.arms[0]
    return find(_after(arm.command, "--study"))


def _after(words: Sequence[str], option: str) -> str:
    """Return the values that follow an option, up to the next one."""
    if option not in words:
        return "none"
    rest = words[words.index(option) + 1 :]
    end = next((at for at, word in enumerate(rest) if word.startswith("--")), len(rest))
    return set_text(rest[:end])


RUNNER = EngineRunner()
