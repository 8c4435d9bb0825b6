"""Summarises a file of results, without torch and without a device: see `benchmarks.ops.summary`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.ops.summary import main

if __name__ == "__main__":
    raise SystemExit(main())
