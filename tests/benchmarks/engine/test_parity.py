"""Tests of the tokens gate: what agrees, what ties, and what it refuses, on real engines."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.engine import models, parity
from benchmarks.engine.engines.making import make
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.requests import Answer, Failure, Request
from benchmarks.engine.study import Side, continuous, static
from benchmarks.engine.workloads import AT_ONCE, load
from evidence.schema import Failed, Passed, TokensDetail
from evidence.schema.gates import gate_holds

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

LOAD = load("uniform", "small")
GATE = parity.definition("fp32", agreement=1.0, source="repository")
SIDES = (static("static", "baseline"), continuous("continuous", "candidate"))


def asked(side: Side, model: Any) -> parity.Answers:
    engine = make(side, model)
    try:
        engine.open(LOAD.limits)
        return parity.ask(engine, LOAD.drawn(512), concurrency=LOAD.concurrency, timeout_s=60)
    finally:
        engine.close()


@pytest.fixture(scope="module")
def answers(tiny: Any) -> parity.Answers:
    return asked(SIDES[1], tiny)


def verify(model: Any, answers: parity.Answers) -> Passed | Failed:
    return parity.verify(model, answers, GATE, source="transformers", seed=LOAD.seed)


def changed(trial: Trial, index: int, at: int, token: int) -> Trial:
    """The same trial, in which one request said another token."""
    answer = trial.answers[index]
    tokens = (*answer.tokens[:at], token, *answer.tokens[at + 1 :])
    altered = replace(answer, tokens=tokens)
    return replace(trial, answers=(*trial.answers[:index], altered, *trial.answers[index + 1 :]))


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_both_engines_say_what_the_model_says_to_each_request_alone(side: Side, tiny: Any) -> None:
    outcome = verify(tiny, asked(side, tiny))
    assert isinstance(outcome, Passed)
    detail = outcome.detail
    assert isinstance(detail, TokensDetail)
    assert detail.agreed == detail.compared == 12 * 24
    assert detail.prompts_equal == detail.prompts == 12
    assert {control.kind: control.agreed == control.compared for control in detail.controls} == {
        "same-arm": True,
        "copies-in-batch": True,
    }
    assert gate_holds(GATE, outcome) == ""


def test_another_model_is_refused(answers: parity.Answers) -> None:
    other = models.build(replace(models.SHAPES["tiny"], seed=18), "fp32", "cpu")
    outcome = verify(other, answers)
    assert isinstance(outcome, Failed)
    assert (outcome.reason, "leaves the reference at token 0" in outcome.message) == ("mismatch", True)


def test_one_wrong_token_is_found_where_it_is(tiny: Any, answers: parity.Answers) -> None:
    wrong = (answers.first.answers[5].tokens[7] + 1) % 512
    both = [changed(trial, 5, 7, wrong) for trial in (answers.first, answers.again)]
    outcome = verify(tiny, replace(answers, first=both[0], again=both[1]))
    assert isinstance(outcome, Failed)
    detail = outcome.detail
    assert isinstance(detail, TokensDetail)
    assert detail.compared - detail.agreed == 24 - 7
    [departure] = detail.divergences
    assert (departure.request, departure.position, departure.is_tie) == (5, 7, False)
    assert departure.margin is not None
    assert departure.margin > 0


def test_an_arm_that_does_not_repeat_itself_cannot_be_attributed(tiny: Any, answers: parity.Answers) -> None:
    wrong = (answers.again.answers[3].tokens[20] + 1) % 512
    outcome = verify(tiny, replace(answers, again=changed(answers.again, 3, 20, wrong)))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "control"
    assert "same-arm: 284 of 288" in outcome.message


def test_copies_of_one_prompt_are_answered_alike(tiny: Any, answers: parity.Answers) -> None:
    copies = answers.copies
    assert {request.prompt for request in copies.requests} == {copies.requests[0].prompt}
    wrong = (copies.answers[2].tokens[0] + 1) % 512
    outcome = verify(tiny, replace(answers, copies=changed(copies, 2, 0, wrong)))
    assert isinstance(outcome, Failed)
    assert "copies-in-batch" in outcome.message


def test_a_failed_request_fails_the_gate(tiny: Any, answers: parity.Answers) -> None:
    lost = Answer(0, (), (), failure=Failure("engine", "it broke"))
    first = replace(answers.first, answers=(lost, *answers.first.answers[1:]))
    outcome = verify(tiny, replace(answers, first=first))
    assert isinstance(outcome, Failed)
    assert (outcome.reason, "it broke" in outcome.message) == ("error", True)


def test_logits_that_are_no_numbers_are_no_reference(tiny: Any, answers: parity.Answers) -> None:
    broken = models.build(models.SHAPES["tiny"], "fp32", "cpu")
    with torch.no_grad():
        broken.model.norm.weight[0] = math.nan
    outcome = verify(broken, answers)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "non-finite"


def test_timed_outputs_are_judged_without_control_rows(tiny: Any) -> None:
    engine = make(SIDES[1], tiny)
    engine.open(LOAD.limits)
    trial = drive(engine, LOAD.drawn(512)[:3], AT_ONCE, timeout_s=60)
    engine.close()
    outcome = parity.recheck(tiny, trial, GATE, source="transformers", seed=1)
    assert isinstance(outcome, Passed)
    assert (outcome.phase, outcome.compared) == ("timed-outputs", 72)


def test_a_tie_is_no_fault_and_does_not_spoil_what_follows() -> None:
    request = Request(4, (1, 2), 4)
    logits = torch.zeros(4, 8)
    logits[0, 3] = logits[1, 4] = logits[2, 5] = logits[3, 6] = 10.0
    logits[1, 7] = 10.0 - 1e-4
    tied = parity.judged(logits, request, Answer(4, (3, 7, 5, 6), ()), ties=1e-3)
    assert tied.leading == 4
    assert tied.departure is not None
    assert (tied.departure.position, tied.departure.is_tie) == (1, True)
    assert tied.departure.margin == pytest.approx(1e-4, rel=0.1)
    exact = parity.judged(logits, request, Answer(4, (3, 4, 5, 6), ()), ties=1e-3)
    assert (exact.leading, exact.departure) == (4, None)
    later = parity.judged(logits, request, Answer(4, (3, 7, 5, 1), ()), ties=1e-3)
    assert later.departure is not None
    assert (later.leading, later.departure.position, later.departure.is_tie) == (3, 3, False)


def test_answers_that_part_at_a_tie_are_compared_up_to_it(tiny: Any, answers: parity.Answers) -> None:
    request, answer = answers.first.requests[2], answers.first.answers[2]
    logits = parity.reference_logits(tiny, request, answer)
    best, second = logits[9].topk(2).indices.tolist()
    gap = float(logits[9, best] - logits[9, second]) / float(logits[9].square().mean().sqrt())
    other = replace(answer, tokens=(*answer.tokens[:9], second, *answer.tokens[10:]))
    tied = parity.same(tiny, "same-arm", [(request, answer, other)], ties=gap * 1.01)
    assert (tied.compared, tied.agreed) == (9, 9)
    apart = parity.same(tiny, "same-arm", [(request, answer, other)], ties=gap * 0.99)
    assert (apart.compared, apart.agreed) == (24, 9)


def test_a_share_may_be_enough_for_arms_that_may_differ(tiny: Any, answers: parity.Answers) -> None:
    loose = parity.definition("fp32", agreement=0.5, source="repository")
    assert loose.name != GATE.name
    wrong = (answers.first.answers[5].tokens[7] + 1) % 512
    both = [changed(trial, 5, 7, wrong) for trial in (answers.first, answers.again)]
    outcome = parity.verify(tiny, replace(answers, first=both[0], again=both[1]), loose, source="transformers", seed=1)
    assert isinstance(outcome, Passed)
    assert gate_holds(loose, outcome) == ""
    assert gate_holds(GATE, outcome) != ""
