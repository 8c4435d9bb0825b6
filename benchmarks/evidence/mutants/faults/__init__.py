"""The mutations, a module a kind; what they have in common is where the clean site keeps its claims."""

KERNELS, SERVING = "docs/claims/kernels.yml", "docs/claims/serving.yml"
SCALING, ARCHIVE = "docs/claims/scaling.yml", "docs/claims/archive.yml"
