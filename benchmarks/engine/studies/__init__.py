"""Owns the studies, a module each with its `STUDY`: what `benchmarks.engine.run` can be asked for."""
