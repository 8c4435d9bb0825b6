"""Owns figures: an image in docs/figures with a file beside it that says what it was drawn from.

`docs/figures/<id>.json` is written by whatever draws the image (`describe`), and read by the macro and the check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from evidence import ledger, sentences
from evidence.book import Book, Unrenderable
from evidence.diagnostics import Finding, Location
from evidence.errors import ItemError, RecordError, UnknownNameError
from evidence.project import Project
from evidence.readings import device_of
from evidence.schema.claims import Id
from evidence.schema.figures import FigureFile, FigureLog
from evidence.schema.places import line_of, pointer_of
from evidence.views import Drawn, Statement, Table

FOLDER = "figures"
_LARGEST = 64 * 1024
_ID: TypeAdapter[str] = TypeAdapter(Id)


class Picture(NamedTuple):
    """A figure of the site, by the file beside it."""

    id: str
    path: Path
    file: FigureFile

    @property
    def image(self) -> Path:
        """The image itself."""
        return self.path.parent / self.file.image


class Pictures(NamedTuple):
    """Every figure of a project, and the files that say nothing of one."""

    by_id: Mapping[str, Picture]
    findings: tuple[Finding, ...] = ()

    def named(self, id_: str) -> Picture:
        """Return a figure.

        Raises:
            UnknownNameError: there is none of that name.
        """
        if id_ not in self.by_id:
            raise UnknownNameError("figure", id_, self.by_id)
        return self.by_id[id_]


def load(project: Project) -> Pictures:
    """Read every file of docs/figures that describes an image."""
    found: dict[str, Picture] = {}
    findings: list[Finding] = []
    for path in sorted((project.docs / FOLDER).glob("*.json")):
        name = project.name(path)
        try:
            if path.stat().st_size > _LARGEST:
                raise ValueError("larger than 64 KiB")  # noqa: TRY301
            _ID.validate_python(path.stem)
            found[path.stem] = Picture(path.stem, path, FigureFile.model_validate_json(path.read_bytes()))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            pointer = pointer_of(first["loc"])
            text = path.read_text(encoding="utf-8", errors="replace")
            line = line_of(text, pointer) if first["loc"] else 1
            message = f"{'.'.join(map(str, first['loc'])) or path.name}: {first['msg']}"
            findings.append(
                Finding(Location(name, line, pointer), message, "draw the figure again: that writes this file")
            )
        except (OSError, ValueError) as error:
            findings.append(Finding(Location(name), f"cannot be read: {error}", "draw the figure again"))
    return Pictures(found, tuple(findings))


def describe(book: Book, item: str, image: Path, caption: str, command: Sequence[str] = ()) -> Path:
    """Write the file beside an image that was just drawn from the logs of a claim or table, and return its path.

    Raises:
        UnknownNameError: there is no such item.
        Unrenderable: the item does not stand.
        ItemError: the caption asks for a field that the item does not give.
    """
    view = _shown(book, item)
    file = FigureFile(
        image=image.name,
        sha256=ledger.digest_of(image),
        item=item,
        logs=tuple(FigureLog(log=one.log, sha256=one.sha256) for one in view.evidence),
        caption=caption,
        drawn=_filled(book, view, caption),
        command=tuple(command),
    )
    path = image.with_suffix(".json")
    text = json.dumps(file.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    path.write_text(text, encoding="utf-8")
    return path


def drawn(picture: Picture, book: Book, docs: Path) -> Drawn:
    """Return a figure as shown.

    Raises:
        Unrenderable: its item does not stand, or its caption asks for what the item does not give.
    """
    view = _shown(book, picture.file.item)
    try:
        caption = _filled(book, view, picture.file.caption)
    except ItemError as error:
        raise Unrenderable(f"{picture.id}: {error.message}", (), fix=error.fix) from None
    source = picture.image.relative_to(docs).as_posix()
    return Drawn(picture.id, source, _words(view), caption, view.stance, view.evidence, view.banner)


def faults(picture: Picture, book: Book, project: Project) -> Iterator[Finding]:
    """Yield why a figure does not show what the logs of its item say; one finding, at the first cause."""
    file, name = picture.file, project.name(picture.path)
    redraw = f"draw it again: {' '.join(file.command)}" if file.command else "draw it again, and describe it again"

    def found(message: str, *parts: str | int, fix: str = redraw) -> Finding:
        pointer = pointer_of(parts)
        text = picture.path.read_text(encoding="utf-8", errors="replace")
        return Finding(Location(name, line_of(text, pointer), pointer), f"{picture.id}: {message}", fix)

    if not picture.image.is_file():
        yield found(f"there is no image {file.image}", "image")
        return
    if ledger.digest_of(picture.image) != file.sha256:
        yield found(f"{file.image} is not the image that was drawn", "sha256")
        return
    try:
        view = _shown(book, file.item)
        caption = _filled(book, view, file.caption)
        devices = [device_of(book.log(one.log).record) for one in view.evidence]
        sentences.lint(file.caption, devices, "caption")
    except UnknownNameError as error:
        yield found(error.message, "item", fix=error.fix)
        return
    except ItemError as error:
        yield found(error.message, "caption", fix=error.fix)
        return
    except (Unrenderable, RecordError):
        return  # the check reports the cause where it lies
    digests = {one.log: one.sha256 for one in view.evidence}
    old = [(index, one) for index, one in enumerate(file.logs) if digests.get(one.log) != one.sha256]
    missing = digests.keys() - {one.log for one in file.logs}
    if old:
        index, one = old[0]
        how = (
            f"{file.item} stands on " + ", ".join(sorted(missing))
            if one.log not in digests
            else "its record has changed"
        )
        yield found(f"it was drawn from {one.log}, and {how}", "logs", index)
    elif missing:
        yield found(f"it was not drawn from {', '.join(sorted(missing))}, on which {file.item} stands", "logs")
    elif caption != file.drawn:
        yield found(f"it was drawn with the caption {file.drawn!r}, and the log gives {caption!r}", "drawn")


def _shown(book: Book, item: str) -> Statement | Table:
    """Return the claim or table that a figure shows.

    Raises:
        UnknownNameError: there is neither.
        Unrenderable: it does not stand.
    """
    if item not in book.ids and item not in book.claims.malformed:
        raise UnknownNameError("claim or table", item, book.ids)
    return book.table(item) if item in book.claims.tables else book.statement(item)


def _words(view: Statement | Table) -> str:
    """What a figure tells those who do not see it."""
    if isinstance(view, Statement):
        return view.text
    return f"{view.title} ({view.tally})" if view.tally else view.title


def _filled(book: Book, view: Statement | Table, caption: str) -> str:
    if isinstance(view, Statement):
        parts = sentences.render(caption, book.readings(view.id), "caption")
        return "".join(part if isinstance(part, str) else part.text for part in parts)
    facts = {"title": view.title, "tally": view.tally}
    for name in sentences.fields_of(caption):
        if name not in facts:
            message = f"{{{name}}} is no field of a table's figure"
            raise ItemError(sentences.UNKNOWN_FIELD, message, "caption", fix="write {title} or {tally}")
        caption = caption.replace(f"{{{name}}}", facts[name])
    return caption
