from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import timing
from benchmarks.timing import Rotation, Rules, TimingError, TorchTimer, choose, timed, watched_compilations
from tests.factories import passed

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
UNPROVEN = """
from benchmarks.timing import Rules, Timer, timed
from evidence.schema import Failed, Passed

def measure(outcome: Passed | Failed, timer: Timer) -> None:
    timed(lambda: None, proof=outcome, timer=timer, rules=Rules())  # refused
    timed(lambda: None, proof=None, timer=timer, rules=Rules())  # refused
    timed(lambda: None, timer=timer, rules=Rules())  # refused
    if isinstance(outcome, Passed):
        timed(lambda: None, proof=outcome, timer=timer, rules=Rules())
"""


class Clockwork:
    """A timer that gives what it is told to, in order."""

    name, cache, flush_bytes = "clockwork", "hot", 0

    def __init__(self, *values: float) -> None:
        self.values = list(values)
        self.asked: list[int] = []

    def overhead_s(self, call_s: float) -> float:
        return 1e-9

    def finish(self) -> None:
        pass

    def calls_per_sample(self, call_s: float) -> int:
        return 1

    def samples(self, call, wanted: int, call_s: float) -> timing.Batch:
        self.asked.append(wanted)
        taken, self.values = self.values[:wanted], self.values[wanted:]
        return timing.Batch(taken, 1)


def measure(timer, **rules) -> timing.Timing:
    return timed(lambda: None, proof=passed(), timer=timer, rules=Rules(**{"warm_up_s": 0.0, **rules}))


def test_only_a_passed_gate_licenses_timing(tmp_path):
    source = tmp_path / "unproven.py"
    source.write_text(UNPROVEN)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(source)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refused = [number for number, line in enumerate(UNPROVEN.splitlines(), 1) if line.endswith("# refused")]
    errors = [line for line in done.stdout.splitlines() if line.startswith(str(source)) and ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == refused


def test_samples_keep_their_order_and_nine_digits():
    found = measure(Clockwork(0.1234567891234, 0.1, 0.3), minimum_samples=3, maximum_samples=3)
    assert found.samples_s == (0.123456789, 0.1, 0.3)


@pytest.mark.parametrize("wrong", [0.0, -1e-3, math.inf, math.nan])
def test_what_is_no_time_is_refused(wrong):
    with pytest.raises(TimingError, match="as a time"):
        measure(Clockwork(1e-3, wrong), minimum_samples=2, maximum_samples=2)


@pytest.mark.parametrize(
    ("rules", "stopped", "count"),
    [
        ({"minimum_samples": 5, "maximum_samples": 5}, "fixed", 5),
        ({"minimum_samples": 5, "maximum_samples": 8}, "maximum", 8),
        ({"minimum_samples": 4, "maximum_samples": 20, "target_spread": 0.1}, "spread", 4),
        ({"minimum_samples": 4, "maximum_samples": 20, "target_spread": 1e-9}, "maximum", 20),
        ({"minimum_samples": 4, "maximum_samples": 20, "budget_s": 1e-9}, "budget", 4),
    ],
)
def test_each_stop_rule_is_named(rules, stopped, count):
    found = measure(Clockwork(*[1e-3 + 1e-6 * (n % 3) for n in range(60)]), **rules)
    assert (found.stopped, len(found.samples_s)) == (stopped, count)


@pytest.mark.parametrize(
    "rules",
    [{"minimum_samples": 0}, {"minimum_samples": 9, "maximum_samples": 3}, {"target_spread": 0.0}, {"budget_s": -1.0}],
)
def test_rules_that_never_sample_or_never_stop_are_refused(rules):
    with pytest.raises(TimingError):
        Rules(**rules)


@given(st.integers(1, 40), st.integers(0, 60), st.none() | st.floats(1e-3, 1.0), st.none() | st.floats(1e-9, 1.0))
def test_sampling_always_ends_with_the_minimum_at_least(minimum, more, spread, budget):
    timer = Clockwork(*[1e-3 * (1 + n % 7) for n in range(1000)])
    rules = {"minimum_samples": minimum, "maximum_samples": minimum + more, "target_spread": spread, "budget_s": budget}
    found = measure(timer, **rules)
    assert minimum <= len(found.samples_s) <= minimum + more


def test_a_process_warms_up_as_long_as_it_is_told_to():
    calls = []
    found = timing.warm_up(lambda: calls.append(1), Clockwork(), 0.05)
    assert found.seconds >= 0.05
    assert found.calls == len(calls) >= 2
    assert timing.warm_up(lambda: None, Clockwork(), 0.0).calls == 2


def test_inputs_rotate_and_the_last_outputs_are_kept():
    rotation = Rotation(lambda given: (given, object()), ["a", "b"])
    returned = [rotation() for _ in range(5)]
    assert [given for given, _ in returned] == ["a", "b", "a", "b", "a"]
    assert rotation.last == {0: returned[4], 1: returned[3]}


def test_the_torch_timer_measures_blocks_above_the_floor_of_a_host_clock():
    matrix = torch.randn(64, 64)
    timer = TorchTimer(1)
    found = timed(
        Rotation(lambda one: one @ one, [matrix, matrix + 1]),
        proof=passed(),
        timer=timer,
        rules=Rules(minimum_samples=3, maximum_samples=5, warm_up_s=0.01),
    )
    assert len(found.samples_s) >= 3
    assert found.calls_per_sample * min(found.samples_s) > 1e-3
    assert 0 < found.overhead_s < min(found.samples_s)
    assert found.compilations == 0
    assert found.used == "torch.utils.benchmark.Timer"


def test_a_block_is_a_power_of_two_calls():
    timer = TorchTimer(1)
    assert [timer.calls_per_sample(call_s) for call_s in (1.0, 0.02, 0.011, 1e-5)] == [1, 1, 2, 2048]


def test_a_processor_is_timed_by_torch_whatever_is_asked():
    usual, graph = choose("cpu", "", 1), choose("cpu", timing.CUDA_GRAPH, 1)
    assert (usual.requested, usual.used, usual.fallback_reason) == (timing.TORCH_TIMER, timing.TORCH_TIMER, None)
    assert (graph.requested, graph.used) == (timing.CUDA_GRAPH, timing.TORCH_TIMER)
    assert graph.fallback_reason
    with pytest.raises(TimingError, match="no timer"):
        timing.make("stopwatch", 1)


def test_compilations_by_triton_are_counted_and_its_hook_is_put_back():
    triton = pytest.importorskip("triton")
    runtime = triton.knobs.runtime
    before = runtime.jit_cache_hook
    with watched_compilations() as watched:
        assert not runtime.jit_cache_hook(key="k", repr="r", fn=None, compile={}, is_manual_warmup=False)
    assert watched.count == 1
    assert runtime.jit_cache_hook is before


def test_a_compiler_that_appears_in_the_window_cannot_have_been_watched(monkeypatch):
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    with watched_compilations() as watched:
        monkeypatch.setitem(sys.modules, "triton", object())
    assert watched.count is None


def test_no_compiler_in_the_process_is_no_compilation(monkeypatch):
    for name in ("triton", "torch._dynamo.utils"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with watched_compilations() as watched:
        pass
    assert watched.count == 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no accelerator")
@pytest.mark.parametrize("name", [timing.DO_BENCH, timing.HELD_EVENTS, timing.CUDA_GRAPH])
def test_device_timers_give_positive_samples(name):
    matrix = torch.randn(1024, 1024, device="cuda")
    rules = Rules(minimum_samples=5, maximum_samples=10, warm_up_s=0.1)
    found = timed(lambda: matrix @ matrix, proof=passed(), timer=timing.make(name, 1), rules=rules)
    assert len(found.samples_s) >= 5
    assert (found.flush_bytes > 0) == (name != timing.CUDA_GRAPH)
