"""The benchmark of the checker and of the documentation build: what holding pages to their evidence costs."""
