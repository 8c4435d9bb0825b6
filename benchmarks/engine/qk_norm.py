"""Owns Qwen3's attention with the norms of its queries and keys in one launch of this project's kernel.

The model's own attention calls two modules, each of which is several launches over small rows. What stands in for its
`forward` follows that of the installed transformers in all but this, and is refused over any other.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from evidence.errors import EvidenceError

_FOLLOWED = "6c8fb032ff3742438fb80dab4427c11ef04e12fdc02f08abd11ff5adaa0fd1c3"
"""Digest of the source of `Qwen3Attention.forward` of transformers 5.17; that of Qwen3MoeAttention is the same text."""
_NORM = "790fa612e4fa57acfcbea31da45f92ba91f9016f7260ef539f61c5530ba06a5f"
"""Digest of the source of `Qwen3RMSNorm.forward`, which is what the kernel computes but for one rounding."""
_CLASSES = ("Qwen3Attention", "Qwen3MoeAttention")


class UnexpectedAttentionError(EvidenceError):
    """A model whose attention is not the one that is followed here."""


class FusedNorms:
    """The attention layers of one model, changed until they are put back."""

    def __init__(self, model: Any) -> None:
        """Put the kernel into every attention layer.

        Raises:
            UnexpectedAttentionError: there is none, or one is not as expected; nothing is changed then.
        """
        self._layers = [one for one in model.modules() if type(one).__name__ in _CLASSES]
        if not self._layers:
            message = f"{type(model).__name__} has no attention that normalises queries and keys"
            raise UnexpectedAttentionError(message, fix=f"a model with {' or '.join(_CLASSES)}")
        for layer in self._layers:
            _refuse_unexpected(layer)
        self._recorded: set[int] = set()
        self.calls = 0
        """Calls of a layer that went through the kernel, other than by replaying a graph."""
        for layer in self._layers:
            layer.forward = partial(self._forward, layer)

    @property
    def recorded(self) -> int:
        """Layers whose call of the kernel was recorded into graphs: a replay calls it once for each of them."""
        return len(self._recorded)

    def compile(self, tokens: int) -> None:
        """Compile every form that the kernel takes for steps of up to so many tokens; an interpreter has none."""
        import torch

        from benchmarks.ops.kernels.qk_norm import tiling

        one = self._layers[0]
        weight, queries, keys = one.q_norm.weight, one.config.num_attention_heads, one.config.num_key_value_heads
        if weight.device.type != "cuda":
            return
        forms = {tiling(count * (queries + keys), one.head_dim): count for count in range(1, tokens + 1)}
        with torch.no_grad():
            for count in forms.values():
                drawn = (
                    torch.zeros((count, heads, one.head_dim), dtype=weight.dtype, device=weight.device)
                    for heads in (queries, keys)
                )
                _normed(one, *drawn)
        torch.cuda.synchronize(weight.device)

    def close(self) -> None:
        """Give every layer its own forward back."""
        for layer in self._layers:
            del layer.forward
        self._layers = []

    def _forward(
        self,
        layer: Any,
        hidden_states: Any,
        position_embeddings: tuple[Any, Any],
        attention_mask: Any,
        past_key_values: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """Do what `Qwen3Attention.forward` does, its two norms at once."""
        theirs = sys.modules[type(layer).__module__]
        shape = hidden_states.shape[:-1]
        by_head = (*shape, -1, layer.head_dim)
        self._count(layer)
        queries, keys = _normed(
            layer,
            layer.q_proj(hidden_states).view(-1, layer.config.num_attention_heads, layer.head_dim),
            layer.k_proj(hidden_states).view(-1, layer.config.num_key_value_heads, layer.head_dim),
        )
        queries, keys = queries.view(by_head).transpose(1, 2), keys.view(by_head).transpose(1, 2)
        values = layer.v_proj(hidden_states).view(by_head).transpose(1, 2)
        queries, keys = theirs.apply_rotary_pos_emb(queries, keys, *position_embeddings)
        if past_key_values is not None:
            keys, values = past_key_values.update(keys, values, layer.layer_idx)
        attend = theirs.ALL_ATTENTION_FUNCTIONS.get_interface(
            layer.config._attn_implementation, theirs.eager_attention_forward
        )
        output, weights = attend(
            layer,
            queries,
            keys,
            values,
            attention_mask,
            dropout=layer.attention_dropout if layer.training else 0.0,
            scaling=layer.scaling,
            sliding_window=layer.sliding_window,
            **kwargs,
        )
        return layer.o_proj(output.reshape(*shape, -1).contiguous()), weights

    def _count(self, layer: Any) -> None:
        """Count a call where it is computed, and note it where it is recorded only."""
        import torch

        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            self._recorded.add(layer.layer_idx)
        else:
            self.calls += 1


@contextlib.contextmanager
def fused(model: Any) -> Iterator[FusedNorms]:
    """Have a model's norms fused for a while."""
    norms = FusedNorms(model)
    try:
        yield norms
    finally:
        norms.close()


def _normed(layer: Any, queries: Any, keys: Any) -> tuple[Any, Any]:
    """Normalise [tokens, heads, width] of both in one launch."""
    from benchmarks.ops.kernels.qk_norm import qk_norm

    return qk_norm(queries, keys, layer.q_norm.weight, layer.k_norm.weight, layer.q_norm.variance_epsilon)


def _refuse_unexpected(layer: Any) -> None:
    if "forward" in vars(layer):
        raise UnexpectedAttentionError("an attention layer has another forward already than its class's")
    for kind, expected in ((type(layer), _FOLLOWED), (type(layer.q_norm), _NORM), (type(layer.k_norm), _NORM)):
        if hashlib.sha256(inspect.getsource(kind.forward).encode()).hexdigest() != expected:
            raise UnexpectedAttentionError(
                f"{kind.__name__}.forward is not the code that the fused norm was written after",
                fix="install transformers 5.17, or follow the newer code and its digest",
            )
    if layer.q_norm.variance_epsilon != layer.k_norm.variance_epsilon:
        raise UnexpectedAttentionError("queries and keys are normalised with different epsilons, the kernel takes one")
