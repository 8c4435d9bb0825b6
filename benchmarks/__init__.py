"""Runners that measure and write records; `evidence` never imports this package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Top of the repository that this code stands in; workers run there."""
