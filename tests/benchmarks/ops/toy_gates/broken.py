"""A gate that cannot be collected."""

from __future__ import annotations

import benchmarks.no_such_module  # type: ignore[import-not-found]  # noqa: F401


def test_one() -> None:
    assert True
