"""Owns what is measured of the harness itself: its timer against another one, and how often its verdicts are right."""
