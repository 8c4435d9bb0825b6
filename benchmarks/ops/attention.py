"""Owns how torch's attention is called: [B, T, H, D] as every op here has it, causal, with a backend or without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from benchmarks.ops.registry import Adapter

Backend = Literal["default", "flash", "cudnn", "efficient", "math"]
_NAMES: Mapping[str, str] = {
    "flash": "FLASH_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "math": "MATH",
}


def sdpa(backend: Backend) -> Adapter:
    """Return an adapter of scaled_dot_product_attention; `default` leaves the choice to torch."""

    def adapter(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
        q, k, v = (given[name].transpose(1, 2) for name in "qkv")
        if backend == "default":
            return (target(q, k, v, is_causal=True).transpose(1, 2),)
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, _NAMES[backend])):
            return (target(q, k, v, is_causal=True).transpose(1, 2),)

    return adapter
