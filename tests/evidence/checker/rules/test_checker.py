"""Tests of EV90x: crashes, ignores that cover nothing or have ended, and checks that looked at nothing."""

from __future__ import annotations

import datetime

import pytest

from evidence.checker.catalogue import RULES
from evidence.checker.registry import record_rule
from evidence.checker.runs import run
from evidence.diagnostics import Finding
from evidence.errors import ProjectError
from tests.evidence.checker.cases import Case, bad, edited, good
from tests.evidence.checker.sites import Site, codes

TODAY = datetime.date(2026, 9, 30)
DIRTY = {"/sources/0/tree_sha256": "f" * 64}
IGNORE = """\
[[ignore]]
rule = "{rule}"
reason = "measured before the rule was here"
owner = "toy-team"
until = {until}
"""


def with_ignore(site: Site, rule: str, until: str = "2026-12-31", more: str = "") -> None:
    site.write("evidence.toml", IGNORE.replace("{rule}", rule).replace("{until}", until) + more)


IGNORES = (
    (bad("EV902", "nothing-found", {}), "EV109", "2026-12-31", ["EV105", "EV902"]),
    (bad("EV902", "no-such-rule", {}), "EV999", "2026-12-31", ["EV105", "EV902"]),
    (bad("EV902", "never-waived", {}), "EV302", "2026-12-31", ["EV105", "EV902"]),
    (good("EV902", "by-code", {}), "EV105", "2026-12-31", []),
    (good("EV902", "by-name", {}), "dirty-source", "2026-09-30", []),
    (bad("EV903", "ended", {}), "EV105", "2026-09-29", ["EV105", "EV903"]),
    (good("EV903", "last-day", {}), "EV105", "2026-09-30", []),
)


@pytest.mark.parametrize(("case", "rule", "until", "expected"), IGNORES, ids=lambda one: getattr(one, "id", ""))
def test_ignores(site: Site, case: Case, rule: str, until: str, expected: list[str]) -> None:
    site.add(edited(site.record(), DIRTY))
    with_ignore(site, rule, until)
    report = site.report(today=TODAY)
    assert codes(report.diagnostics) == expected
    assert (case.rule in expected) is case.fires
    assert bool(report.ignored) is (not expected)


def test_an_ignore_says_where_it_stands_and_why(site: Site) -> None:
    site.add(site.record())
    with_ignore(site, "EV109")
    (found,) = site.check(today=TODAY)
    assert (found.at.path, found.at.line) == ("evidence.toml", 1)
    assert "toy-team" in found.message
    assert "measured before" in found.message


def test_an_ignore_may_be_for_some_paths_or_the_pages_that_print_them(site: Site) -> None:
    site.add(edited(site.record(), DIRTY))
    for path, expected in {
        "docs/benchmark_logs/kernels/*": [],
        "docs/index.md": [],
        "docs/benchmark_logs/engine/*": ["EV105", "EV902"],
    }.items():
        with_ignore(site, "EV105", more=f'path = "{path}"\n')
        assert codes(site.check(today=TODAY)) == expected


def test_settings_may_stand_in_pyproject(site: Site) -> None:
    site.add(edited(site.record(), DIRTY))
    entry = (
        IGNORE.replace("{rule}", "EV105")
        .replace("{until}", "2026-12-31")
        .replace("[[ignore]]", "[[tool.evidence.ignore]]")
    )
    site.write("pyproject.toml", f'[project]\nname = "toy"\n\n[tool.evidence]\nbase = "HEAD"\n\n{entry}')
    assert codes(site.check(today=TODAY)) == []
    site.write("evidence.toml", "")
    with pytest.raises(ProjectError, match="both"):
        site.check()


@pytest.mark.parametrize(
    "text",
    [
        "ignore = 1\n",
        "ignores = []\n",
        "base = 3\n",
        "[[ignore]]\nrule = 'EV105'\n",
        "[[ignore]]\nrule = 'EV105'\nreason = ' '\nowner = 'x'\nuntil = 2026-12-31\n",
        "[[ignore]]\nrule = 'EV105'\nreason = 'x'\nowner = 'x'\nuntil = '2026-12-31'\n",
        "[[ignore]]\nrule = 'EV105'\nreason = 'x'\nowner = 'x'\nuntil = 2026-12-31\npaths = 'x'\n",
        "[[ignore]]\nrule = 'EV105'\nreason = 'x'\nowner = 'x'\nuntil = 2026-12-31\npath = 3\n",
        "not toml",
    ],
)
def test_settings_that_are_none_stop_the_check(site: Site, text: str) -> None:
    site.add(site.record())
    site.write("evidence.toml", text)
    with pytest.raises(ProjectError, match=r"evidence\.toml"):
        site.check()


@record_rule("EV198", "always-crashes")
def always_crashes(loaded: object, corpus: object) -> list[Finding]:
    """It crashes."""
    raise RuntimeError(f"no luck with {type(loaded).__name__}")


CRASHES = (
    (bad("EV901", "crash", {}), (*RULES, always_crashes)),
    (good("EV901", "none", {}), RULES),
)


@pytest.mark.parametrize(("case", "rules"), CRASHES, ids=lambda one: getattr(one, "id", ""))
def test_a_crashed_rule_is_a_finding_and_the_others_go_on(site: Site, case: Case, rules: tuple[object, ...]) -> None:
    path = site.add(edited(site.record(), DIRTY))
    found = run(rules, site.corpus()).diagnostics  # type: ignore[arg-type]
    assert sorted(codes(found)) == ["EV105", *["EV901"] * case.fires]
    for one in found:
        if one.code == "EV901":
            assert path.as_posix().endswith(one.at.path)
            assert "EV198 always-crashes could not be checked: RuntimeError: no luck with Loaded" in one.message


NOTHING = (
    (bad("EV905", "no-records", {}), False, "# Empty\n"),
    (bad("EV905", "no-calls", {}), True, "# No calls\n"),
    (good("EV905", "one-call", {}), True, None),
)


@pytest.mark.parametrize(("case", "has_log", "page"), NOTHING, ids=lambda one: getattr(one, "id", ""))
def test_nothing_checked_is_no_pass(site: Site, case: Case, has_log: bool, page: str | None) -> None:
    if has_log:
        site.add(site.record())
    if page is not None:
        site.write("docs/index.md", page)
    assert codes(site.check("EV905")) == ["EV905"] * case.fires


def test_what_a_claim_waives_is_ignored_for_it_alone(site: Site) -> None:
    site.add(site.record())
    site.write(
        "docs/claims/index.yml",
        "claims:\n"
        "  faster:\n"
        "    statement: Fusing gives {ratio} on {device}.\n"
        "    series: kernels/toy\n"
        "    metric: time\n"
        "    baseline: eager\n"
        "    candidate: fused\n"
        "    expect: better\n"
        "    waive: [{rule: EV613, why: the profiler is broken, owner: toy-team, until: 2026-12-31}]\n",
    )
    site.write("docs/index.md", '{{ ev.claim("faster") }}\n\n{{ ev.environment("kernels/toy_20260901") }}\n')
    report = site.report(today=TODAY)
    assert [one.diagnostic.code for one in report.ignored] == ["EV613"]
    assert "EV613" not in codes(report.diagnostics)


def test_macros_that_are_off_are_one_finding(site: Site) -> None:
    site.add(site.record())
    page = site.root / "docs" / "index.md"
    page.write_text("---\nrender_macros: false\n---\n\n" + page.read_text(encoding="utf-8"), encoding="utf-8")
    assert codes(site.check()) == ["EV904"]
