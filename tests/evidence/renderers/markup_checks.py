"""Owns how the renderers' tests read HTML: a strict enough parse, and what must never be in it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"br"}
FORBIDDEN = {
    "script",
    "iframe",
    "img",
    "object",
    "embed",
    "style",
    "link",
    "meta",
    "base",
    "form",
    "input",
    "foreignobject",
}


@dataclass
class Document(HTMLParser):
    """The elements, attributes and text of a fragment; `faults` says where tags do not match."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"an attribute twice on {tag}")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"a comment: {data!r}")

    def handle_decl(self, decl: str) -> None:
        self.faults.append(f"a declaration: {decl!r}")

    def unknown_decl(self, data: str) -> None:
        self.faults.append(f"a declaration: {data!r}")

    def handle_pi(self, data: str) -> None:
        self.faults.append(f"an instruction: {data!r}")

    @property
    def shape(self) -> list[str]:
        """The elements in order: what text must not change."""
        return [tag for tag, _ in self.elements]

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]

    @property
    def links(self) -> list[str]:
        return [attributes["href"] or "" for _, attributes in self.elements if "href" in attributes]


def parsed(text: str) -> Document:
    """Parse a fragment and hold it to the rules that every fragment keeps, whatever text is in it."""
    assert "\n" not in text
    assert "\r" not in text
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]", text)
    assert "{{" not in text
    assert "{%" not in text
    assert "`" not in text
    document = Document()
    document.feed(text)
    document.close()
    assert not document.faults, document.faults
    assert not document.stack, document.stack
    assert not FORBIDDEN & {*document.shape}
    for tag, attributes in document.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcdoc")], tag
    for target in document.links:
        assert re.match(r"#|\./|(\.\./)+", target), target
        assert "://" not in target
    repeated = [name for name, count in Counter(document.ids).items() if count > 1]
    assert not repeated, repeated
    named = {*document.ids}
    for _, attributes in document.elements:
        for reference in (attributes.get("aria-labelledby") or "").split():
            assert reference in named, reference
    # Well formed as XML too, so that no browser has to guess.
    ElementTree.fromstring(f"<root>{text}</root>")
    return document
