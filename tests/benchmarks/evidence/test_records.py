from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.evidence.projects import digest_of_files, write_store
from benchmarks.evidence.records import RUNS, Tree, log_of, record
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.project import Project
from evidence.schema import EngineWorkload, OpWorkload, series
from evidence.schema.text import dump, parse

TREE = Tree("0" * 40, "0" * 64, "synthetic/ops.py", "0" * 64)


@given(st.integers(0, 10_000), st.integers(0, 2**32))
def test_a_record_is_what_its_number_and_seed_make_it(index, seed):
    made = record(index, TREE, seed)
    data = dump(made)
    assert made == record(index, TREE, seed) == parse(data)
    assert made.log == log_of(index)
    assert 28_000 < len(data) < 34_000


def test_records_differ_by_number_and_by_seed():
    texts = {dump(record(index, TREE, seed)) for index in range(3) for seed in range(3)}
    assert len(texts) == 9


def test_series_are_of_kernels_and_engines_and_have_equal_numbers_of_logs():
    numbers = [series(log_of(index)) for index in range(6 * RUNS)]
    assert {numbers.count(name) for name in numbers} == {RUNS}
    kinds = [type(record(RUNS * number, TREE, 1).workloads[0]) for number in range(6)]
    assert kinds == [OpWorkload, OpWorkload, EngineWorkload] * 2


def test_a_project_is_clean_and_always_the_same(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_store(tmp_path / name, 65, seed=5)
    report = run(RULES, Corpus(Project.find(tmp_path / "a")))
    assert report.diagnostics == ()
    assert report.logs == 65
    assert digest_of_files(tmp_path / "a") == digest_of_files(tmp_path / "b")
