from __future__ import annotations

import pytest

from benchmarks.calibration.calls import CALLS, calls
from benchmarks.options import UsageError
from evidence.errors import UnknownNameError

CPU = ("simple_gla:chunk:b1-t64-h2-d16", "kda:chunk:b1-t64-h2-d16")


def test_the_usual_calls_are_of_five_kernels_at_least_and_of_several_sources():
    usual = calls(CALLS)
    assert len(usual.timed) >= 5
    assert {call.implementation.source for call in usual.timed} == {"repository", "torch", "fla-core"}
    assert usual.dtype == "bf16"
    assert [call.text for call in usual.timed] == list(CALLS)


def test_a_call_says_what_it_calls():
    (call,) = calls(CPU[:1]).timed
    told = {setting.name: setting.value for setting in call.settings}
    assert told == {
        "implementation": "chunk",
        "target": call.implementation.target,
        "source": call.implementation.source,
    }


def test_outcomes_of_calls_name_this_repository_as_every_arm_does():
    assert {entry.source for entry in calls(CPU).of_op.values()} == {"repository"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["kda"], "is no call"),
        (["kda:chunk:b1-t64-h2-d16", "kda:recurrent:b1-t64-h2-d16"], "two implementations"),
        ([CPU[0], CPU[0]], "given twice"),
        ([CPU[0], CALLS[0]], "no dtype in common"),
    ],
)
def test_calls_that_make_no_session_are_refused(asked, said):
    with pytest.raises(UsageError, match=said):
        calls(asked)


@pytest.mark.parametrize("text", ["kdb:chunk:b1-t64-h2-d16", "kda:chunks:b1-t64-h2-d16", "kda:chunk:m1-n2-k3"])
def test_a_name_that_is_none_names_the_nearest(text):
    with pytest.raises(UnknownNameError):
        calls([text])
