"""Owns EV90x: what the check says about itself, so that a check that did nothing never looks like a pass."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checker.corpus import Corpus
from evidence.checker.registry import corpus_rule, run_rule
from evidence.diagnostics import Finding, Location

rule_crashed = run_rule(
    "EV901",
    "rule-crashed",
    """A rule could not be checked.

    ## What it checks
    Every rule runs to its end on every record and on the whole. One that raises is reported here with its name and the
    reason; the other rules go on.

    ## Why it matters
    A crash that is passed over is a rule that is off.

    ## How to fix it
    Read the reason: it is either something on disk that cannot be read, or a fault of this package to report.
    """,
)

unused_ignore = run_rule(
    "EV902",
    "unused-ignore",
    """An ignore covers nothing.

    ## What it checks
    Every ignore in the settings, and every `waive` of a claim or table, names a rule that may be waived and covers at
    least one finding.

    ## Why it matters
    An ignore that is left behind will hide the next finding of its rule, which nobody has looked at.

    ## How to fix it
    Remove the entry.
    """,
)

expired_ignore = run_rule(
    "EV903",
    "expired-ignore",
    """An ignore is past its last day.

    ## What it checks
    `until` of every ignore and waiver is today or later. After that day the findings are reported again. A comment on a
    page that lacks a word is reported here too; in a claims file, whose form is checked as a whole, that is EV620.

    ## Why it matters
    An exception without an end is a rule that was dropped without saying so.

    ## How to fix it
    Mend what it covers; or, if the reason still holds, let its owner set another date.
    """,
)


@corpus_rule("EV905", "nothing-checked", waivable=False)
def nothing_checked(corpus: Corpus) -> Iterator[Finding]:
    """There was nothing to check.

    ## What it checks
    The store holds at least one record, and the pages at least one call of a macro, or a README a block that is filled.

    ## Why it matters
    A check that looked at nothing finds nothing, and reads like a pass.

    ## How to fix it
    Run the check from inside the project; write a record with a runner or importer, and call it from a page.
    """
    logs, pages, _ = corpus.counts
    store = Location(corpus.name(corpus.store.root))
    if logs == 0:
        yield Finding(store, "there is no record below it")
    elif not corpus.uses and not any(corpus.dormant):
        yield Finding(corpus.home, f"none of {pages} pages calls a macro of ours")
