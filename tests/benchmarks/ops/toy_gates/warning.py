"""A gate whose op is right, and warns of the version that it runs on."""

from __future__ import annotations

import warnings


def test_right():
    warnings.warn("this version is old", FutureWarning, stacklevel=1)
