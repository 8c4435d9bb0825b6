"""Trials cover every op, and the interpreter judges a wrong kernel wrong and its own absence as no pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ops import interpreter, tiers
from benchmarks.ops.registry import find, ops
from benchmarks.ops.trials import TIERS, Trial, is_triton, lengths, obstacle, prepared, trials
from benchmarks.ops.verification import gate_file

ROOT = Path(__file__).resolve().parents[3]
ON_A_GPU_ONLY = {"flash_attn", "fused_attnres"}


@pytest.mark.parametrize("name", sorted(ops()))
def test_every_op_has_a_gate_file_that_names_it(name: str) -> None:
    assert f'OP = "{name}"' in gate_file(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(ops()))
def test_every_implementation_is_tried_somewhere_or_says_why_not(name: str) -> None:
    op = find(name)
    for entry in op.implementations:
        tried = [tier for tier in TIERS if obstacle(op, entry, tier) is None]
        assert tried or obstacle(op, entry, "A") == obstacle(op, entry, "B")
        assert not {"A", "B"} <= set(tried)


def test_seventeen_of_twenty_of_flas_ops_are_gated_in_the_interpreter_and_one_in_plain_torch() -> None:
    from tests.benchmarks.ops.test_registry import FLA

    interpreted = {name for name in FLA if any(trials(find(name), "B"))}
    plain = {name for name in FLA - interpreted if any(trials(find(name), "A"))}
    assert len(interpreted) == 17
    assert plain == {"naive_attnres", *ON_A_GPU_ONLY}
    for name in ON_A_GPU_ONLY:
        assert all(not is_triton(find(name).implementation(trial.implementation)) for trial in trials(find(name), "A"))


@pytest.mark.parametrize("tier", sorted(TIERS))
def test_trials_are_cases_of_three_seeds_with_names_of_their_own(tier) -> None:
    for op in ops().values():
        found = list(trials(op, tier))
        assert len({trial.id for trial in found}) == len(found)
        for trial in found:
            case, entry = prepared(trial)
            assert len(case.gate_seeds) == 3
            assert (case.op.device == "cuda") is (tier == "C")
            assert entry.obstacle(case.direction) is None
            if trial.layout == "packed":
                assert case.shape.size("T") == sum(lengths(trial))
        layouts = {trial.layout for trial in found}
        assert not found or {"seeds"} <= layouts


def test_the_packed_reference_is_the_reference_of_each_sequence(torch) -> None:
    from benchmarks.ops.calls import bind
    from benchmarks.ops.inputs import draw

    trial = Trial("chunk_gla", "recurrent", "B", "packed")
    case, _ = prepared(trial)
    given = draw(case, 0, "cpu")
    whole = bind(case.op.reference, case)(given)[0]
    first, second, third = lengths(trial)
    later = {name: tensor[:, first + second :].detach() for name, tensor in given.tensors.items()}
    alone = find("chunk_gla").reference
    expected = bind(alone, find("chunk_gla").case(f"b1-t{third}-h1-d16", "bf16", "forward"))
    torch.testing.assert_close(whole[:, first + second :], expected(type(given)(0, later, ()))[0])


@pytest.fixture(scope="module")
def process(torch):
    if (reason := interpreter.missing()) is not None:
        pytest.skip(reason)
    with interpreter.Interpreter("fla") as started:
        yield started


def test_a_right_kernel_passes_and_its_files_are_proved(process) -> None:
    answer = process.judge(Trial("rms_norm", "fla", "B", "forward"))
    assert answer.message == ""
    assert answer.code.startswith("fla: ")


def test_a_kernel_that_reads_strides_wrong_does_not_pass(process) -> None:
    # fla-core's softmax takes a strided input for a contiguous one, so its gate file leaves this trial out.
    wrong = Trial("softmax", "fla", "B", "strided")
    assert wrong not in list(trials(find("softmax"), "B"))
    assert "beyond the tolerance" in process.judge(wrong).message


def test_an_interpreter_that_dies_is_no_pass(torch) -> None:
    if (reason := interpreter.missing()) is not None:
        pytest.skip(reason)
    with interpreter.Interpreter() as started:
        started._process.kill()
        started._process.wait()
        assert "ended" in started.judge(Trial("rms_norm", "fla", "B", "forward")).message


def test_without_the_variable_nothing_is_judged(torch) -> None:
    program = "from benchmarks.ops import interpreter; interpreter.install()"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, env={"PATH": ""}
    )
    assert ran.returncode != 0
    assert "TRITON_INTERPRET=1 was not set" in ran.stderr


def test_another_triton_makes_the_tier_unavailable(monkeypatch) -> None:
    monkeypatch.setattr(interpreter, "TRIED", ("2.0",))
    assert "written for Triton 2.0" in (interpreter.missing() or "")
    with pytest.raises(interpreter.UnavailableError):
        interpreter.Interpreter()


def test_loop_integers_stay_integers_of_the_compiler() -> None:
    (number,) = interpreter._range(3, 4)
    assert (number.to(None), (number * 2 + 1).to(None), 7 - number, number < 4) == (3, 7, 4, True)


def test_tiers_are_told_without_torch() -> None:
    program = (
        "import sys; from benchmarks.ops import tiers; from benchmarks.ops.registry import ops\n"
        "[tiers.tiers(op) for op in ops().values()]\n"
        "sys.exit(f'{sorted(sys.modules)}' if {'torch', 'triton', 'fla'} & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_a_tier_that_is_not_here_says_why() -> None:
    for op in ops().values():
        for tier, reason in tiers.obstacles(op).items():
            assert (tier in tiers.tiers(op)) is not bool(reason)
    assert "compiled for GPUs" in tiers.obstacles(find("flash_attn"))["B"]
