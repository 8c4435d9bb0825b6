"""Owns the leaves of a model: every text in it, and how many keys and texts the document it was read from holds."""

from __future__ import annotations

import datetime
from typing import Any, get_args

from pydantic import BaseModel

_PLAIN = (int, float, bool, type(None))


def leaves(model: BaseModel) -> tuple[list[str], int]:
    """Return every text in a model, in no order, and the number of strings in its JSON: keys, texts and times.

    The number is that of the document the model was read from; of a model that was built, tags left out do not count.
    Each object of the document is a model whose fields are known, so a document with more strings than these has a key
    twice: pydantic keeps the last of two and says nothing.
    """
    texts: list[str] = []
    others = 0
    stack: list[Any] = [model]
    while stack:
        one = stack.pop()
        others += len(one.__pydantic_fields_set__)
        values = one.__dict__
        for name in _FIELDS[one.__class__]:
            value = values[name]
            kind = value.__class__
            if kind is str:
                texts.append(value)
            elif kind is tuple:
                if value:
                    if value[0].__class__ is str:
                        texts += value
                    else:
                        stack += value
            elif kind is datetime.datetime:
                others += 1
            elif value is not None:
                stack.append(value)
    return texts, others + len(texts)


class _Fields(dict[type[BaseModel], tuple[str, ...]]):
    """Model -> its fields that may hold a text or another model; those of numbers alone are most of a record."""

    def __missing__(self, model: type[BaseModel]) -> tuple[str, ...]:
        fields = model.model_fields.items()
        self[model] = tuple(name for name, field in fields if not _is_of_numbers(field.annotation))
        return self[model]


_FIELDS = _Fields()


def _is_of_numbers(annotation: Any) -> bool:
    """Whether no text and no model can stand there; the metadata of an annotated type is neither."""
    if annotation in _PLAIN:
        return True
    parts = [part for part in get_args(annotation) if part is not Ellipsis]
    first = parts[:1] if hasattr(annotation, "__metadata__") else parts
    return bool(first) and all(type(part) in _PLAIN or _is_of_numbers(part) for part in first)
