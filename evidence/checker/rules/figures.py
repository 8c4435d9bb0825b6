"""Owns the rule of figures: an image shows the logs that its claim stands on."""

from __future__ import annotations

from collections.abc import Iterator

from evidence import pictures
from evidence.checker.corpus import Corpus
from evidence.checker.registry import Turn, corpus_rule
from evidence.diagnostics import Finding


@corpus_rule("EV710", "stale-figure", turn=Turn.EARLY)
def stale_figure(corpus: Corpus) -> Iterator[Finding]:
    """A figure was drawn from the logs that its claim or table stands on now, and its caption says what they say.

    ## What it checks
    Every `docs/figures/<id>.json`, the file that a figure's generator writes beside the image: the image is the one
    that was drawn, each log it was drawn from has the same record, the claim or table it shows stands on no other log,
    and the caption's template gives the words it gave then. A caption is held to the same lint as a statement.

    ## Why it matters
    Nobody can check the numbers inside an image by reading them; an image that outlives its log looks as good as ever.

    ## How to fix it
    Draw the figure again with the command that the file names.
    """
    yield from corpus.pictures.findings
    for picture in corpus.pictures.by_id.values():
        yield from pictures.faults(picture, corpus.book, corpus.project)
