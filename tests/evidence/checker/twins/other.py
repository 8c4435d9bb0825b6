"""Half of a pair of twins."""

from __future__ import annotations

from evidence.checker.registry import run_rule

rule = run_rule("EV105", "twin-other", "One of two.")
