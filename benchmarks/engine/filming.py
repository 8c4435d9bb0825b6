"""Owns figures that are recordings: a claim names the log, the arms and the workload, and what they did is replayed.

The image and the file beside it land in docs/figures; the check finds them out of date when the claim moves to another
log. Drawn again from the same log, the bytes are the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ROOT, command
from benchmarks.engine import film, replay, timeline
from benchmarks.options import UsageError
from evidence import pictures, sentences
from evidence.book import Book
from evidence.project import Project
from evidence.readings import device_of
from evidence.store import Store


@dataclass(frozen=True, slots=True)
class Recording:
    """One figure that a script draws."""

    name: str
    """Of the image in docs/figures, without its ending."""
    claim: str
    """On one workload, of two arms or of one."""
    title: str
    caption: str
    """A template of the claim's fields: it stands in the still frame and below the figure."""
    script: str
    """From the repository's root."""


def main(recording: Recording, argv: Sequence[str] | None = None) -> int:
    """Draw a recording and describe it; return the exit code."""
    options = argparse.ArgumentParser(description=f"Draw docs/figures/{recording.name}.gif from the log of its claim.")
    options.add_argument("--project", type=Path, default=ROOT, help="folder of the site (default: this repository)")
    asked = options.parse_args(argv)
    return command.guarded(lambda: _draw(recording, asked.project))


def _draw(recording: Recording, root: Path) -> int:
    project = Project.find(root)
    image = project.docs / pictures.FOLDER / f"{recording.name}.gif"
    book = Book(project, Store(project.logs))
    data = drawn(recording, book)
    image.parent.mkdir(exist_ok=True)
    image.write_bytes(data)
    pictures.describe(book, recording.claim, image, recording.caption, ("python", recording.script))
    command.say(f"figure    {project.name(image)} ({len(data)} B)")
    return command.OK


def drawn(recording: Recording, book: Book) -> bytes:
    """Return the bytes of a recording's image.

    Raises:
        UsageError: the claim is not on one workload of one log that has a timeline.
        ReplayError: the log does not hold what it would replay.
    """
    book.statement(recording.claim)
    readings = book.readings(recording.claim)
    main_one = readings[""]
    if len(main_one.workloads) != 1:
        raise UsageError(f"{recording.claim} is on several workloads", fix="narrow its 'where' to the one to replay")
    [workload] = main_one.workloads
    record, path = main_one.loaded.record, main_one.loaded.entry.path.parent / timeline.NAME
    if not path.is_file():
        raise UsageError(f"{record.log} has no {timeline.NAME}", fix="measure again: --log keeps it")
    beside = path.read_bytes()
    arms = [arm for arm in (main_one.baseline, main_one.candidate) if arm]
    runs = [replay.replayed(record, beside, arm, workload.name) for arm in arms]
    which = ", ".join(f"{run.arm} {run.process + 1} of {run.processes}" for run in runs)
    words = film.Words(
        title=recording.title,
        numbers=sentences.plain(recording.caption, readings, "caption"),
        about=f"{record.log} on {device_of(record)}; workload {workload.name}; processes in the middle: {which}",
    )
    return film.gif(runs, words)
