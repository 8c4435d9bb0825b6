"""The gate on real implementations: it passes right ones, refuses wrong ones, and can tell which faults it catches."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from benchmarks.ops import gates
from benchmarks.ops.calls import bind
from benchmarks.ops.gates import CallError, definition, mutation, recheck, verify
from benchmarks.ops.inputs import InputSet, draw_timed
from benchmarks.ops.mutants import MUTANTS
from benchmarks.ops.registry import Case, Implementation, OpError, find
from evidence.schema.gates import Failed, Passed, gate_holds

RIGHT = [
    (name, implementation, direction)
    for name in ("linear_attn", "gated_delta_rule", "simple_gla", "kda", "gdn2")
    for implementation in [entry.name for entry in find(name).implementations]
    for direction in find(name).directions
]


def small(name: str, direction: str = "forward", tokens: int = 64) -> Case:
    found = find(name)
    return found.case(f"b1-t{tokens}-d16" if name == "hgrn" else f"b1-t{tokens}-h2-d16", "fp32", direction)


@pytest.fixture
def written_here(monkeypatch) -> Callable[..., Implementation]:
    """Make a function importable, as an implementation's target has to be."""

    def make(function: Callable[..., object]) -> Implementation:
        module = types.ModuleType("implementation_under_test")
        module.function = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "implementation_under_test", module)
        return Implementation("under-test", "implementation_under_test:function", None)

    return make


@pytest.mark.parametrize(("name", "implementation", "direction"), RIGHT)
def test_right_implementations_pass(fla, name: str, implementation: str, direction: str) -> None:
    case = small(name, direction)
    outcome = verify(case, case.op.implementation(implementation))
    assert isinstance(outcome, Passed), outcome
    assert outcome.seeds == case.gate_seeds
    assert outcome.source == "fla-core"
    assert [tensor.name for tensor in outcome.detail.tensors] == list(case.produced)
    assert outcome.detail.tensors[0].elements == len(case.gate_seeds) * 64 * 2 * 16
    assert gate_holds(definition(case), outcome) == ""


def test_comba_in_chunks_is_rejected(fla) -> None:
    case = small("comba")
    assert isinstance(verify(case, case.op.implementation("recurrent")), Passed)
    outcome = verify(case, case.op.implementation("chunk"))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "mismatch"
    assert "beyond the tolerance" in outcome.message
    assert outcome.detail is not None
    assert outcome.detail.tensors[0].rms_to_fp64 > 0.01


def test_hgrn_in_chunks_crashes_beyond_its_one_length(fla) -> None:
    chunk = find("hgrn").implementation("chunk")
    assert isinstance(verify(small("hgrn", tokens=64), chunk), Passed)
    with pytest.raises(CallError, match="RuntimeError: shape") as caught:
        verify(small("hgrn", tokens=128), chunk)
    assert caught.value.cause == "error"


@pytest.mark.parametrize("name", ["linear_attn", "gated_delta_rule", "simple_gla", "kda", "gdn2", "comba", "hgrn"])
def test_every_mutant_is_killed(fla, name: str) -> None:
    case = small(name)
    tried = mutation(case, case.op.implementation("recurrent"))
    assert tried.survivors == ()
    assert len(tried.tried) >= 5
    gate = definition(case, mutation=tried)
    assert gate.mutants == gate.mutants_killed == len(tried.tried)


def test_mutants_of_gradients_and_of_bf16_are_killed(fla) -> None:
    both = small("gated_delta_rule", "forward-backward")
    assert mutation(both, both.op.implementation("chunk")).survivors == ()
    norm = find("qk_norm").case("t64-hq4-hkv2-d128", "bf16", "forward-backward")
    torch_twice = norm.op.implementation("torch")
    assert isinstance(verify(norm, torch_twice, device="cpu"), Passed)
    tried = mutation(norm, torch_twice, device="cpu")
    assert tried.survivors == ()
    assert "heads transposed" in tried.tried
    assert "gate dropped" not in tried.tried


def test_a_gate_without_teeth_reports_survivors(fla) -> None:
    case = small("linear_attn")
    toothless = tuple(replace(tolerance, relative=9.0, absolute=9.0, rms=9.0) for tolerance in case.op.tolerances)
    blunt = replace(case, op=replace(case.op, tolerances=toothless))
    tried = mutation(blunt, case.op.implementation("chunk"))
    assert {"scaled by 1.008", "scaled by 1.02", "last token zero"} <= set(tried.survivors)
    assert "last token never written" not in tried.survivors
    gate = definition(blunt, mutation=tried)
    assert gate.mutants_killed == len(tried.tried) - len(tried.survivors)


def test_the_mutants_that_the_frozen_gate_asks_for_exist() -> None:
    names = {mutant.name for mutant in MUTANTS}
    assert {"scaled by 1.008", "scaled by 1.02", "gate dropped", "heads transposed", "stale output"} <= names


def test_an_output_whose_tail_is_never_written_is_seen(torch, written_here) -> None:
    case = small("linear_attn")

    def leaves_the_tail(q, k, v):
        output = torch.empty_like(v)
        whole = bind(case.op.reference, case)(InputSet(0, {"q": q.double(), "k": k.double(), "v": v.double()}, ()))[0]
        output[:, :-1] = whole[:, :-1].float()
        return output

    outcome = verify(case, written_here(leaves_the_tail))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "non-finite"
    assert outcome.detail is not None
    assert outcome.detail.tensors[0].non_finite == 3 * 2 * 16


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda o: o[:, :-1], "not (1, 64, 2, 16)"),
        (lambda o: o.double(), "torch.float64"),
        (lambda o: (), "not o"),
    ],
)
def test_outputs_of_another_form_are_errors(torch, written_here, fault, message: str) -> None:
    implementation = written_here(lambda q, k, v: v)
    changed = replace(implementation, adapter=lambda target, given: _tuple(fault(target(**given))))
    outcome = verify(small("linear_attn"), changed)
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.detail) == ("error", None)
    assert message in outcome.message


def _tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_a_call_that_modifies_its_inputs_is_refused(torch, written_here) -> None:
    outcome = verify(small("linear_attn"), written_here(lambda q, k, v: v.mul_(2)))
    assert isinstance(outcome, Failed)
    assert (outcome.reason, "modifies its inputs" in outcome.message) == ("error", True)


def test_a_call_that_raises_or_is_not_installed_crashes(torch, written_here) -> None:
    def raises(**given: object) -> None:
        raise MemoryError("two\nlines")

    with pytest.raises(CallError, match=r"MemoryError: two$") as caught:
        verify(small("linear_attn"), written_here(raises))
    assert caught.value.cause == "oom"
    with pytest.raises(CallError, match="ModuleNotFoundError"):
        verify(small("linear_attn"), Implementation("a", "no_such_package.at_all:f", "no-such-package"))
    with pytest.raises(OpError, match="has no 'f'"):
        verify(small("linear_attn"), Implementation("a", "operator:f", None))


def test_an_unsupported_direction_is_not_run(torch) -> None:
    gdn = find("chunk_gdn")
    case = gdn.case("b1-t64-h2-d16", "bf16", "forward-backward")
    with pytest.raises(OpError, match="backward"):
        verify(case, gdn.implementation("recurrent"), device="cpu")


def test_a_reference_that_overflows_is_an_error_not_a_pass(torch, written_here) -> None:
    case = small("linear_attn")
    nowhere = replace(case.op.reference, adapter=lambda target, given: (target(**given) / 0.0,))
    broken = replace(case, op=replace(case.op, reference=nowhere))
    outcome = verify(broken, written_here(lambda q, k, v: v))
    assert isinstance(outcome, Failed)
    assert (outcome.reason, "reference" in outcome.message) == ("error", True)


def test_outputs_of_timed_calls_are_rechecked(fla) -> None:
    case = small("gated_delta_rule", "forward-backward")
    chunk = case.op.implementation("chunk")
    call = bind(chunk, case)
    outputs = {given.seed: call(given) for given in draw_timed(case, "cpu")}
    outcome = recheck(case, chunk, outputs)
    assert isinstance(outcome, Passed)
    assert (outcome.phase, outcome.seeds) == ("timed-outputs", case.seeds)
    swapped = dict(zip(outputs, reversed(outputs.values()), strict=True))
    assert isinstance(recheck(case, chunk, swapped), Failed)
    nothing = recheck(case, chunk, {})
    assert isinstance(nothing, Failed)
    assert nothing.reason == "error"


def test_variables_that_weaken_other_gates_do_not_weaken_this_one(torch) -> None:
    program = (
        "from benchmarks.ops import gates\n"
        "from benchmarks.ops.registry import find\n"
        "case = find('qk_norm').case('t8-hq4-hkv2-d64', 'bf16', 'forward')\n"
        "tried = gates.mutation(case, case.op.implementation('torch'), device='cpu')\n"
        "print(tried.survivors, [setting.name for setting in gates.definition(case).variables], __debug__)"
    )
    weakened = {**os.environ, "PYTHONOPTIMIZE": "1", "FLA_CI_ENV": "1"}
    ran = subprocess.run([sys.executable, "-c", program], env=weakened, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "() ['FLA_CI_ENV', 'PYTHONOPTIMIZE'] False"


def test_the_definition_says_what_was_asked(torch) -> None:
    case = small("kda")
    environment: Mapping[str, str] = {"FLA_CI_ENV": "1", "HOME": "/root", "PYTHONOPTIMIZE": "1"}
    gate = definition(case, environ=environment)
    assert gate.name == "kda-fp32-forward"
    assert gate.reference is not None
    assert gate.reference.implementation == "benchmarks.ops.references:gated_delta_rule"
    assert [setting.name for setting in gate.variables] == ["FLA_CI_ENV", "PYTHONOPTIMIZE"]
    assert {tolerance.of: tolerance.limit for tolerance in gate.tolerances} == {
        "relative": case.tolerance.relative,
        "absolute": case.tolerance.absolute,
        "rms": case.tolerance.rms,
    }
    frozen = [entry.path for entry in gate.frozen]
    assert {"benchmarks/ops/gates.py", "benchmarks/ops/references.py", "benchmarks/ops/definitions/kda.py"} <= set(
        frozen
    )
    assert gate.mutants is None
    assert definition(small("kda", tokens=128), environ={}) == definition(case, environ={})


def test_every_frozen_module_exists() -> None:
    for name in gates._GATE_MODULES:
        assert (gates._REPOSITORY / f"benchmarks/ops/{name}.py").is_file()
