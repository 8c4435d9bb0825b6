"""Owns `evidence sync`: Markdown that no macro runs on is filled from the claims, and every other byte stays."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import CLEAN, FINDINGS, ROOT, errors
from evidence.units import counted

if TYPE_CHECKING:
    from evidence.checker.corpus import Corpus
    from evidence.diagnostics import Finding
    from evidence.documents import Edit, Held


@click.command()
@click.argument("pages", nargs=-1, metavar="[PAGE]…")
@ROOT
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if something would be filled.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option("--seal", is_flag=True, help="Seal the blocks under the headings of releases: their text then stays.")
def sync(pages: tuple[str, ...], root: Path, check: bool, diff: bool, seal: bool) -> None:
    """Fill README.md, CHANGELOG.md and other Markdown without macros from the claims.

    Blocks are comments, `<!-- evidence: claim ID -->…<!-- /evidence -->`; sentences are bound by a pattern under
    `sentences` in a claims file. Without PAGE, every file is filled.
    """
    with errors():
        from evidence.checker.corpus import Corpus
        from evidence.project import Project

        corpus = Corpus(Project.find(root))
        chosen = _chosen(corpus, pages)
        edits = {held.document.name: _edits(corpus, held, seal=seal) for held in chosen}
        if diff:
            for held in chosen:
                click.echo(_diff(held, edits[held.document.name]), nl=False)
        writes = not (check or diff)
        for held in chosen:
            if writes and edits[held.document.name]:
                _write(held, edits[held.document.name])
        if writes:
            corpus = Corpus(corpus.project)
            chosen = _chosen(corpus, pages)
        found = _left(corpus, chosen, seal=seal and not writes)
    code = _report(found, edits, wrote=writes, said=diff)
    sys.exit(code)


def _chosen(corpus: Corpus, pages: Sequence[str]) -> tuple[Held, ...]:
    """Return the documents asked for.

    Raises:
        UnknownNameError: one is no Markdown of the project that is held to claims.
    """
    from evidence.errors import UnknownNameError

    held = {one.document.name: one for one in corpus.documents.held}
    if not pages:
        return tuple(held.values())
    names = [corpus.name(Path(page).resolve()) for page in pages]
    for page, name in zip(pages, names, strict=True):
        if name not in held:
            raise UnknownNameError("page held to claims", page, held)
    return tuple(held[name] for name in dict.fromkeys(names))


def _edits(corpus: Corpus, held: Held, *, seal: bool) -> list[Edit]:
    from evidence import documents

    sealed = documents.seal(held, corpus.book) if seal else []
    # What stands under a release and is not sealed now is left as it is.
    released = {block.inner[0] for block in held.unsealed} if not seal else set()
    return [*(edit for edit in held.edits if edit.start not in released), *sealed]


def _left(corpus: Corpus, chosen: Iterable[Held], *, seal: bool) -> list[tuple[str, Finding]]:
    """What filling does not mend: mistakes, seals that do not hold, and items that cannot be shown."""
    from evidence.diagnostics import Finding
    from evidence.documents import STALE

    found: list[tuple[str, Finding]] = list(corpus.documents.findings)
    for held in chosen:
        sealing = {held.document.at(block.line) for block in held.unsealed} if seal else set()
        found += [(code, finding) for code, finding in held.findings if finding.at not in sealing]
        for at, message in held.unshown:
            found.append(
                (STALE, Finding(at, f"left as it is: {message}", "run `evidence check`: it says what is wrong"))
            )
    return found


def _write(held: Held, edits: Iterable[Edit]) -> None:
    """Put the filled text in the file's place in one rename, with the file's own mode."""
    from evidence import documents

    path = held.document.path
    data = documents.apply(held.document.text, edits).encode()
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(path.stat().st_mode & 0o7777)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _diff(held: Held, edits: Iterable[Edit]) -> str:
    import difflib

    from evidence import documents
    from evidence.checker.reports import safe

    name, text = held.document.name, held.document.text
    new = documents.apply(text, edits)
    lines = difflib.unified_diff(text.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{safe(line)}\n" for line in lines)


def _report(found: Sequence[tuple[str, Finding]], edits: dict[str, list[Edit]], *, wrote: bool, said: bool) -> int:
    """Print what was filled and what is left, and return the exit code."""
    from evidence.checker.reports import safe

    changed = {name: made for name, made in edits.items() if made}
    for name, made in changed.items():
        lines = dict.fromkeys((edit.finding.at.line, edit.finding.message) for edit in made)
        for line, message in () if said else lines:
            click.echo(f"{safe(name)}:{line}: {safe(message)}")
    for code, finding in found:
        click.echo(f"{safe(str(finding.at))}: {code}: {safe(finding.message)}", err=True)
        if finding.fix:
            click.echo(f"  fix: {safe(finding.fix)}", err=True)
    places = counted(sum(map(len, changed.values())), "place")
    done = f"{places} {'filled' if wrote else 'to fill'} in {counted(len(changed), 'file')}"
    click.echo(f"evidence sync: {counted(len(edits), 'file')} held, {done}, {counted(len(found), 'finding')}")
    return FINDINGS if found or (changed and not wrote) else CLEAN
