"""Owns EV3: whether each number stands on a correctness gate that was full, fair, green and on the measured code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from evidence.checker.corpus import Corpus, Fault
from evidence.checker.facts import Facts
from evidence.checker.registry import corpus_rule, record_rule
from evidence.checker.rules.environment import field_at_fault
from evidence.diagnostics import Finding
from evidence.schema import (
    AccuracyDetail,
    Arm,
    Cell,
    Crashed,
    Failed,
    Gate,
    NumericDetail,
    Passed,
    Timed,
    TokensDetail,
    Tolerance,
    gate_holds,
)
from evidence.store import Loaded, Problem

_LEAST_SEEDS = 3
_TARGET = "target"
"""The setting by which a cell names what its arm ran, where the arm alone does not tell."""
_DENIED = (
    "FLA_CI_ENV",
    "FLA_TRIL_PRECISION",
    "FLA_USE_FAST_OPS",
    "NVIDIA_TF32_OVERRIDE",
    "PYTEST_ADDOPTS",
    "PYTHONOPTIMIZE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TRITON_INTERPRET",
)
_OFF = ("", "0", "false", "False")

_GATE = re.compile(r"/cells/[0-9]+/gate")
_OUTCOME = re.compile(r"/cells/[0-9]+/(?:gate|outcome|further/[0-9]+)")
_TAG = re.compile(r"/cells/[0-9]+/(?:gate|further/[0-9]+)/outcome")
_LABELLED = ("labelled passed, but", "a gate that compared nothing has not passed")
_FAILURE = re.compile(
    r"\b[1-9][0-9]* (?:failed|errors?|mismatch(?:es|ed)?)\b|^(?:FAILED|ERROR) .*|\bAssertionError\b"
    r"|\bTraceback \(most recent|\b[Vv]erif(?:y|ication) failed\b|\bFAIL(?:ED|URE)\b",
    re.MULTILINE,
)
_SIGNS_OF_FAILURE = (b"fail", b"error", b"mismatch", b"traceback")
"""What every such text holds in lower case: most outputs hold none, and need no search for patterns."""
_NOT_FINITE = "elements are not finite"

_Frozen: TypeAlias = Mapping[str, str]
_Limits: TypeAlias = Mapping[str, float]


def _lacks_gate(problem: Problem) -> bool:
    is_empty = "required property" in problem.message or "None is not" in problem.message
    return _GATE.fullmatch(field_at_fault(problem)) is not None and is_empty


def _is_mislabelled(problem: Problem) -> bool:
    if _TAG.fullmatch(problem.pointer):
        return True
    is_labelled = any(text in problem.message for text in _LABELLED)
    return is_labelled and _NOT_FINITE not in problem.message and _OUTCOME.match(problem.pointer) is not None


def _is_labelled_not_finite(problem: Problem) -> bool:
    return _NOT_FINITE in problem.message and _OUTCOME.match(problem.pointer) is not None


@record_rule("EV301", "ungated", waivable=False, owns=_lacks_gate)
def ungated(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A number stands on no correctness gate.

    ## What it checks
    Every cell with numbers has the outcome of a gate. A timed cell without one does not load; an imported cell may lack
    it, because most foreign files record none.

    ## Why it matters
    A kernel that returns early is fast. Only a gate tells it from a good one.

    ## How to fix it
    Measure again with a runner that gates before it times, or mark the log `do_not_cite` in a claims file.
    """
    return corpus.fault(
        loaded,
        (
            Fault(f"no verification of {cell.arm!r} on {cell.workload!r} is recorded", ("cells", index, "outcome"))
            for index, cell in corpus.facts(loaded).imported
            if cell.outcome is None and (cell.reported or cell.processes)
        ),
    )


@record_rule("EV302", "red-gate", waivable=False, owns=_is_mislabelled, stands=True)
def red_gate(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A number stands on a gate that its own counts show as failed.

    ## What it checks
    The verdict of every gate is computed again from its counts and tolerances, on every record, cited or not; the label
    `passed` is never believed. An imported cell with a failed gate and numbers is found too.

    ## Why it matters
    The label is one word in a file. The counts are what was observed.

    ## How to fix it
    Mend the code under test and measure again; a cell whose gate failed has no timings.
    """
    facts = corpus.facts(loaded)
    return corpus.fault(loaded, _red(facts))


def _red(facts: Facts) -> Iterator[Fault]:
    imported = {index: cell for index, cell in facts.imported}
    for parts, arm, outcome in facts.outcomes:
        if isinstance(outcome, Passed):
            if reason := gate_holds(facts.gates[outcome.gate], outcome):
                yield Fault(f"gate {outcome.gate!r} of {arm!r} is labelled passed, but {reason}", parts)
        elif parts[-1] == "outcome" and _has_numbers(imported[int(parts[1])]):
            yield Fault(f"gate {outcome.gate!r} of {arm!r} failed ({outcome.reason}), and there are numbers", parts)


def _has_numbers(cell: object) -> bool:
    return bool(getattr(cell, "reported", ()) or getattr(cell, "processes", ()))


@corpus_rule("EV303", "partial-gate")
def partial_gate(corpus: Corpus) -> Iterator[Finding]:
    """A claim stands on a gate that ran on a selection only.

    ## What it checks
    No gate of a log that a claim speaks of is partial. Tables may show such a log: a selection is a signal.

    ## Why it matters
    The cases left out are where a change breaks.

    ## How to fix it
    Run the whole gate and measure again, or show the log in a table without a claim.
    """
    for log in sorted(corpus.memory.partial & corpus.stated.keys()):
        if not corpus.is_set_aside(log):
            yield from _partial(corpus, corpus.store.load(log))


def _partial(corpus: Corpus, loaded: Loaded) -> Iterable[Finding]:
    used = {outcome.gate for _, _, outcome in corpus.facts(loaded).outcomes if isinstance(outcome, Passed)}
    return corpus.fault(
        loaded,
        (
            Fault(f"gate {gate.name!r} ran on a selection only: {gate.selection}", ("gates", index, "selection"))
            for index, gate in enumerate(loaded.record.gates)
            if gate.scope == "partial" and gate.name in used
        ),
    )


@record_rule("EV304", "gate-other-source")
def gate_other_source(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The gate ran on other code than was measured.

    ## What it checks
    The source that each passed gate names as the tree under test is the source of the arm it licenses.

    ## Why it matters
    A gate that passed on one tree says nothing of the speed of another.

    ## How to fix it
    Run the gate on the measured tree.
    """
    facts = corpus.facts(loaded)
    return corpus.fault(
        loaded,
        (
            Fault(
                f"gate {outcome.gate!r} of {arm!r} ran on {outcome.source!r}, not on {facts.arms[arm].source!r}", parts
            )
            for parts, arm, outcome in facts.outcomes
            if isinstance(outcome, Passed) and outcome.source != facts.arms[arm].source
        ),
    )


@record_rule("EV305", "gate-changed")
def gate_changed(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The gate is weaker than, or other than, the one of the series' previous log, or so weak that nothing fails it.

    ## What it checks
    Each gate of the log before this one of the series is there under its name, has the same digests for its frozen
    files, none of them gone, and no tolerance smaller than now. No tolerance is one that nothing could fail: an error
    as large as the reference, agreement in no token, the loss of every right answer.

    ## Why it matters
    A test that was edited together with the code it tests proves neither.

    ## How to fix it
    Restore the gate and measure again. If the gate had to change, start a series of its own for it.
    """
    before, gates = corpus.gates_before or ("", ())
    known = {gate.name: gate for gate in gates}
    faults = []
    for index, gate in enumerate(loaded.record.gates):
        old = known.get(gate.name)
        if old is not None and (how := _weakening(old, gate)):
            faults.append(Fault(f"gate {gate.name!r}: {how} since {before}", ("gates", index)))
        for at, tolerance in enumerate(gate.tolerances):
            if _is_vacuous(tolerance):
                message = f"gate {gate.name!r}: nothing could fail a tolerance of {tolerance.limit:g} ({tolerance.of})"
                faults.append(Fault(message, ("gates", index, "tolerances", at)))
    gone = sorted(known.keys() - {gate.name for gate in loaded.record.gates})
    if gone:
        faults.append(Fault(f"gate {gone[0]!r} of {before} is gone", ("gates",)))
    return corpus.fault(loaded, faults)


def _is_vacuous(tolerance: Tolerance) -> bool:
    if tolerance.of == "agreement":
        return tolerance.limit <= 0
    return tolerance.of != "absolute" and tolerance.limit >= 1


def _weakening(old: Gate, new: Gate) -> str:
    frozen = {path.path: path.sha256 for path in new.frozen}
    for path in old.frozen:
        if frozen.get(path.path) != path.sha256:
            return f"{path.path} {'changed' if path.path in frozen else 'is no longer frozen'}"
    limits = {tolerance.of: tolerance.limit for tolerance in new.tolerances}
    for tolerance in old.tolerances:
        limit = limits.get(tolerance.of)
        is_floor = tolerance.of == "agreement"
        if limit is None or (limit < tolerance.limit if is_floor else limit > tolerance.limit):
            now = "gone" if limit is None else f"{limit:g}"
            return f"the {tolerance.of} tolerance was {tolerance.limit:g} and is {now}"
    return ""


@record_rule("EV306", "self-referenced-gate")
def self_referenced_gate(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The gate compares the code under test with itself.

    ## What it checks
    The reference of a gate is not the implementation of the candidate or alternative it licenses, from the same source
    in the same precision. Where an arm stands for one implementation an op, it is the `target` that the cell says it
    ran. Baselines may be references, and so may the same code under other switches or in a higher precision.

    ## Why it matters
    Code always agrees with itself, wrong or right.

    ## How to fix it
    Name a reference that was written apart from the code under test.
    """
    facts = corpus.facts(loaded)
    faults = []
    for parts, name, outcome in facts.outcomes:
        arm, gate = facts.arms[name], facts.gates[outcome.gate]
        cell = facts.record.cells[int(parts[1])]
        if isinstance(outcome, Passed) and _is_own_reference(facts, arm, gate, cell):
            faults.append(Fault(f"gate {gate.name!r} compares {name!r} with itself: {_ran(arm, cell)}", parts))
    return corpus.fault(loaded, faults)


def _is_own_reference(facts: Facts, arm: Arm, gate: Gate, cell: Cell) -> bool:
    reference = gate.reference
    if reference is None or arm.role not in ("candidate", "alternative") or arm.switches:
        return False
    dtype = getattr(facts.workloads[cell.workload], "dtype", reference.dtype)
    return (reference.implementation, reference.source, reference.dtype) == (_ran(arm, cell), arm.source, dtype)


def _ran(arm: Arm, cell: Cell) -> str:
    """Return what an arm ran in a cell: what the cell says, where the arm stands for one implementation an op."""
    told = {setting.name: setting.value for setting in cell.ran} if isinstance(cell, Timed) else {}
    return told.get(_TARGET, arm.implementation)


@record_rule("EV307", "too-few-seeds")
def too_few_seeds(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A numeric gate compared fewer than three draws of its inputs.

    ## What it checks
    Each numeric gate that passed before timing names at least three different seeds. The outputs of timed calls are
    compared once more on the inputs that were timed, however many those are.

    ## Why it matters
    One lucky draw can keep a wrong kernel within its tolerance.

    ## How to fix it
    Run the gate with three seeds or more.
    """
    return corpus.fault(
        loaded,
        (
            Fault(
                f"gate {one.gate!r} of {arm!r} compared {len(set(one.seeds))} of {_LEAST_SEEDS} seeds",
                (*parts, "seeds"),
            )
            for parts, arm, one in corpus.facts(loaded).outcomes
            if isinstance(one, Passed)
            and one.phase == "before"
            and isinstance(one.detail, NumericDetail)
            and len(set(one.seeds)) < _LEAST_SEEDS
        ),
    )


@record_rule("EV308", "non-finite-output", owns=_is_labelled_not_finite)
def non_finite_output(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A gate passed although outputs were not finite, or no finite one could be compared.

    ## What it checks
    A passed numeric gate has no element that is not finite; a record with one does not load. Each of its tensors has a
    largest error, absolute or relative: a tensor without either held nothing to compare.

    ## Why it matters
    A relative tolerance lets infinity match anything, and NaN is never larger than a limit.

    ## How to fix it
    Mend the code, or the inputs that overflow it, and gate again.
    """
    faults = []
    for parts, arm, outcome in corpus.facts(loaded).outcomes:
        if isinstance(outcome, Passed) and isinstance(outcome.detail, NumericDetail):
            for index, tensor in enumerate(outcome.detail.tensors):
                if tensor.maximum_absolute is None and tensor.maximum_relative is None:
                    message = f"gate {outcome.gate!r} of {arm!r} has no finite element of {tensor.name!r} compared"
                    faults.append(Fault(message, (*parts, "detail", "tensors", index)))
    return corpus.fault(loaded, faults)


@record_rule("EV309", "control-failed")
def control_failed(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A control row of a token gate does not agree wholly.

    ## What it checks
    Each control (the same arm twice, copies of one prompt in one batch, a control arm) scores 1.000. Claims with a
    control reading that moved are reported here as well.

    ## Why it matters
    Copies of one prompt that differ within a batch mean that state leaks; the agreement of the other rows then says
    nothing about the change under test.

    ## How to fix it
    Find what differs between identical rows before attributing anything to the arm.
    """
    faults = []
    for parts, arm, outcome in corpus.facts(loaded).outcomes:
        if isinstance(outcome, Passed) and isinstance(outcome.detail, TokensDetail):
            for index, control in enumerate(outcome.detail.controls):
                if control.agreed < control.compared:
                    share = f"{control.agreed} of {control.compared} tokens"
                    message = (
                        f"control {control.kind!r} of {arm!r} agrees in {share}, so its column cannot be attributed"
                    )
                    faults.append(Fault(message, (*parts, "detail", "controls", index)))
    return corpus.fault(loaded, faults)


@record_rule("EV310", "mechanism-not-fired")
def mechanism_not_fired(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """An arm is named for a mechanism that never fired.

    ## What it checks
    Every counter that an arm lists under `mechanism` is positive in each of its timed processes.

    ## Why it matters
    An arm called "prefix cache" without one hit measures nothing but its overhead, under a name that promises more.

    ## How to fix it
    Configure the feature so that it takes effect on this workload, or measure a workload that it is for.
    """
    facts = corpus.facts(loaded)
    faults = []
    for index, cell in facts.timed:
        for counter in facts.arms[cell.arm].mechanism:
            for at, process in enumerate(cell.processes):
                count = next((one.count for one in process.counters if one.name == counter), None)
                if not count:
                    how = "was not counted" if count is None else "is zero"
                    message = f"{counter!r} of {cell.arm!r} on {cell.workload!r} {how} in process {process.index}"
                    faults.append(Fault(message, ("cells", index, "processes", at, "counters")))
                    break
    return corpus.fault(loaded, faults)


@record_rule("EV311", "undeclared-output-shift")
def undeclared_output_shift(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """An arm gives other outputs than its reference and does not say that it may.

    ## What it checks
    An arm with `outputs: same` agrees in every token except at ties of the reference, and has the reference's value of
    every accuracy measure.

    ## Why it matters
    A faster arm that says something else is another product; a reader must be told before the number.

    ## How to fix it
    Declare `may-differ` in the runner and show the agreement beside the speed, or mend the arm.
    """
    facts = corpus.facts(loaded)
    return corpus.fault(
        loaded,
        (
            Fault(f"{arm!r} declares the same outputs, but {how}", parts)
            for parts, arm, outcome in facts.outcomes
            if isinstance(outcome, Passed) and facts.arms[arm].outputs == "same" and (how := _shift(outcome))
        ),
    )


def _shift(outcome: Passed) -> str:
    detail = outcome.detail
    if isinstance(detail, TokensDetail) and detail.agreed < detail.compared:
        ties = sum(divergence.is_tie for divergence in detail.divergences)
        if ties < max(1, detail.prompts - detail.prompts_equal, len(detail.divergences)):
            return f"{detail.agreed} of {detail.compared} tokens agree"
    if isinstance(detail, AccuracyDetail):
        value, reference = (
            detail.numerator / detail.denominator,
            detail.reference_numerator / detail.reference_denominator,
        )
        if value != reference:
            return f"its {detail.measure} is {value:.4g}, the reference's {reference:.4g}"
    return ""


@record_rule("EV312", "verification-not-recorded")
def verification_not_recorded(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A gate is named, and what it said is not kept.

    ## What it checks
    Every gate of the record has an outcome in some cell, and one that ran as a command has its output among the
    artifacts. A gate whose cells all raised inside it has none to show: those cells say so as crashes of phase gate.
    An output that tells of failures belongs to a gate of which some cell was rejected or crashed.

    ## Why it matters
    A flag such as `--verify` that prints its outcome and exits with zero leaves failed cells looking like passed ones.

    ## How to fix it
    Let the runner keep the gate's output and outcome, and measure again.
    """
    facts = corpus.facts(loaded)
    used = {outcome.gate for _, _, outcome in facts.outcomes}
    raised = any(isinstance(cell, Crashed) and cell.phase == "gate" for cell in loaded.record.cells)
    faults = []
    for index, gate in enumerate(loaded.record.gates):
        if gate.name not in used and not raised:
            faults.append(Fault(f"gate {gate.name!r} has no outcome in any cell", ("gates", index)))
        elif gate.command and gate.log is None:
            faults.append(Fault(f"the output of gate {gate.name!r} was not kept", ("gates", index, "log")))
        elif gate.log is not None and not raised and not _has_failed(facts, gate.name):
            said = _failure_in(corpus.content(str(loaded.entry.path.parent / gate.log)) or b"")
            if said:
                message = f"the output of gate {gate.name!r} says {said!r}, and no cell that it failed"
                faults.append(Fault(message, ("gates", index, "log")))
    return corpus.fault(loaded, faults)


def _has_failed(facts: Facts, gate: str) -> bool:
    return any(isinstance(outcome, Failed) and outcome.gate == gate for _, _, outcome in facts.outcomes)


def _failure_in(output: bytes) -> str:
    """Return what in the output of a gate tells of a failure; empty if nothing does."""
    lowered = output.lower()
    if not any(sign in lowered for sign in _SIGNS_OF_FAILURE):
        return ""
    found = _FAILURE.search(output.decode(errors="replace"))
    return found[0].strip()[:80] if found else ""


@record_rule("EV313", "denied-gate-variable")
def denied_gate_variable(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A variable that weakens gates was set.

    ## What it checks
    None of the variables that make a gate vacuous or gate other arithmetic than is timed was set, for the gate or for
    the run: PYTHONOPTIMIZE (asserts vanish), FLA_CI_ENV (an output scaled by 1.02 passes), PYTEST_ADDOPTS,
    TRITON_INTERPRET and their like.

    ## Why it matters
    The gate then passes for the wrong reason, on a machine whose shell happens to set it.

    ## How to fix it
    Unset the variable and run gate and benchmark again.
    """
    record = loaded.record
    places = [(("gates", index), gate.variables) for index, gate in enumerate(record.gates)]
    if record.provenance is not None:
        places.append((("provenance",), record.provenance.variables))  # type: ignore[arg-type]
    return corpus.fault(
        loaded,
        (
            Fault(f"{setting.name} was set", (*parts, "variables", at))
            for parts, variables in places
            for at, setting in enumerate(variables)
            if setting.name in _DENIED and setting.value not in _OFF
        ),
    )
