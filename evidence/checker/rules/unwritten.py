"""Owns the rule on skeletons: what `evidence new` and `audit --migrate` leave to the author has been written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.checker.corpus import Corpus
from evidence.checker.registry import corpus_rule
from evidence.diagnostics import Finding, Location
from evidence.pages import masks

TO_WRITE = "to be written"
"""Stands in a claims file where the author's words belong."""
MARK = "<!-- to write: {what} -->"
"""Stands on a page where the author's words belong."""

_MARK = re.compile(r"<!--\s*to write:\s*(?P<what>.*?)\s*-->", re.DOTALL)
_IN_CLAIMS = re.compile(rf"^[^#]*?(?P<key>[\w-]+):[^#\n]*?\b{TO_WRITE}\b")


@corpus_rule("EV716", "unwritten-section")
def unwritten_section(corpus: Corpus) -> Iterator[Finding]:
    """Nothing that a skeleton leaves to the author is left.

    ## What it checks
    Pages for comments of the form `<!-- to write: … -->`, and claims files for texts that say "to be written": both
    come from `evidence new` and `evidence audit --migrate`.

    ## Why it matters
    A section that shows a table and does not say what it does, why, or where it loses is half of the evidence.

    ## How to fix it
    Write what the comment asks for in its place, and take it out.

    If nothing got worse, say that, and over which shapes it was looked for.
    """
    for page in corpus.pages:
        text = masks.code(page.front.body)
        for found in _MARK.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            what = " ".join(found["what"].split())[:120]
            yield Finding(page.at(line), f"not written yet: {what}", "write it here, and take the comment out")
    for path in sorted(corpus.project.claims.glob("*.yml")):
        for number, content in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
            if TO_WRITE in content and (left := _IN_CLAIMS.search(content)):
                told = f"{left['key']} is not written yet"
                yield Finding(Location(corpus.name(path), number), told, "write it, as the log bears it out")
