"""A gate whose process dies."""

from __future__ import annotations

import os


def test_dies() -> None:
    os._exit(11)
