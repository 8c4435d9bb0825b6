"""Owns schemes of quantisation as data, and puts one on a built model through torchao.

Linear layers are quantised but for the output head, which shares its weights with the embedding in most models, as
transformers leaves it out too. torchao's own advice to the compiler stays off: it would change what the baseline is
compiled with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.errors import UnknownNameError

NONE = "none"
PACKAGE = "torchao"
GROUP = 128
"""Weights that share a scale in int4."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way to hold weights, and to multiply by them, in fewer bits."""

    name: str
    about: str
    config: Callable[[str], Any]
    """torchao's configuration for a kind of device."""
    obstacle_on_cpu: str = ""
    """Why a processor cannot run it; empty: it can."""


def _int8_weight_only(device: str) -> Any:
    from torchao.quantization import Int8WeightOnlyConfig

    del device
    return Int8WeightOnlyConfig(set_inductor_config=False)


def _int8_dynamic(device: str) -> Any:
    from torchao.quantization import Int8DynamicActivationInt8WeightConfig

    del device
    return Int8DynamicActivationInt8WeightConfig(set_inductor_config=False)


def _fp8_dynamic(device: str) -> Any:
    from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, PerRow

    del device
    return Float8DynamicActivationFloat8WeightConfig(granularity=PerRow(), set_inductor_config=False)


def _int4_weight_only(device: str) -> Any:
    if device == "cpu":
        from torchao.prototype.quantization.int4 import PrototypeInt4WeightOnlyConfig

        return PrototypeInt4WeightOnlyConfig(group_size=GROUP, set_inductor_config=False)
    from torchao.quantization import Int4WeightOnlyConfig

    # The layout of torch's own kernel; others need packages of kernels beside torchao.
    return Int4WeightOnlyConfig(group_size=GROUP, int4_packing_format="tile_packed_to_4d", set_inductor_config=False)


SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("int8-weight-only", "W8A16: int8 weights, a scale for each output channel", _int8_weight_only),
        Scheme("int8-dynamic", "W8A8: int8 weights and activations, each token's scaled as it comes", _int8_dynamic),
        Scheme(
            "fp8-dynamic",
            "fp8 weights and activations, a scale for each channel and token",
            _fp8_dynamic,
            obstacle_on_cpu="its products need an accelerator with fp8 units",
        ),
        Scheme("int4-weight-only", f"W4A16: int4 weights, a scale for each {GROUP} of a row", _int4_weight_only),
    )
}
OBSTACLES_ON_CPU: Mapping[str, str] = {
    scheme.name: scheme.obstacle_on_cpu for scheme in SCHEMES.values() if scheme.obstacle_on_cpu
}


def quantize(model: Any, scheme: str, device: str) -> None:
    """Replace the weights of a model's linear layers but its output head.

    Raises:
        UnknownNameError: there is no such scheme.
    """
    if scheme == NONE:
        return
    if scheme not in SCHEMES:
        raise UnknownNameError("scheme", scheme, [NONE, *SCHEMES])
    from torchao.quantization import quantize_

    chosen = {id(layer) for layer in _linear_layers(model)}
    quantize_(model, SCHEMES[scheme].config(device), filter_fn=lambda layer, name: id(layer) in chosen)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the layers that could be quantised are: a scheme skips shapes that it does not take."""

    quantized: int
    layers: int

    def __str__(self) -> str:
        return f"{self.quantized} of {self.layers}"


def coverage(model: Any) -> Coverage:
    """Count the layers whose weights torchao holds."""
    layers = tuple(_linear_layers(model))
    return Coverage(sum(hasattr(layer.weight, "__tensor_flatten__") for layer in layers), len(layers))


def _linear_layers(model: Any) -> Iterator[Any]:
    import torch

    head = model.get_output_embeddings()
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear) and layer is not head:
            yield layer


def memory_bytes(model: Any) -> int:
    """Return the bytes of a model's weights and buffers as they are held, each once."""
    found: dict[int, int] = {}
    for tensor in (*model.parameters(), *model.buffers()):
        for plain in _plain(tensor):
            found[plain.untyped_storage().data_ptr()] = plain.untyped_storage().nbytes()
    return sum(found.values())


def _plain(tensor: Any) -> Iterator[Any]:
    """Yield the tensors that a quantised one is made of; a plain one is itself."""
    if not hasattr(tensor, "__tensor_flatten__"):
        yield tensor
        return
    names, _ = tensor.__tensor_flatten__()
    for name in names:
        yield from _plain(getattr(tensor, name))
