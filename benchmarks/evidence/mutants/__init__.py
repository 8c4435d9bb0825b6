"""The mutation score of the checker: a clean site, what careless and determined authors do to it, and who notices.

`write_site` writes the clean site, `mutations` lists what is done to it, and `mutate` does one of them to a copy.
"""

from __future__ import annotations

from benchmarks.evidence.mutants.mutation import Mutation, mutations
from benchmarks.evidence.mutants.site import write_site
from benchmarks.evidence.mutants.workbench import Mutant, mutate

__all__ = ["Mutant", "Mutation", "mutate", "mutations", "write_site"]
