"""The project's own Triton kernels, one a module."""
