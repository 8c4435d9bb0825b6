"""Owns measuring inference engines: schedulers, features, quantisation and serving, each with its parity proven."""
