"""Runners that measure and write records; `evidence` never imports this package."""
