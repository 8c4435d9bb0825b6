"""Owns which models are measured: named shapes with random weights from a seed, or a directory; nothing is downloaded.

What a record says of the weights is read from the shape, or from the directory's files, without building the model.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from benchmarks import ROOT
from evidence.errors import EvidenceError, UnknownNameError
from evidence.ledger import digest_of
from evidence.schema.workloads import PretrainedWeights, RandomWeights

Family = Literal["qwen3", "qwen3_moe", "llama"]
Value = int | float | bool

_CLASSES: Mapping[Family, tuple[str, str]] = {
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM"),
    "qwen3_moe": ("Qwen3MoeConfig", "Qwen3MoeForCausalLM"),
    "llama": ("LlamaConfig", "LlamaForCausalLM"),
}
LOCAL: Mapping[str, Path] = {"byte": ROOT / ".models" / "byte"}
"""Models that are made here and lie in a folder that git does not keep: by name, where."""
_MADE_BY: Mapping[str, str] = {"byte": "make byte-model"}
_CHUNK = 1 << 24
"""Elements that are summed at once, so that the largest tensor needs little room beside itself."""
_MODULUS = (1 << 61) - 1


class ModelError(EvidenceError):
    """A model that cannot be had from what was named."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A named configuration whose weights are drawn from a seed."""

    name: str
    family: Family
    values: Mapping[str, Value] = field(hash=False)
    seed: int = 17

    @property
    def vocabulary(self) -> int:
        """Number of token ids."""
        return int(self.values["vocab_size"])

    @property
    def parameters(self) -> int:
        """Number of weights, counted from the shape; tied ones once."""
        get = self.values
        hidden, layers, head = int(get["hidden_size"]), int(get["num_hidden_layers"]), int(get["head_dim"])
        queries, keys = int(get["num_attention_heads"]) * head, int(get["num_key_value_heads"]) * head
        attention = 2 * hidden * queries + 2 * hidden * keys + (0 if self.family == "llama" else 2 * head)
        if self.family == "qwen3_moe":
            experts = int(get["num_experts"])
            mixing = experts * (hidden + 3 * hidden * int(get["moe_intermediate_size"]))
        else:
            mixing = 3 * hidden * int(get["intermediate_size"])
        embedding = self.vocabulary * hidden * (1 if get["tie_word_embeddings"] else 2)
        return layers * (attention + mixing + 2 * hidden) + hidden + embedding

    @property
    def weights(self) -> RandomWeights:
        """What a record says of them."""
        return RandomWeights(model=self.name, parameters=self.parameters, seed=self.seed)


def _shape(name: str, family: Family, sizes: str, *, tied: bool, **more: Value) -> Shape:
    """Return a shape from its sizes: vocabulary, hidden, intermediate, layers, heads, key-value heads, head."""
    names = ["vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"]
    names += ["num_attention_heads", "num_key_value_heads", "head_dim"]
    values: dict[str, Value] = dict(zip(names, map(int, sizes.split()), strict=True))
    return Shape(name, family, MappingProxyType({**values, "tie_word_embeddings": tied, **more}))


_QWEN: Mapping[str, Value] = {"max_position_embeddings": 40960, "rms_norm_eps": 1e-6}
SHAPES: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
        # Weights drawn wide, so that what a token is depends on what stands before it even at this size.
        _shape(
            "tiny",
            "qwen3",
            "512 128 256 2 4 2 32",
            tied=True,
            max_position_embeddings=4096,
            rms_norm_eps=1e-6,
            initializer_range=0.2,
        ),
        # Large enough that a step takes longer than what a server and its client do beside it, on a processor too.
        _shape(
            "mini",
            "qwen3",
            "512 512 1536 8 8 4 64",
            tied=True,
            max_position_embeddings=4096,
            rms_norm_eps=1e-6,
            initializer_range=0.1,
        ),
        _shape("qwen3-0.6b", "qwen3", "151936 1024 3072 28 16 8 128", tied=True, **_QWEN),
        _shape("qwen3-1.7b", "qwen3", "151936 2048 6144 28 16 8 128", tied=True, **_QWEN),
        _shape("qwen3-4b", "qwen3", "151936 2560 9728 36 32 8 128", tied=True, **_QWEN),
        _shape("qwen3-8b", "qwen3", "151936 4096 12288 36 32 8 128", tied=False, **_QWEN),
        _shape(
            "llama-3.2-1b",
            "llama",
            "128256 2048 8192 16 32 8 64",
            tied=True,
            max_position_embeddings=131072,
            rms_norm_eps=1e-5,
        ),
        _shape(
            "qwen3-30b-a3b",
            "qwen3_moe",
            "151936 2048 6144 48 32 4 128",
            tied=False,
            moe_intermediate_size=768,
            num_experts=128,
            num_experts_per_tok=8,
            norm_topk_prob=True,
            **_QWEN,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Directory:
    """A model that lies on this machine, as transformers saves one."""

    path: Path

    @property
    def name(self) -> str:
        """The folder's own name: where it lies is nobody's business."""
        return self.path.resolve().name

    @property
    def vocabulary(self) -> int:
        """Number of token ids, from its configuration."""
        found = json.loads((self.path / "config.json").read_text(encoding="utf-8"))
        return int(found["vocab_size"])

    @property
    def weights(self) -> PretrainedWeights:
        """What a record says of them: counted and digested from the files.

        Raises:
            ModelError: there are no weights.
        """
        files = sorted(self.path.glob("*.safetensors"))
        if not files:
            raise ModelError(f"{self.name} holds no *.safetensors", fix="save it with save_pretrained()")
        listed = "\n".join(f"{digest_of(path)}  {path.name}" for path in (self.path / "config.json", *files))
        return PretrainedWeights(
            model=self.name,
            parameters=sum(map(_elements, files)),
            revision="local",
            sha256=hashlib.sha256(listed.encode()).hexdigest(),
        )


Model = Shape | Directory


def _elements(path: Path) -> int:
    """Return how many weights a safetensors file holds, from its header."""
    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
    total = 0
    for name, entry in header.items():
        if name != "__metadata__":
            count = 1
            for size in entry["shape"]:
                count *= size
            total += count
    return total


def find(name: str) -> Model:
    """Return a named shape, or the model of a directory.

    Raises:
        UnknownNameError: it is neither.
        ModelError: it is a model that is made here, and was not made yet.
    """
    if name in SHAPES:
        return SHAPES[name]
    folder = LOCAL.get(name, Path(name))
    if (folder / "config.json").is_file():
        return Directory(folder)
    if name in LOCAL:
        raise ModelError(f"the model {name!r} was not made yet", fix=_MADE_BY[name])
    raise UnknownNameError("model", name, [*SHAPES, *LOCAL])


def build(model: Model, dtype: str, device: str) -> Any:
    """Return the module on its device, ready to generate, with no token that ends a sequence.

    Random weights are drawn on the device they are for, so a seed stands for other weights on another kind of device.
    """
    import torch
    import transformers

    wanted = getattr(torch, {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}[dtype])
    if isinstance(model, Directory):
        built = transformers.AutoModelForCausalLM.from_pretrained(model.path, dtype=wanted, local_files_only=True)
        built = built.to(device)
    else:
        config_class, model_class = (getattr(transformers, name) for name in _CLASSES[model.family])
        config = config_class(**model.values, bos_token_id=None, eos_token_id=None, pad_token_id=0)
        before = torch.get_default_dtype()
        torch.manual_seed(model.seed)
        torch.set_default_dtype(wanted)
        try:
            with torch.device(device):
                built = model_class(config)
        finally:
            torch.set_default_dtype(before)
    built.generation_config = transformers.GenerationConfig(do_sample=False, eos_token_id=None, pad_token_id=0)
    return built.eval()


def fingerprint(built: Any) -> str:
    """Return a digest of a built model: its configuration, and exact sums over the bits of every weight."""
    import torch

    config = built.config.to_dict()
    for name in ("_name_or_path", "transformers_version", "_attn_implementation"):
        config.pop(name, None)
    rows = []
    for name, tensor in sorted(built.state_dict().items()):
        width = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
        flat = tensor.detach().contiguous().view(-1).view(width)
        plain = weighted = 0
        for start in range(0, flat.numel(), _CHUNK):
            piece = flat[start : start + _CHUNK].to(torch.int64)
            at = torch.arange(piece.numel(), device=piece.device) % 65521 + 1
            plain += int(piece.sum())
            weighted += int((piece * at % _MODULUS).sum()) + start
        rows.append([name, list(tensor.shape), str(tensor.dtype), plain % _MODULUS, weighted % _MODULUS])
    text = json.dumps([config, rows], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
