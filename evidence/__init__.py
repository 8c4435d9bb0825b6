"""Performance documentation that cannot lie: records, claims, and the check that holds pages to them."""

from __future__ import annotations

__version__ = "0.1.0"
