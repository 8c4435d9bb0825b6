"""Older versions become current ones a step at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.errors import RecordError, UnknownVersionError
from evidence.schema import migrations, text
from tests.evidence.schema.documents import document, encoded


@pytest.fixture
def two_older_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were version 3: version 1 called the limits by another name, version 2 had none."""

    def second(old: dict[str, Any]) -> dict[str, Any]:
        return {**{key: value for key, value in old.items() if key != "caveats"}, "schema_version": 2}

    def third(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "limitations": ["none was recorded"], "schema_version": 1}

    monkeypatch.setattr(migrations, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(text, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(migrations, "MIGRATIONS", {1: second, 2: third})


@pytest.mark.usefixtures("two_older_versions")
def test_each_step_is_applied_in_turn() -> None:
    old = document("measured")
    del old["limitations"]
    assert text.parse(encoded({**old, "caveats": ["x"]})).limitations == ("none was recorded",)
    assert text.parse(encoded({**old, "schema_version": 2})).limitations == ("none was recorded",)


@pytest.mark.usefixtures("two_older_versions")
def test_what_is_wrong_after_migration_is_found_in_the_old_file() -> None:
    old = document("measured")
    old["arms"][1]["role"] = "winner"
    data = json.dumps(old, indent=1).encode()
    with pytest.raises(RecordError) as caught:
        text.parse(data)
    assert caught.value.pointer == "/arms/1/role"
    assert "winner" in data.decode().splitlines()[caught.value.line - 1]


def test_a_newer_version_says_to_upgrade() -> None:
    with pytest.raises(UnknownVersionError, match="this package reads 1 to 1") as caught:
        migrations.migrate({"schema_version": 2})
    assert "upgrade" in caught.value.fix
