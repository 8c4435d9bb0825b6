"""Owns `python -m evidence`."""

from __future__ import annotations

from evidence.cli import main

if __name__ == "__main__":
    main()
