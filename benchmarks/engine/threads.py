"""Owns how many threads torch computes with where it is called from.

OpenMP keeps that number for each calling thread. `torch.set_num_threads` sets its caller's; in a thread that is started
later torch hands it over when one of its own loops first asks, and products by a library use the environment's number
until then, whatever `torch.get_num_threads` says.
"""

from __future__ import annotations

import re

_IN_OPENMP = re.compile(r"omp_get_max_threads\(\) : (\d+)")


def take_over() -> int:
    """Compute in this thread with as many threads as the process was told, and return how many OpenMP then has here."""
    import torch

    told = torch.get_num_threads()
    torch.set_num_threads(told)
    found = _IN_OPENMP.search(torch.__config__.parallel_info())
    return told if found is None else int(found[1])
