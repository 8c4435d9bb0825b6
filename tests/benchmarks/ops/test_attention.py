"""Tests of torch's attention as it is called here, on a processor, where torch has two kernels to choose from."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchmarks.ops.definitions.scaled_dot_product_attention import SCALED_DOT_PRODUCT_ATTENTION
from benchmarks.ops.registry import Implementation

torch = pytest.importorskip("torch")


def drawn(dtype: torch.dtype) -> Mapping[str, torch.Tensor]:
    source = torch.Generator().manual_seed(3)
    return {name: torch.randn(1, 64, 2, 32, generator=source).to(dtype) for name in "qkv"}


def arm(name: str) -> Implementation:
    return next(one for one in SCALED_DOT_PRODUCT_ATTENTION.implementations if one.name == name)


def said(name: str, given: Mapping[str, torch.Tensor]) -> str:
    tell = arm(name).resolved
    assert tell is not None
    return dict(tell(given))["attention kernel"]


def test_each_forced_kernel_is_what_its_arm_says_and_the_default_is_one_of_them():
    given = drawn(torch.bfloat16)
    assert (said("flash", given), said("math", given)) == ("flash", "math")
    assert said("default", given) in ("flash", "math")


def test_the_default_is_told_as_torch_chooses_and_not_as_arms_are_named():
    given = drawn(torch.bfloat16)
    torch.backends.cuda.enable_flash_sdp(False)
    try:
        assert said("default", given) == "math"
    finally:
        torch.backends.cuda.enable_flash_sdp(True)
    assert said("default", given) == "flash"


def test_a_kernel_that_is_not_there_has_no_name():
    with pytest.raises(RuntimeError, match="backend"):
        said("cudnn", drawn(torch.bfloat16))


def test_arms_compute_the_same():
    given = drawn(torch.float32)
    results = [
        arm(name).adapter(torch.nn.functional.scaled_dot_product_attention, given)[0] for name in ("flash", "math")
    ]
    torch.testing.assert_close(*results)
    assert results[0].shape == given["q"].shape
