"""The suites, a module each."""
