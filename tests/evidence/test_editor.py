"""The schema over a store flags each typo of a name that the plain one cannot know, and passes what is right."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from evidence.cli import cli
from evidence.editor import store_schema
from evidence.schema.claims import claims_schema
from tests.factories import engine_record, record
from tests.projects import CLAIMS, write_project

RECORDS = {"kernels/toy": record(), "engine/toy": engine_record()}
LOGS = ["kernels/toy_20260901", "engine/toy_20260901"]
GOOD: dict[str, Any] = {
    "claims": {
        "gain": {
            "statement": "Fusing is {ratio} faster.",
            "series": "kernels/toy",
            "metric": "time.p90",
            "baseline": "eager",
            "candidate": "fused",
            "where": {"N": 1024},
            "expect": "better",
            "also": {
                "twin": {"candidate": "eager-again", "expect": "same"},
                "first": {
                    "series": "engine/toy",
                    "metric": "ttft",
                    "arm": RECORDS["engine/toy"].arms[0].name,
                    "where": {},
                },
            },
        }
    },
    "tables": {
        "toy": {
            "title": "Toy",
            "series": "kernels/toy",
            "rows": ["N"],
            "across": "arm",
            "columns": ["time", {"ratio": "time", "vs": "eager"}],
            "baseline": "eager",
            "where": {"arm": ["eager", "fused"]},
        }
    },
    "logs": {"kernels/toy_20260901": {"historical": "kept for the record"}},
}
TYPOS: list[tuple[tuple[str | int, ...], object]] = [
    (("claims", "gain", "series"), "kernels/tyo"),
    (("claims", "gain", "metric"), "tmie"),
    (("claims", "gain", "metric"), "time/tokenz"),
    (("claims", "gain", "candidate"), "fuzed"),
    (("claims", "gain", "where"), {"M": 1024}),
    (("claims", "gain", "where"), {"N": 1025}),
    (("claims", "gain", "also", "twin", "candidate"), "eager-agian"),
    (("claims", "gain", "also", "first", "metric"), "time_to"),
    (("tables", "toy", "rows"), ["n"]),
    (("tables", "toy", "columns"), ["tiem"]),
    (("tables", "toy", "columns", 1, "vs"), "eagre"),
    (("tables", "toy", "where"), {"arm": ["eagre"]}),
    (("logs",), {"kernels/toy_20260902": {"historical": "kept for the record"}}),
]


def refuses(schema: dict[str, Any], document: object) -> bool:
    return not jsonschema.Draft202012Validator(schema).is_valid(document)


def test_what_is_right_passes() -> None:
    schema = store_schema(RECORDS, LOGS)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(GOOD)


@pytest.mark.parametrize(("path", "typo"), TYPOS)
def test_each_typo_is_flagged_here_and_only_here(path: tuple[str | int, ...], typo: object) -> None:
    document: Any = deepcopy(GOOD)
    at = document
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = typo
    assert refuses(store_schema(RECORDS, LOGS), document)
    assert not refuses(claims_schema(), document)


def test_the_command_writes_it_over_a_project(tmp_path: Path) -> None:
    root = write_project(tmp_path / "site")
    done = CliRunner().invoke(cli, ["schema", "--root", str(root), "--store", "--write"])
    assert done.exit_code == 0, done.output
    schema = yaml.safe_load((root / "docs/schemas/claims-store.schema.json").read_text(encoding="utf-8"))
    assert not refuses(schema, yaml.safe_load(CLAIMS))
    assert refuses(schema, yaml.safe_load(CLAIMS.replace("fused", "fuzed")))
