"""Statements: digits come from intervals, scope from cells, and a best case never stands alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import ItemError
from evidence.evaluation import Reading, readings_of
from evidence.schema import Record
from evidence.schema.claims import Claim
from evidence.sentences import figure, lint, render
from evidence.statistics import Verdict
from tests.factories import engine_record, loader, on_device, sweep

SWEEP = sweep({"eager": {1: 1e-3, 8: 2e-3, 64: 4e-3}, "fused": {1: 0.8e-3, 8: 1e-3, 64: 5e-3}}, spread=0.001)
COMPARED: dict[str, Any] = {
    "statement": "x",
    "series": "kernels/sweep",
    "metric": "time",
    "baseline": "eager",
    "candidate": "fused",
    "expect": {"better": 2, "worse": 1},
    "also": {
        "one": {"where": {"N": 8}, "expect": "better"},
        "lost": {"where": {"N": 64}, "expect": "worse"},
        "base": {"arm": "eager"},
        "first": {"arm": "eager", "where": {"N": 1}},
    },
}
ENGINE: dict[str, Any] = {
    "statement": "x",
    "series": "engine/continuous_toy",
    "metric": "wall_time",
    "baseline": "static",
    "candidate": "continuous",
    "where": {"scenario": "skewed"},
    "expect": "better",
    "also": {
        "memory": {"metric": "peak_memory", "expect": "same"},
        "waste": {"metric": "wasted_tokens", "arm": "static"},
        "agreement": {"metric": "token_agreement", "arm": "continuous"},
        "speed": {"metric": "throughput", "arm": "continuous"},
    },
}


def of(claim: dict[str, Any], *records: Record) -> dict[str, Reading]:
    return readings_of(Claim.model_validate(claim), loader(*records))


READINGS = of(COMPARED, SWEEP)
ENGINE_READINGS = of(ENGINE, engine_record())
ALONE = of({"statement": "x", "series": "kernels/sweep", "metric": "time", "arm": "fused"}, SWEEP)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("one.ratio", "2.00×"),
        ("lost.ratio", "0.80×"),
        ("one.change", "−50 %"),
        ("lost.change", "+25 %"),
        ("ratio.range", "0.80× to 2.00×"),
        ("ratio.min", "0.80×"),
        ("ratio.max", "2.00×"),
        ("ratio.geomean", "1.26×"),
        ("ratio.max.at", "N 8"),
        ("ratio.min.at", "N 64"),
        ("change.range", "+25 % to −50 %"),
        ("change.max", "−50 %"),
        ("verdict", "FASTER"),
        ("one.verdict", "FASTER"),
        ("lost.verdict", "SLOWER"),
        ("tally", "2 faster, 1 slower"),
        ("one.tally", "1 faster"),
        ("count", "3"),
        ("identical", "0"),
        ("N", "1, 8 and 64"),
        ("one.N", "8"),
        ("dtype", "bf16"),
        ("device", "Synthetic GPU A"),
        ("date", "2026-09-01"),
        ("arm", "fused"),
        ("base.arm", "eager"),
        ("base.max.at", "N 64"),
    ],
)
def test_fields_of_a_comparison(field: str, text: str) -> None:
    assert figure(field, READINGS, "statement").text == text


@pytest.mark.parametrize(
    ("field", "pattern"),
    [
        ("one.baseline", r"2\.00\d? ms"),
        ("one.candidate", r"(1\.00\d?|1,00\d|\d{3}\.\d|99\d) (ms|µs)"),
        ("one.candidate:us", r"(1,0\d\d|99\d)(\.\d)? µs"),
        ("one.candidate:ms", r"(1\.00\d?|0\.99\d+) ms"),
        ("candidate.range", r"\d+(\.\d+)? µs to \d\.\d+ ms"),
        ("base", r"$^"),
        ("first", r"(1\.00\d?|1,00\d|99\d(\.\d)?) (ms|µs)"),
        ("first.value", r"(1\.00\d?|99\d(\.\d)?) (ms|µs)"),
        ("base.range", r"(1\.00\d?|99\d(\.\d)?) (ms|µs) to (4\.0|3\.9)\d+ ms"),
        ("base.min", r"(1\.00\d?|99\d(\.\d)?) (ms|µs)"),
    ],
)
def test_times_print_in_the_unit_that_fits_with_the_digits_of_their_interval(field: str, pattern: str) -> None:
    if pattern == "$^":
        with pytest.raises(ItemError, match="is one number, but 3 cells are selected"):
            figure(field, READINGS, "statement")
        return
    found = figure(field, READINGS, "statement")
    assert re.fullmatch(pattern, found.text), found.text
    assert found.interval or field.endswith("range")
    assert len(re.sub(r"[^0-9]", "", found.text.split(" to ")[0])) <= 4


@pytest.mark.parametrize(
    ("field", "text", "interval"),
    [
        ("memory.ratio", "1.00×", "1.00–1.00"),
        ("memory.baseline", "2.000 GB", "exact"),
        ("memory.baseline:MB", "2,000 MB", "exact"),
        ("waste", "128", "exact"),
        ("agreement", "0.9766", "exact"),
        ("memory.verdict", "SAME", ""),
        ("scenario", "skewed", ""),
        ("requests", "8", ""),
        ("model", "toy-3b", ""),
        ("arrival", "at-once", ""),
    ],
)
def test_fields_of_an_engine(field: str, text: str, interval: str) -> None:
    found = figure(field, ENGINE_READINGS, "statement")
    assert (found.text, found.interval) == (text, interval)


def test_rates_print_in_tokens_per_second() -> None:
    assert figure("speed", ENGINE_READINGS, "statement").text.endswith(" tok/s")


@pytest.mark.parametrize("field", ["min", "max", "range", "value.min", "N"])
def test_a_reading_of_one_arm_may_drop_the_word_value(field: str) -> None:
    assert figure(field, ALONE, "statement").text


def test_figures_carry_their_interval_and_verdict() -> None:
    found = figure("one.ratio", READINGS, "statement")
    assert found.verdict is Verdict.BETTER
    low, high = map(float, found.interval.split("–"))
    assert low <= 2.0 <= high
    assert figure("lost.change", READINGS, "statement").verdict is Verdict.WORSE
    assert figure("ratio.max", READINGS, "statement").verdict is Verdict.BETTER
    assert figure("N", READINGS, "statement").verdict is None


@pytest.mark.parametrize(
    ("readings", "field", "message", "fix"),
    [
        (
            READINGS,
            "ratio",
            "{ratio} is one number, but 3 cells are selected",
            "{ratio.range}, {ratio.min}, {ratio.max} or {ratio.geomean}",
        ),
        (READINGS, "change", "{change} is one number, but 3 cells are selected", "{change.range}"),
        (
            READINGS,
            "candidate",
            "{candidate} is one number, but 3 cells",
            "{candidate.range}, {candidate.min} or {candidate.max}",
        ),
        (READINGS, "change.geomean", "a geometric mean is of ratios", "{ratio.geomean}"),
        (READINGS, "candidate.geomean", "a geometric mean is of ratios", ".range, .min or .max"),
        (READINGS, "ratio.mean", "no reducer 'mean'", "did you mean .geomean?"),
        (READINGS, "ratio.at", "no reducer 'at'", ""),
        (READINGS, "value", "two arms are compared", "{baseline} or {candidate}"),
        (READINGS, "max", "two arms are compared", ""),
        (READINGS, "rato", "neither a quantity, a reading nor a fact", "did you mean {ratio}?"),
        (READINGS, "divice", "neither a quantity, a reading nor a fact", "did you mean {device}?"),
        (READINGS, "zzzzz", "neither a quantity, a reading nor a fact", "fields: ratio, change"),
        (READINGS, "other.ratio", "neither a quantity, a reading nor a fact", ""),
        (READINGS, "device.max", "neither a quantity, a reading nor a fact", ""),
        (READINGS, "N:ms", "neither a quantity, a reading nor a fact", ""),
        (READINGS, "", "{} is not a field", "{quantity}, {reading.quantity} or {fact}"),
        (READINGS, "ratio .max", "is not a field", ""),
        (READINGS, "9", "is not a field", ""),
        (READINGS, "one.candidate:GB", "is not shown in 'GB' but in ns, µs, ms, s", "one that fits"),
        (READINGS, "one.ratio:ms", "a ratio has no unit to choose", "drop the unit"),
        (READINGS, "tally.max", "tally is of all cells", "{tally}"),
        (READINGS, "verdict.min", "verdict is of all cells", ""),
        (READINGS, "base.ratio", "needs two arms, and this reading has one", "{value}"),
        (READINGS, "base.tally", "needs two arms", ""),
        (ALONE, "change", "needs two arms", ""),
        (ALONE, "value", "is one number, but 3 cells are selected", ""),
    ],
)
def test_fields_that_mean_nothing_here(readings: dict[str, Reading], field: str, message: str, fix: str) -> None:
    with pytest.raises(ItemError) as caught:
        figure(field, readings, "statement")
    assert caught.value.code == "EV622"
    assert caught.value.parts == ("statement",)
    assert message in caught.value.message
    assert fix in caught.value.fix


def test_a_reading_without_ratios_or_numbers_says_why() -> None:
    from tests.factories import outcomes_record

    claim = {**COMPARED, "series": "kernels/outcomes", "where": {"N": 1025}, "also": {"f": {"arm": "fused"}}}
    readings = of(claim, outcomes_record())
    with pytest.raises(ItemError, match="there is no ratio: fused is rejected"):
        figure("ratio", readings, "statement")
    with pytest.raises(ItemError, match=r"fused has no time in the selected cells") as caught:
        figure("f", readings, "statement")
    assert caught.value.code == "EV601"


# Whole statements.


def text_of(statement: str, readings: dict[str, Reading] = READINGS) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in render(statement, readings, "statement"))


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("no field", "no field"),
        ("{one.ratio}", "2.00×"),
        ("At {one.N} rows {one.ratio} on {device}.", "At 8 rows 2.00× on Synthetic GPU A."),
        ("{ratio.range} over {N}", "0.80× to 2.00× over 1, 8 and 64"),
        ("Up to {ratio.max} ({tally})", "Up to 2.00× (2 faster, 1 slower)"),
        ("up to {ratio.max}, at least {ratio.min}", "up to 2.00×, at least 0.80×"),
        ("up to {ratio.max} at {ratio.max.at}, {ratio.geomean} in the mean", "up to 2.00× at N 8, 1.26× in the mean"),
        ("set up toward {one.ratio}", "set up toward 2.00×"),
    ],
)
def test_statements_are_filled(statement: str, text: str) -> None:
    assert text_of(statement) == text


@pytest.mark.parametrize(
    ("statement", "readings", "message"),
    [
        ("up to {ratio.min} and {tally}", READINGS, "'up to' before {ratio.min}, which is not a maximum"),
        ("Up to {one.ratio}", READINGS, "which is not a maximum"),
        ("up to\n{ratio.geomean}", READINGS, "which is not a maximum"),
        ("up to {max}", ALONE, "a best case never stands alone"),
        ("{max}", ALONE, "a best case never stands alone"),
        ("{base.max:ms}", READINGS, "a best case never stands alone"),
        ("gains up to {ratio.max}", READINGS, "a best case never stands alone"),
        ("{ratio.max}", READINGS, "a best case never stands alone"),
        ("{change.max} {device}", READINGS, "a best case never stands alone"),
    ],
)
def test_best_cases(statement: str, readings: dict[str, Reading], message: str) -> None:
    with pytest.raises(ItemError) as caught:
        render(statement, readings, "mechanism", "text")
    assert (caught.value.code, caught.value.parts) == ("EV604", ("mechanism", "text"))
    assert message in caught.value.message


@pytest.mark.parametrize(
    "statement",
    [
        "{first:ms} to {one.candidate:ms}",
        "{first}→{one.candidate}",
        "{first} instead of {one.candidate}",
        "{first}/{one.baseline}",
    ],
)
def test_an_a_to_b_of_two_readings_is_refused(statement: str) -> None:
    with pytest.raises(ItemError, match="sets the numbers of two readings side by side") as caught:
        render(statement, READINGS, "statement")
    assert (caught.value.code, caught.value.parts) == ("EV602", ("statement",))


@pytest.mark.parametrize(
    "statement",
    [
        "{one.baseline} to {one.candidate}",
        "{first}, and {one.candidate}",
        "{one.ratio} to {lost.ratio}",
        "{first} to {N}",
    ],
)
def test_an_a_to_b_of_one_pair_is_not(statement: str) -> None:
    assert text_of(statement)


# Lint.

DEVICES = ("NVIDIA H200, Synthetic GPU A",)


@pytest.mark.parametrize(
    "text",
    [
        "1.85x faster",
        "5x",
        "2× as fast",
        "saves 10 %",
        "saves 10%",
        "by -5 %",
        "+5 ms",
        "takes 10ms",
        "12 keys improved",
        "all 12",
        "3.6 GB",
        "40GB less",
        "550tok/s",
        "in 2026",
        ".5 of it",
        "(8)",
        "1,024 tokens",
        "twice as fast",
        "half the latency",
        "at tenfold throughput",
        "as on B200",
        "as on an RTX 4090",
    ],
)
def test_digits_typed_by_hand(text: str) -> None:
    with pytest.raises(ItemError) as caught:
        lint(text, DEVICES, "limitations", 1)
    assert (caught.value.code, caught.value.parts) == ("EV622", ("limitations", 1))
    assert "is typed into the limitations" in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "fp8 weights",
        "bf16 and e4m3",
        "8-bit weights",
        "a 2-stage pipeline",
        "toy-3b and Qwen3-0.6B",
        "sm90 only",
        "N1024",
        "an L2 cache and a B64 batch",
        "{batch} rows, {ratio} faster",
        "several keys",
        "a B200H card",
        "the anyhow",
        "neverending",
    ],
)
def test_names_may_hold_digits(text: str) -> None:
    lint(text, DEVICES, "statement")


@pytest.mark.parametrize("word", ["always", "Never", "any", "every", "universally"])
def test_words_wider_than_any_measurement(word: str) -> None:
    with pytest.raises(ItemError) as caught:
        lint(f"It is {word} faster", DEVICES, "title")
    assert (caught.value.code, caught.value.parts) == ("EV604", ("title",))


@pytest.mark.parametrize(
    "text", ["on NVIDIA H200", "on an nvidia h200", "on an H200", "on Synthetic GPU A", "H200-like cards"]
)
def test_devices_typed_by_hand(text: str) -> None:
    with pytest.raises(ItemError, match=r"the device '.*' is typed into the statement") as caught:
        lint(text, DEVICES, "statement")
    assert caught.value.code == "EV622"


@pytest.mark.parametrize("text", ["{ratio", "ratio}", "{{ratio}}", "{a{b}c}", "} {"])
def test_braces_without_their_other(text: str) -> None:
    with pytest.raises(ItemError, match="a brace without its other"):
        lint(text, DEVICES, "statement")


def test_the_device_is_that_of_the_log() -> None:
    other = sweep({"eager": {1: 1e-3}, "fused": {1: 0.8e-3}}, hosts=on_device("NVIDIA L4"))
    (reading,) = of({**COMPARED, "expect": "better", "also": {}}, other).values()
    assert reading.facts()["device"] == ("NVIDIA L4",)
    with pytest.raises(ItemError):
        lint("on an L4", reading.facts()["device"], "statement")


@given(st.text(max_size=40), st.sampled_from([READINGS, ALONE, ENGINE_READINGS]))
def test_any_text_is_filled_or_refused(text: str, readings: dict[str, Reading]) -> None:
    try:
        lint(text, DEVICES, "statement")
        parts = render(text, readings, "statement")
    except ItemError:
        return
    assert "".join(part for part in parts if isinstance(part, str)) == re.sub(r"\{[^{}]*\}", "", text)


NAMES = [
    "ratio",
    "one",
    "base",
    "max",
    "min",
    "range",
    "at",
    "geomean",
    "tally",
    "value",
    "candidate",
    "N",
    "device",
    ":ms",
    ".",
    "x",
]


@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map("".join)
    | st.lists(st.sampled_from(NAMES[:12]), max_size=4).map(".".join)
)
def test_any_field_is_a_figure_or_refused(field: str) -> None:
    try:
        assert figure(field, READINGS, "statement").text
    except ItemError as error:
        fix = error.fix
    else:
        return
    assert fix
