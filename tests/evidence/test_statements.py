"""Claims as shown: worked sections over synthetic logs, and the one thing that keeps a broken claim from standing."""

# ruff: noqa: E501 - a row of the table is one case

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from evidence.claims import Placed
from evidence.errors import ItemError, RecordError
from evidence.schema import Record, Setting, Work
from evidence.schema.claims import Claim, Status
from evidence.statements import build
from evidence.statistics import Verdict
from evidence.store import Loaded
from evidence.views import Banner, Statement
from tests.factories import (
    engine_record,
    loader,
    on_device,
    record,
    sweep,
    timed,
    workload,
)


def built(
    claim: Mapping[str, Any], *records: Record, log_status: Mapping[str, Status] | None = None, id_: str = "the-claim"
) -> Statement:
    placed = Placed(id_, Claim.model_validate(dict(claim)), "docs/claims/page.yml", {(): 2})
    return build(placed, loader(*records), log_status or {})


def refused(claim: Mapping[str, Any], *records: Record, log_status: Mapping[str, Status] | None = None) -> ItemError:
    with pytest.raises(ItemError) as caught:
        built(claim, *records, log_status=log_status)
    return caught.value


# A win with its interval.

WIN: dict[str, Any] = {
    "statement": "On {device}, a {scenario} batch of {requests} requests finishes {ratio} sooner with continuous batching; mean latency is {latency.ratio} better, and the static arm decodes {waste} tokens that nobody asked for.",
    "series": "engine/continuous_toy",
    "metric": "wall_time",
    "baseline": "static",
    "candidate": "continuous",
    "where": {"scenario": "skewed"},
    "expect": "better",
    "also": {
        "latency": {"metric": "latency.mean", "expect": "better"},
        "waste": {"metric": "wasted_tokens", "arm": "static"},
    },
    "mechanism": {"text": "Freed slots take waiting requests instead of padding.", "evidence": "timeline"},
    "limitations": ["arrival times are synthetic"],
}  # fmt: skip


def test_a_win_with_its_interval() -> None:
    found = built(WIN, engine_record())
    assert found.text == (
        "On Synthetic GPU A, a skewed batch of 8 requests finishes 1.25× sooner with continuous batching; "
        "mean latency is 1.25× better, and the static arm decodes 128 tokens that nobody asked for."
    )
    assert (found.verdict, found.word) == (Verdict.BETTER, "FASTER")
    assert found.headline is not None
    assert found.headline.shown is not None
    assert found.headline.shown.value == "1.25×"
    parts = found.note.split("; ")
    assert parts[0].startswith("FASTER, 1.25× (95 % 1.2")
    assert parts[0].endswith(", n 9, 1 of 2 cells")
    assert parts[1].startswith("latency: FASTER, 1.25× (95 % ")
    assert parts[2] == "waste: 128 (exact), n 9, 1 of 2 cells"
    assert found.short_note == parts[0]
    assert found.mechanism == "Freed slots take waiting requests instead of padding. (timeline)"
    assert (found.kind, found.device, found.date) == ("engine", "Synthetic GPU A", "2026-09-01")
    assert dict(found.stance)["concurrency"] == "8 requests at once"
    (fold,) = found.evidence
    assert fold.log == "engine/continuous_toy_20260902"
    assert "arrival times are synthetic" in fold.limitations
    assert found.banner is None
    assert found.id == "the-claim"


# A loss, and a verdict that flips across devices.


def by_device() -> tuple[Record, Record]:
    sizes = (1, 8, 64, 512)
    before = dict.fromkeys(sizes, 1e-3)
    on_l4 = {1: 0.66e-3, 8: 0.68e-3, 64: 0.7e-3, 512: 1.25e-3}
    on_h200 = {1: 1.22e-3, 8: 1.28e-3, 64: 1.35e-3, 512: 1.9e-3}
    return (
        sweep({"bf16": before, "w8a16": on_l4}, "kernels/w8a16_l4_20260901", control_of="bf16", hosts=on_device("NVIDIA L4")),
        sweep({"bf16": before, "w8a16": on_h200}, "kernels/w8a16_h200_20260901", control_of="bf16", hosts=on_device("NVIDIA H200")),
    )  # fmt: skip


FLIPS: dict[str, Any] = {
    "statement": "At {N} rows weight-only fp8 is {ratio.range} on {device} and {h200.ratio.range} on {h200.device}; above, both devices lose.",
    "series": "kernels/w8a16_l4",
    "metric": "time",
    "baseline": "bf16",
    "candidate": "w8a16",
    "where": {"N": [1, 8, 64]},
    "expect": "better",
    "also": {
        "h200": {"series": "kernels/w8a16_h200", "expect": "worse"},
        "wide": {"where": {"N": 512}, "expect": "worse"},
        "h200_wide": {"series": "kernels/w8a16_h200", "where": {"N": 512}, "expect": "worse"},
    },
    "mechanism": {"text": "One device waits for weight bytes; the other for the unpacking.", "evidence": "roofline"},
}  # fmt: skip


def test_a_verdict_that_flips_across_devices() -> None:
    found = built(FLIPS, *by_device())
    assert found.text == (
        "At 1, 8 and 64 rows weight-only fp8 is 1.43× to 1.52× on NVIDIA L4 "
        "and 0.74× to 0.82× on NVIDIA H200; above, both devices lose."
    )
    assert found.word == "FASTER"
    assert found.device == "NVIDIA L4, NVIDIA H200"
    assert len(found.evidence) == 2
    # Whatever is worse is told in the short note too.
    assert [part.split(":")[0] for part in found.short_note.split("; ")[1:]] == ["h200", "wide", "h200_wide"]
    assert "3 slower, geometric mean" in found.note
    assert found.headline is not None
    assert found.headline.note == "geometric mean of 3 cells: 3 faster"


@pytest.mark.parametrize(
    ("changes", "code", "parts"),
    [
        ({"where": {"N": [1, 8, 64, 512]}}, "EV602", ("expect",)),
        ({"also": {**FLIPS["also"], "wide": {"where": {"N": 512}, "expect": "better"}}}, "EV602", ("also", "wide", "expect")),
        ({"also": {**FLIPS["also"], "wide": {"where": {"N": 1024}, "expect": "worse"}}}, "EV601", ("also", "wide", "where", "N")),
    ],
)  # fmt: skip
def test_an_assertion_in_words_is_held_by_its_reading(
    changes: dict[str, Any], code: str, parts: tuple[str, ...]
) -> None:
    error = refused({**FLIPS, **changes}, *by_device())
    assert (error.code, error.parts) == (code, parts)


# A geometric mean with its control.


def fusion(control: float = 1e-2) -> Record:
    loads = [
        workload(f"{model}-{batch}", index + 1, parameters=(Setting(name="model", value=model), Setting(name="batch", value=batch)))
        for index, (model, batch) in enumerate([("toy-3b", "1"), ("toy-3b", "8"), ("toy-9b", "1"), ("toy-9b", "8"), ("control-1b", "1"), ("control-1b", "8")])
    ]  # fmt: skip
    fused = {"toy-3b": 0.95e-2, "toy-9b": 0.94e-2, "control-1b": control}
    cells = [
        timed(arm, load.name, median_s=fused[load.name.rsplit("-", 1)[0]] if arm == "fused" else 1e-2, slot=slot, spread=0.0005)
        for slot, arm in enumerate(("eager", "fused", "eager-again"))
        for load in loads
    ]  # fmt: skip
    return record("engine/norm_fusion_20260901", workloads=tuple(loads), cells=tuple(cells))


FUSION: dict[str, Any] = {
    "statement": "Fusing the norm gives {ratio.geomean} in time on {device} (geometric mean over {model}, {tally}); the control model, which lacks the layer, stays within {control.ratio.range}.",
    "series": "engine/norm_fusion",
    "metric": "time",
    "baseline": "eager",
    "candidate": "fused",
    "where": {"model": ["toy-3b", "toy-9b"]},
    "expect": "better",
    "also": {"control": {"where": {"model": "control-1b"}, "expect": "same"}},
    "mechanism": {"unknown": "two launches fewer a layer; no profile was taken"},
}  # fmt: skip


def test_a_geometric_mean_with_its_control() -> None:
    found = built(FUSION, fusion())
    assert found.text == (
        "Fusing the norm gives 1.06× in time on Synthetic GPU A (geometric mean over toy-3b and toy-9b, 4 faster); "
        "the control model, which lacks the layer, stays within 1.00×."
    )
    main, control = found.note.split("; ")
    assert re.fullmatch(r"4 faster, geometric mean 1\.06× \(95 % 1\.0\d+–1\.0\d+\), n 9, 4 of 6 cells", main)
    assert control.startswith("control: 2 same, geometric mean 1.00×")


def test_a_control_that_moved_is_the_first_thing_said_and_its_fix_works() -> None:
    error = refused(FUSION, fusion(0.93e-2))
    assert (error.code, error.parts) == ("EV309", ("also", "control"))
    assert error.message.startswith("the control moved (2 faster, geometric mean 1.08× (95 % ")
    assert error.fix == "say expect: inconclusive, or measure again"
    also = {"control": {"where": {"model": "control-1b"}, "expect": "better"}}
    honest = {**FUSION, "expect": "inconclusive", "also": also}
    del honest["mechanism"]
    found = built(honest, fusion(0.93e-2))
    assert (found.verdict, found.word) == (Verdict.INCONCLUSIVE, "INCONCLUSIVE")
    assert "the control moved" in found.note
    assert refused({**honest, "expect": {"better": 4}}, fusion(0.93e-2)).code == "EV309"
    assert refused({**honest, "expect": "same"}, fusion(0.93e-2)).code == "EV406"


def test_an_arm_of_role_control_is_a_control_too() -> None:
    also = {"control": {"candidate": "eager-again", "expect": "same"}}
    found = built({**FUSION, "also": also}, fusion())
    assert "control: 4 same" in found.note


def test_a_minimum_effect_that_was_raised_is_told() -> None:
    noisy = [timed("eager-again", c.workload, median_s=1.03e-2, slot=2, spread=0.0005) if c.arm == "eager-again" else c for c in fusion().cells]  # fmt: skip
    found = built({**FUSION, "also": {}, "statement": "x"}, fusion().model_copy(update={"cells": tuple(noisy)}))
    assert "minimum effect raised to 3." in found.note
    assert "by the A/A arm" in found.note
    assert found.headline is not None
    assert found.headline.effect > 0.03


# What keeps a claim from standing.

SIMPLE: dict[str, Any] = {
    "statement": "Fusing is {ratio} faster.",
    "series": "kernels/toy",
    "metric": "time",
    "baseline": "eager",
    "candidate": "fused",
    "expect": "better",
    "mechanism": {"unknown": "nothing was profiled"},
}


def test_the_clean_twin_stands() -> None:
    assert built(SIMPLE, record()).text == "Fusing is 1.25× faster."


@pytest.mark.parametrize(
    ("changes", "code", "parts", "message"),
    [
        ({"mechanism": None}, "EV613", ("mechanism",), "FASTER without a mechanism"),
        ({"mechanism": {"text": "x", "evidence": "profile"}}, "EV613", ("mechanism", "evidence"), "no evidence 'profile' in kernels/toy_20260901"),
        ({"mechanism": {"text": "x", "evidence": "a hunch"}}, "EV613", ("mechanism", "evidence"), "no evidence 'a hunch'"),
        ({"mechanism": {"unknown": "It moves 12 bytes."}}, "EV622", ("mechanism", "unknown"), "'12' is typed into the mechanism"),
        ({"mechanism": {"unknown": "It {gains}."}}, "EV622", ("mechanism", "unknown"), "{gains} is neither"),
        ({"mechanism": {"unknown": "3 profilers"}}, "EV622", ("mechanism", "unknown"), "'3' is typed into the mechanism"),
        ({"statement": "Fusing is 1.25x faster."}, "EV622", ("statement",), "'1.25x' is typed into the statement"),
        ({"statement": "On Synthetic GPU A it is {ratio}."}, "EV622", ("statement",), "the device 'Synthetic GPU A' is typed"),
        ({"statement": "It is always {ratio}."}, "EV604", ("statement",), "'always' is wider"),
        ({"statement": "Up to {ratio}."}, "EV604", ("statement",), "'up to' before {ratio}"),
        ({"statement": "{ratio.max}"}, "EV604", ("statement",), "a best case never stands alone"),
        ({"statement": "{rato}"}, "EV622", ("statement",), "{rato} is neither"),
        ({"statement": "{ratio"}, "EV622", ("statement",), "a brace without its other"),
        ({"limitations": ["fine", "measured on 1 day"]}, "EV622", ("limitations", 1), "'1' is typed into the limitations"),
        ({"limitations": ["on {divice}"]}, "EV622", ("limitations", 0), "{divice} is neither"),
        ({"status": Status(do_not_cite="fan off")}, "EV612", ("status",), "marked do not cite: fan off"),
        ({"expect": "worse"}, "EV602", ("expect",), "expect is worse"),
    ],
)  # fmt: skip
def test_the_first_thing_that_is_wrong(
    changes: dict[str, Any], code: str, parts: tuple[Any, ...], message: str
) -> None:
    error = refused({**SIMPLE, **changes}, record())
    assert (error.code, error.parts) == (code, parts)
    assert message in error.message
    assert error.fix


def test_an_arm_that_no_reading_reads_is_not_spoken_of() -> None:
    three = sweep({"eager": {1: 1e-3}, "fused": {1: 0.8e-3}, "wide": {1: 0.9e-3}})
    claim = {**SIMPLE, "series": "kernels/sweep", "statement": "Unlike wide, fused is {ratio} faster than eager."}
    error = refused(claim, three)
    assert (error.code, error.parts, error.message) == (
        "EV602",
        ("statement",),
        "the statement names 'wide', which no reading reads",
    )
    assert built({**claim, "also": {"other": {"arm": "wide"}}}, three).word == "FASTER"
    for harmless in ("a wider tile is {ratio} faster", "eager-again aside, {ratio}", "extra-wide tiles: {ratio}"):
        assert built({**claim, "statement": harmless, "also": {"aa": {"arm": "eager-again"}}}, three).word == "FASTER"


def test_a_mechanism_need_not_be_known_but_its_absence_is_told() -> None:
    found = built({**SIMPLE, "mechanism": {"unknown": "a profile showed nothing on {device}"}}, record())
    assert found.mechanism == "Mechanism not established: a profile showed nothing on Synthetic GPU A"


def test_same_and_inconclusive_need_no_mechanism() -> None:
    same = sweep({"eager": {1: 1e-3}, "fused": {1: 1e-3}})
    claim = {**SIMPLE, "series": "kernels/sweep", "expect": "same", "mechanism": None, "statement": "It is {verdict}."}
    found = built(claim, same)
    assert (found.text, found.mechanism, found.word) == ("It is SAME.", "", "SAME")
    told = built({**claim, "mechanism": SIMPLE["mechanism"]}, same).mechanism
    assert told == "Mechanism not established: nothing was profiled"


ROOFLINE = {**SIMPLE, "mechanism": {"text": "It moves fewer bytes.", "evidence": "roofline"}}


def test_a_roofline_says_what_bounds_the_work_and_how_much_each_arm_reaches() -> None:
    work = (Work(of="flop", count=10**9), Work(of="bytes", count=4 * 10**9))
    timed_at = {"eager": {1: 2e-3, 8: 4e-3}, "fused": {1: 1e-3, 8: 1e-3}}
    loads = (workload("n1", 1, work=work), workload("n8", 8, work=work))
    log = sweep(timed_at, hosts=on_device("NVIDIA H200"), workloads=loads)
    claim = {**ROOFLINE, "series": "kernels/sweep", "statement": "Fusing is {ratio.range} faster."}
    assert built(claim, log).mechanism == (
        "It moves fewer bytes. (roofline: memory-bound, fused reaches 83 % of it, eager reaches 21 to 42 % of it; "
        "datasheet: NVIDIA H200 SXM, dense)"
    )


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (record(hosts=on_device("NVIDIA H200"), workloads=(workload(work=()),)), "the log states no work"),
        (record(), "no peak of Synthetic GPU A in bf16 is known"),
    ],
)
def test_a_roofline_needs_work_and_a_peak(log: Record, said: str) -> None:
    error = refused(ROOFLINE, log)
    assert error.code == "EV613"
    assert error.message.startswith(said)


def test_a_reading_as_mechanism_must_have_fired() -> None:
    fired = {**WIN, "mechanism": {"text": "It stops padding.", "evidence": "waste"}}
    assert built(fired, engine_record()).mechanism == "It stops padding. (waste)"
    also = {**WIN["also"], "waste": {"metric": "wasted_tokens", "arm": "continuous"}}
    error = refused({**fired, "also": also}, engine_record())
    assert (error.code, error.parts, error.message) == ("EV310", ("mechanism", "evidence"), "waste is zero")
    compared = {**fired, "mechanism": {"text": "It waits less.", "evidence": "latency"}}
    assert built(compared, engine_record()).mechanism.endswith("(latency)")
    assert built({**WIN, "mechanism": {"text": "x", "evidence": "profile"}}, engine_record()).mechanism == "x (profile)"


def test_a_log_that_states_no_limit_needs_one_from_the_author() -> None:
    two = (on_device("Synthetic GPU A")[0].accelerators[0],) * 2
    hosts = (on_device("Synthetic GPU A")[0].model_copy(update={"accelerators": two}),)
    ranks = record().arms[0].ranks
    arms = tuple(
        a.model_copy(update={"ranks": (*ranks, ranks[0].model_copy(update={"device": 1}))}) for a in record().arms
    )
    from evidence.schema import ForeignWorkload

    load = ForeignWorkload(name="n1024", role="target", work=(), settings=())
    bare = record(hosts=hosts, arms=arms, workloads=(load,), limitations=())
    claim = {**SIMPLE, "mechanism": {"unknown": "nothing was tried"}}
    error = refused(claim, bare)
    assert (error.code, error.parts) == ("EV614", ("limitations",))
    assert built({**claim, "limitations": ["one shape on {device}"]}, bare).evidence[0].limitations == (
        "one shape on Synthetic GPU A",
    )


def test_a_log_that_must_not_be_cited_has_no_sentence() -> None:
    status = {"kernels/toy_20260901": Status(do_not_cite="the fan was off")}
    error = refused(SIMPLE, record(), log_status=status)
    assert (error.code, error.parts) == ("EV612", ("series",))
    assert "kernels/toy_20260901 is marked do not cite: the fan was off" in error.message
    other = record("kernels/other_20260901")
    also = {"l": {"series": "kernels/toy", "expect": "better"}}
    error = refused({**SIMPLE, "series": "kernels/other", "also": also}, record(), other, log_status=status)
    assert error.parts == ("also", "l")
    kept = {"kernels/toy_20260901": Status(historical="the first run")}
    assert built(SIMPLE, record(), log_status=kept).word == "FASTER"


@pytest.mark.parametrize(
    ("status", "banner"),
    [
        ({"historical": "before the rewrite"}, Banner("historical", "before the rewrite")),
        ({"superseded_by": "new-claim"}, Banner("superseded", "replaced by new-claim")),
    ],
)
def test_a_status_is_a_banner_and_a_reason_to_pin(status: dict[str, str], banner: Banner) -> None:
    assert built({**SIMPLE, "status": status, "series": "kernels/toy_20260901"}, record()).banner == banner


# Readings of one arm.


def test_a_claim_of_one_arm_is_measured() -> None:
    claim = {"statement": "It takes {value} at {N}.", "series": "kernels/toy", "metric": "time", "arm": "fused"}
    found = built(claim, record())
    assert (found.word, found.verdict, found.headline) == ("MEASURED", Verdict.SAME, None)
    assert found.text.startswith("It takes 80")
    assert found.note.endswith(", n 9")
    several = sweep({"eager": {n: n * 1e-3 for n in range(1, 6)}}, control_of=None)
    many = built({**claim, "series": "kernels/sweep", "arm": "eager", "statement": "{value.range}"}, several)
    assert many.note.count(" ms (") == 3
    assert many.note.endswith("…, n 9, 5 of 5 cells")


def test_a_log_that_does_not_load_is_passed_on() -> None:
    def broken(_: str) -> Loaded:
        raise RecordError("not a record")

    with pytest.raises(RecordError):
        build(Placed("x", Claim.model_validate(SIMPLE), "p", {}), broken, {})


def test_refused_cells_have_no_headline_number() -> None:
    from evidence.evaluation import readings_of
    from evidence.statements import _headline
    from tests.factories import outcomes_record

    claim = Claim.model_validate({**SIMPLE, "series": "kernels/outcomes", "where": {"N": 1025}})
    headline = _headline(readings_of(claim, loader(outcomes_record()))[""])
    assert headline is not None
    assert (headline.shown, headline.note) == (None, "fused is rejected")
