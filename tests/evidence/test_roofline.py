from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.roofline import Limit, Peak, bound, peak

TOY = Peak("toy", "bf16", flop_per_s=1e12, bytes_per_s=1e10, source="synthetic", clock_hz=1e9)
amounts = st.floats(1, 1e18)


@given(amounts, amounts)
def test_bound_is_the_slower_of_compute_and_memory(flop, moved):
    limit = bound(flop, moved, TOY)
    assert limit.seconds == max(flop / 1e12, moved / 1e10)
    assert limit.limit is (Limit.COMPUTE if flop / 1e12 >= moved / 1e10 else Limit.MEMORY)


@given(amounts, amounts, st.floats(1, 1e3))
def test_bound_grows_in_proportion_to_the_work(flop, moved, times):
    assert bound(flop * times, moved * times, TOY).seconds == pytest.approx(bound(flop, moved, TOY).seconds * times)


@given(amounts, st.floats(1.001, 1e6))
def test_ridge_parts_memory_from_compute(moved, factor):
    ridge = TOY.ridge_flop_per_byte
    assert bound(moved * ridge * factor, moved, TOY).limit is Limit.COMPUTE
    assert bound(moved * ridge / factor, moved, TOY).limit is Limit.MEMORY


def test_one_amount_may_be_zero_but_not_both():
    assert bound(0, 1e10, TOY).seconds == 1
    assert bound(1e12, 0, TOY).seconds == 1
    with pytest.raises(ValueError, match="no work"):
        bound(0, 0, TOY)


@pytest.mark.parametrize("amount", [-1, math.inf, math.nan])
def test_impossible_work_is_refused(amount):
    with pytest.raises(ValueError, match="not negative"):
        bound(amount, 1, TOY)
    with pytest.raises(ValueError, match="not negative"):
        bound(1, amount, TOY)


def test_share_of_the_attainable_speed():
    limit = bound(1e12, 1, TOY)
    assert limit.share(2) == 0.5
    assert limit.share(0.5) == 2
    for seconds in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="positive"):
            limit.share(seconds)


def test_clock_moves_compute_and_not_memory():
    faster = TOY.at_clock(1.5e9)
    assert faster == replace(TOY, flop_per_s=1.5e12, clock_hz=1.5e9, source="synthetic, scaled to 1500 MHz")
    assert replace(TOY, clock_hz=None).at_clock(1.5e9) is None
    with pytest.raises(ValueError, match="clock"):
        TOY.at_clock(0)


@pytest.mark.parametrize(
    ("model", "dtype", "tflop_per_s", "tb_per_s"),
    [
        ("NVIDIA H200", "bf16", 989.4, 4.8),
        ("NVIDIA H200", "fp32", 66.9, 4.8),
        ("NVIDIA H200 NVL", "bf16", 835.5, 4.8),
        ("NVIDIA H100 80GB HBM3", "fp8", 1978.9, 3.35),
        ("NVIDIA H100 PCIe", "bf16", 756, 2.0),
        ("NVIDIA A100-SXM4-80GB", "fp16", 312, 2.039),
        ("NVIDIA A100-PCIE-40GB", "tf32", 156, 1.555),
        ("A100-SXM4-40GB", "bf16", 312, 1.555),
        ("NVIDIA A10", "bf16", 125, 0.6),
        ("NVIDIA L4", "bf16", 121, 0.3),
        ("Tesla T4", "fp16", 65, 0.32),
    ],
)
def test_known_peaks(model, dtype, tflop_per_s, tb_per_s):
    found = peak(model, dtype)
    assert found is not None
    assert found.flop_per_s == pytest.approx(tflop_per_s * 1e12)
    assert found.bytes_per_s == pytest.approx(tb_per_s * 1e12)
    assert found.model == model
    assert found.source.startswith("datasheet: ")


@pytest.mark.parametrize(
    ("model", "units", "flop_per_clock"),
    [
        ("NVIDIA H200", 132, 4096),
        ("NVIDIA H100 80GB HBM3", 132, 4096),
        ("NVIDIA A100-SXM4-80GB", 108, 2048),
        ("NVIDIA A30", 56, 2048),
        ("NVIDIA A10", 72, 1024),
        ("NVIDIA L4", 58, 1024),
        ("AMD Instinct MI300X", 304, 2048),
    ],
)
def test_stated_clocks_explain_the_datasheet_rates(model, units, flop_per_clock):
    found = peak(model, "bf16")
    assert found is not None
    assert found.clock_hz is not None
    assert found.flop_per_s == pytest.approx(units * flop_per_clock * found.clock_hz, rel=0.005)


@pytest.mark.parametrize(
    ("model", "dtype"),
    [
        ("NVIDIA A10G", "bf16"),
        ("NVIDIA H200 MIG 1g.18gb", "bf16"),
        ("NVIDIA H200", "fp4"),
        ("Tesla T4", "bf16"),
        ("some laptop", "bf16"),
        ("", ""),
    ],
)
def test_what_is_not_in_the_table_is_unknown(model, dtype):
    assert peak(model, dtype) is None
