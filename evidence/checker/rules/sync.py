"""Owns the rule of Markdown that no macro runs on: what stands there is what its claims give."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.checker.corpus import Corpus
from evidence.checker.registry import Turn, corpus_rule
from evidence.diagnostics import Finding
from evidence.documents import STALE, Held, says_what_its_logs_give

_SEAL = re.compile(r"<!--\s*evidence:[^>]*\b(seal=[0-9a-f]{12})\s*-->")


@corpus_rule("EV709", "stale-synced-block", turn=Turn.EARLY)
def stale_synced_block(corpus: Corpus) -> Iterator[Finding]:
    """A synced block or bound sentence says what its claim gives, and a sealed one what it said when it was sealed.

    ## What it checks
    Every Markdown file outside docs that git does not ignore (`ignore_markdown` in the settings leaves some out), and
    pages of the site that hold such comments. Each block (`<!-- evidence: claim ID -->…<!-- /evidence -->`) holds what
    `evidence sync` would write; each sentence that `sentences` in a claims file binds stands on its page, with the
    values of its claim wherever it stands; a sealed block has the text it was sealed with, its logs, and its place in
    the history; a block under the heading of a release in a changelog is sealed. A comment that means to be such a
    block and is none is named.

    ## Why it matters
    A README is read more often than any page of the site, and nothing else rewrites a number that was pasted there.

    ## How to fix it
    Run `evidence sync`, and read the diff.

    What was released is sealed by `evidence sync --seal` and does not change any more. Blocks in code, in HTML blocks
    and inside other comments are text.
    """
    yield from (finding for code, finding in corpus.documents.all_findings if code == STALE)
    for held in corpus.documents.held:
        yield from (edit.finding for edit in held.edits)
        yield from _not_kept(corpus, held)


def _not_kept(corpus: Corpus, held: Held) -> Iterator[Finding]:
    """Seals that were not there before and say what no log gives, and seals that were there and are gone.

    A digest can be computed by anybody. So a seal that the last commit, or the base branch, does not have must read as
    its claim does over the logs that it names; and one that any commit had must still be there.
    """
    repository, document = corpus.repository, held.document
    if repository is None or not document.is_log_of_changes:
        return
    before = _plain(corpus.before(document.path))
    invented = False
    for block in held.sealed:
        said = _plain(document.text[block.start : block.end])
        if said not in before and not says_what_its_logs_give(held, block, corpus.holding):
            invented = True
            message = f"{block.key} is sealed with words that neither an earlier commit nor its claim has"
            yield Finding(document.at(block.line), message, "empty it, drop log= and seal=, and `evidence sync --seal`")
    if invented or not (held.sealed or "seal=" in before):
        return
    for seal in dict.fromkeys(_SEAL.findall("\n".join((before, *repository.removed_lines(document.path))))):
        if seal not in document.text:
            message = f"a sealed block ({seal}) was changed or removed after a commit had it"
            yield Finding(document.at(1), message, "bring it back from the history: what was released stays")


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
