"""Owns mutations of class H: a correctness outcome that is missing, weak, or not what its counts say."""

from __future__ import annotations

import functools
import hashlib

from benchmarks.evidence.mutants.faults import SERVING
from benchmarks.evidence.mutants.mutation import Family, mutation
from benchmarks.evidence.mutants.workbench import Mutant, cells, recorded
from benchmarks.evidence.projects import LOGS
from benchmarks.evidence.records import Document

OTHER_DIGEST = "e" * 64

_recorded = functools.partial(recorded, "H")


def _tensor(record: Document, **changes: object) -> None:
    for cell in cells(record):
        for tensor in cell["gate"]["detail"]["tensors"]:
            tensor.update(changes)


def _timed_instead(mutant: Mutant, record: Document) -> None:
    """Put timings where the gate had failed, under a gate that is called passed with the counts it had."""
    index = next(at for at, cell in enumerate(record["cells"]) if cell["kind"] == "rejected")
    rejected = record["cells"][index]
    model = next(cells(record, "tuned"))
    gate = {**model["gate"], "detail": rejected["gate"]["detail"]}
    record["cells"][index] = {**model, "workload": rejected["workload"], "gate": gate}


def _no_gate(mutant: Mutant, record: Document) -> None:
    next(cells(record)).pop("gate")


def _gate(record: Document, **changes: object) -> None:
    record["gates"][0].update(changes)


def _control_disagrees(mutant: Mutant, record: Document) -> None:
    for cell in cells(record, "continuous"):
        control = cell["gate"]["detail"]["controls"][0]
        control["agreed"] = control["compared"] - mutant.rng.randint(1, 9)


def _low_agreement(mutant: Mutant, record: Document) -> None:
    for cell in cells(record, "fp8"):
        cell["gate"]["detail"]["agreed"] = int(cell["gate"]["detail"]["compared"] * mutant.drawn(0.01, 0.5, 3))


def _other_answers(mutant: Mutant, record: Document) -> None:
    for cell in cells(record, "fp8"):
        cell["further"][0]["detail"]["numerator"] = mutant.rng.randint(100, 500)


def _compared_nothing(mutant: Mutant, record: Document) -> None:
    for cell in cells(record):
        cell["gate"]["detail"] |= {"compared": 0, "agreed": 0, "prompts": 0, "prompts_equal": 0}


def _renamed_and_loosened(mutant: Mutant, record: Document) -> None:
    _gate(record, name="loose", tolerances=[{"of": "relative", "limit": 0.9}])
    for cell in record["cells"]:
        cell["gate"]["gate"] = "loose"


RECORDS = Family(
    (
        _recorded(
            "failed-cell-that-looks-passed",
            "EV302",
            "kernels/tile",
            23,
            "A cell whose gate failed is given timings and the word passed.",
            _timed_instead,
        ),
        _recorded(
            "counts-that-fail",
            "EV302",
            "kernels/fuse",
            23,
            "A gate is called passed, and its counts say otherwise.",
            lambda m, r: _tensor(r, mismatched=m.rng.randint(1, 900)),
        ),
        _recorded("gate-removed", "EV301", "kernels/fuse", 23, "A timed cell has no gate.", _no_gate),
        _recorded(
            "gate-null",
            "EV301",
            "kernels/fuse",
            23,
            "A timed cell's gate is null.",
            lambda m, r: r["cells"][0].update(gate=None),
        ),
        _recorded(
            "verification-not-kept",
            "EV312",
            "engine/norm",
            23,
            "A verify command ran, and what it said is not kept.",
            lambda m, r: _gate(r, command=["python", "-m", "synthetic.verify"]),
        ),
        _recorded(
            "gate-without-an-outcome",
            "EV312",
            "engine/norm",
            23,
            "A gate is named that no cell went through.",
            lambda m, r: r["gates"].append({**r["gates"][0], "name": "accuracy"}),
        ),
        _recorded(
            "gate-on-a-selection",
            "EV303",
            "engine/norm",
            None,
            "The gate of a claim ran on a selection.",
            lambda m, r: _gate(r, scope="partial", selection="the first prompt"),
        ),
        _recorded(
            "gate-of-another-tree",
            "EV304",
            "engine/norm",
            None,
            "The gate ran on other code than was measured.",
            lambda m, r: [
                r["sources"].append({**r["sources"][0], "name": "before"}),
                [c["gate"].update(source="before") for c in cells(r)],
            ],
        ),
        _recorded(
            "frozen-test-edited",
            "EV305",
            "kernels/fuse",
            None,
            "The test behind the gate was edited since the log before.",
            lambda m, r: _gate(r, frozen=[{"path": "synthetic/gate.py", "sha256": OTHER_DIGEST}]),
        ),
        _recorded(
            "frozen-test-forgotten",
            "EV305",
            "kernels/fuse",
            None,
            "The gate's test is not frozen any more.",
            lambda m, r: _gate(r, frozen=[]),
        ),
        _recorded(
            "tolerance-loosened",
            "EV305",
            "kernels/fuse",
            None,
            "A tolerance is looser than in the log before.",
            lambda m, r: _gate(r, tolerances=[{"of": "relative", "limit": m.drawn(0.02, 0.5, 3)}]),
        ),
        _recorded(
            "tolerance-gone",
            "EV305",
            "kernels/fuse",
            None,
            "The gate has no tolerance any more.",
            lambda m, r: _gate(r, tolerances=[]),
        ),
        _recorded(
            "gate-under-another-name",
            "EV305",
            "kernels/fuse",
            None,
            "A looser gate has another name than the one of the log before.",
            _renamed_and_loosened,
        ),
        _recorded(
            "tolerance-that-nothing-fails",
            "EV305 EV302",
            "kernels/tile",
            None,
            "A tolerance is so wide that nothing could fail it.",
            lambda m, r: _gate(r, tolerances=[{"of": "relative", "limit": float(m.rng.choice((5, 100, 10**9)))}]),
        ),
        _recorded(
            "agreement-that-nothing-fails",
            "EV305 EV302",
            "engine/norm",
            None,
            "A token gate asks for no agreement.",
            lambda m, r: _gate(r, tolerances=[{"of": "agreement", "limit": 0.0}]),
        ),
        _recorded(
            "errors-beyond-the-tolerance",
            "EV302 EV001",
            "kernels/tile",
            None,
            "The largest error lies beyond the tolerance, and no element is counted.",
            lambda m, r: _tensor(r, maximum_relative=m.drawn(0.5, 40)),
        ),
        _recorded(
            "agreement-below-the-gate",
            "EV302",
            "engine/quantised",
            16,
            "Tokens agree less than the gate asks for.",
            _low_agreement,
        ),
        _recorded(
            "accuracy-below-the-gate",
            "EV302",
            "engine/quantised",
            16,
            "Fewer answers are right than the gate allows.",
            _other_answers,
        ),
        _recorded("compared-nothing", "EV302", "engine/norm", None, "The gate compared no token.", _compared_nothing),
        _recorded(
            "code-compared-with-itself",
            "EV306",
            "kernels/fuse",
            None,
            "The reference of the gate is the code under test.",
            lambda m, r: _gate(
                r, reference={**r["gates"][0]["reference"], "implementation": "synthetic.ops:fused", "dtype": "bf16"}
            ),
        ),
        _recorded(
            "one-seed",
            "EV307",
            "kernels/fuse",
            None,
            "The gate compared one draw of its inputs.",
            lambda m, r: [c["gate"].update(seeds=[m.rng.randint(0, 99)] * m.rng.randint(1, 3)) for c in cells(r)],
        ),
        _recorded(
            "infinite-outputs",
            "EV308",
            "kernels/fuse",
            None,
            "Outputs were infinite, and a relative tolerance let them pass.",
            lambda m, r: _tensor(r, non_finite=m.rng.randint(1, 500), maximum_relative=None),
        ),
        _recorded(
            "nothing-finite-to-compare",
            "EV308",
            "kernels/fuse",
            None,
            "No finite element was compared.",
            lambda m, r: _tensor(r, maximum_absolute=None, maximum_relative=None),
        ),
        _recorded(
            "control-disagrees",
            "EV309",
            "engine/batching",
            None,
            "The same arm twice gives other tokens.",
            _control_disagrees,
        ),
        _recorded(
            "asserts-switched-off",
            "EV313",
            "engine/norm",
            None,
            "Asserts were off while the gate ran.",
            lambda m, r: r["provenance"]["variables"].append(
                {"name": m.rng.choice(("PYTHONOPTIMIZE", "FLA_CI_ENV", "TRITON_INTERPRET")), "value": "1"}
            ),
        ),
    )
)


@mutation("H", "EV412", "EV601", "EV602")
def baseline_that_failed_its_gate(mutant: Mutant) -> None:
    """The baseline of a claim failed its gate."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        index = next(at for at, cell in enumerate(record["cells"]) if cell["arm"] == "uncached")
        cell = record["cells"][index]
        failed = {
            "outcome": "failed",
            "gate": "parity",
            "source": "repository",
            "reason": "mismatch",
            "message": "tokens differ",
            "seeds": [7],
            "detail": cell["gate"]["detail"],
        }
        record["cells"][index] = {
            "kind": "rejected",
            "arm": cell["arm"],
            "workload": cell["workload"],
            "gate": failed,
            "further": [],
        }


@mutation("H", "EV601", "EV602", "EV406")
def candidate_that_was_not_tried(mutant: Mutant) -> None:
    """The candidate of a claim was skipped."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        index = next(at for at, cell in enumerate(record["cells"]) if cell["arm"] == "cached")
        cell = record["cells"][index]
        record["cells"][index] = {
            "kind": "skipped",
            "arm": cell["arm"],
            "workload": cell["workload"],
            "reason": "it took too long",
        }


@mutation("H", "EV602", "EV601", "EV613")
def accuracy_said_to_be_the_same(mutant: Mutant) -> None:
    """A claim says that accuracy stays the same, and the counts say that it does not."""
    mutant.swap(SERVING, "match: {metric: exact_match, expect: worse}", "match: {metric: exact_match, expect: same}")


@mutation("H", "EV312", fault=23)
def output_that_failed_kept_as_passed(mutant: Mutant) -> None:
    """The gate printed that it failed and exited with zero, and its cells are called passed."""
    log = mutant.log("engine/batching")
    text = (
        mutant.rng.choice(("3 failed, 21 passed in 9 s", "Verification failed", "E  AssertionError: 41 differ")) + "\n"
    )
    mutant.write(f"{LOGS}/{log}/gate.log", text)
    with mutant.record(log) as record:
        for artifact in record["artifacts"]:
            if artifact["path"] == "gate.log":
                artifact |= {"sha256": hashlib.sha256(text.encode()).hexdigest(), "bytes": len(text)}
