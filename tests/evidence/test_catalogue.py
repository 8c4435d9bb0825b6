"""Tests of the catalogue: codes, names and pages of every rule, and that each has a failing and a passing case."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

from evidence.checker import catalogue
from evidence.checker.registry import HEADINGS, Rule, Scope, corpus_rule
from evidence.errors import DuplicateNameError, UnknownNameError
from tests.evidence.checker import rules as tests_of_rules
from tests.evidence.checker.cases import Case

FAMILIES = ("EV0", "EV1", "EV2", "EV3", "EV4", "EV5", "EV6", "EV7", "EV9")
OURS = ("EV0", "EV1", "EV2", "EV3", "EV5", "EV901", "EV902", "EV903", "EV905")
MARKS = ("EV111",)
"""Found by their own test: a mark is no finding of a run."""


def cases() -> Iterator[Case]:
    """Every case that a module of rule tests holds, alone or in a row of a table."""
    for info in pkgutil.iter_modules(tests_of_rules.__path__, f"{tests_of_rules.__name__}."):
        for table in vars(importlib.import_module(info.name)).values():
            for row in table if isinstance(table, tuple) else ():
                yield from (one for one in (row if isinstance(row, tuple) else (row,)) if isinstance(one, Case))


@pytest.mark.parametrize("rule", catalogue.RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_page(rule: Rule) -> None:
    assert rule.code[:3] in FAMILIES
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert tuple(rule.sections) == HEADINGS
    assert all(rule.sections.values())
    assert rule.summary.endswith(".")
    assert 10 < len(rule.hint) < 300


@pytest.mark.parametrize(
    "rule", [one for one in catalogue.RULES if one.code.startswith(OURS)], ids=lambda rule: rule.code
)
def test_every_rule_has_a_failing_and_a_passing_case(rule: Rule) -> None:
    if rule.scope is Scope.MARK:
        assert rule.code in MARKS
        return
    outcomes = {case.fires for case in cases() if case.rule == rule.code}
    assert outcomes == {True, False}


def test_never_waivable() -> None:
    never = ("EV0", "EV301", "EV302", "EV601", "EV602", "EV610", "EV612", "EV62")
    run = ("EV901", "EV902", "EV903", "EV905")
    for rule in catalogue.RULES:
        if rule.scope is not Scope.MARK:
            assert rule.waivable is not rule.code.startswith((*never, *run)), rule.code


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in catalogue.RULES}) == len(catalogue.RULES)
    assert len({rule.name for rule in catalogue.RULES}) == len(catalogue.RULES)


def test_two_rules_of_one_code_are_refused() -> None:
    with pytest.raises(DuplicateNameError, match="EV105"):
        catalogue.collect("tests.evidence.checker.twins")


def test_a_code_is_of_the_form() -> None:
    with pytest.raises(ValueError, match="EV1234"):
        corpus_rule("EV1234", "too-long")(lambda corpus: ())


def test_select_by_code_name_and_prefix() -> None:
    assert [rule.code for rule in catalogue.select(["EV105"])] == ["EV105"]
    assert [rule.code for rule in catalogue.select(["dirty-source", "EV00"])][-1] == "EV105"
    assert catalogue.select() == catalogue.RULES
    left = catalogue.select((), ["EV7"])
    assert left == tuple(rule for rule in catalogue.RULES if not rule.code.startswith("EV7"))


def test_an_unknown_pattern_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        catalogue.select(["dirty-sauce"])
    assert caught.value.nearest == "dirty-source"
    with pytest.raises(UnknownNameError):
        catalogue.select([""])
    with pytest.raises(UnknownNameError):
        catalogue.find("EV3")


def test_find_by_code_and_name() -> None:
    assert catalogue.find("EV105") is catalogue.find("dirty-source")
