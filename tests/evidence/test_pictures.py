"""Figures: the file beside an image, what makes it stale, and how it is shown. Images are real ones, made here."""

from __future__ import annotations

import dataclasses
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from evidence import pictures
from evidence.book import Book, Unrenderable
from evidence.errors import ItemError, UnknownNameError
from evidence.project import Project
from evidence.renderers import html
from evidence.store import Store
from tests.projects import write_project

CAPTION = "Fusing takes {candidate} instead of {baseline}, {ratio} faster."


def png(width: int, height: int, grey: int = 128) -> bytes:
    """A whole PNG of one grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([grey]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A project with one figure in it."""

    project: Project
    file: Path

    @property
    def book(self) -> Book:
        return Book(self.project, Store(self.project.logs))

    def change(self, **values: Any) -> None:
        self.file.write_text(json.dumps({**json.loads(self.file.read_text()), **values}, indent=1))

    def faults(self) -> list[str]:
        loaded = pictures.load(self.project)
        found = list(loaded.findings)
        for picture in loaded.by_id.values():
            found += pictures.faults(picture, self.book, self.project)
        assert all(one.at.path == "docs/figures/fused.json" and one.fix for one in found)
        return [f"{one.at.line}: {one.message}" for one in found]


@pytest.fixture
def drawing(tmp_path: Path) -> Drawing:
    project = Project.find(write_project(tmp_path))
    image = tmp_path / "docs/figures/fused.png"
    image.parent.mkdir()
    image.write_bytes(png(4, 3))
    book = Book(project, Store(project.logs))
    command = ("python", "scripts/draw.py")
    return Drawing(project, pictures.describe(book, "toy-fused", image, CAPTION, command))


def test_a_figure_that_was_just_drawn_is_sound(drawing: Drawing) -> None:
    assert drawing.faults() == []
    file = json.loads(drawing.file.read_text())
    assert file["drawn"] == "Fusing takes 802 µs instead of 1.001 ms, 1.25× faster."
    assert [one["log"] for one in file["logs"]] == ["kernels/toy_20260901"]


def test_another_image_is_stale(drawing: Drawing) -> None:
    drawing.file.with_suffix(".png").write_bytes(png(4, 3, grey=129))
    assert drawing.faults() == ["4: fused: fused.png is not the image that was drawn"]
    drawing.file.with_suffix(".png").unlink()
    assert drawing.faults() == ["3: fused: there is no image fused.png"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"logs": [{"log": "kernels/toy_20260901", "sha256": "0" * 64}]}, "and its record has changed"),
        ({"logs": [{"log": "kernels/toy_20260801", "sha256": "0" * 64}]}, "toy-fused stands on kernels/toy_20260901"),
        ({"drawn": "Fusing takes 700 µs instead of 1.001 ms, 1.43× faster."}, "and the log gives 'Fusing takes 802 µs"),
        ({"caption": "It is 1.25 times faster: {ratio}."}, "'1.25' is typed into the caption"),
        ({"caption": "It is {ratios} faster."}, "{ratios} is neither a quantity"),
        ({"item": "toy-fuse"}, "no claim or table 'toy-fuse'"),
        ({"image": "../../README.png"}, "image: "),
        ({"image": "fused.html"}, "image: "),
        ({"sha256": "1234"}, "sha256: "),
        ({"logs": []}, "logs: "),
        ({"note": "x"}, "note: "),
        ({"format": 2}, "format: "),
    ],
)
def test_what_does_not_fit_is_one_finding(drawing: Drawing, changes: dict[str, Any], message: str) -> None:
    drawing.change(**changes)
    (found,) = drawing.faults()
    assert message in found


def test_the_fix_is_the_command_that_draws_it(drawing: Drawing) -> None:
    drawing.change(drawn="9.9× faster")
    (picture,) = pictures.load(drawing.project).by_id.values()
    (finding,) = pictures.faults(picture, drawing.book, drawing.project)
    assert finding.fix == "draw it again: python scripts/draw.py"


def test_a_claim_that_does_not_stand_is_reported_where_it_lies(drawing: Drawing) -> None:
    claims = drawing.project.claims / "features.yml"
    claims.write_text(claims.read_text().replace("expect: better", "expect: worse"))
    assert drawing.faults() == []
    (picture,) = pictures.load(drawing.project).by_id.values()
    with pytest.raises(Unrenderable):
        pictures.drawn(picture, drawing.book, drawing.project.docs)


def test_a_file_that_is_none_is_found(drawing: Drawing) -> None:
    drawing.file.write_text("{")
    assert len(drawing.faults()) == 1
    drawing.file.write_bytes(b"\xff" * 70_000)
    assert drawing.faults() == ["1: cannot be read: larger than 64 KiB"]


def test_a_figure_of_a_table_tells_its_title_and_tally(drawing: Drawing) -> None:
    pictures.describe(drawing.book, "toy", drawing.file.with_suffix(".png"), "{title}: {tally}")
    assert drawing.faults() == []
    view = pictures.drawn(pictures.load(drawing.project).named("fused"), drawing.book, drawing.project.docs)
    assert (view.text, view.caption) == ("The toy op (1 faster)", "The toy op: 1 faster")
    drawing.change(caption="{ratio} faster")
    assert drawing.faults() == ["12: fused: {ratio} is no field of a table's figure"]


def test_an_unknown_figure_names_the_nearest(drawing: Drawing) -> None:
    with pytest.raises(UnknownNameError) as caught:
        pictures.load(drawing.project).named("fuse")
    assert caught.value.nearest == "fused"


def test_a_caption_without_a_field_of_the_claim_is_not_described(drawing: Drawing) -> None:
    with pytest.raises(ItemError, match="nothing"):
        pictures.describe(drawing.book, "toy-fused", drawing.file.with_suffix(".png"), "It is {nothing}.")


def test_the_sentence_of_the_claim_is_what_others_hear(drawing: Drawing) -> None:
    view = pictures.drawn(pictures.load(drawing.project).named("fused"), drawing.book, drawing.project.docs)
    shown = html.figure(view, "../")
    assert 'src="../figures/fused.png" alt="On Synthetic GPU A, fusing runs 1.25× faster."' in shown
    assert "<figcaption>Fusing takes 802 µs instead of 1.001 ms, 1.25× faster.</figcaption>" in shown
    assert "kernels/toy_20260901" in shown
    hostile = dataclasses.replace(view, text='"><script>', caption="<b>", source="figures/a b.png")
    assert "<script>" not in html.figure(hostile)
    assert "<b></figcaption>" not in html.figure(hostile)
