"""Owns views as JSON, for other programs: the fields as they are, and for each part its type."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from evidence.views import Statement, Table


def to_json(view: Table | Statement) -> str:
    """The whole view, numbers in SI beside their text; control characters and non-ASCII text are escaped."""
    return json.dumps(_plain(view), indent=1) + "\n"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__.lower(), **fields}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
