"""Owns how rules are run: one pass over the records, then the corpus, then the ignores.

A rule that crashes is itself a finding, never a pass.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from evidence.checker.passes import CRASHED, over_records
from evidence.checker.registry import Rule, Scope
from evidence.diagnostics import Diagnostic, Finding, Severity

if TYPE_CHECKING:
    from evidence.checker.corpus import Corpus
    from evidence.checker.ignores import Ignore


class Ignored(NamedTuple):
    """A diagnostic that somebody accepted for a time, and the entry that says who, why and until when."""

    diagnostic: Diagnostic
    by: Ignore


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found, what it was told to overlook, and how much it looked at."""

    diagnostics: tuple[Diagnostic, ...]
    ignored: tuple[Ignored, ...]
    logs: int
    pages: int
    calls: int
    is_whole: bool = True
    """Whether every claims file could be read; else nothing but that was checked."""
    before: int = 0
    """Findings left out because the commit that a change started from has them too."""

    def count(self, severity: Severity) -> int:
        """How many diagnostics have that severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)


def run(rules: Sequence[Rule], corpus: Corpus, *, selected: Collection[Rule] | None = None) -> Report:
    """Apply rules to a corpus: each record is read once, and a rule that crashes is a finding.

    Args:
        rules: Every rule there is; those that own unreadable records and the run's own are needed even if not selected.
        corpus: What is checked, and what it says is to be ignored.
        selected: The rules to report; None: all.
    """
    wanted = set(rules if selected is None else selected)
    by_code = {rule.code: rule for rule in rules}
    if not corpus.book.claims.is_whole:
        return _unread(by_code, corpus)
    owners = [rule for rule in rules if rule.owns is not None]
    applied = [rule for rule in rules if rule.scope is Scope.RECORD and rule in wanted]
    of_corpus = [rule for rule in rules if rule.scope is Scope.CORPUS and rule in wanted]
    pairs = over_records(owners, applied, of_corpus, corpus)
    turns = {rule.code: turn for turn, rule in enumerate(of_corpus, start=1)}
    in_order = sorted(pairs, key=lambda pair: turns.get(pair[0], 0))
    found: dict[Diagnostic, None] = {}
    for code, finding in itertools.chain(in_order, _attributed(by_code, corpus)):
        rule = by_code[code]
        if rule in wanted or rule.scope is Scope.RUN:
            found.setdefault(_diagnostic(rule, finding, corpus))
    kept, ignored = _sift(found, by_code, corpus)
    judged = _judge_ignores(by_code, ignored, wanted, corpus, kept)
    kept += [_diagnostic(owner, finding, corpus) for owner, finding in judged]
    logs, pages, calls = corpus.counts
    return Report(tuple(sorted(set(kept), key=_causes_first)), tuple(ignored), logs, pages, calls)


def _unread(by_code: dict[str, Rule], corpus: Corpus) -> Report:
    """Report only what keeps claims files from being read: whatever else was found could be an effect of it."""
    found = [_diagnostic(by_code[code], finding, corpus) for code, finding in corpus.book.claims.findings]
    return Report(tuple(sorted(set(found), key=_causes_first)), (), *corpus.counts, is_whole=False)


def _attributed(by_code: Collection[str], corpus: Corpus) -> Iterator[tuple[str, Finding]]:
    """What evaluating the claims and tables found, each with the code of its rule, whatever that rule's own scope."""
    try:
        pairs = corpus.attributed
    except Exception as error:  # noqa: BLE001 - the check fails closed whatever a rule does
        message = f"claims and tables could not be evaluated: {type(error).__name__}: {error}"
        yield CRASHED, Finding(corpus.home, message)
        return
    for code, finding in pairs:
        if code in by_code:
            yield code, finding
        else:
            yield CRASHED, Finding(finding.at, f"{code} is no rule, yet it found: {finding.message}")


def _diagnostic(rule: Rule, finding: Finding, corpus: Corpus) -> Diagnostic:
    return Diagnostic(
        rule.code,
        rule.name,
        finding.severity or rule.severity,
        finding.at,
        finding.message,
        finding.fix or rule.hint,
        finding.cited or corpus.citing(finding.at.path),
    )


def _causes_first(diagnostic: Diagnostic) -> tuple[int, str, int, str, str]:
    """What makes other findings sorts before them: the store and its ledger, then claims that cannot be read."""
    rank = 0 if diagnostic.code.startswith("EV0") else 1 if diagnostic.code.startswith("EV62") else 2
    return rank, diagnostic.at.path, diagnostic.at.line, diagnostic.code, diagnostic.message


def _sift(
    found: Iterable[Diagnostic], by_code: dict[str, Rule], corpus: Corpus
) -> tuple[list[Diagnostic], list[Ignored]]:
    """Part what is reported from what somebody accepts for now; what cannot be waived is always reported."""
    current = [entry for entry in corpus.ignores if entry.until >= corpus.options.today]
    kept: list[Diagnostic] = []
    ignored: list[Ignored] = []
    for diagnostic in found:
        entry = next((one for one in current if one.covers(diagnostic)), None)
        if entry is not None and by_code[diagnostic.code].waivable:
            ignored.append(Ignored(diagnostic, entry))
        else:
            kept.append(diagnostic)
    return kept, ignored


def _judge_ignores(
    by_code: dict[str, Rule],
    ignored: Sequence[Ignored],
    wanted: Collection[Rule],
    corpus: Corpus,
    kept: Sequence[Diagnostic],
) -> Iterator[tuple[Rule, Finding]]:
    """An ignore that is past its date, that can cover nothing, or that covers nothing although its rule ran.

    Of an item that has a finding already it is not known what else would be found, so nothing is said of its waivers.
    """
    used = {one.by for one in ignored}
    names = {name: rule for rule in by_code.values() for name in (rule.code, rule.name)}
    for entry in corpus.ignores:
        rule = names.get(entry.rule)
        whose = f"the ignore of {entry.rule} ({entry.owner}: {entry.reason})"
        if rule is None or not rule.waivable:
            why = "there is no such rule" if rule is None else "that rule is never waived"
            yield by_code["EV902"], Finding(entry.at, f"{whose} covers nothing: {why}")
        elif entry.until < corpus.options.today:
            yield by_code["EV903"], Finding(entry.at, f"{whose} ended on {entry.until}")
        elif entry not in used and rule in wanted and not (entry.lines and any(map(entry.covers_place, kept))):
            yield by_code["EV902"], Finding(entry.at, f"{whose} covers nothing that is found")
    for page in corpus.pages:
        for waiver in page.waivers:
            if waiver.fault:
                yield by_code["EV903"], Finding(page.at(waiver.line), waiver.fault, waiver.form)
    for at, waiver, _ in corpus.document_waivers:
        if waiver.fault:
            yield by_code["EV903"], Finding(at, waiver.fault, waiver.form)
