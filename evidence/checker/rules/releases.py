"""Owns the rule of releases: what a release says was won has been proven as a promotion is."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checker.corpus import Corpus
from evidence.checker.registry import corpus_rule
from evidence.diagnostics import Finding
from evidence.pages.blocks import Block
from evidence.readings import device_of
from evidence.schema import Record, Timed
from evidence.schema.claims import Claim
from evidence.statistics import Verdict
from evidence.views import Statement

_LEAST_SESSIONS = 2
_STATED = ("claim", "says", "value")


@corpus_rule("EV618", "promotion-unproven")
def promotion_unproven(corpus: Corpus) -> Iterator[Finding]:
    """A gain that a release announces is proven as one that is promoted.

    ## What it checks
    With `--release`, each claim in a block under the heading of a release in a changelog that says better: its
    mechanism is established, with evidence; its gates were full and refused every faulty variant they were tried
    against; and a second session of its series on the same device is in the store.

    ## Why it matters
    A release note is quoted for years. One session can be lucky, a gate that was never tried may let anything pass,
    and a gain nobody can explain goes as it came.

    ## How to fix it
    Measure a second session, run the gate against its mutants, and name the evidence of the mechanism; until then say
    in the release note what changed and leave the number to the page.
    """
    for held in corpus.documents.held if corpus.options.is_release else ():
        for block in (*held.sealed, *held.unsealed) if held.document.is_log_of_changes else ():
            if block.kind in _STATED and (why := "; ".join(_unproven(corpus, block))):
                yield Finding(held.document.at(block.line), f"{block.key} is announced, and {why}")


def _unproven(corpus: Corpus, block: Block) -> Iterator[str]:
    """Yield what is missing for a claim to be promoted; nothing for one that announces no gain."""
    statement = corpus.book.shown(block.id)
    if not isinstance(statement, Statement) or statement.verdict is not Verdict.BETTER:
        return
    claim = corpus.book.claims.claims[block.id].item
    if claim.mechanism is None or claim.mechanism.unknown is not None:
        yield "its mechanism is not established"
    loaded = corpus.book.log(claim.series)
    record = loaded.record
    for name in _gates_of(record, claim):
        gate = next(gate for gate in record.gates if gate.name == name)
        if gate.scope == "partial":
            yield f"its gate {name!r} ran on a selection only"
        if gate.mutants is None:
            yield f"its gate {name!r} was never tried against faulty variants"
        elif gate.mutants_killed != gate.mutants:
            passed = gate.mutants - (gate.mutants_killed or 0)
            yield f"its gate {name!r} let {passed} of {gate.mutants} faulty variants pass"
    device = device_of(record)
    sessions = [
        other
        for other in corpus.book.sessions(loaded.entry.series)
        if device_of(other.record) == device and not corpus.is_set_aside(other.entry.log)
    ]
    if len(sessions) < _LEAST_SESSIONS:
        yield "it stands on one session"


def _gates_of(record: Record, claim: Claim) -> Iterator[str]:
    """Yield the gates that license the candidate's timings, each once."""
    arm = claim.candidate or claim.arm
    cells = (cell for cell in record.cells if isinstance(cell, Timed) and cell.arm == arm)
    yield from dict.fromkeys(outcome.gate for cell in cells for outcome in (cell.gate, *cell.further))
