"""The mutations, a module a class."""
