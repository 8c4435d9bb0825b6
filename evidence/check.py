"""Owns `python -m evidence.check`, the gate of record: the same as `evidence check`, without an installed script."""

from __future__ import annotations

import sys

from evidence.cli import main

if __name__ == "__main__":
    main(["check", *sys.argv[1:]])
