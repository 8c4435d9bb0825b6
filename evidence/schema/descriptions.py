"""Owns what fields say of themselves in a published JSON Schema: the text that stands below each in its class."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Mapping, Sequence

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema


class Described(GenerateJsonSchema):
    """Writes a schema with the text below each field as its description.

    pydantic knows these texts too (`use_attribute_docstrings`), but looks for them in the sources whenever a class is
    made: every command would wait for what one of them prints.
    """

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model."""
        made = super().model_schema(schema)
        for field, text in _texts_of(schema["cls"]).items():
            made["properties"][field]["description"] = text
        return made


def _texts_of(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the text of each field that has one; a field is described where it is declared, for heirs too."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind is not BaseModel:
            found |= _written_in(kind.__module__).get(kind.__name__, {})
    return {field: text for field, text in found.items() if field in model.model_fields}


@functools.cache
def _written_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """Class of a module -> attribute -> the text below it."""
    classes = ast.parse(inspect.getsource(sys.modules[module])).body
    return {one.name: _below_attributes(one.body) for one in classes if isinstance(one, ast.ClassDef)}


def _below_attributes(body: Sequence[ast.stmt]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for attribute, text in itertools.pairwise(body):
        if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name):
            match text:
                case ast.Expr(value=ast.Constant(value=str(written))):
                    found[attribute.target.id] = inspect.cleandoc(written)
    return found
