"""One module a family of ops, each with module-level `Op` objects; `benchmarks.ops.registry.ops` finds them."""
