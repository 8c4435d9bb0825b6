"""What profilers say of an op: their commands, their output read into summaries, and what bounds the work."""
