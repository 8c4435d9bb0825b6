"""The frozen gates: each file here names an op, and every trial of it that this machine can run is a test.

Without a GPU those are tier A (plain torch) and tier B (real kernels in Triton's interpreter); with one, A and C. A
tier that is unavailable is skipped with its reason, which no gate file allows: such a gate has not passed. Nor has one
whose op has an implementation that cannot be tried here, unless its file says that this one may be skipped.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from benchmarks.ops import interpreter
from benchmarks.ops.calls import load
from benchmarks.ops.registry import Implementation, Op, find
from benchmarks.ops.tiers import is_installed
from benchmarks.ops.trials import Tier, Trial, obstacle, trials

Hold = Callable[[Trial], None]


def _has_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each trial; an implementation without any here is one test that is skipped, and says why."""
    if "trial" not in metafunc.fixturenames:
        return
    op = find(metafunc.module.OP)
    found = [one for entry in op.implementations for one in _trials(op, entry)]
    metafunc.parametrize("trial", found)


def _trials(op: Op, entry: Implementation) -> Iterator[ParameterSet]:
    tiers: tuple[Tier, ...] = ("A", "C") if _has_gpu() else ("A", "B")
    found = [one for tier in tiers for one in trials(op, tier) if one.implementation == entry.name]
    if not is_installed(entry):
        found, reason = [], f"{entry.package} is not installed"
    else:
        reason = obstacle(op, entry, tiers[-1]) or ""
    if not found:
        yield pytest.param(None, marks=pytest.mark.skip(reason=reason), id=f"{entry.name}-untried")
    yield from (pytest.param(one, id=one.id) for one in found)


def _load(target: str) -> None:
    # Packages warn when they are first imported, of a GPU that is not there or of a version.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load(target)


@pytest.fixture(scope="session")
def _interpreter(request: pytest.FixtureRequest) -> Iterator[interpreter.Interpreter]:
    if (reason := interpreter.missing()) is not None:
        pytest.skip(f"tier B is unavailable: {reason}")
    package, origin = (request.config.getoption(name, default=None) for name in ("--prove", "--origin"))
    with interpreter.Interpreter(package or "", None if origin is None else Path(origin)) as process:
        yield process


@pytest.fixture
def hold(request: pytest.FixtureRequest) -> Hold:
    """Judge a trial where its tier runs."""

    def judged(trial: Trial) -> None:
        pytest.importorskip("torch")
        if trial.tier == "B":
            message = request.getfixturevalue("_interpreter").judge(trial).message
        else:
            _load(find(trial.op).implementation(trial.implementation).target)
            message = interpreter.judge(trial, "cuda" if trial.tier == "C" else "cpu")
        assert not message, message

    return judged
