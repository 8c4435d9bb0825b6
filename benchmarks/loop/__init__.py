"""The optimisation loop: a contract before any code, a row an iteration, and a program that decides."""
