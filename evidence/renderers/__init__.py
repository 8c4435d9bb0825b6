"""Owns how views become text: pure functions, a format a module. Everything a record said is escaped here."""
