"""What is to be profiled, as it is asked for: all that is timed, or less, and never what is not timed."""

from __future__ import annotations

import pytest

from benchmarks.ops.verification import parser, resolve
from benchmarks.options import UsageError
from evidence.errors import UnknownNameError

TIMED = ("--op", "w8a16_matmul", "--backend", "fused", "--shapes", "m1-n4096-k4096", "m16-n28672-k8192")


def asked(*words: str):
    return resolve(parser().parse_args([*TIMED, *words])).profiling


def test_a_profile_is_of_everything_unless_it_is_said() -> None:
    found = asked("--profile")
    assert found is not None
    assert found.tools == ("torch", "ncu")
    assert set(found.workloads) == {"m1-n4096-k4096-fwd", "m16-n28672-k8192-fwd"}
    assert set(found.roles) == {"candidate", "baseline"}


def test_tools_shapes_and_sides_are_chosen() -> None:
    narrow = ("--profile-by", "ncu", "--profile-shapes", "m16-n28672-k8192", "--profile-sides", "candidate")
    found = asked("--profile", *narrow)
    assert found is not None
    assert (found.tools, found.workloads, found.roles) == (("ncu",), ("m16-n28672-k8192-fwd",), ("candidate",))


def test_a_processor_has_no_counters_that_ncu_reads() -> None:
    found = resolve(parser().parse_args(["--op", "linear_attn", "--profile"])).profiling
    assert found is not None
    assert found.tools == ("torch",)
    assert any(name.endswith("-fwdbwd") for name in found.workloads)


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (("--profile-by", "ncu"), UsageError, "not that anything is"),
        (("--profile", "--profile-shapes", "m64-n4096-k14336"), UnknownNameError, "m64-n4096-k14336"),
    ],
)
def test_what_is_not_timed_is_not_profiled(words, error, said) -> None:
    with pytest.raises(error, match=said):
        asked(*words)


def test_nothing_is_profiled_unless_it_is_asked_for() -> None:
    assert asked() is None
