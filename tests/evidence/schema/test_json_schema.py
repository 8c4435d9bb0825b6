"""The published JSON Schema: valid, current, no stricter than the models, and the source of readable errors."""

# ruff: noqa: E501 - a row of the table is one case

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from evidence.schema.json_schema import FILE_NAME, record_schema, schema_text, structural_errors
from tests.evidence.schema.documents import BASES, GONE, changed, document
from tests.evidence.schema.strategies import JSON, records
from tests.evidence.schema.test_models import LATER

ROOT = Path(__file__).parents[3]


def test_the_committed_file_is_what_the_models_say() -> None:
    committed = ROOT / "docs/schemas" / FILE_NAME
    assert committed.read_text(encoding="utf-8") == schema_text(), "run `evidence schema --write`"


def test_it_is_a_schema_of_its_dialect() -> None:
    assert record_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(json.loads(schema_text()))


def test_it_asks_for_every_key_but_later_ones_and_allows_no_other() -> None:
    for name, definition in {"Record": record_schema(), **record_schema()["$defs"]}.items():
        assert definition["additionalProperties"] is False, name
        later = {key for kind, key in LATER if kind == name}
        assert set(definition["required"]) == set(definition["properties"]) - later, name


def test_every_field_that_carries_a_unit_or_a_null_is_described() -> None:
    described = [d for d in record_schema()["$defs"].values() if d.get("description")]
    assert len(described) == len(record_schema()["$defs"])


@pytest.mark.parametrize("base", BASES)
def test_it_accepts_the_sound_records(base: str) -> None:
    assert list(structural_errors(document(base))) == []


@given(records())
def test_it_accepts_whatever_the_models_accept(record: Any) -> None:
    assert list(structural_errors(json.loads(record.model_dump_json()))) == []


@pytest.mark.parametrize(
    ("base", "changes", "pointer", "words"),
    [
        ("measured", {"/arms": GONE}, "", "'arms' is a required property"),
        ("measured", {"/extra": 1}, "", "unknown keys ('extra' was unexpected)"),
        ("measured", {"/arms/1/role": "winner"}, "/arms/1/role", "'winner' is not one of"),
        ("measured", {"/cells/0/kind": "fine"}, "/cells/0", "fits none of its forms: crashed, imported, rejected, skipped, timed"),
        ("measured", {"/cells/0": 3}, "/cells/0", "fits none of its forms"),
        ("engine", {"/workloads/0/arrival/kind": "burst"}, "/workloads/0/arrival", "fits none of its forms: at-once, closed, paced, poisson"),
        ("engine", {"/workloads/0/weights/origin": "found"}, "/workloads/0/weights", "fits none of its forms: pretrained, random"),
        ("engine", {"/cells/0/processes/0/requests": 3}, "/cells/0/processes/0/requests", "fits none of its forms"),
        ("imported", {"/cells/0/outcome": {"outcome": "unsure"}}, "/cells/0/outcome", "fits none of its forms"),
        ("measured", {"/cells/0/gate/detail/tensors/0/elements": "many"}, "/cells/0/gate/detail/tensors/0/elements", "'many' is not of type 'integer'"),
    ],
)  # fmt: skip
def test_errors_name_the_place_and_the_branch_that_the_tag_chose(
    base: str, changes: dict[str, Any], pointer: str, words: str
) -> None:
    found = list(structural_errors(changed(base, changes)))
    assert found[0][0] == pointer
    assert words in found[0][1]
    assert len(found) == 1, found


def test_the_nearest_to_the_root_comes_first() -> None:
    found = list(structural_errors(changed("measured", {"/arms/1/role": "winner", "/extra": 1})))
    assert [pointer for pointer, _ in found] == ["", "/arms/1/role"]


@given(JSON)
def test_any_value_gets_errors_and_no_exception(value: Any) -> None:
    assert [*structural_errors(value)]
