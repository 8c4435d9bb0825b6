"""Builds and prints a command of benchmarks.ops.verify, and runs nothing of it: see `benchmarks.ops.building`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.ops.building import main

if __name__ == "__main__":
    raise SystemExit(main())
