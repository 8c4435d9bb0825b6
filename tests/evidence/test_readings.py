"""What is read off a record: every number from its own rows, by process, and nothing where there is none."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import ComparisonError, UnknownNameError
from evidence.readings import (
    Quantity,
    conditions_of,
    conditions_of_cells,
    coordinates,
    device_of,
    differing,
    gate_value,
    is_rate,
    known_metrics,
    parse_quantity,
    process_values,
    ran_identically,
    samples,
    unit_of,
    work_done,
)
from evidence.schema import (
    AccuracyDetail,
    Closed,
    Counter,
    Poisson,
    Process,
    Rank,
    Record,
    Samples,
    Setting,
    Timed,
    Work,
)
from tests.factories import (
    arm,
    conditions,
    engine_record,
    engine_workload,
    host,
    imported_record,
    metric,
    outcomes_record,
    passed,
    process,
    record,
    requests,
    timed,
    workload,
)


def read(text: str, value: Record, cell: int = 0) -> tuple[float, ...]:
    return process_values(value, value.cells[cell], parse_quantity(text))


def with_processes(*processes: Process, **changes: Any) -> Record:
    """An engine record whose first cell has these processes."""
    base = engine_record(**changes)
    first = base.cells[0].model_copy(update={"processes": processes})
    return base.model_copy(update={"cells": (first, *base.cells[1:])})


def of_requests(**changes: Any) -> Record:
    rows = requests(**changes)
    columns = engine_record().cells[0].processes[0].samples  # type: ignore[union-attr]
    return with_processes(process(0, (), started_s=0.0, samples=columns, requests=rows))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("time", ("time", "", "")),
        ("ttft.p50", ("ttft", "p50", "")),
        ("ttft.p99.9", ("ttft", "p99.9", "")),
        ("latency.mean", ("latency", "mean", "")),
        ("wall_time/output_tokens", ("wall_time", "", "output_tokens")),
        ("throughput.max/accelerators", ("throughput", "max", "accelerators")),
    ],
)
def test_a_quantity_is_written_as_it_is_read(text: str, parts: tuple[str, str, str]) -> None:
    assert parse_quantity(text) == Quantity(*parts)
    assert str(parse_quantity(text)) == text


@pytest.mark.parametrize(
    "text", ["", "Time", "ttft.p", "ttft.p100", "ttft.best", "a.b.c", "a/b/c", "a/", "a b", "../x", "time.p50 "]
)
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ComparisonError, match="is not a metric"):
        parse_quantity(text)


def test_samples_of_one_process_give_one_number() -> None:
    one = record(
        cells=(
            timed().model_copy(update={"processes": (process(0, (3e-3, 1e-3, 2e-3, 9e-3), started_s=0.0),)}),
            *record().cells[1:],
        )
    )
    assert read("time", one) == (pytest.approx(2.5e-3),)
    assert read("time.median", one) == read("time", one)
    assert read("time.mean", one) == (pytest.approx(3.75e-3),)
    assert (*read("time.min", one), *read("time.max", one)) == (1e-3, 9e-3)
    assert read("time.p90", one) == (pytest.approx(7.2e-3),)
    assert len(read("time", record())) == 9


@given(st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=20), st.randoms())
def test_the_order_of_samples_does_not_matter(values: list[float], rng: Any) -> None:
    mixed = list(values)
    rng.shuffle(mixed)
    one, other = (
        record(
            cells=(
                timed().model_copy(update={"processes": (process(0, tuple(v), started_s=0.0),)}),
                *record().cells[1:],
            )
        )
        for v in (values, mixed)
    )
    for text in ("time", "time.mean", "time.min", "time.max", "time.p90"):
        assert read(text, one) == read(text, other)


def test_of_several_ranks_the_slowest_counts_in_each_iteration() -> None:
    columns = tuple(
        Samples(metric="time", rank=rank, values=values)
        for rank, values in enumerate([(1.0, 5.0, 2.0), (3.0, 1.0, 2.5)])
    )
    assert samples(process(0, (), started_s=0.0, samples=columns), "time") == (3.0, 5.0, 2.5)
    assert samples(process(0, (1.0,), started_s=0.0), "speed") == ()


def test_request_metrics_come_from_each_request_s_own_row() -> None:
    one = of_requests(
        tokens=(1, 2, 11), ttft_s=(0.1, 0.2, 0.5), latency_s=(0.1, 0.7, 2.5), enqueued_s=(0.0, 0.5, 1.5), scale=1.0
    )
    assert read("ttft.max", one) == (0.5,)
    assert read("latency", one) == (0.7,)
    # One token has no time between tokens; 0.5 over 1 and 2.0 over 10.
    assert read("tpot.min", one) == (pytest.approx(0.2),)
    assert read("tpot.max", one) == (pytest.approx(0.5),)
    # 14 tokens from the first enqueue at 0 to the last token at 1.5 + 2.5.
    assert read("throughput", one) == (pytest.approx(14 / 4.0),)
    assert read("request_throughput", one) == (pytest.approx(3 / 4.0),)
    assert read("throughput/accelerators", one) == read("throughput", one)


def test_failed_requests_leave_the_times_but_not_the_span() -> None:
    one = of_requests(tokens=(8, 8, 8), ttft_s=(0.1, None, 0.3), latency_s=(1.0, None, 2.0), enqueued_s=(1.0, 0.5, 2.0))
    assert read("ttft.max", one) == (0.3,)
    assert read("throughput", one) == (pytest.approx(16 / 3.5),)
    assert work_done(one, one.cells[0]) == {("requests", 2), ("prompt-tokens", 512), ("output-tokens", 16)}


@pytest.mark.parametrize(
    ("changes", "metrics"),
    [
        ({"enqueued_s": None}, ("throughput", "request_throughput")),
        ({"tokens": (8,), "ttft_s": (None,), "latency_s": (None,)}, ("throughput", "ttft", "latency", "tpot")),
        ({"tokens": (1,), "ttft_s": (0.1,), "latency_s": (0.1,)}, ("tpot",)),
        ({"tokens": (8,), "enqueued_s": (1e300,), "ttft_s": (0.1,), "latency_s": (0.2,)}, ("throughput",)),
    ],
)
def test_what_a_process_does_not_have_the_cell_does_not_have(changes: dict[str, Any], metrics: tuple[str, ...]) -> None:
    one = of_requests(**changes)
    for name in metrics:
        assert read(name, one) == ()


def test_rates_are_the_declared_work_over_the_median_time() -> None:
    one = record(
        cells=(
            timed().model_copy(update={"processes": (process(0, (1e-3, 2e-3, 4e-3), started_s=0.0),)}),
            *record().cells[1:],
        )
    )
    assert read("bandwidth", one) == (pytest.approx(4096 / 2e-3),)
    assert read("flop_rate", one) == (pytest.approx(10240 / 2e-3),)
    assert unit_of(one, Quantity("bandwidth")) == ("B/s", "neither")
    bare = record(workloads=(workload(work=(Work(of="flop", count=5),)),))
    assert "bandwidth" not in known_metrics(bare)
    with pytest.raises(UnknownNameError):
        read("bandwidth", bare)


def test_energy_is_the_difference_of_the_counter_round_the_process() -> None:
    joules = metric("energy", unit="J", of="process", role="context")
    readings = conditions(4, at_s=(0.0, 1.0, 3.0, 9.0), energy_j=(100.0, 150.0, 400.0, 1000.0))
    cell = timed().model_copy(update={"processes": (process(0, (1e-3,), started_s=1.2),)})
    one = record(metrics=(metric(), joules), conditions=(readings,), cells=(cell, *record().cells[1:]))
    assert read("energy", one) == (250.0,)
    assert read("energy/flop", one) == (pytest.approx(250.0 / 10240),)
    for without in (
        (),
        (conditions(2, at_s=(0.0, 9.0), energy_j=None, missing=({"field": "energy_j", "reason": "no counter"},)),),
        (conditions(1, at_s=(2.0,), energy_j=(1.0,)),),
        (conditions(1, at_s=(9.0,), energy_j=(1.0,)),),
        (conditions(2, at_s=(0.0, 9.0), energy_j=(5.0, 5.0)),),
        (conditions(2, host="h0", device=0, at_s=(1.5, 9.0), energy_j=(5.0, 6.0)),),
    ):  # fmt: skip
        assert read("energy", one.model_copy(update={"conditions": without})) == ()


def test_gate_metrics_are_ratios_of_counts_and_one_number_a_cell() -> None:
    one = engine_record()
    assert read("token_agreement", one) == (250 / 256,)
    assert gate_value(one.cells[0], "wall_time") is None
    detail = AccuracyDetail(
        task="t",
        measure="exact_match",
        numerator=69,
        denominator=100,
        reference_numerator=70,
        reference_denominator=100,
    )
    accurate = timed(further=(passed(detail=detail),))
    assert gate_value(accurate, "exact_match") == 0.69
    assert gate_value(outcomes_record().cells[5], "token_agreement") is None


def test_counts_divide_and_a_count_that_is_not_there_names_those_that_are() -> None:
    one = engine_record()
    tokens = sum(one.cells[0].processes[0].requests.output_tokens)  # type: ignore[union-attr]
    assert read("wall_time/output_tokens", one)[0] == pytest.approx(read("wall_time", one)[0] / tokens)
    with pytest.raises(UnknownNameError) as caught:
        read("wall_time/outputtokens", one)
    assert caught.value.nearest == "output_tokens"
    counted = process(0, (1.0,), started_s=0.0, work=(Work(of="steps", count=4),))
    own = record(cells=(timed().model_copy(update={"processes": (counted,)}), *record().cells[1:]))
    assert read("time/steps", own) == (0.25,)
    on_cpu = tuple(
        one.model_copy(update={"ranks": (Rank(host="h0", device=None, stack="main"),)}) for one in record().arms
    )
    assert read("time/accelerators", record(arms=on_cpu)) == ()


def test_a_metric_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        read("tyme", record())
    assert caught.value.nearest == "time"
    assert known_metrics(record()) == ("bandwidth", "flop_rate", "time")
    assert {"ttft", "tpot", "throughput", "request_throughput"} <= set(known_metrics(engine_record()))
    assert unit_of(engine_record(), Quantity("tpot")) == ("s", "lower")


def test_cells_without_numbers_give_none() -> None:
    one = outcomes_record()
    for index in (5, 6, 7):
        assert read("time", one, index) == ()
        assert work_done(one, one.cells[index]) == frozenset()
    assert read("wall_time", imported_record()) == (12.0,)


def test_work_is_the_process_s_own_count_then_its_requests_then_the_workload_s() -> None:
    one = record()
    assert work_done(one, one.cells[0]) == {("flop", 10240), ("bytes", 4096)}
    uneven = tuple(process(i, (1e-3,), started_s=float(3 * i), work=(Work(of="steps", count=4 + i),)) for i in range(2))
    own = one.model_copy(update={"cells": (timed().model_copy(update={"processes": uneven}), *one.cells[1:])})
    assert work_done(own, own.cells[0]) == {("steps", 4), ("steps", 5)}


@pytest.mark.parametrize(
    ("text", "unit", "rate"),
    [
        ("wall_time", "s", False),
        ("peak_memory", "B", False),
        ("wall_time/output_tokens", "s", True),
        ("throughput", "token/s", True),
        ("tpot", "s", True),
        ("ttft", "s", True),
        ("latency", "s", False),
    ],
)
def test_only_rates_may_be_compared_over_unequal_work(text: str, unit: Any, rate: bool) -> None:
    assert is_rate(unit, parse_quantity(text)) is rate


@pytest.mark.parametrize(
    ("changes", "axes"),
    [
        ({}, set()),
        ({"implementation": "toy.ops:other", "source": "elsewhere"}, {"implementation"}),
        ({"source": "elsewhere"}, {"source"}),
        ({"ranks": (Rank(host="h1", device=0, stack="main"),)}, {"host"}),
        ({"ranks": (Rank(host="h0", device=0, stack="other"),)}, {"stack"}),
        ({"ranks": (Rank(host="h0", device=1, stack="main"),)}, {"ranks"}),
        ({"ranks": (Rank(host="h0", device=0, stack="main"),) * 2}, {"ranks"}),
        ({"switches": (Setting(name="tile", value="64"),)}, {"tile"}),
        ({"command": ("python", "other.py"), "role": "candidate", "mechanism": ("hits",)}, set()),
    ],
)
def test_arms_differ_in_what_is_named(changes: dict[str, Any], axes: set[str]) -> None:
    one, other = arm(), arm(**changes)
    assert differing(one, other) == differing(other, one) == axes


def test_arms_that_resolved_to_one_configuration_ran_identically() -> None:
    tile = (Setting(name="tile", value="64"), Setting(name="stages", value="2"))
    same = {"implementation": "toy.ops:eager", "source": "toy"}
    one = record(arms=(arm(), arm("fused", "candidate", **same), record().arms[2]))

    def cell(name: str, *ran: Setting) -> Timed:
        return timed(name, ran=ran)

    assert ran_identically(one, cell("eager", *tile), cell("fused", *reversed(tile)))
    assert not ran_identically(one, cell("eager", *tile), cell("fused", tile[0]))
    assert not ran_identically(one, cell("eager"), cell("fused"))
    assert not ran_identically(record(), cell("eager", *tile), cell("fused", *tile))
    assert not ran_identically(one, cell("eager", *tile), outcomes_record().cells[5])
    # A control is asked for as what it is; an arm against itself never.
    assert not ran_identically(one, cell("eager", *tile), cell("eager-again", *tile))
    assert not ran_identically(one, cell("eager-again", *tile), cell("eager", *tile))
    assert ran_identically(one, cell("eager"), cell("eager"))


def test_an_arm_whose_mechanism_counted_did_not_run_as_one_in_which_it_did_not() -> None:
    ran = (Setting(name="tile", value="64"),)
    same = {"implementation": "toy.ops:eager", "source": "toy", "mechanism": ("hits",)}
    one = record(arms=(arm(), arm("fused", "candidate", **same), record().arms[2]))

    def cell(name: str, **counts: int) -> Timed:
        found = timed(name, ran=ran)
        counters = tuple(Counter(name=counter, count=count) for counter, count in counts.items())
        return found.model_copy(
            update={"processes": tuple(each.model_copy(update={"counters": counters}) for each in found.processes)}
        )

    assert not ran_identically(one, cell("eager", hits=0), cell("fused", hits=3))
    assert not ran_identically(one, cell("eager"), cell("fused", hits=3))
    # What is no mechanism of either arm, and a mechanism that did not fire, make no difference.
    assert ran_identically(one, cell("eager", steps=2), cell("fused", steps=3))
    assert ran_identically(one, cell("eager", hits=0), cell("fused", hits=0))


def test_the_device_is_what_arms_ran_on() -> None:
    assert device_of(record()) == "Synthetic GPU A"
    assert device_of(imported_record()) == "not recorded"
    cpu = (Rank(host="h0", device=None, stack="main"),)
    on_cpu = tuple(one.model_copy(update={"ranks": cpu}) for one in record().arms)
    assert device_of(record(arms=on_cpu)) == "Synthetic CPU"
    unknown = host(cpu_model=None, missing=(*host().missing, {"field": "cpu_model", "reason": "hidden"}))
    assert device_of(record(arms=on_cpu, hosts=(unknown,))) == "unknown CPU"


def test_coordinates_are_the_facts_of_a_workload() -> None:
    one = record(workloads=(workload(parameters=(Setting(name="causal", value="true"),)),))
    assert coordinates(one, one.workloads[0]) == {
        "workload": "n1024",
        "device": "Synthetic GPU A",
        "op": "toy",
        "dtype": "bf16",
        "direction": "forward",
        "cache": "cold",
        "shape": "N1024",
        "N": "1024",
        "causal": "true",
    }
    engine = engine_record()
    place = coordinates(engine, engine.workloads[0])
    assert {
        key: place[key]
        for key in ("scenario", "model", "requests", "prefix_cache", "arrival", "concurrency", "temperature")
    } == {
        "scenario": "skewed",
        "model": "toy-3b",
        "requests": "8",
        "prefix_cache": "off",
        "arrival": "at-once",
        "concurrency": "8 at once",
        "temperature": "0",
    }
    foreign = imported_record()
    assert coordinates(foreign, foreign.workloads[0])["batch"] == "4"


@pytest.mark.parametrize(
    ("arrival", "words"),
    [
        (Closed(concurrency=4), "4"),
        (Poisson(rate_per_s=2.0, seed=1, concurrency=None), "unbounded"),
        (Poisson(rate_per_s=2.0, seed=1, concurrency=16), "16"),
    ],
)
def test_concurrency_in_words(arrival: Any, words: str) -> None:
    one = engine_record()
    assert coordinates(one, engine_workload(arrival=arrival))["concurrency"] == words


def test_conditions_are_judged_over_the_readings_round_a_window() -> None:
    columns = conditions(
        4,
        at_s=(0.0, 10.0, 20.0, 30.0),
        thermal_violation_ns=(0, 0, 5, 5),
        power_violation_ns=(7, 7, 7, 9),
        foreign_processes=(0, 0, 0, 2),
    )
    one = record(conditions=(columns,))

    def found(start: float, end: float) -> set[str]:
        return set(conditions_of(one, "h0", 0, (start, end)))

    assert found(1.0, 9.0) == set()
    assert found(11.0, 12.0) == {"throttled"}
    assert found(21.0, 22.0) == {"power-capped", "shared"}
    assert found(1.0, 99.0) == {"throttled", "power-capped", "shared"}
    assert conditions_of(one, "h0", 1, (0.0, 1.0)) == frozenset()
    blind = {"thermal_violation_ns", "power_violation_ns", "foreign_processes"}
    missing = tuple({"field": name, "reason": "not readable"} for name in sorted(blind))
    unknown = conditions(2, at_s=(0.0, 9.0), missing=missing, **dict.fromkeys(blind))
    assert conditions_of(record(conditions=(unknown,)), "h0", 0, (0.0, 9.0)) == frozenset()
    # The last readings are those before every later process.
    assert conditions_of_cells(one, one.cells) == {"shared"}
    assert conditions_of_cells(outcomes_record(), outcomes_record().cells[5:8]) == frozenset()


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=9), st.sampled_from(["median", "mean", "min", "max", "p90"]))
def test_a_statistic_lies_between_the_least_and_the_largest(values: list[float], statistic: str) -> None:
    one = record(
        cells=(
            timed().model_copy(update={"processes": (process(0, tuple(values), started_s=0.0),)}),
            *record().cells[1:],
        )
    )
    (found,) = read(f"time.{statistic}", one)
    slack = 1e-12 * max(values)
    assert min(values) - slack <= found <= max(values) + slack
    assert math.isfinite(found)
