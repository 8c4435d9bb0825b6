"""Owns the set of rules: every rule of this package, found, and selected by code, name or prefix."""

from __future__ import annotations

from collections.abc import Iterable

from evidence.checker.registry import Rule
from evidence.discovery import instances
from evidence.errors import DuplicateNameError, UnknownNameError

PACKAGE = "evidence.checker.rules"


def collect(package: str = PACKAGE) -> tuple[Rule, ...]:
    """Return every rule in the modules of a package, by code.

    Raises:
        DuplicateNameError: two rules have one code or one name.
    """
    rules = sorted(instances(package, Rule), key=lambda rule: rule.code)
    seen: dict[str, Rule] = {}
    for rule in rules:
        for name in (rule.code, rule.name):
            if name in seen:
                raise DuplicateNameError("rule", name, (seen[name].code, rule.code))
            seen[name] = rule
    return tuple(rules)


RULES = collect()


def find(name: str) -> Rule:
    """Return the rule of a code or name.

    Raises:
        UnknownNameError: there is none.
    """
    found = [rule for rule in RULES if name in (rule.code, rule.name)]
    if not found:
        raise UnknownNameError("rule", name, _names())
    return found[0]


def select(wanted: Iterable[str] = (), unwanted: Iterable[str] = ()) -> tuple[Rule, ...]:
    """Return the rules of the wanted codes, names and prefixes (all, if none is given) without the unwanted ones.

    Raises:
        UnknownNameError: a pattern matches no rule.
    """
    kept = _matching(wanted) or set(RULES)
    return tuple(rule for rule in RULES if rule in kept - _matching(unwanted))


def _matching(patterns: Iterable[str]) -> set[Rule]:
    found: set[Rule] = set()
    for pattern in patterns:
        matches = {rule for rule in RULES if rule.name == pattern or rule.code.startswith(pattern)}
        if not pattern or not matches:
            raise UnknownNameError("rule", pattern, _names())
        found |= matches
    return found


def _names() -> tuple[str, ...]:
    return tuple(name for rule in RULES for name in (rule.code, rule.name))
