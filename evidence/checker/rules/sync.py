"""Owns the rule of Markdown that no macro runs on: what stands there is what its claims give."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checker.corpus import Corpus
from evidence.checker.registry import corpus_rule
from evidence.diagnostics import Finding
from evidence.documents import STALE


@corpus_rule("EV709", "stale-synced-block")
def stale_synced_block(corpus: Corpus) -> Iterator[Finding]:
    """A synced block or bound sentence says what its claim gives, and a sealed one what it said when it was sealed.

    ## What it checks
    Every Markdown file outside docs that git does not ignore (`ignore_markdown` in the settings leaves some out), and
    pages of the site that hold such comments. Each block (`<!-- evidence: claim ID -->…<!-- /evidence -->`) holds what
    `evidence sync` would write; each sentence that `sentences` in a claims file binds stands on its page, with the
    values of its claim wherever it stands; a sealed block has the text it was sealed with, and its logs; a block under
    the heading of a release in a changelog is sealed. A comment that means to be such a block and is none is named.

    ## Why it matters
    A README is read more often than any page of the site, and nothing else rewrites a number that was pasted there.

    ## How to fix it
    Run `evidence sync`, and read the diff.

    What was released is sealed by `evidence sync --seal` and does not change any more. Blocks in code, in HTML blocks
    and inside other comments are text.
    """
    yield from (finding for code, finding in corpus.documents.all_findings if code == STALE)
    yield from (edit.finding for held in corpus.documents.held for edit in held.edits)
