"""Owns what this runner says of its own commands, for the check: what a command measures, and what a record shows."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import privacy
from benchmarks.evidence import selection
from benchmarks.options import kept_in
from evidence.schema import Record

_BRIEF = ("--processes", "2")
_SIZE = re.compile(r"--([a-z]+)")


@dataclass(frozen=True, slots=True)
class SuiteRunner:
    """`python -m benchmarks.evidence.run`."""

    def parser(self) -> argparse.ArgumentParser:
        """Return its real parser."""
        return selection.parser()

    def configuration(self, options: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return what a run measures and keeps, defaults written out."""
        asked = argparse.Namespace(**options)
        chosen = selection.selection(asked)
        found = {
            "suite": chosen.suite.name,
            **{f"--{name}": str(size) for name, size in chosen.sizes.items()},
            "--processes": str(chosen.processes),
            "--no-control": "not given" if chosen.has_control else "given",
            "--domain": asked.domain,
            "--name": asked.name or chosen.suite.name,
        }
        return found if asked.dry_run else {**found, "--log": "given" if asked.log else "not given"}

    def recorded(self, record: Record) -> Mapping[str, str]:
        """Return what a record shows of its configuration by itself; its workers were told the sizes."""
        given = dict(pairwise(record.arms[0].command))
        sizes = {
            f"--{match[1]}": value
            for word, value in given.items()
            if (match := _SIZE.fullmatch(word)) and value.isdigit()
        }
        has_control = any(arm.role == "control" for arm in record.arms)
        return {
            # A suite of several parts names its workloads by them.
            "suite": given.get("--suite", record.workloads[0].name),
            **sizes,
            "--no-control": "not given" if has_control else "given",
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


RUNNER = SuiteRunner()
