"""Single ops: what they are (registry, definitions), whether they are right (gates), and the project's own kernels."""
