"""What does not load: each thing without meaning is refused, at its place and with a reason."""

# ruff: noqa: E501 - a row of the table is one case

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.errors import RecordError, UnknownVersionError
from evidence.schema.text import parse
from tests.evidence.schema.documents import BASES, GONE, changed, document, encoded, text_of

DIGEST = "0123456789abcdef" * 4
# Cells of "outcomes": 0-3 eager, 4 fused timed, 5 rejected, 6 crashed, 7 skipped, 8-11 the control.
PROCESS = "/cells/0/processes/0"
SAMPLES = f"{PROCESS}/samples/0"
VALUES = f"{SAMPLES}/values"
DETAIL = "/cells/0/gate/detail"
ENGINE_PROCESS = "/cells/0/processes/0"
REQUESTS = f"{ENGINE_PROCESS}/requests"
FAILED = {
    "outcome": "failed",
    "gate": "numeric",
    "source": "toy",
    "reason": "mismatch",
    "message": "o differs",
    "seeds": [0],
    "detail": None,
}
TESTS = {"kind": "tests", "collected": 3, "passed": 0, "failed": 0, "skipped": 3, "allowed_skips": ["a", "b", "c"]}


def rotated(values: list[Any]) -> list[Any]:
    return [*values[1:], values[0]]


def twice(values: list[Any]) -> list[Any]:
    return [*values, values[-1]]


def shorter(values: list[Any]) -> list[Any]:
    return values[:-1]


ROWS: list[tuple[str, dict[str, Any], str, str]] = [
    # The gate.
    ("measured", {"/cells/0/gate": GONE}, "/cells/0", "'gate' is a required property"),
    ("measured", {"/cells/0/gate": None}, "/cells/0/gate", "None is not of type 'object'"),
    ("measured", {"/cells/0/gate": FAILED}, "/cells/0/gate", "unknown keys"),
    ("measured", {"/cells/0/gate/outcome": "failed"}, "/cells/0/gate/outcome", "'passed' was expected"),
    ("measured", {f"{DETAIL}/tensors/0/mismatched": 1}, "/cells/0/gate", "labelled passed, but o: 1 of 1024"),
    ("measured", {f"{DETAIL}/tensors/0/non_finite": 2}, "/cells/0/gate", "labelled passed, but o: 2 of 1024"),
    ("measured", {f"{DETAIL}/tensors": []}, "/cells/0/gate", "compared nothing has not passed"),
    ("measured", {f"{DETAIL}/tensors/0/elements": 0}, f"{DETAIL}/tensors/0/elements", "minimum of 0"),
    ("measured", {f"{DETAIL}/tensors/0/mismatched": 1025}, f"{DETAIL}/tensors/0", "more elements than the tensor has"),
    ("measured", {DETAIL: TESTS}, "/cells/0/gate", "compared nothing has not passed"),
    ("measured", {DETAIL: TESTS | {"passed": 1, "skipped": 2, "allowed_skips": ["a"]}}, "/cells/0/gate", "2 tests were skipped and 1 skips are allowed"),
    ("measured", {DETAIL: TESTS | {"passed": 2, "failed": 1, "skipped": 0}}, "/cells/0/gate", "1 of 3 tests failed"),
    ("measured", {DETAIL: TESTS | {"passed": 2}}, DETAIL, "collected is not passed + failed + skipped"),
    ("measured", {f"{DETAIL}/kind": "looked-right"}, DETAIL, "fits none of its forms: accuracy, numeric, tests, tokens"),
    ("engine", {f"{DETAIL}/compared": 0, f"{DETAIL}/agreed": 0}, "/cells/0/gate", "compared nothing has not passed"),
    ("engine", {f"{DETAIL}/agreed": 257}, DETAIL, "more agreed than were compared"),
    ("engine", {f"{DETAIL}/prompts_equal": 9}, DETAIL, "more agreed than were compared"),
    ("engine", {f"{DETAIL}/controls/0/agreed": 257}, DETAIL, "more agreed than were compared"),
    ("measured", {"/gates/0/scope": "partial"}, "/gates/0", "a partial gate names its selection"),
    ("measured", {"/gates/0/selection": "-k fast"}, "/gates/0", "a partial gate names its selection"),
    ("measured", {"/gates/0/mutants": 3}, "/gates/0", "known together"),
    ("measured", {"/gates/0/mutants": 3, "/gates/0/mutants_killed": 4}, "/gates/0", "more mutants killed than tried"),
    ("measured", {"/gates/0/tolerances": twice}, "/gates/0", "two tolerances of gate numeric are named 'absolute'"),
    ("outcomes", {"/cells/5/processes": []}, "/cells/5", "unknown keys ('processes' was unexpected)"),
    ("outcomes", {"/cells/6/samples": []}, "/cells/6", "unknown keys ('samples' was unexpected)"),
    ("outcomes", {"/cells/5/kind": "timed"}, "/cells/5/gate", "unknown keys ('message', 'reason' were unexpected)"),
    ("outcomes", {"/cells/5/kind": "fine"}, "/cells/5", "fits none of its forms: crashed, imported, rejected, skipped, timed"),
    ("outcomes", {"/cells/6/cause": "bad luck"}, "/cells/6/cause", "'bad luck' is not one of"),
    # Numbers.
    ("measured", {f"{VALUES}/3": -1e-3}, f"{VALUES}/3", "less than the minimum of 0"),
    ("measured", {f"{VALUES}/3": 0.0}, "/cells/0/processes/0", "a duration of zero, which was not measured"),
    ("measured", {f"{VALUES}/3": "0.001"}, f"{VALUES}/3", "'0.001' is not of type 'number'"),
    ("measured", {f"{VALUES}/3": None}, f"{VALUES}/3", "None is not of type 'number'"),
    ("measured", {f"{VALUES}/3": True}, f"{VALUES}/3", "True is not of type 'number'"),
    ("measured", {f"{VALUES}/3": [1e-3]}, f"{VALUES}/3", "is not of type 'number'"),
    ("measured", {VALUES: []}, VALUES, "should be non-empty"),
    ("measured", {"/cells/0/processes": lambda old: [p | {"samples": [p["samples"][0] | {"rank": 1}]} for p in old]}, PROCESS, "rank 1 of an arm with 1"),
    ("measured", {f"{SAMPLES}/rank": 0.5}, f"{SAMPLES}/rank", "0.5 is not of type 'integer'"),
    ("measured", {f"{SAMPLES}/rank": 0.0}, f"{SAMPLES}/rank", "valid integer"),
    ("measured", {"/cells/0/processes": lambda old: [p | {"samples": [p["samples"][0] | {"metric": "speed"}]} for p in old]}, PROCESS, "no iteration or process metric 'speed' is declared"),
    ("measured", {f"{PROCESS}/samples": twice}, PROCESS, "two sample columns are named 'time of rank 0'"),
    ("measured", {f"{PROCESS}/ended_s": 0.0}, PROCESS, "a process ends after it starts"),
    ("measured", {f"{PROCESS}/samples": []}, PROCESS, "a process that measured nothing"),
    ("measured", {f"{PROCESS}/index": 1}, "/cells/0", "two processes are named '1'"),
    ("measured", {f"{PROCESS}/counters": [{"name": "hit", "count": 1}] * 2}, PROCESS, "two counters are named 'hit'"),
    ("measured", {f"{PROCESS}/work": [{"of": "steps", "count": 1}] * 2}, PROCESS, "two amounts are named 'steps'"),
    ("measured", {"/cells/0/processes": []}, "/cells/0/processes", "should be non-empty"),
    ("engine", {"/cells/0/processes/1/samples": shorter}, "/cells/0", "hold different sample columns"),
    ("engine", {f"{ENGINE_PROCESS}/samples/1/values": [1.0, 2.0]}, "/cells/0/processes/0", "peak_memory belongs to the process and has 2 values"),
    ("engine", {f"{ENGINE_PROCESS}/work": [{"of": "steps", "count": 3}]}, ENGINE_PROCESS, "not in both"),
    ("engine", {f"{REQUESTS}/ttft_s": shorter}, REQUESTS, "ttft_s has 7 rows, prompt_tokens has 8"),
    ("engine", {f"{REQUESTS}/enqueued_s": shorter}, REQUESTS, "enqueued_s has 7 rows, prompt_tokens has 8"),
    ("engine", {f"{REQUESTS}/ttft_s/0": 9.0}, REQUESTS, "request 0: the first token comes after the last"),
    ("engine", {f"{REQUESTS}/ttft_s/0": -0.01526}, f"{REQUESTS}/ttft_s/0", "less than or equal to the minimum of 0"),
    ("engine", {REQUESTS: lambda old: dict.fromkeys(old, ())}, REQUESTS, "requests without a row"),
    ("engine", {"/workloads/0/prompt_tokens/minimum": 600}, "/workloads/0/prompt_tokens", "minimum <= maximum <= total"),
    ("measured", {"/workloads/0/work/0/count": 0}, "/workloads/0/work/0/count", "minimum of 0"),
    ("measured", {"/workloads/0/work": twice}, "/workloads/0", "two amounts of workload n1024 are named 'bytes'"),
    ("measured", {"/workloads/0/shape": []}, "/workloads/0/shape", "should be non-empty"),
    ("measured", {"/methods/0/minimum_samples": 1001}, "/methods/0", "minimum_samples exceeds maximum_samples"),
    ("measured", {"/methods/0/fallback_reason": "slow"}, "/methods/0", "fallback_reason without a fallback"),
    # Metrics.
    ("measured", {"/metrics/0/unit": "B"}, "/metrics/0", "time is reserved: its unit is 's' and 'lower' is better"),
    ("measured", {"/metrics/0/better": "higher"}, "/metrics/0", "time is reserved"),
    ("measured", {"/metrics/0/unit": "ms"}, "/metrics/0/unit", "'ms' is not one of"),
    ("measured", {"/metrics": []}, "/metrics", "should be non-empty"),
    # Keys and types.
    ("measured", {"/comment": "hello"}, "", "unknown keys ('comment' was unexpected)"),
    ("measured", {"/cells/0/mean_s": 1e-3}, "/cells/0", "unknown keys ('mean_s' was unexpected)"),
    ("measured", {"/limitations": GONE}, "", "'limitations' is a required property"),
    ("measured", {"/cells/0/kind": GONE}, "/cells/0", "fits none of its forms"),
    ("measured", {"/cells": {}}, "/cells", "is not of type 'array'"),
    ("measured", {"/arms/0": None}, "/arms/0", "None is not of type 'object'"),
    ("measured", {"/limitations/0": ""}, "/limitations/0", "should be non-empty"),
    ("measured", {"/limitations/0": "a\x00b"}, "/limitations/0", "does not match"),
    ("measured", {"/limitations/0": "x" * 2**20}, "/limitations/0", "is too long"),
    ("measured", {"/arms/0/name": "eager\nfast"}, "/arms/0/name", "does not match"),
    ("measured", {"/arms/0/name": "x" * 2**20}, "/arms/0/name", "is too long"),
    ("measured", {"/arms/0/implementation": "eager"}, "/arms/0/implementation", "does not match"),
    ("measured", {"/sources/1/package": "toy"}, "/sources/1/package", "does not match"),
    ("measured", {"/sources/0/commit": "abc123"}, "/sources/0/commit", "does not match"),
    ("measured", {"/sources/0/tree_sha256": DIGEST.upper()}, "/sources/0/tree_sha256", "does not match"),
    ("measured", {"/sources/0/kind": "svn"}, "/sources/0", "fits none of its forms: git, package"),
    # Times and names of the log.
    ("measured", {"/started_at": "2026-09-01T10:00:00"}, "/started_at", "timezone"),
    ("measured", {"/started_at": "2026-09-01T12:00:00+02:00"}, "/started_at", "times are UTC"),
    ("measured", {"/started_at": "yesterday"}, "/started_at", "valid datetime"),
    ("measured", {"/ended_at": "2026-09-01T09:59:59Z"}, "/ended_at", "the run ends before it starts"),
    ("measured", {"/log": "../../etc/passwd_20260901"}, "/log", "does not match"),
    ("measured", {"/log": "/kernels/toy_20260901"}, "/log", "does not match"),
    ("measured", {"/log": "kernels/toy"}, "/log", "does not match"),
    ("measured", {"/log": "kernels/toy_20260901-0"}, "/log", "does not match"),
    ("measured", {"/log": "kernels/deep/toy_20260901"}, "/log", "does not match"),
    ("measured", {"/log": f"kernels/{'x' * 2**20}_20260901"}, "/log", "is too long"),
    # What a measured record must say of itself.
    ("measured", {"/hosts": []}, "/hosts", "a measured record has at least one"),
    ("measured", {"/stacks": []}, "/stacks", "a measured record has at least one"),
    ("measured", {"/sources": []}, "/sources", "a measured record has at least one"),
    ("measured", {"/provenance": None}, "/provenance", "exactly one of the two"),
    ("imported", {"/origin": None}, "/provenance", "exactly one of the two"),
    ("measured", {"/provenance/argv": []}, "/provenance/argv", "should be non-empty"),
    ("measured", {"/provenance/directory": "/srv/checkout"}, "/provenance/directory", "does not match"),
    ("measured", {"/provenance/directory": "docs/../.."}, "/provenance/directory", "does not match"),
    ("measured", {"/provenance/seed": 7.5}, "/provenance/seed", "is not of type 'integer'"),
    ("measured", {"/arms/0/ranks": []}, "/arms/0/ranks", "says nowhere that it ran"),
    ("measured", {"/cells/0": {"kind": "imported", "arm": "eager", "workload": "n1024", "reported": [], "unread": [], "processes": [], "work": [], "outcome": None}}, "/cells/0", "an imported cell in a measured record"),
    ("imported", {"/cells/0": lambda _: document("measured")["cells"][0] | {"arm": "served", "workload": "short"}}, "/cells/0", "a timed cell in an import"),
    # Nulls and their reasons.
    ("measured", {"/hosts/0/accelerators/0/power_limit_w": None}, "/hosts/0/accelerators/0", "null without a reason in 'missing': power_limit_w"),
    ("measured", {"/hosts/0/missing": []}, "/hosts/0", "null without a reason in 'missing': interconnect"),
    ("measured", {"/stacks/0/missing": twice}, "/stacks/0", "a field is explained twice"),
    ("measured", {"/stacks/0/container": "docker"}, "/stacks/0", "'missing' explains fields that are not null: container"),
    ("measured", {"/sources/0/missing/0/reason": ""}, "/sources/0/missing/0/reason", "should be non-empty"),
    # Conditions.
    ("measured", {"/conditions/0/power_w": shorter}, "/conditions/0", "power_w has 9 readings, at_s has 10"),
    ("measured", {"/conditions/0/at_s": rotated}, "/conditions/0", "at_s goes back in time"),
    ("measured", {"/conditions/0/host": "h9"}, "/conditions/0/host", "no host 'h9'"),
    ("measured", {"/conditions/0/device": 1}, "/conditions/0/device", "host 'h0' has no device 1"),
    # Dangling and doubled names.
    ("measured", {"/sources": twice}, "/sources", "two sources are named 'toy'"),
    ("measured", {"/hosts": twice}, "/hosts", "two hosts are named 'h0'"),
    ("measured", {"/stacks": twice}, "/stacks", "two stacks are named 'main'"),
    ("measured", {"/workloads": twice}, "/workloads", "two workloads are named 'n1024'"),
    ("measured", {"/metrics": twice}, "/metrics", "two metrics are named 'time'"),
    ("measured", {"/methods": twice}, "/methods", "two methods are named 'do-bench'"),
    ("measured", {"/gates": twice}, "/gates", "two gates are named 'numeric'"),
    ("measured", {"/arms/1/name": "eager"}, "/arms", "two arms are named 'eager'"),
    ("measured", {"/axes": ["implementation", "tile"]}, "/axes/1", "'tile' is neither a switch of an arm nor one of"),
    ("measured", {"/provenance/source": "elsewhere"}, "/provenance/source", "no source 'elsewhere'"),
    ("measured", {"/arms/0/source": "elsewhere"}, "/arms/0/source", "no source 'elsewhere'"),
    ("measured", {"/arms/0/ranks/0/host": "h1"}, "/arms/0/ranks", "no host 'h1'"),
    ("measured", {"/arms/0/ranks/0/device": 1}, "/arms/0/ranks", "has 1 accelerators, not a device 1"),
    ("measured", {"/arms/0/ranks/0/stack": "other"}, "/arms/0/ranks", "no stack 'other'"),
    ("measured", {"/arms/0/switches": [{"name": "x", "value": "1"}] * 2}, "/arms/0", "two switches of arm eager are named 'x'"),
    ("measured", {"/cells/0/gate/gate": "other"}, "/cells/0/gate", "no gate 'other'"),
    ("measured", {"/cells/0/gate/source": "other"}, "/cells/0/gate", "no source 'other'"),
    ("measured", {"/cells/0/method": "stopwatch"}, "/cells/0/method", "no method 'stopwatch'"),
    ("measured", {"/cells/0/cross_checks": lambda _: [{"method": "nvbench", "processes": document("measured")["cells"][0]["processes"]}]}, "/cells/0/method", "no method 'nvbench'"),
    ("engine", {"/gates/0/log": "gate.txt"}, "/gates/0/log", "'gate.txt' is not among the artifacts"),
    ("engine", {"/profiles/0/artifact": "trace.json"}, "/profiles/0/artifact", "is not among the artifacts"),
    ("engine", {"/profiles/0/arm": "other"}, "/profiles/0", "no arm or workload 'other'"),
    ("engine", {"/artifacts/0/workloads": ["other"]}, "/artifacts/0", "no arm or workload 'other'"),
    ("engine", {"/artifacts": twice}, "/artifacts", "two artifacts are named 'timeline.jsonl'"),
    ("engine", {"/artifacts/0/path": "../timeline.jsonl"}, "/artifacts/0/path", "does not match"),
    ("engine", {"/artifacts/0/path": "/tmp/timeline.jsonl"}, "/artifacts/0/path", "does not match"),
    ("engine", {"/artifacts/0/path": "a\\b"}, "/artifacts/0/path", "does not match"),
    ("engine", {"/artifacts/0/path": "record.json", "/profiles/0/artifact": "record.json"}, "/artifacts/0", "is kept by the store"),
    ("engine", {"/artifacts/0/path": "raw/record.json", "/profiles/0/artifact": "raw/record.json"}, "/artifacts/0", "is kept by the store"),
    ("engine", {"/artifacts/0/path": "raw/.hidden", "/profiles/0/artifact": "raw/.hidden"}, "/artifacts/0", "is kept by the store"),
    ("engine", {"/artifacts/0/path": "SHA256SUMS", "/profiles/0/artifact": "SHA256SUMS"}, "/artifacts/0", "is kept by the store"),
    ("imported", {"/origin/file": "other.json"}, "/origin/file", "'other.json' is not among the artifacts"),
    # Controls.
    ("measured", {"/arms/2/control_of": None}, "/arms/2", "control_of names the twin of a control arm"),
    ("measured", {"/arms/0/control_of": "fused"}, "/arms/0", "control_of names the twin of a control arm"),
    ("measured", {"/arms/2/control_of": "nobody"}, "/arms/2/control_of", "no other arm 'nobody'"),
    ("measured", {"/arms/2/control_of": "eager-again"}, "/arms/2/control_of", "no other arm 'eager-again'"),
    ("measured", {"/arms/2/control_of": "fused"}, "/arms/2/implementation", "so it is no control"),
    ("measured", {"/arms/2/source": "repository"}, "/arms/2/source", "so it is no control"),
    ("measured", {"/arms/2/ranks": twice}, "/arms/2/ranks", "so it is no control"),
    ("measured", {"/arms/2/command": []}, "/arms/2/command", "so it is no control"),
    ("measured", {"/arms/2/switches": [{"name": "x", "value": "1"}]}, "/arms/2/switches", "so it is no control"),
    # The sweep.
    ("measured", {"/cells/1": GONE}, "/cells", "no cell of 'fused' on 'n1024'; a lost row would look like a win"),
    ("outcomes", {"/cells/7": GONE}, "/cells", "no cell of 'fused' on 'odd'"),
    ("outcomes", {"/cells": twice}, "/cells/12", "a second cell of 'eager-again' on 'odd'"),
    ("outcomes", {"/cells/7/workload": "strange"}, "/cells/7", "no arm 'fused' or no workload 'strange'"),
    ("measured", {"/cells": []}, "/cells", "no cell of 'eager' on 'n1024'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "changes", "pointer", "words"), ROWS, ids=[f"{row[0]} {' '.join(row[1])}: {row[3][:40]}" for row in ROWS]
)
def test_refused_at_its_place_with_a_reason(base: str, changes: dict[str, Any], pointer: str, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse(encoded(changed(base, changes)))
    assert caught.value.pointer == pointer
    assert words in caught.value.message
    assert caught.value.message.startswith(pointer or "record")
    assert caught.value.fix
    assert len(caught.value.message) < 1200


def test_a_change_of_one_value_is_found_on_its_line() -> None:
    data = encoded(changed("measured", {f"{VALUES}/3": "slow"}))
    with pytest.raises(RecordError) as caught:
        parse(data)
    assert data.decode().splitlines()[caught.value.line - 1].strip() == '"slow",'


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" * 400 + ".0"])
def test_numbers_that_are_not_finite_are_refused_wherever_they_stand(word: str) -> None:
    for base, place in (
        ("measured", VALUES),
        ("measured", "/workloads/0/inputs/seed"),
        ("engine", f"{REQUESTS}/ttft_s"),
    ):
        old = changed(base, {f"{place}/0" if place != "/workloads/0/inputs/seed" else place: "here"})
        data = encoded(old).replace(b'"here"', word.encode(), 1)
        with pytest.raises(RecordError):
            parse(data)


SOUND = text_of("measured")
BYTES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "the file is empty"),
    ("blank", b" \n\t\n", "the file is empty"),
    ("byte order mark", b"\xef\xbb\xbf" + SOUND, "byte order mark"),
    ("UTF-16 with a mark", SOUND.decode().encode("utf-16"), "byte order mark"),
    ("UTF-16 without", SOUND.decode().encode("utf-16-le"), "not JSON"),
    ("UTF-32", SOUND.decode().encode("utf-32-be"), "not JSON"),
    ("Latin-1", SOUND.replace(b"synthetic numbers", b"synth\xe9tic numbers"), "not UTF-8 at byte"),
    ("truncated", SOUND[: len(SOUND) // 2], "not JSON"),
    ("last byte gone", SOUND.rstrip()[:-1], "not JSON"),
    ("two documents", SOUND + SOUND, "not JSON"),
    ("trailing text", SOUND + b"x", "not JSON"),
    ("deep nesting", b"[" * 100_000, "not JSON"),
    ("deep objects", b'{"a":' * 100_000, "not JSON"),
    ("closed deep nesting", b"[" * 5_000 + b"]" * 5_000, "not JSON"),
    ("null byte", SOUND.replace(b"toy.ops", b"toy\x00ops", 1), "not JSON"),
    ("a text", b'"record"', "the root is not an object"),
    ("a list", b"[]", "the root is not an object"),
    ("null", b"null", "the root is not an object"),
    ("twice a key", SOUND.replace(b'"origin": null,', b'"origin": null, "origin": null,', 1), "duplicate key"),
    ("twice a key inside", SOUND.replace(b'"role": "baseline",', b'"role": "candidate", "role": "baseline",', 1), "duplicate key"),
    ("lone surrogate", SOUND.replace(b"synthetic numbers", b"synth\\ud800 numbers"), "not JSON"),
    ("a number of 5000 digits", SOUND.replace(b'"seed": 7', b'"seed": ' + b"7" * 5_000, 1), "not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "words"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES])
def test_bytes_that_are_no_record(data: bytes, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse(data)
    assert words in caught.value.message
    assert caught.value.line >= 1
    assert len(caught.value.message) < 500


def test_a_duplicate_key_is_found_on_its_line() -> None:
    data = SOUND.replace(b'"role": "baseline",', b'"role": "candidate",\n"role": "baseline",', 1)
    with pytest.raises(RecordError) as caught:
        parse(data)
    assert '"role": "baseline"' in data.decode().splitlines()[caught.value.line - 1]


@pytest.mark.parametrize("version", [0, 2, -1, 99, "1", None, True, 1.5, [1], {}, 10**30])
def test_other_versions_are_unknown(version: object) -> None:
    with pytest.raises(UnknownVersionError) as caught:
        parse(encoded(changed("measured", {"/schema_version": version})))
    assert caught.value.pointer == "/schema_version"
    assert caught.value.line == 2


def test_a_missing_version_is_unknown() -> None:
    with pytest.raises(UnknownVersionError):
        parse(encoded(changed("measured", {"/schema_version": GONE})))


def test_a_version_as_a_float_is_not_the_version() -> None:
    with pytest.raises(RecordError) as caught:
        parse(encoded(changed("measured", {"/schema_version": 1.0})))
    assert caught.value.pointer == "/schema_version"


@pytest.mark.parametrize("base", BASES)
def test_the_sound_records_load(base: str) -> None:
    assert json.loads(text_of(base)) == document(base)
    parse(text_of(base))
