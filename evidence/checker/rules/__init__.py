"""The rules, a family a file. Adding one is one decorated function here and its row in the tests."""

from __future__ import annotations
