"""Claims files: YAML 1.2 with lines, one finding for whatever is wrong, and never an exception."""

# ruff: noqa: E501 - a row of the table is one case

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from evidence.claims import Claims, load
from evidence.schema.claims import TableSpec, claims_schema

READS = "claims:\n  a:\n    statement: x\n    series: kernels/x\n    metric: time\n    arm: eager\n"
COMPARES = READS.replace("arm: eager", "baseline: eager\n    candidate: fused\n    expect: better")
TABLE = "tables:\n  t:\n    title: x\n    series: kernels/x\n    rows: [N]\n"


def read(root: Path, text: str | bytes, name: str = "page.yml") -> Claims:
    folder = root / "docs/claims"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(folder, root)


def only(claims: Claims) -> tuple[str, int, str, str]:
    """The one finding: its rule, line, message and fix."""
    ((code, finding),) = claims.findings
    assert finding.at.path == "docs/claims/page.yml"
    return code, finding.at.line, finding.message, finding.fix


def test_items_are_read_with_the_line_of_each_part(tmp_path: Path) -> None:
    text = (
        COMPARES
        + "    also:\n      latency:\n        metric: latency\n        expect: worse\n    limitations:\n      - one\n      - two\n"
    )
    claims = read(tmp_path, "# comment\n" + text)
    assert claims.findings == ()
    placed = claims.claims["a"]
    assert str(placed.at()) == "docs/claims/page.yml:3"
    assert placed.at("expect").line == 9
    assert placed.at("also", "latency", "metric").line == 12
    assert placed.at("limitations", 1).line == 16
    # What is not written stands where its holder does.
    assert placed.at("also", "latency", "where").line == 11
    assert placed.at("mechanism").line == 3


def test_yaml_is_of_version_1_2(tmp_path: Path) -> None:
    text = READS + "    where: {mode: off, flag: [no, on, true, 0o17, 012, 1e3, 1_0], m: [1, 8]}\n"
    where = read(tmp_path, text).claims["a"].item.where
    assert where["mode"] == ("off",)
    assert where["flag"] == ("no", "on", "true", "15", "12", "1000.0", "1_0")
    assert where["m"] == ("1", "8")


def test_a_file_of_nothing_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "claims:\ntables: {}\n") == Claims()
    assert load(tmp_path / "nowhere", tmp_path) == Claims()


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert set(read(tmp_path, "\ufeff" + READS).claims) == {"a"}


def test_waivers_are_listed_with_their_place(tmp_path: Path) -> None:
    waiver = "    waive: [{rule: EV701, why: vendor figure, owner: '@docs', until: 2027-01-31}]\n"
    text = READS + waiver + TABLE + "    columns: [time]\n" + waiver.replace("EV701", "EV413")
    found = [(id_, str(at), waiver.rule) for id_, at, waiver in read(tmp_path, text).waivers]
    assert found == [("a", "docs/claims/page.yml:7", "EV701"), ("t", "docs/claims/page.yml:14", "EV413")]


def test_merged_keys_count_and_an_error_in_one_points_at_the_merge(tmp_path: Path) -> None:
    text = f"{TABLE}    columns: [time]\n  u:\n    <<: &more {{title: y, series: kernels/y, rows: [M], columns: [time]}}\n    where: {{m: 1}}\n"
    claims = read(tmp_path, text)
    assert claims.findings == ()
    assert claims.tables["u"].item.title == "y"
    broken = read(tmp_path, text.replace("columns: [time]}", "columns: 3}"))
    assert only(broken)[:3] == ("EV620", 8, "tables.u.columns: is not a list")


def test_what_is_brought_in_stands_at_the_merge_or_alias_and_is_written_elsewhere(tmp_path: Path) -> None:
    text = (
        "tables:\n  t: &t\n    title: x\n    series: kernels/x\n    rows: [N]\n    columns: [time]\n    where: &w {N: 1}\n"
        "  u:\n    title: y\n    rows: [M]\n    <<: *t\n  v:\n    <<: [*t]\n    where: *w\n"
    )
    tables = read(tmp_path, text).tables
    assert (tables["u"].item.title, tables["u"].item.rows, tables["u"].item.series) == ("y", ("M",), ("kernels/x",))
    u, v = tables["u"], tables["v"]
    # Own keys stand where they are written, whatever the order; the rest at the merge, down to its parts.
    assert [u.at(*one).line for one in (("title",), ("rows", 0), ("series",), ("columns", 0))] == [9, 10, 11, 11]
    assert [u.origin(*one).line for one in (("title",), ("rows", 0), ("series",), ("columns", 0))] == [9, 10, 4, 6]
    assert [v.at(*one).line for one in (("where",), ("where", "N"), ("title",))] == [14, 14, 13]
    assert [v.origin(*one).line for one in (("where",), ("where", "N"), ("title",))] == [14, 7, 3]
    assert tables["t"].at("where", "N").line == tables["t"].origin("where", "N").line == 7


@pytest.mark.parametrize(
    ("text", "line", "message", "fix"),
    [
        # The file.
        ("", 1, "the file holds nothing", "remove it"),
        ("# only a comment\n", 1, "the file holds nothing", "claims:"),
        ("---\n", 1, "the file holds nothing", ""),
        ("\ufeff", 1, "the file holds nothing", ""),
        ("3\n", 1, "a claims file is a mapping, and this one is not", "tables, claims, logs"),
        ("[]\n", 1, "a claims file is a mapping", ""),
        ("claims: 3\n", 1, "claims is not a mapping of ids", "id: "),
        ("tables: {}\nclaims: [a]\n", 2, "claims is not a mapping of ids", ""),
        ("# x\nclams: {}\n", 2, "unknown key 'clams'", "did you mean 'claims'?"),
        ("other: {}\n", 1, "unknown key 'other'", "a claims file has tables, claims, logs"),
        (f"? {'x' * 2**18}\n: {{}}\n", 1, "unknown key 'xxx", ""),
        ("claims: {a: {statement: 'x\n", 2, "not YAML", "close the quotation mark"),
        ("claims:\n\tx: 1\n", 2, "not YAML: found character", ""),
        ("claims:\n  a: *x\n", 2, "not YAML: found undefined alias", ""),
        ("claims: {}\n---\nclaims: {}\n", 2, "not YAML", ""),
        (READS + "    arm: x\n", 7, "the key 'arm' stands twice", ""),
        (READS + "  a: {}\n", 7, "the key 'a' stands twice", ""),
        ("tables: {}\ntables: {}\n", 2, "the key 'tables' stands twice", ""),
        ("claims:\n  1: {}\n  '1': {}\n", 3, "the key '1' stands twice", ""),
        ("\x00", 1, "not YAML: control characters are not allowed", ""),
        (b"\xff\xfeclaims", 1, "not a claims file: 'utf-8' codec", "UTF-8"),
        ("claims: &a {b: *a}\n", 1, "aliases or nesting beyond", ""),
        ("claims: {a: &x [*x]}\n", 1, "aliases or nesting beyond", ""),
        ("claims: " + "[" * 60 + "]" * 60 + "\n", 1, "aliases or nesting beyond", ""),
        ("claims: " + "{a: " * 400 + "1" + "}" * 400 + "\n", 1, "aliases or nesting beyond", ""),
        # Ids.
        ("claims:\n  ../x: {}\n", 2, "claims.../x: is not an id", "kebab-case"),
        ("claims:\n  Skewed: {}\n", 2, "claims.Skewed: is not an id", "kebab-case"),
        ("claims:\n  a--b: {}\n", 2, "claims.a--b: is not an id", ""),
        ("claims:\n  skewéd: {}\n", 2, "claims.skewéd: is not an id", ""),
        ('claims:\n  "a\\n": {}\n', 2, "claims.a\n: is not an id", ""),
        ('claims:\n  "": {}\n', 2, "claims.: is not an id", ""),
        ("claims:\n  <script>: {}\n", 2, "claims.<script>: is not an id", ""),
        (f"claims:\n  ? {'x' * 2**18}\n  : {{}}\n", 2, "claims.xxxx", "80 at most"),
        ("claims:\n  ? [a, b]\n  : {}\n", 2, "a key is not text", ""),
        ("claims:\n  null: {}\n", 2, "claims.null.statement: is required", ""),
        # Keys and values.
        (READS + "    statemnt: y\n", 7, "claims.a.statemnt: unknown key", "did you mean 'statement'?"),
        (READS.replace("statement", "statemnt"), 3, "claims.a.statemnt: unknown key", "did you mean 'statement'?"),
        (READS + "    zzz: y\n", 7, "claims.a.zzz: unknown key", "keys: statement, series, metric"),
        (READS.replace("    metric: time\n", ""), 2, "claims.a.metric: is required", "write metric"),
        (READS.replace("time", "[1]"), 5, "claims.a.metric: is not text", "in quotes"),
        (READS.replace(": x\n", ": ''\n"), 3, "claims.a.statement: is empty", ""),
        (READS.replace(": x\n", f": {'x' * 5000}\n"), 3, "claims.a.statement: is longer than", ""),
        ("claims: {a: 3}\n", 1, "claims.a: is not a mapping", "with the keys statement"),
        ("claims: {a: }\n", 1, "claims.a: is not a mapping", ""),
        ("claims: {a: !!python/object:os.system {args: [x]}}\n", 1, "claims.a.args: unknown key", ""),
        (READS.replace(": x\n", ": !tag x\n"), 3, "the tag '!tag' means nothing here", ""),
        (READS.replace(": x\n", ": [x]\n"), 3, "claims.a.statement: is not text", ""),
        (READS.replace("    arm: eager\n", ""), 2, "no arm is named", "write either arm, or baseline and candidate"),
        (COMPARES + "    arm: eager\n", 9, "claims.a.arm: one arm is read, and two are compared", "write either arm, or baseline and candidate"),
        (COMPARES.replace("    candidate: fused\n", ""), 6, "claims.a.baseline: baseline is named without candidate", "write candidate"),
        (COMPARES.replace("fused", "eager"), 7, "claims.a.candidate: baseline and candidate are one arm", "differ"),
        (COMPARES.replace("    expect: better", ""), 2, "expect is missing", "write expect: better, worse, same or inconclusive"),
        (READS + "    expect: same\n", 7, "claims.a.expect: expect is about two arms, and one is read", "drop expect"),
        (COMPARES.replace("better", "faster"), 8, "'faster' is not one of better, worse, same, inconclusive", "one of these words"),
        (COMPARES.replace("better", "{faster: 2}"), 8, "'faster' is not one of better", ""),
        (COMPARES.replace("better", "{better: many}"), 8, "claims.a.expect.better: is not a whole number", "how many cells"),
        (COMPARES.replace("better", "[better]"), 8, "['better'] is not one of better", ""),
        (COMPARES.replace("better", f"'{'x' * 2**20}'"), 8, "is not one of better", ""),
        (READS + "    where: {m: ~}\n", 7, "claims.a.where.m.0: has no value", ""),
        (READS + "    where: {m: []}\n", 7, "claims.a.where.m: is empty", ""),
        (READS + "    where: 3\n", 7, "claims.a.where: is not a mapping", ""),
        (READS + "    where: {arm: eager}\n", 7, "a reading names its arms by arm, or by baseline and candidate", ""),
        (READS + "    also: {l: {metrc: x}}\n", 7, "claims.a.also.l.metrc: unknown key", "did you mean 'metric'?"),
        (READS + "    also:\n      l:\n        metric: x\n        serie: x\n", 10, "claims.a.also.l.serie: unknown key", "did you mean 'series'?"),
        (READS + "    also: {Lat: {metric: x}}\n", 7, "claims.a.also.Lat: is not of the form it needs", "lower-case"),
        (READS + "    also: {l: 3}\n", 7, "claims.a.also.l: is not a mapping", "with the keys series, metric"),
        (COMPARES + "    also: {l: {metric: x}}\n", 9, "claims.a.also.l: expect is missing", "write expect"),
        (COMPARES + "    also: {l: {arm: x, expect: same}}\n", 9, "claims.a.also.l.expect: expect is about two arms", "drop expect"),
        (COMPARES + "    also: {l: {arm: x, baseline: y}}\n", 9, "claims.a.also.l.arm: one arm is read, and two are compared", ""),
        (COMPARES + "    also: {ratio: {metric: x, expect: same}}\n", 9, "claims.a.also.ratio: a reading cannot be called ratio", "another name"),
        (READS + "    mechanism: because\n", 7, "claims.a.mechanism: is not a mapping", "with the keys text, evidence, unknown"),
        (READS + "    mechanism: {text: x}\n", 7, "a mechanism has text and evidence, or unknown alone", "what was tried"),
        (READS + "    mechanism: {text: x, evidence: profile, unknown: y}\n", 7, "a mechanism has text and evidence, or unknown", ""),
        (READS + "    limitations: one\n", 7, "claims.a.limitations: is not a list", ""),
        (READS + "    status: {historical: x, do_not_cite: y}\n", 7, "a status has exactly one of historical, do_not_cite", ""),
        (READS + "    status: {superseded_by: A B}\n", 7, "claims.a.status.superseded_by: is not of the form", "id of a claim"),
        (READS + "    waive: [{rule: EV7, why: x, owner: y, until: 2027-01-31}]\n", 7, "claims.a.waive.0.rule: is not of the form", "three digits"),
        (READS + "    waive: [{rule: EV701, why: x, owner: y}]\n", 7, "claims.a.waive.0.until: is required", ""),
        (READS + "    waive:\n      - {rule: EV701, why: x, owner: y, until: soon}\n", 8, "claims.a.waive.0.until: is not a date", "2027-01-31"),
        (TABLE, 2, "tables.t.columns: is required", ""),
        (TABLE + "    columns: time\n", 6, "tables.t.columns: is not a list", ""),
        (TABLE + "    columns: []\n", 6, "tables.t.columns: is empty", ""),
        (TABLE + "    columns:\n      - time\n      - {rato: time}\n", 8, "tables.t.columns.1.rato: unknown key", "did you mean 'ratio'?"),
        (TABLE + "    columns: [{ratio: time, peak: x}]\n", 6, "a column has exactly one of value, ratio, change, peak, text", ""),
        (TABLE + "    columns: [{text: x}]\n", 6, "a text column has by and cells", ""),
        (TABLE + "    columns: [{text: x, by: N, cells: {1: 2}}]\n", 6, "tables.t.columns.0.cells.1: is not text", ""),
        (TABLE + "    columns: [time]\n    omit: [{where: {N: 1}, whi: x}]\n", 7, "tables.t.omit.0.whi: unknown key", "did you mean 'why'?"),
        (TABLE + "    columns: [time]\n    notes: [{where: {N: 1}}]\n", 7, "tables.t.notes.0.why: is required", ""),
        (TABLE + "    columns: [time]\n    baseline: 3\n", 7, "tables.t.baseline: is not text", ""),
        ("logs:\n  kernels/x_20260101: {dont_cite: x}\n", 2, "logs.kernels/x_20260101.dont_cite: unknown key", "did you mean 'do_not_cite'?"),
        ("logs:\n  kernels/x_20260101: do_not_cite\n", 2, "logs.kernels/x_20260101: is not a mapping", "historical"),
        ("sentences: {}\n", 1, "sentences is not a list", "- {page: README.md, pattern: …, claim: …}"),
        ("sentences:\n  - page: README.md\n    patern: x {ratio}\n    claim: a\n", 3, "sentences.0.patern: unknown key", "did you mean 'pattern'?"),
        ("sentences:\n  - {page: README.md, pattern: plain, claim: a}\n", 2, "the pattern has no field", "such as {ratio}"),
        ("sentences:\n  - {page: README.md, pattern: '{ratio}'}\n", 2, "sentences.0.claim: is required", "write claim"),
        ("sentences:\n  - {page: README.md, pattern: '{ratio} x', claim: A B}\n", 2, "sentences.0.claim: is not of the form", "id of a claim"),
        ("sentences:\n  - README.md\n", 2, "sentences.0: is not a mapping", "page, pattern, claim"),
    ],
    ids=lambda value: repr(value)[:50] if isinstance(value, str | bytes) else None,
)  # fmt: skip
def test_one_finding_at_the_line_of_the_key(
    tmp_path: Path, text: str | bytes, line: int, message: str, fix: str
) -> None:
    claims = read(tmp_path, text)
    code, at, said, how = only(claims)
    assert (code, at) == ("EV620", line)
    assert message in said
    assert fix in how
    assert how
    assert len(said) < 700
    assert len(how) < 700


def test_an_item_that_is_malformed_is_not_there_and_its_id_is_known(tmp_path: Path) -> None:
    claims = read(tmp_path, READS + "    arms: x\n" + READS.replace("claims:\n  a", "  b"))
    assert set(claims.claims) == {"b"}
    assert claims.malformed == {"a"}


def test_two_faults_in_two_items_are_two_findings(tmp_path: Path) -> None:
    claims = read(tmp_path, READS + "    one: x\n    two: y\n" + READS.replace("claims:\n  a", "  b") + "    one: x\n")
    assert [(code, finding.at.line) for code, finding in claims.findings] == [("EV620", 7), ("EV620", 14)]


def test_an_id_stands_once_over_all_files_and_kinds(tmp_path: Path) -> None:
    read(tmp_path, "tables:\n  a: {title: x, series: s, rows: [N], columns: [time]}\n", "first.yml")
    claims = read(tmp_path, READS, "second.yml")
    ((code, finding),) = claims.findings
    assert (code, str(finding.at)) == ("EV621", "docs/claims/second.yml:2")
    assert finding.message.startswith("'a' stands here and at docs/claims/first.yml:2")
    # Which of the two a page means is not known.
    assert (set(claims.tables), set(claims.claims), claims.malformed) == (set(), set(), {"a"})


def test_a_log_may_have_the_name_of_nothing_else(tmp_path: Path) -> None:
    claims = read(tmp_path, READS + "logs:\n  kernels/x_20260101: {do_not_cite: the fan was off}\n")
    assert claims.findings == ()
    assert claims.logs["kernels/x_20260101"].item.do_not_cite == "the fan was off"


def test_a_file_of_another_ending_is_not_passed_over(tmp_path: Path) -> None:
    claims = read(tmp_path, READS, "page.yaml")
    ((code, finding),) = claims.findings
    assert (code, finding.at.path, finding.message) == ("EV620", "docs/claims/page.yaml", "claims files end in .yml")


def test_what_cannot_be_opened_is_a_finding(tmp_path: Path) -> None:
    read(tmp_path, READS)
    (tmp_path / "docs/claims/folder.yml").mkdir()
    (tmp_path / "docs/claims/gone.yml").symlink_to(tmp_path / "nowhere")
    claims = load(tmp_path / "docs/claims", tmp_path)
    assert set(claims.claims) == {"a"}
    assert [(code, finding.at.path) for code, finding in claims.findings] == [
        ("EV620", "docs/claims/folder.yml"),
        ("EV620", "docs/claims/gone.yml"),
    ]


def test_bombs_of_aliases_end_soon(tmp_path: Path) -> None:
    lists = "".join(f"  x{i}: &x{i} [{','.join([f'*x{i - 1}'] * 10)}]\n" for i in range(1, 12))
    merges = "".join(f"  y{i}: &y{i}\n    <<: [{','.join([f'*y{i - 1}'] * 10)}]\n    k{i}: v\n" for i in range(1, 9))
    for text in (f"claims:\n  x0: &x0 [a]\n{lists}", f"claims:\n  y0: &y0 {{k0: v}}\n{merges}"):
        started = time.monotonic()
        assert read(tmp_path, text).findings
        assert time.monotonic() - started < 5


@given(st.binary(max_size=120) | st.text(max_size=120).map(str.encode))
def test_any_bytes_are_claims_or_findings(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    read(tmp_path_factory.getbasetemp() / "bytes", data)


WORDS = ["a", "claims", "tables", "logs", "statement", "where", "also", "columns", "{", "}", "[", "]", ":", "- ", "\n", "  ", "&x ", "*x", "<<", "? ", "!!", "|", "'", "%", "1", "~"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=40).map("".join))
def test_any_yaml_like_text_is_claims_or_findings(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    read(tmp_path_factory.getbasetemp() / "words", text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*TableSpec.model_fields, "where", "why", "ratio", "x"]), inner, max_size=4),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_values_are_an_item_or_one_finding(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    root = tmp_path_factory.getbasetemp() / "values"
    for section in ("claims", "tables", "logs"):
        claims = read(root, json.dumps({section: {"a": value}}))
        assert len(claims.findings) + len(claims.tables) + len(claims.claims) + len(claims.logs) == 1


EDITED = """
tables:
  w8a16-devices: {title: Weight-only fp8 by device, series: [kernels/w8a16_l4, kernels/w8a16_h200], rows: [m, device],
                  columns: [{ratio: time}], baseline: bf16}
  one: {title: x, series: kernels/x, rows: [m], across: arm, columns: [time, {value: ttft.p50, unit: ms}, {peak: bandwidth},
        {text: note, by: arm, cells: {eager: plain}}], baseline: {fused: eager}, where: {m: 512, flag: true},
        notes: [{where: {m: 1}, why: x}], omit: [{where: {m: [1, 2]}, why: x}], not_covered: [{where: {m: 4}, why: y}]}
claims:
  w8a16-flips:
    statement: At {m} rows weight-only fp8 is {ratio.range}.
    series: kernels/w8a16_l4
    metric: time
    baseline: bf16
    candidate: w8a16
    where: {m: [1, 8, 64]}
    expect: {better: 2, worse: 1}
    also:
      wide: {where: {m: 512}, expect: worse}
    mechanism: {text: One device waits for weight bytes., evidence: roofline}
    limitations: [arrival times are synthetic]
    status: {historical: kept for comparison}
logs: {kernels/w8a16_l4_20260101: {do_not_cite: throttled}}
"""


def test_the_schema_for_editors_accepts_what_authors_may_write_and_marks_what_they_may_not(tmp_path: Path) -> None:
    schema = claims_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert read(tmp_path, EDITED).findings == ()
    assert [error.message for error in validator.iter_errors(YAML(typ="safe").load(EDITED))] == []
    for old, new in (("expect: worse", "expect: slower"), ("rows: [m]", "rws: [m]"), ("{m: 512}", "3")):
        assert list(validator.iter_errors(YAML(typ="safe").load(EDITED.replace(old, new))))


def test_the_published_schema_of_claims_is_that_of_the_models() -> None:
    published = Path(__file__).parents[2] / "docs/schemas/claims.schema.json"
    assert json.loads(published.read_text()) == json.loads(json.dumps(claims_schema())), "run: make schema"


def test_sentences_are_a_list_with_the_place_of_each(tmp_path: Path) -> None:
    text = (
        "sentences:\n  - {page: README.md, pattern: 'in {value} s', claim: a}\n"
        "  - page: [A.md, B.md]\n    pattern: 'at {value}'\n    claim: b\n"
    )
    claims = read(tmp_path, text)
    assert not claims.findings
    one, other = claims.sentences
    assert (one.item.page, one.at("claim").line) == (("README.md",), 2)
    assert (other.item.page, other.at("pattern").line) == (("A.md", "B.md"), 4)
