from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.profile import torch_trace
from benchmarks.profile.summaries import ProfileError
from tests.benchmarks.profile.files import event, trace

LAUNCH = event("cudaLaunchKernel", "cuda_runtime", 0, 5)


def test_kernels_are_added_up_by_name_and_the_longest_is_first():
    made = trace(LAUNCH, event("b", "kernel", 10, 30), event("a", "kernel", 40, 20), event("a", "kernel", 60, 20))
    summary = torch_trace.read(made)
    assert [(one.name, one.launches, one.duration_s) for one in summary.kernels] == [
        ("a", 2, pytest.approx(40e-6)),
        ("b", 1, pytest.approx(30e-6)),
    ]
    assert {one.name: one.value for one in summary.metrics}["busy_share"] == pytest.approx(100 * 70 / 80)


@pytest.mark.parametrize(
    ("kernels", "bottleneck"),
    [
        ([event("a", "kernel", 10, 3), event("a", "kernel", 100, 3)], "launch"),
        ([event("a", "kernel", 10, 30), event("a", "kernel", 200, 30)], "dispatch"),
        ([event("a", "kernel", 5, 300)], "unknown"),
    ],
)
def test_a_device_that_waits_is_bound_by_launches_or_by_the_host(kernels, bottleneck):
    assert torch_trace.read(trace(LAUNCH, *kernels)).bottleneck == bottleneck


def test_kernels_that_overlap_do_not_make_a_device_busier_than_it_is():
    summary = torch_trace.read(trace(event("a", "kernel", 0, 100), event("b", "kernel", 50, 50)))
    assert {one.name: one.value for one in summary.metrics}["busy_share"] == 100


def test_without_a_device_operators_stand_by_the_time_they_spend_themselves():
    made = trace(event("outer", "cpu_op", 0, 100), event("inner", "cpu_op", 10, 70), event("later", "cpu_op", 200, 10))
    summary = torch_trace.read(made)
    own = {one.name: one.duration_s for one in summary.kernels}
    assert own == {"inner": pytest.approx(70e-6), "outer": pytest.approx(30e-6), "later": pytest.approx(10e-6)}
    assert summary.bottleneck == "unknown"


def test_a_packed_trace_is_unpacked():
    assert torch_trace.read(gzip.compress(trace(event("a", "kernel", 0, 1)))).kernels[0].name == "a"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no JSON"),
        (b"{}", "no traceEvents"),
        (b"[" * 200_000, "no JSON"),
        (b"\x1f\x8b broken", "no gzip"),
        (trace(), "neither a kernel nor an operator"),
        (trace(event("a", "kernel", 0, -1)), "has no time"),
        (trace(event("a", "kernel", 0, 1) | {"dur": "1"}), "has no time"),
        (b'{"traceEvents": [{"ph": "X", "cat": "kernel", "ts": NaN, "dur": 1}]}', "has no time"),
    ],
)
def test_what_is_no_trace_is_refused(data, said):
    with pytest.raises(ProfileError, match=said):
        torch_trace.read(data)


names = st.sampled_from(["kernel", "cpu_op", "cuda_runtime", "user_annotation"])
events = st.builds(event, st.text(max_size=300), names, st.floats(0, 1e9), st.floats(0, 1e6))


@given(st.lists(events, max_size=12))
def test_no_time_is_counted_twice(made):
    try:
        summary = torch_trace.read(trace(*made))
    except ProfileError:
        return
    share = {one.name: one.value for one in summary.metrics}.get("busy_share", 0)
    assert 0 <= share <= 100
    assert all(0 < len(kernel.name) <= 200 for kernel in summary.kernels)
