"""A gate file without a test."""
