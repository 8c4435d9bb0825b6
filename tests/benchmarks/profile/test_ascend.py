"""Ascend's files, by their published layout; synthetic, and unverified on hardware."""

from __future__ import annotations

import pytest

from benchmarks.profile import ascend
from benchmarks.profile.summaries import ProfileError
from tests.benchmarks.profile import files


def test_time_by_kind_of_operator():
    first, second = ascend.op_statistics(files.STATISTICS.encode())
    assert (first.kind, first.core, first.count, first.total_s) == ("ToyProduct", "AI_CORE", 2, pytest.approx(120e-6))
    assert second.kind == "ToyNorm"


@pytest.mark.parametrize(
    ("task", "bound", "recorded"),
    [
        (files.detail(core="AI_CORE", aic_mac_ratio=0.9, aic_mte2_ratio=0.3), "Cube", "compute"),
        (files.detail(aiv_vec_ratio=0.8, aiv_mte2_ratio=0.5), "Vector", "compute"),
        (files.detail(aiv_vec_ratio=0.2, aiv_mte2_ratio=0.85), "MTE", "memory"),
        (files.detail(aiv_scalar_ratio=0.7), "scalar", "unknown"),
        (files.detail(core="AI_CPU"), "fallback", "dispatch"),
        (files.detail(blocks=3, aiv_vec_ratio=0.9), "grid", "launch"),
        (files.detail(aiv_vec_ratio=0.1), "unknown", "unknown"),
    ],
)
@pytest.mark.parametrize("layout", [files.details, files.op_summary])
def test_what_bounds_a_call(layout, task, bound, recorded):
    summary, found = ascend.summary({"kernel_details.csv": layout(task)}, cores=20)
    assert (found, summary.bottleneck) == (bound, recorded)
    assert "unverified on hardware" in summary.why


def test_the_unified_buffer_is_judged_by_a_run_of_its_own():
    pipes, ub = files.details(files.detail(aiv_vec_ratio=0.7)), files.ub_details(600.0, 300.0)
    both = {"PipeUtilization.csv": pipes, "MemoryUB.csv": ub}
    assert ascend.summary(both)[1] == "Vector"
    summary, found = ascend.summary(both, ub_peak_gb_per_s=1000.0)
    assert (found, summary.bottleneck) == ("UB", "memory")
    assert {one.name: one.value for one in summary.metrics}["ub_bandwidth"] == 900e9


def test_a_group_of_counters_is_collected_a_run():
    first, second = ascend.commands(("python", "-m", "toy", "--shape", "a b"), "out")
    assert "--aic-metrics=PipeUtilization" in first
    assert "--aic-metrics=MemoryUB" in second
    assert "--application=python -m toy --shape 'a b'" in first


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no column"),
        (b"a,b\n1,2\n", "no column 'Name'"),
        (files.details("1,2,3"), "3 columns of 46"),
        (files.details(files.detail().replace("20.0", "soon", 1)), "not a number"),
        (files.details(files.detail(lasts=-1)), "Duration"),
    ],
)
def test_what_is_not_of_that_layout_is_refused(data, said):
    with pytest.raises(ProfileError, match=said):
        ascend.kernel_details(data)
