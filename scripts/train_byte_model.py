"""Train a small language model over bytes on the source of Python's standard library, which every Python ships.

`python scripts/train_byte_model.py` takes some minutes on one core and writes the folder that
`python -m benchmarks.engine.run … --model byte` reads: a configuration and weights as transformers saves them, windows
of held-out text on which bits per byte are measured, and a manifest with the digest of every text that was read and of
every file that was written. Which files are held out follows from their names, so it is the same everywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import trange

from benchmarks.engine.accuracy import HELD_OUT, WINDOW, bits_per_byte, windows_of
from benchmarks.engine.models import LOCAL

MANIFEST = "manifest.json"
_LEFT_OUT = frozenset(
    {"__pycache__", "dist-packages", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "turtledemo"}
)
"""Folders of the library that are not everywhere, or are no library."""
_HELD_OUT_SHARE = 16
"""Files whose name's digest begins with a byte below this are held out: one in sixteen."""
_BETWEEN_FILES = b"\0"


@dataclass(frozen=True, slots=True)
class Text:
    """One file of the library."""

    path: str
    content: bytes

    @property
    def is_held_out(self) -> bool:
        """Whether the model never sees it, which its name decides."""
        return hashlib.sha256(self.path.encode()).digest()[0] < _HELD_OUT_SHARE

    @property
    def digest(self) -> str:
        """What a manifest says of it."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the weights, beside the texts and the machine's arithmetic."""

    hidden: int
    layers: int
    steps: int
    batch: int
    learning_rate: float
    seed: int
    threads: int


def library(folder: Path) -> tuple[Text, ...]:
    """Return the library's modules in the order of their paths."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        # Files beside them whose names begin so hold this machine's build settings.
        if not _LEFT_OUT.intersection(inside.parts) and not inside.name.startswith("_sysconfigdata"):
            found.append(Text(inside.as_posix(), path.read_bytes()))
    return tuple(found)


def held_out_windows(texts: Sequence[Text], count: int) -> bytes:
    """Return windows of text that the model never saw: the middle one of each file in turn, then those after it."""
    left = [memoryview(text.content)[len(text.content) // 2 :] for text in texts if text.is_held_out]
    chosen: list[bytes] = []
    while len(chosen) < count:
        left = [content for content in left if len(content) >= WINDOW]
        if not left:
            raise SystemExit(f"the held-out files hold {len(chosen)} windows, and {count} are asked for")
        chosen += [bytes(content[:WINDOW]) for content in left]
        left = [content[WINDOW:] for content in left]
    return b"".join(chosen[:count])


def model_of(recipe: Recipe) -> Any:
    """Return the model before its first step."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(recipe.seed)
    heads = max(2, recipe.hidden // 64)
    config = Qwen3Config(
        vocab_size=256,
        hidden_size=recipe.hidden,
        intermediate_size=2 * recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=heads,
        num_key_value_heads=heads // 2,
        head_dim=64,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    return Qwen3ForCausalLM(config)


def train(model: Any, texts: Sequence[Text], recipe: Recipe) -> float:
    """Read windows of the texts that are not held out, drawn from the seed; return the last steps' mean bits a byte."""
    import torch

    stream = _BETWEEN_FILES.join(text.content for text in texts if not text.is_held_out)
    data = torch.frombuffer(bytearray(stream), dtype=torch.uint8)
    drawn = torch.Generator().manual_seed(recipe.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.95), weight_decay=0.1)
    warm = max(1, recipe.steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / warm) * (0.05 + 0.95 * _cosine(step / recipe.steps))
    )
    losses: list[float] = []
    model.train()
    progress = trange(recipe.steps, unit="step", disable=None)
    for _ in progress:
        starts = torch.randint(len(data) - WINDOW, (recipe.batch,), generator=drawn)
        rows = torch.stack([data[start : start + WINDOW] for start in starts.tolist()]).long()
        loss = model(rows, labels=rows, use_cache=False).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item() / math.log(2))
        progress.set_postfix_str(f"{losses[-1]:.3f} bit/B")
    model.eval()
    last = losses[-50:]
    return sum(last) / len(last)


def _cosine(share: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * share))


def save(model: Any, texts: Sequence[Text], windows: bytes, recipe: Recipe, trained: float, out: Path) -> float:
    """Write the folder and return the bits per byte of what is held out."""
    out.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(out)
    (out / HELD_OUT).write_bytes(windows)
    measured = bits_per_byte(model, windows_of(out))
    written = sorted(path for path in out.iterdir() if path.name != MANIFEST)
    manifest = {
        "python": platform.python_version(),
        "recipe": asdict(recipe),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "bits_per_byte": {"trained_on": round(trained, 4), "held_out": round(measured, 4)},
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in written},
        "held_out": {text.path: text.digest for text in texts if text.is_held_out},
        "trained_on": {text.path: text.digest for text in texts if not text.is_held_out},
    }
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return measured


def main(argv: Sequence[str] | None = None) -> int:
    """Read, train, save, and say how good it is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=LOCAL["byte"], help=f"folder (default {LOCAL['byte'].name})")
    parser.add_argument("--library", type=Path, default=Path(sysconfig.get_path("stdlib")), help="this Python's own")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=8, help=f"windows of {WINDOW} bytes in a step")
    parser.add_argument("--windows", type=int, default=128, help="of held-out text to keep")
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--threads", type=int, default=1, help="weights differ in their last bits with it")
    asked = parser.parse_args(argv)

    import torch

    torch.set_num_threads(asked.threads)
    began_s = time.monotonic()
    recipe = Recipe(
        asked.hidden, asked.layers, asked.steps, asked.batch, asked.learning_rate, asked.seed, asked.threads
    )
    texts = library(asked.library)
    windows = held_out_windows(texts, asked.windows)
    model = model_of(recipe)
    trained = train(model, texts, recipe)
    measured = save(model, texts, windows, recipe, trained, asked.out)
    held_out = sum(text.is_held_out for text in texts)
    print(f"{len(texts) - held_out} files read, {held_out} held out: {measured:.3f} bit/B on text of those")
    print(f"{asked.out} in {time.monotonic() - began_s:.0f} s; measure it with --model byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
