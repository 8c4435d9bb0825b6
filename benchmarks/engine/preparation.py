"""Owns what becomes of a model before an arm serves it: built, digested, quantised, and held to what it was.

An arm's logits are read here, while the model still has its own kind of attention and before the clock.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from benchmarks.engine import accuracy, models, qk_norm, quantization
from benchmarks.engine.accuracy import Compared
from benchmarks.engine.engines import Limits
from benchmarks.engine.quantization import Coverage


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model that can be served."""

    model: Any
    weights: str
    """Digest of what was built, before anything was done to it."""
    coverage: Coverage
    compared: Compared | None
    """None where accuracy is not asked for."""
    memory_bytes: int

    @property
    def cache_bytes_a_token(self) -> int:
        """What one token takes in a cache of keys and values."""
        config = self.model.config
        width = config.num_key_value_heads * config.head_dim * self.model.get_input_embeddings().weight.element_size()
        return int(2 * config.num_hidden_layers * width)

    def cache_capacity(self, peak_bytes: int, limits: Limits, total_bytes: int) -> int:
        """Return how many tokens' keys and values fit into a memory beside what a trial used without its cache."""
        cache_bytes = limits.cache_blocks * limits.block_tokens * self.cache_bytes_a_token
        return max(0, total_bytes - max(0, peak_bytes - cache_bytes)) // self.cache_bytes_a_token


def prepare_model(
    model: models.Model, dtype: str, device: str, scheme: str, *, is_assessed: bool, is_fused: bool = False
) -> Prepared:
    """Build a model, put the scheme on it, and compare it with what it was if that is asked for.

    An engine that fuses norms does so itself when it is opened; `is_fused` has them fused for the comparison too.

    Raises:
        NotFiniteError: its logits are no numbers.
        UnexpectedAttentionError: norms are to be fused, and the model's attention is not the one that can be.
    """
    built = models.build(model, dtype, device)
    weights = models.fingerprint(built)
    compared = None
    if is_assessed:
        these = accuracy.passages(model)
        in_fp32 = accuracy.read_in_fp32(built, these)
        before = accuracy.assess(built, in_fp32, these)
        quantization.quantize(built, scheme, device)
        with qk_norm.fused(built) if is_fused else contextlib.nullcontext():
            compared = Compared(before, accuracy.assess(built, in_fp32, these))
    else:
        quantization.quantize(built, scheme, device)
    return Prepared(built, weights, quantization.coverage(built), compared, quantization.memory_bytes(built))
