from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.profile import ncu
from benchmarks.profile.summaries import ProfileError, Summary, text_of
from tests.benchmarks.profile import files


def value(summary: Summary, name: str) -> float:
    return next(one.value for one in summary.metrics if one.name == name)


@pytest.mark.parametrize("layout", [files.ncu_rows, files.ncu_wide])
def test_both_tables_say_the_same(layout):
    summary = ncu.read(layout([("toy_norm", files.counters()), ("toy_norm", files.counters())]))
    (kernel,) = summary.kernels
    assert (kernel.name, kernel.launches, kernel.duration_s) == ("toy_norm", 2, pytest.approx(80e-6))
    assert value(summary, "moved_bytes") == 300e6
    assert value(summary, "kernel_time") == pytest.approx(80e-6)
    assert value(summary, "dram_share") == 80.5
    assert summary.bottleneck == "memory"
    assert summary.why == "toy_norm reaches 80.5 % of the peak of memory"


def test_sections_for_people_are_read_too():
    summary = ncu.read(files.NCU_SECTIONS)
    (kernel,) = summary.kernels
    assert (kernel.name, kernel.duration_s) == ("copy_kernel", pytest.approx(40e-6))
    assert kernel.metric("registers") == 24
    assert kernel.metric("waves") == 4.5
    assert (summary.bottleneck, value(summary, "memory_share")) == ("memory", 91.5)
    assert all(one.name != "moved_bytes" for one in summary.metrics)


@pytest.mark.parametrize(
    ("changes", "bottleneck", "said"),
    [
        ({}, "memory", "80.5 % of the peak of memory"),
        ({files.SHARES[1]: ("%", "90")}, "compute", "90.0 % of the peak of its multiprocessors"),
        ({files.SHARES[0]: ("%", "30"), "launch__waves_per_multiprocessor": ("", "0.4")}, "launch", "0.40 of a wave"),
        (
            {
                files.SHARES[0]: ("%", "30"),
                "sm__warps_active.avg.pct_of_peak_sustained_active": ("%", "25"),
                "launch__occupancy_limit_registers": ("block", "4"),
            },
            "register",
            "registers are what limits it",
        ),
        (
            {files.SHARES[0]: ("%", "30"), "gpu__time_duration.sum": ("usecond", "2.5")},
            "launch",
            "no longer than a launch",
        ),
        ({files.SHARES[0]: ("%", "30")}, "unknown", "30.0 % of a peak at most"),
        ({files.SHARES[0]: ("%", "n/a"), files.SHARES[1]: ("%", "n/a")}, "unknown", "no share of a peak"),
    ],
)
def test_what_bounds_a_kernel(changes, bottleneck, said):
    summary = ncu.read(files.ncu_rows([("toy_norm", files.counters(**changes))]))
    assert summary.bottleneck == bottleneck
    assert said in summary.why


def test_the_kernel_with_the_most_time_decides():
    short = files.counters(**{"gpu__time_duration.sum": ("ns", "900"), files.SHARES[1]: ("%", "95")})
    summary = ncu.read(files.ncu_rows([("short", short), ("long", files.counters())]))
    assert [kernel.name for kernel in summary.kernels] == ["long", "short"]
    assert summary.bottleneck == "memory"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no profiled kernel"),
        (b"==ERROR== ERR_NVGPUCTRPERM", "holds no profiled kernel"),
        (files.ncu_rows([("k", {"dram__bytes_read.sum": ("byte", "1")})]), "no duration of k"),
        (files.ncu_rows([("k", files.counters(**{"gpu__time_duration.sum": ("ns", "27.595.520")}))]), "not a number"),
        (files.ncu_rows([("k", files.counters(**{"gpu__time_duration.sum": ("fortnight", "1")}))]), "has the unit"),
        (files.ncu_rows([("k", files.counters(**{"gpu__time_duration.sum": ("ns", "0")}))]), "no duration of k"),
        (files.ncu_rows([("k", files.counters(**{"gpu__time_duration.sum": ("ns", "inf")}))]), "not a number"),
        (f"{files.HEAD},{files.SECTION},{files.SECTION}\n".encode(), "name of another"),
        ((files.HEAD + ',"gpu__time_duration.sum"\n' + files.launch(0, "k") + ',"1"').encode(), "no row of units"),
    ],
)
def test_what_is_not_its_output_is_refused(data, said):
    with pytest.raises(ProfileError, match=said):
        ncu.read(data)


def test_the_same_counter_of_one_launch_with_two_values_is_refused():
    rows = files.ncu_rows([("k", files.counters())]).decode().splitlines()
    again = rows[2].replace("40,000", "90,000")
    with pytest.raises(ProfileError, match="given twice"):
        ncu.read("\n".join([*rows, again]).encode())


def test_neither_program_nor_host_is_kept():
    summary = ncu.read(files.ncu_rows([("toy_norm", files.counters())]))
    kept = text_of(summary, "fused", "n1", ("ncu",)).decode()
    assert "secret" not in kept
    assert "127.0.0.1" not in text_of(ncu.read(files.NCU_SECTIONS), "fused", "n1", ("ncu",)).decode()


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data):
    for wrapped in (data, f"{files.HEAD},{files.SECTION}\n".encode() + data):
        try:
            ncu.read(wrapped)
        except ProfileError:
            continue


def test_the_command_profiles_at_the_clocks_that_are_timed():
    command = ncu.command(("python", "-m", "toy"), launches=3)
    assert command[0] == "ncu"
    assert command[command.index("--clock-control") + 1] == "none"
    assert command[-3:] == ("python", "-m", "toy")
    assert "gpu__time_duration.sum" in command[command.index("--metrics") + 1]
