"""What every printed number is read from: complete, one figure a line, and nothing of what is not printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evidence import figures
from evidence.book import Book
from evidence.project import Project
from evidence.store import Store, save
from tests.factories import outcomes_record
from tests.projects import CLAIMS, write_project

LOG = "kernels/toy_20260901"
MORE = """\
  ways:
    title: Outcomes of a cell
    series: kernels/outcomes
    rows: [workload, arm]
    columns: [time, {change: time}, {peak: bandwidth}]
    baseline: eager
    not_covered: [{where: {workload: huge}, why: it does not fit}]
"""


def read(root: Path, *values: tuple[str, str, str]) -> dict[str, Any]:
    project = Project.find(root)
    text = figures.text(Book(project, Store(project.logs)), {"toy-fused": ["features/", "", "features/"]}, values)
    found: dict[str, Any] = json.loads(text)
    assert text.count('\n  {"of": ') == len(found["figures"])
    return found


def test_a_sentence_is_its_parts_and_each_number_says_where_it_is_from(tmp_path: Path) -> None:
    found = read(write_project(tmp_path), ("value", "toy-fused", "candidate:us"))
    claim = found["claims"]["toy-fused"]
    texts = [part if isinstance(part, str) else found["figures"][part]["text"] for part in claim["parts"]]
    assert "".join(texts) == claim["says"] == "On Synthetic GPU A, fusing runs 1.25× faster."
    assert claim["pages"] == ["", "features/"]
    assert (claim["verdict"], claim["word"], claim["headline"]["text"]) == ("better", "FASTER", "1.25×")
    assert list(claim["readings"]) == [""]
    device, ratio = (found["figures"][part] for part in claim["parts"] if isinstance(part, int))
    assert (device["show"], device["fact"]) == ("fact", "device")
    cells = {"log": LOG, "arm": "fused", "baseline": "eager", "workloads": ["n1024"]}
    quantity = {"metric": "time", "statistic": "", "per": ""}
    assert ratio.items() >= {"show": "ratio", "reduce": "", "unit": "×", **quantity}.items()
    assert {key: ratio[key] for key in cells} == cells
    (value,) = (one for one in found["figures"] if one["at"] == "value")
    assert (value["show"], value["unit"], value["field"]) == ("candidate", "µs", "candidate:us")
    assert found["logs"][LOG]["record"] == f"benchmark_logs/{LOG}/record.json"


def test_a_table_has_a_figure_for_each_cell_of_a_log(tmp_path: Path) -> None:
    root = write_project(tmp_path, claims=CLAIMS + MORE)
    save(root / "docs/benchmark_logs", outcomes_record())
    found = read(root)
    table = found["tables"]["ways"]
    assert [column["kind"] for column in table["columns"]] == ["axis", "axis", "value", "change", "peak"]
    assert table["rows"][0] == ["fits", "eager"]
    assert table["rows"][-1] == ["huge", "–"]
    cells = [one for one in found["figures"] if one["of"] == "ways"]
    assert len(cells) == 3 * (len(table["rows"]) - 1)
    outcomes = {(one["workloads"][0], one["arm"]): one.get("outcome") for one in cells if one["show"] == "value"}
    assert outcomes["wrong", "fused"] == "rejected"
    assert outcomes["large", "fused"] == "crashed"
    assert outcomes["odd", "fused"] == "skipped"
    assert outcomes["fits", "fused"] is None
    change = next(one for one in cells if one["show"] == "change" and one["arm"] == "fused" and one["text"])
    assert (change["word"], change["verdict"], change["unit"], change["baseline"]) == ("FASTER", "better", "%", "eager")
    assert {one["text"] for one in cells if one["show"] == "change" and one["arm"] == "eager"} == {"baseline"}


def test_what_its_log_does_not_bear_out_has_no_figure(tmp_path: Path) -> None:
    found = read(write_project(tmp_path, claims=CLAIMS.replace("expect: better", "expect: worse")))
    assert found["claims"] == {}
    assert {one["of"] for one in found["figures"]} == {"toy"}


def test_a_diagnostic_has_a_figure_though_its_claim_does_not_stand(tmp_path: Path) -> None:
    root = write_project(tmp_path, claims=CLAIMS.replace("expect: better", "expect: worse"))
    (figure,) = (one for one in read(root, ("diagnostic", "toy-fused", "ratio"))["figures"] if one["of"] == "toy-fused")
    assert (figure["at"], figure["show"], figure["text"]) == ("diagnostic", "ratio", "1.25×")
