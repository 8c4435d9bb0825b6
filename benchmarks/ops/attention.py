"""Owns how torch's attention is called: [B, T, H, D] as every op here has it, causal, with a backend or without."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.ops.registry import Adapter, Resolved

if TYPE_CHECKING:
    import torch

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
        with _forced(backend):
            return (target(*_heads_first(given), is_causal=True).transpose(1, 2),)

    return adapter


def kernel(backend: Backend) -> Resolved:
    """Return what tells which of torch's kernels a call of `sdpa(backend)` comes down to."""

    def resolved(given: Mapping[str, Any]) -> Mapping[str, str]:
        import torch
        from torch.nn.attention import SDPBackend

        with _forced(backend):
            choice = torch._fused_sdp_choice(*_heads_first(given), is_causal=True)
        return {"attention kernel": SDPBackend(choice).name.removesuffix("_ATTENTION").lower()}

    return resolved


def _heads_first(given: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
    return tuple(given[name].transpose(1, 2) for name in "qkv")


def _forced(backend: Backend) -> contextlib.AbstractContextManager[None]:
    if backend == "default":
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    forced: contextlib.AbstractContextManager[None] = sdpa_kernel(getattr(SDPBackend, _NAMES[backend]))
    return forced
