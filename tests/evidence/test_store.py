"""The store: a log lands whole or not at all, nothing that is there is touched, and what cannot be read is carried."""

from __future__ import annotations

import gc
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from evidence import ledger
from evidence.errors import LedgerError, RecordError, UnknownNameError
from evidence.schema import Record, Timed, Tolerance
from evidence.schema.text import dump
from evidence.store import INCOMPLETE, Loaded, Problem, Store, save
from tests.factories import (
    TIMELINE,
    artifact,
    engine_record,
    gate,
    imported_record,
    record,
    tokens_passed,
)

ROOT = Path(__file__).parents[2]


def small(log: str = "kernels/toy_20260901", **changes: Any) -> Record:
    """A record of two kilobytes: what a store does is the same for large ones."""
    raw = artifact("raw.json", b"raw", role="raw")
    return imported_record(log, **{"artifacts": (raw,), **changes})


def put(root: Path, log: str = "kernels/toy_20260901", **changes: Any) -> str:
    return save(root, small(log, **changes), {"raw.json": b"raw"})


def files_of(root: Path) -> dict[str, tuple[bytes, int]]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def is_accepted(root: Path) -> bool:
    """What `sha256sum -c` says, and that no file is without a line."""
    entries = ledger.parse((root / ledger.FILE_NAME).read_text(encoding="utf-8"))
    assert set(entries) == set(Store(root).files)
    command = ["sha256sum", "--check", "--strict", "--quiet", ledger.FILE_NAME]
    return subprocess.run(command, cwd=root, check=False, capture_output=True).returncode == 0


def test_a_log_is_saved_with_its_artifacts_and_listed(tmp_path: Path) -> None:
    root = tmp_path / "docs/benchmark_logs"
    name = save(root, engine_record(), {"timeline.jsonl": TIMELINE})
    assert name == "engine/continuous_toy_20260902"
    assert (root / name / "record.json").read_bytes() == dump(engine_record())
    assert (root / name / "timeline.jsonl").read_bytes() == TIMELINE
    assert sorted(path.name for path in root.iterdir()) == ["SHA256SUMS", "engine"]
    assert is_accepted(root)
    assert (root / name).stat().st_mode & 0o777 == 0o755


def test_artifacts_may_lie_in_folders_of_the_log(tmp_path: Path) -> None:
    deep = artifact("gates/numeric/output.txt", b"ok", role="gate-log")
    name = save(tmp_path, small(artifacts=(*small().artifacts, deep)), {"raw.json": b"raw", deep.path: b"ok"})
    assert (tmp_path / name / deep.path).read_bytes() == b"ok"
    assert is_accepted(tmp_path)
    assert len(Store(tmp_path).entries) == 1


def test_further_runs_of_a_day_get_a_number_and_nothing_there_is_touched(tmp_path: Path) -> None:
    names = []
    for run in range(3):
        before = files_of(tmp_path)
        before.pop(ledger.FILE_NAME, None)
        lines = ledger.read(tmp_path)
        names.append(put(tmp_path, limitations=(f"run {run}",)))
        after = files_of(tmp_path)
        assert {path: after[path] for path in before} == before
        assert ledger.read(tmp_path).items() >= lines.items()
    assert names == ["kernels/toy_20260901", "kernels/toy_20260901-2", "kernels/toy_20260901-3"]
    assert put(tmp_path, "kernels/toy_20260901-2") == "kernels/toy_20260901-4"
    assert is_accepted(tmp_path)
    loaded = [Store(tmp_path).load(name) for name in names]
    assert [one.record.log for one in loaded] == names
    assert [one.record.limitations for one in loaded] == [("run 0",), ("run 1",), ("run 2",)]


def test_the_name_of_a_log_that_was_removed_is_not_given_again(tmp_path: Path) -> None:
    first = put(tmp_path)
    shutil.rmtree(tmp_path / first)
    lines = ledger.read(tmp_path)
    assert put(tmp_path, limitations=("another",)) == "kernels/toy_20260901-2"
    assert ledger.read(tmp_path).items() > lines.items()


@pytest.mark.parametrize(
    ("changes", "files", "words"),
    [
        ({}, {}, "artifacts listed and given differ: raw.json"),
        ({}, {"raw.json": b"raw", "more": b""}, "artifacts listed and given differ: more"),
        ({}, {"raw.json": b"other"}, "raw.json: listed with another digest or size"),
        (
            {"artifacts": (small().artifacts[0].model_copy(update={"bytes": 4}),)},
            {"raw.json": b"raw"},
            "another digest",
        ),
    ],
)
def test_artifacts_are_the_files_given(tmp_path: Path, changes: Any, files: dict[str, bytes], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        save(tmp_path, small(**changes), files)
    assert files_of(tmp_path) == {}


def test_a_gate_beyond_its_tolerance_is_not_saved_as_passed(tmp_path: Path) -> None:
    strict = gate(name="parity", kind="tokens", tolerances=(Tolerance(of="agreement", limit=0.999),))
    with pytest.raises(RecordError, match=r"static on skewed: token agreement is 0\.9766, the gate asks for 0\.999"):
        save(tmp_path, engine_record(gates=(strict,)), {"timeline.jsonl": TIMELINE})
    loose = strict.model_copy(update={"tolerances": (Tolerance(of="agreement", limit=0.9),)})
    further = engine_record(gates=(loose, strict.model_copy(update={"name": "second"})))
    cells = tuple(
        cell.model_copy(update={"further": (tokens_passed().model_copy(update={"gate": "second"}),)})
        for cell in further.cells
    )
    with pytest.raises(RecordError, match="static on skewed"):
        save(tmp_path, further.model_copy(update={"cells": cells}), {"timeline.jsonl": TIMELINE})
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cells": ()}, "a lost row would look like a win"),
        ({"log": "../outside_20260901"}, "log: String should match pattern"),
        ({"arms": None}, "arms: Input should be a valid tuple"),
        ({"ended_at": "now"}, "ended_at: Input should be a valid datetime"),
    ],
)
def test_a_constructed_record_is_looked_at_before_it_is_saved(tmp_path: Path, changes: Any, words: str) -> None:
    fields = {name: getattr(record(), name) for name in Record.model_fields}
    with pytest.raises(RecordError, match=words):
        save(tmp_path, Record.model_construct(**{**fields, **changes}))
    with pytest.raises(RecordError, match="Field required"):
        save(tmp_path, Record.model_construct(log="kernels/toy_20260901"))
    forged = Timed.model_construct(**{**record().cells[0].__dict__, "gate": None})
    with pytest.raises(RecordError, match="cells/0/timed/gate: Input should be"):
        save(tmp_path, Record.model_construct(**{**fields, "cells": (forged, *record().cells[1:])}))
    assert files_of(tmp_path) == {}


def test_nothing_is_written_beside_a_ledger_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / ledger.FILE_NAME).write_text("<<<<<<< HEAD\n")
    with pytest.raises(LedgerError):
        put(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [ledger.FILE_NAME]


def test_a_save_that_cannot_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    put(tmp_path, "kernels/other_20260901")
    before = files_of(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        put(tmp_path)
    monkeypatch.undo()
    assert {k: v for k, v in files_of(tmp_path).items() if not k.startswith(".tmp-")} == before
    assert put(tmp_path) == "kernels/toy_20260901"
    assert is_accepted(tmp_path)
    assert not list(tmp_path.glob(".*"))


def test_the_index_knows_logs_by_name_and_series(tmp_path: Path) -> None:
    for log in ("kernels/toy_20260902", "kernels/toy_20260901", "kernels/toy_20260901-2", "engine/toy_20260901"):
        put(tmp_path, log)
    for _ in range(9):
        put(tmp_path, "kernels/toy_20260902")
    store = Store(tmp_path)
    assert [entry.log for entry in store.entries][:3] == [
        "engine/toy_20260901",
        "kernels/toy_20260901",
        "kernels/toy_20260901-2",
    ]
    youngest = ["kernels/toy_20260902-9", "kernels/toy_20260902-10"]
    assert [entry.log for entry in store.entries][-2:] == youngest
    assert [entry.log for entry in store.series_of("kernels/toy")][-2:] == youngest
    assert store.newest("kernels/toy").record.log == "kernels/toy_20260902-10"
    assert store.entries[0].series == "engine/toy"
    assert store.load("engine/toy_20260901") is store.load("engine/toy_20260901")
    one = store.load("engine/toy_20260901")
    assert (one.size, one.sha256) == (one.entry.path.stat().st_size, ledger.digest_of(one.entry.path))


def test_names_that_are_not_there_name_the_nearest(tmp_path: Path) -> None:
    put(tmp_path)
    store = Store(tmp_path)
    with pytest.raises(UnknownNameError) as caught:
        store.load("kernels/toy_20260910")
    assert caught.value.nearest == "kernels/toy_20260901"
    with pytest.raises(UnknownNameError) as caught:
        store.series_of("kernels/toys")
    assert caught.value.nearest == "kernels/toy"
    with pytest.raises(UnknownNameError):
        store.newest("")


def test_a_store_that_is_not_there_is_empty(tmp_path: Path) -> None:
    store = Store(tmp_path / "nowhere")
    assert (store.entries, store.files, store.problems, list(store)) == ((), (), (), [])


def test_what_cannot_be_read_is_carried_while_the_rest_loads(tmp_path: Path) -> None:
    names = [put(tmp_path, f"kernels/toy_2026090{day}") for day in range(1, 6)]
    (tmp_path / names[1] / "record.json").write_bytes(b"{")
    (tmp_path / names[2] / "record.json").write_bytes(b"\xff")
    store = Store(tmp_path)
    assert len(store.entries) == 5
    (tmp_path / names[3] / "record.json").unlink()
    found = list(store)
    assert [type(one) for one in found] == [Loaded, Problem, Problem, Problem, Loaded]
    problems = [one for one in found if isinstance(one, Problem)]
    assert [one.path.parent.name for one in problems] == [name.split("/")[1] for name in names[1:4]]
    assert problems[2].message == "cannot be read: No such file or directory"
    assert all(isinstance(one.error, RecordError) and one.fix and one.line == 1 for one in problems)
    with pytest.raises(RecordError):
        store.load(names[1])


def test_links_and_hidden_entries_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "logs"
    put(outside)
    name = put(root, "kernels/real_20260901")
    (root / "kernels/out_20260901").symlink_to(outside / "kernels/toy_20260901")
    (root / "kernels/in_20260901").symlink_to(root / name)
    (root / "kernels/loop").symlink_to(root)
    (root / "kernels/gone_20260901").symlink_to(tmp_path / "nowhere")
    (root / "kernels/file_20260901").mkdir()
    (root / "kernels/file_20260901/record.json").symlink_to(root / name / "record.json")
    for hidden in (f"{INCOMPLETE}/run", ".tmp-x/kernels/toy_20260901", "kernels/.hidden_20260901"):
        (root / hidden).mkdir(parents=True)
        (root / hidden / "record.json").write_text("{")
    os.mkfifo(root / "kernels/pipe")
    store = Store(root)
    assert [entry.log for entry in store.entries] == [name]
    assert [problem.path.name for problem in store.problems] == [
        "record.json",
        "gone_20260901",
        "in_20260901",
        "loop",
        "out_20260901",
    ]
    assert all("link" in problem.message and problem.fix for problem in store.problems)
    assert store.files == (f"{name}/raw.json", f"{name}/record.json")


def test_a_folder_that_cannot_be_listed_is_carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = put(tmp_path)
    put(tmp_path, "engine/toy_20260901")
    listing = os.scandir

    def denied(path: str) -> Any:
        if Path(path).name == "engine":
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", denied)
    store = Store(tmp_path)
    assert [entry.log for entry in store.entries] == [name]
    assert [problem.message for problem in store.problems] == ["cannot be read: Permission denied"]


def test_records_are_not_kept_while_iterating(tmp_path: Path) -> None:
    data = dump(record())
    for index in range(300):
        folder = tmp_path / f"kernels/toy{index}_20260901"
        folder.mkdir(parents=True)
        (folder / "record.json").write_bytes(data.replace(b"kernels/toy_", f"kernels/toy{index}_".encode()))
    store = Store(tmp_path)
    assert len(store.entries) == 300
    next(iter(store))

    def peak_of(count: int) -> int:
        gc.collect()
        tracemalloc.start()
        loaded = sum(isinstance(one, Loaded) for one in itertools.islice(store, count))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert loaded == count
        return peak

    assert peak_of(300) < 1.5 * peak_of(60)


LOOP = """
import sys
from pathlib import Path
from evidence.schema.text import parse
from evidence.store import save
record = parse(Path(sys.argv[3]).read_bytes())
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    print(save(Path(sys.argv[1]), record, {"raw.json": b"raw"}), flush=True)
"""


def saving(folder: Path, count: int) -> subprocess.Popen[str]:
    """A process that saves logs of one day; it prints each name once that log has landed."""
    model = folder.with_name("model.json")
    model.write_bytes(dump(small()))
    command = [sys.executable, "-c", LOOP, str(folder), str(count), str(model)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def assert_whole(root: Path) -> int:
    """Every log that exists is whole and listed; returns how many there are."""
    store = Store(root)
    for entry in store.entries:
        loaded = store.load(entry.log)
        assert loaded.record.log == entry.log
        assert {path.name for path in entry.path.parent.iterdir()} == {"record.json", "raw.json"}
    assert all(isinstance(one, Loaded) for one in store)
    entries = ledger.read(root)
    assert {path: ledger.digest_of(root / path) for path in store.files} == entries
    return len(store.entries)


def test_a_kill_at_any_moment_leaves_whole_logs_and_a_store_that_works(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    rng = random.Random(20260901)
    for _ in range(10):
        with saving(root, 10_000) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            landed = {process.stdout.readline().strip() for _ in range(2)}
            time.sleep(rng.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
            landed |= set(process.stdout.read().split())
        there = {entry.log for entry in Store(root).entries}
        assert landed <= there
        count = assert_whole(root)
    put(root, "kernels/after_20260901")
    assert assert_whole(root) == count + 1
    assert is_accepted(root)
    assert sorted(path.name for path in root.iterdir()) == ["SHA256SUMS", "kernels"]


class Stopped(BaseException):
    """Stands for the end of the process at one system call."""


def test_an_end_at_each_step_of_a_save_leaves_whole_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kill above is lucky, this is thorough: the save ends before its first, second, … call of the system."""
    calls = [(os, name) for name in ("open", "fsync", "mkdir", "rename", "replace", "unlink")]
    step = 0
    while True:
        root = tmp_path / str(step)
        put(root, "kernels/before_20260901")
        left = step

        def stop_at(original: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Stopped
                return original(*args, **kwargs)

            return call

        with monkeypatch.context() as patched:
            for module, name in calls:
                patched.setattr(module, name, stop_at(getattr(module, name)))
            patched.setattr(shutil, "rmtree", lambda *_, **__: None)
            try:
                put(root)
                ended = True
            except Stopped:
                ended = False
        assert assert_whole(root) in ((2,) if ended else (1, 2))
        again = put(root, "kernels/after_20260901")
        assert again == "kernels/after_20260901"
        assert is_accepted(root)
        assert sorted(path.name for path in root.iterdir()) == ["SHA256SUMS", "kernels"]
        if ended:
            break
        step += 1
    assert step > 8


def test_two_processes_that_save_on_one_day_both_land(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    both = [saving(root, 8) for _ in range(2)]
    names = [name for process in both for name in process.communicate()[0].split()[1:]]
    assert [process.returncode for process in both] == [0, 0]
    assert len(set(names)) == 16
    assert assert_whole(root) == 16
    assert is_accepted(root)
