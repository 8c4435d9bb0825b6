"""Tests of recordings: what an engine did is replayed from a log, to the same bytes, and known when out of date."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.engine import film, filming, replay, timeline
from benchmarks.engine.engines.making import make
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.replay import Course, ReplayError
from benchmarks.engine.studies import continuous
from benchmarks.engine.study import Asked
from benchmarks.engine.workloads import AT_ONCE
from evidence import pictures
from evidence.book import Book
from evidence.project import Project
from evidence.schema import Record
from evidence.store import Store, save
from tests.factories import engine_record, engine_timed, engine_workload
from tests.projects import write_project

pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")

CLAIMS = """\
claims:
  toy-continuous:
    statement: On {device}, {requests} requests take {candidate} instead of {baseline}.
    series: engine/continuous_toy
    metric: wall_time
    baseline: static
    candidate: continuous
    where: {workload: skewed}
    expect: better
    mechanism: {unknown: nothing was profiled}
"""
RECORDING = filming.Recording(
    name="toy",
    claim="toy-continuous",
    title="The same requests twice",
    caption="All answered after {candidate} instead of {baseline}",
    script="scripts/toy.py",
)


@dataclass(frozen=True)
class Log:
    """A log of what the real engines did once, as if each had done it nine times."""

    record: Record
    timeline: bytes
    trials: dict[str, Trial]


@pytest.fixture(scope="module")
def log(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Log:
    folder = tmp_path_factory.mktemp("timelines")
    arrangement = continuous.STUDY.arrange(Asked("cpu", "small"))
    load = next(one for one in arrangement.loads if one.name == "skewed")
    trials: dict[str, Trial] = {}
    cells = []
    for slot, side in enumerate(arrangement.sides):
        engine = make(side, tiny)
        try:
            engine.open(load.limits)
            trial = drive(engine, load.drawn(tiny.config.vocab_size), AT_ONCE, timeout_s=60)
        finally:
            engine.close()
        trials[side.name] = trial
        timeline.write(folder, trial, trial.rows())
        made = engine_timed(side.name, slot=slot, scale=1 - 0.2 * slot)
        processes = tuple(one.model_copy(update={"requests": trial.rows()}) for one in made.processes)
        cells.append(made.model_copy(update={"processes": processes}))
    record = engine_record(
        arms=engine_record().arms[:2],
        cells=tuple(cells),
        workloads=(engine_workload(requests=load.requests),),
        artifacts=(),
        profiles=(),
    )
    record, files = timeline.attach(record, folder)
    return Log(record, files[timeline.NAME], trials)


@pytest.fixture
def project(log: Log, tmp_path: Path) -> Project:
    root = write_project(tmp_path, {"engine.md": '# Engine\n\n{{ ev.figure("toy") }}\n'})
    (root / "docs/claims/engine.yml").write_text(CLAIMS)
    save(root / "docs/benchmark_logs", log.record, {timeline.NAME: log.timeline})
    return Project.find(root)


def faults(project: Project) -> list[str]:
    book = Book(project, Store(project.logs))
    [picture] = pictures.load(project).by_id.values()
    return [one.message for one in pictures.faults(picture, book, project)]


def test_a_run_is_replayed_as_it_was(log: Log) -> None:
    for arm, trial in log.trials.items():
        run = replay.replayed(log.record, log.timeline, arm, "skewed")
        first_s = min(trial.enqueued_s)
        assert run.processes == 9
        for course, answer in zip(run.courses, trial.answers, strict=True):
            assert course.tokens_s == pytest.approx([at - first_s for at in answer.times_s], abs=1e-5)
        assert run.ended_s == pytest.approx(trial.wall_s, abs=1e-5)


def test_a_padded_batch_holds_its_places_to_its_end(log: Log) -> None:
    held = replay.replayed(log.record, log.timeline, "static", "skewed").courses
    batches = [held[at : at + 4] for at in range(0, len(held), 4)]
    for batch in batches:
        assert {course.held_until_s for course in batch} == {max(course.ended_s for course in batch)}
    free = replay.replayed(log.record, log.timeline, "continuous", "skewed").courses
    assert all(course.held_until_s == course.ended_s for course in free)


def test_a_timeline_that_lacks_a_request_is_refused(log: Log) -> None:
    import gzip

    lines = gzip.decompress(log.timeline).splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["request"] != 3]
    with pytest.raises(ReplayError, match="holds 11 of 12 requests of static"):
        replay.replayed(log.record, gzip.compress(b"".join(kept)), "static", "skewed")
    with pytest.raises(ReplayError, match="has no times"):
        replay.replayed(log.record, log.timeline, "static", "even")


def test_tokens_are_counted_up_to_a_moment() -> None:
    course = Course(0.0, (0.1, 0.2, 0.4), None, 0.4)
    assert [course.made(at) for at in (0.0, 0.1, 0.3, 1.0)] == [0, 1, 2, 3]
    assert Course(0.5, (), None, 0.5).ended_s == 0.5


def test_a_recording_is_drawn_described_and_sound(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert filming.main(RECORDING, ["--project", str(project.root)]) == 0
    assert "docs/figures/toy.gif" in capsys.readouterr().out
    image = project.docs / "figures/toy.gif"
    first = image.read_bytes()
    assert faults(project) == []
    picture = json.loads((project.docs / "figures/toy.json").read_text())
    assert picture["command"] == ["python", "scripts/toy.py"]
    assert "instead of" in picture["drawn"]
    assert filming.main(RECORDING, ["--project", str(project.root)]) == 0
    assert image.read_bytes() == first
    image.write_bytes(first + b"\0")
    assert "not the image that was drawn" in faults(project)[0]


def test_the_first_frame_is_the_end(log: Log) -> None:
    runs = [replay.replayed(log.record, log.timeline, arm, "skewed") for arm in log.trials]
    words = film.Words("A title", "Numbers × 2 – 3", "about")
    moving = Image.open(io.BytesIO(film.gif(runs, words)))
    frames = []
    for index in range(moving.n_frames):
        moving.seek(index)
        frames.append((moving.convert("RGB").tobytes(), moving.info["duration"]))
    assert len(frames) > 60
    assert frames[0][0] == frames[-1][0] != frames[1][0]
    assert frames[0][1] > 1000
    assert moving.info["loop"] == 0
    assert moving.width == 880
    moving.seek(0)
    shown = moving.convert("RGB")
    assert shown.getpixel((1, 1)) == film.PAPER
    assert {film.BASELINE, film.CANDIDATE} <= {colour for _, colour in shown.getcolors(maxcolors=1 << 16)}


def test_what_cannot_be_replayed_says_why(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    [path] = project.logs.glob("engine/*/timeline.jsonl.gz")
    path.unlink()
    assert filming.main(RECORDING, ["--project", str(project.root)]) == 2
    assert "has no timeline.jsonl.gz" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["serving", "continuous_batching", "prefix_cache"])
def test_scripts_name_themselves(name: str) -> None:
    import runpy

    path = Path(__file__).parents[3] / f"scripts/gen_{name}_gif.py"
    recording = runpy.run_path(str(path))["RECORDING"]
    assert recording.script == f"scripts/{path.name}"
    assert recording.name == name.replace("_", "-")
    assert "benchmarks.engine.filming" in sys.modules
