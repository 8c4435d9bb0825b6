"""Owns the static reading of Markdown pages: front matter, macro calls, numbers, commands and links. Nothing is run."""
