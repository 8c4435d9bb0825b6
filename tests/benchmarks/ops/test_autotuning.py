"""Autotuners compile every configuration and measure none, or measure briefly: real autotuners, no device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

triton = pytest.importorskip("triton")

from benchmarks.ops.autotuning import brief, launched_once, measured_by  # noqa: E402


class Kernel:
    """Stands where a compiled kernel stands: tells which configurations were launched."""

    arg_names = ("x",)

    def __init__(self) -> None:
        self.launched: list[int] = []
        self.fn = lambda x: x

    def run(self, *_: Any, **given: Any) -> None:
        self.launched.append(given["BLOCK"])


class Driver:
    """What a machine without a device lacks: something that hands out measurements."""

    def get_benchmarker(self) -> Callable[..., list[float]]:
        def own(call: Callable[[], object], quantiles: tuple[float, ...]) -> list[float]:
            call()
            call()
            return [0.5 for _ in quantiles]

        return own


@pytest.fixture
def driver() -> Iterator[Driver]:
    config = triton.runtime.driver
    before = config._active
    config.set_active(Driver())
    yield config.active
    config._active = before


def autotuned(kernel: Kernel) -> Any:
    configs = [triton.Config({"BLOCK": block}) for block in (16, 32, 64)]
    return triton.runtime.autotuner.Autotuner(kernel, ["x", "BLOCK"], configs, ["x"], None, None)


@pytest.mark.usefixtures("driver")
def test_every_configuration_is_compiled_and_none_is_measured() -> None:
    kernel = Kernel()
    with measured_by(launched_once):
        autotuned(kernel).run(7)
    assert kernel.launched == [16, 32, 64, 16]


@pytest.mark.usefixtures("driver")
def test_a_driver_measures_as_before_when_that_is_over() -> None:
    with measured_by(launched_once):
        pass
    kernel = Kernel()
    autotuned(kernel).run(7)
    assert kernel.launched == [16, 16, 32, 32, 64, 64, 16]


def test_a_brief_measurement_is_tritons_own() -> None:
    made = brief()
    assert made.func is triton.testing.do_bench
    assert made.keywords == {"warmup": 5, "rep": 25}
