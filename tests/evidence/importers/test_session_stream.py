from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.errors import EvidenceError, RecordError
from evidence.importers import files_of
from evidence.importers.session_stream import (
    DeviceReading,
    Died,
    Digested,
    Discarded,
    Ended,
    Gated,
    Header,
    Measured,
    NotTried,
    Reading,
    Started,
    read,
)
from evidence.schema import Crashed, DeviceConditions, HostConditions, Rejected, Skipped, Timed
from evidence.schema.text import dump, parse
from tests import factories

FIELDS = {
    "sm_clock_hz": 1.9e9,
    "memory_clock_hz": 3.2e9,
    "temperature_c": 50.0,
    "power_w": 300.0,
    "energy_j": 5.0,
    "thermal_violation_ns": 0,
    "power_violation_ns": 0,
    "event_reasons": 0,
    "ecc_uncorrected": 0,
    "foreign_processes": 0,
}


def header(**changes) -> Header:
    record = factories.record()
    names = ("log", "started_at", "provenance", "sources", "hosts", "stacks", "axes", "arms", "workloads", "metrics")
    shared = {name: getattr(record, name) for name in (*names, "gates", "unavailable", "limitations", "supersedes")}
    return Header(**{**shared, "method": factories.method(), **changes})


def reading(at_s: float, *, ecc: bool = True) -> Reading:
    missing = () if ecc else ({"field": "ecc_uncorrected", "reason": "Not Supported"},)
    device = DeviceReading(**{"device": 0, **FIELDS, "missing": missing, **({} if ecc else {"ecc_uncorrected": None})})
    clock = ({"field": "cpu_clock_hz", "reason": "the kernel tells none"},)
    return Reading(host="h0", at_s=at_s, load=0.5, cpu_clock_hz=None, devices=(device,), missing=clock)


def measured(arm: str, index: int, slot: int, **changes) -> Measured:
    process = factories.process(index, [1e-3, 1.01e-3, 1.02e-3], started_s=10.0 * index + 2.0 * slot)
    values = {"ran": (), "timer_overhead_s": 1e-6 * (1 + index), "warm_up_s": 1.0, "warm_up_calls": 9 - index}
    return Measured(**{"arm": arm, "workload": "n1024", "process": process, **values, **changes})


def gated(arm: str, outcome=None, phase: str = "before") -> Gated:
    return Gated(arm=arm, workload="n1024", phase=phase, outcome=outcome or factories.passed())


ARMS = ("eager", "fused", "eager-again")
ENDED = Ended(ended_at=factories.STARTED + timedelta(minutes=6))


def whole() -> list:
    return [
        header(),
        reading(0.0),
        *(gated(arm) for arm in ARMS),
        *(measured(arm, index, slot) for index in range(2) for slot, arm in enumerate(ARMS)),
        reading(30.0, ecc=False),
        ENDED,
    ]


def stream(events) -> bytes:
    return b"".join(event.model_dump_json().encode() + b"\n" for event in events)


def test_a_whole_stream_is_a_record_without_leftovers():
    record = read(stream(whole()))
    assert all(isinstance(cell, Timed) and len(cell.processes) == 2 for cell in record.cells)
    assert record.artifacts == ()
    assert record.ended_at == ENDED.ended_at
    assert parse(dump(record)) == record


def digested(digest: str, workload: str = "n1024") -> Digested:
    return Digested(workload=workload, sha256=digest * 64)


def test_a_workload_has_the_digest_that_gates_took_of_its_inputs():
    first, *rest = whole()
    plain, once, twice = (
        read(stream([first, *taken, *rest])) for taken in ([], [digested("a")], [digested("a"), digested("a")])
    )
    assert plain.workload("n1024").inputs.sha256 is None
    assert once == twice
    assert once.workload("n1024").inputs.sha256 == "a" * 64
    assert once.unavailable == plain.unavailable
    assert parse(dump(once)) == once


def test_gates_that_drew_unequal_inputs_leave_no_digest_and_the_record_says_so():
    first, *rest = whole()
    record = read(stream([first, digested("a"), digested("b"), *rest]))
    assert record.workload("n1024").inputs.sha256 is None
    (entry,) = (entry for entry in record.unavailable if entry.what == "digest of the inputs of n1024")
    assert entry.reason == "gates drew 2 unequal ones"


def test_a_digest_of_an_unknown_workload_is_refused():
    first, *rest = whole()
    with pytest.raises(RecordError, match="a digest of the inputs of 'other'"):
        read(stream([first, digested("a", "other"), *rest]))


def test_methods_are_completed_from_what_processes_did():
    (method,) = read(stream(whole())).methods
    assert (method.timer_overhead_s, method.warm_up_calls) == (1.5e-6, 8)


def test_readings_become_columns_and_gaps_become_reasons():
    host, device = read(stream(whole())).conditions
    assert isinstance(host, HostConditions)
    assert (host.load, host.cpu_clock_hz) == ((0.5, 0.5), None)
    assert isinstance(device, DeviceConditions)
    assert device.energy_j == (5.0, 5.0)
    assert device.ecc_uncorrected is None
    assert [entry.reason for entry in device.missing] == ["Not Supported (1 of 2 readings)"]


def test_settings_that_change_between_processes_are_all_named():
    events = whole()
    for index, event in enumerate(events):
        if isinstance(event, Measured) and event.arm == "fused":
            value = f"BLOCK: {64 * (1 + event.process.index)}"
            events[index] = event.model_copy(update={"ran": ({"name": "kernel", "value": value},)})
    cell = read(stream(events)).cell("fused", "n1024")
    assert isinstance(cell, Timed)
    assert [setting.value for setting in cell.ran] == ["BLOCK: 128 | BLOCK: 64"]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (NotTried(arm="fused", workload="n1024", reason="no backward pass"), Skipped),
        (Died(arm="fused", workload="n1024", cause="oom", phase="timing", message="out of memory"), Crashed),
        (gated("fused", factories.failed()), Rejected),
        (gated("fused", factories.failed(), "timed-outputs"), Rejected),
    ],
)
def test_what_forbids_timings_outranks_them(event, kind):
    events = whole()
    cell = read(stream([*events[:-1], event, ENDED])).cell("fused", "n1024")
    assert isinstance(cell, kind)


def test_a_repeated_process_is_a_discard():
    gone = Discarded(arm="fused", workload="n1024", process=7, reason="timing: exit code 3")
    cell = read(stream([*whole()[:-1], gone, ENDED])).cell("fused", "n1024")
    assert isinstance(cell, Timed)
    assert [discard.process for discard in cell.discards] == [7]


def test_a_cell_that_never_ended_says_how_far_it_came():
    started = Started(arm="fused", workload="n1024", phase="timing", process=0)
    events = [header(), *(gated(arm) for arm in ARMS), measured("eager", 0, 0), started]
    record = read(stream(events))
    assert [type(cell) for cell in record.cells] == [Timed, Crashed, Crashed]
    messages = [cell.message for cell in record.cells if isinstance(cell, Crashed)]
    assert messages == [
        "the session was interrupted in its timing, process 0",
        "the session was interrupted before this cell was reached",
    ]


def test_a_stream_cut_short_is_kept_beside_its_record():
    data = stream(whole()[:-1])
    record = read(data)
    assert files_of(record, data) == {"raw.jsonl": data}
    assert [entry.what for entry in record.unavailable] == ["end of the session"]
    assert record.ended_at == factories.STARTED + timedelta(seconds=30)


def test_a_torn_last_line_is_dropped_and_named():
    record = read(stream(whole()) + b'{"event": "measured", "arm"')
    assert [entry.what for entry in record.unavailable] == ["last event of the session"]
    assert "after 27 bytes" in record.unavailable[0].reason


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no header"),
        (b'{"event": "header"', "no header"),
        (b"not json\n", "line 1"),
        (stream(whole()[1:]), "no header"),
        (stream([header(), header()]), "line 2: a second header"),
        (stream([header()]) + b'{"event": "tea"}\n', "line 2"),
        (stream([header(), gated("nobody")]), "does not declare"),
        (stream([header(), reading(1e300)]), "a time that no run lasts"),
    ],
)
def test_what_is_no_stream_is_refused_with_its_line(data, message):
    with pytest.raises(RecordError, match=message):
        read(data)


def test_the_log_may_get_another_name():
    assert read(stream(whole()), log="kernels/other_20260901").log == "kernels/other_20260901"


@given(st.binary(max_size=400))
def test_any_bytes_give_a_record_or_a_record_error(data):
    with pytest.raises(RecordError):
        read(data)


LINES = stream(whole()).splitlines(keepends=True)


@settings(max_examples=150)
@given(st.integers(0, len(b"".join(LINES))))
def test_a_stream_cut_anywhere_after_its_header_is_a_record(length):
    data = b"".join(LINES)[:length]
    if length < len(LINES[0]):
        with pytest.raises(RecordError):
            read(data)
    else:
        record = read(data)
        assert parse(dump(record)) == record


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_stream_gives_a_record_or_an_error_of_this_package(data):
    line = data.draw(st.integers(0, len(LINES) - 1))
    document = json.loads(LINES[line])
    key = data.draw(st.sampled_from(sorted(document)))
    junk = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
    document[key] = data.draw(junk)
    lines = [*LINES[:line], json.dumps(document).encode() + b"\n", *LINES[line + 1 :]]
    order = [lines[0], *data.draw(st.permutations(lines[1:]))]
    try:
        parse(dump(read(b"".join(order))))
    except EvidenceError:
        return
