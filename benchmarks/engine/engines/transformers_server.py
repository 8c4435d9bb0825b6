"""Owns `transformers serve`: how it is started with continuous batching, and what it cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.engines import Limits
from benchmarks.engine.engines.http import Dialect, Spelt
from benchmarks.engine.engines.server import program


@dataclass(frozen=True, slots=True)
class TransformersServer:
    """One device and precision; the cache and the steps are as large as those of other arms."""

    device: str
    dtype: str
    """As torch names it: `float32`."""
    dialect: Dialect = Spelt()  # noqa: RUF009 - it holds nothing
    start_s: float = 300.0

    def command(self, folder: Path, port: int, limits: Limits) -> Sequence[str]:
        """Return the command over a model's folder."""
        told = {
            "--device": self.device,
            "--dtype": self.dtype,
            "--port": port,
            "--host": "127.0.0.1",
            "--log-level": "error",
            "--cb-block-size": limits.block_tokens,
            "--cb-num-blocks": limits.cache_blocks,
            "--cb-max-batch-tokens": limits.batch_tokens,
        }
        words = [word for option, value in told.items() for word in (option, str(value))]
        graphs = "--no-cb-use-cuda-graph"
        return (program("transformers"), "serve", str(folder), "--continuous-batching", *words, graphs)

    def variables(self) -> Mapping[str, str]:
        """Return nothing: it inherits what pins threads and keeps it from fetching anything."""
        return {"TQDM_DISABLE": "1"}

    def settings(self, limits: Limits) -> Mapping[str, str]:
        """Return its settings; requests a batch, prefix sharing and async batching have no option."""
        return {
            "server": "transformers serve --continuous-batching",
            "block size": str(limits.block_tokens),
            "blocks": str(limits.cache_blocks),
            "tokens a step": str(limits.batch_tokens),
            "cuda graphs": "off",
            "requests a batch": "the server's own",
            "prefix sharing": "the server's own",
            "async batching": "the server's own",
        }
