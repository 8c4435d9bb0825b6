"""Single ops: what they are (registry, definitions), whether they are right (gates, mutants), and the project's kernels."""
