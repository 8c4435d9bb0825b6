"""The checker: rules over records, ledger and pages, what they read, and how what they find is reported."""

from __future__ import annotations
