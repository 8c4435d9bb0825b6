"""Owns vLLM in this process: its engine stepped by one thread, which begins with requests only between two steps."""

from __future__ import annotations

import os
import queue
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.engine.engines import EngineError, Limits
from benchmarks.engine.requests import Answer, Request, joined

VARIABLES: Mapping[str, str] = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
}
"""Threads are pinned by the session, and the cache is sized in blocks; nothing is reported to anybody."""


def arguments(limits: Limits, dtype: str) -> Mapping[str, object]:
    """Return the engine's own arguments, the same in a process and behind a server."""
    return {
        "dtype": dtype,
        "max_model_len": limits.longest,
        "max_num_seqs": limits.concurrency,
        "max_num_batched_tokens": max(limits.batch_tokens, limits.concurrency),
        "block_size": limits.block_tokens,
        "num_gpu_blocks_override": limits.cache_blocks,
        "enable_prefix_caching": False,
        "enforce_eager": True,
        "seed": 0,
    }


class VllmEngine:
    """One engine over a model's folder."""

    def __init__(self, model: Any) -> None:
        """Serve a built model: vLLM reads its weights from a folder."""
        self._model = model
        self._arrived: queue.SimpleQueue[tuple[Request, ...] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer | EngineError] = queue.SimpleQueue()
        self._steps = self._joined = 0
        self._times: list[tuple[float, ...]] = []
        self._engine: Any = None
        self._thread: threading.Thread | None = None

    def open(self, limits: Limits) -> None:
        """Write the weights, make the engine, and start its thread.

        Raises:
            EngineError: vLLM refuses.
        """
        os.environ.update(VARIABLES)
        from vllm.engine.arg_utils import EngineArgs
        from vllm.v1.engine.llm_engine import LLMEngine

        told = arguments(limits, str(self._model.dtype).removeprefix("torch."))
        with tempfile.TemporaryDirectory(prefix="model-") as name:
            self._model.save_pretrained(Path(name))
            try:
                self._engine = LLMEngine.from_engine_args(
                    EngineArgs(model=name, skip_tokenizer_init=True, disable_log_stats=True, **told)
                )
            except (RuntimeError, ValueError, AssertionError) as error:
                raise EngineError(f"{type(error).__name__}: {error}") from error
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand over requests together."""
        self._arrived.put(tuple(requests))

    def answer(self, timeout_s: float) -> Answer | None:
        """Return the next request that ended.

        Raises:
            EngineError: the engine raised.
        """
        try:
            found = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(found, EngineError):
            raise found
        return found

    def counters(self) -> Mapping[str, int]:
        """Return steps, and requests that joined others that were running."""
        self._joined += joined(self._times)
        self._times.clear()
        return {"steps": self._steps, "joined_running_batch": self._joined, "wasted_tokens": 0}

    def settings(self) -> Mapping[str, str]:
        """Return the configuration as vLLM resolved it."""
        config = self._engine.vllm_config
        named = {
            "block size": config.cache_config.block_size,
            "blocks": config.cache_config.num_gpu_blocks,
            "tokens a step": config.scheduler_config.max_num_batched_tokens,
            "requests a batch": config.scheduler_config.max_num_seqs,
            "prefix sharing": config.cache_config.enable_prefix_caching,
            "eager": config.model_config.enforce_eager,
        }
        return {name: str(value) for name, value in named.items()}

    def close(self) -> None:
        """End the thread after what it has begun, and let go of the engine."""
        if self._thread is not None:
            self._arrived.put(None)
            self._thread.join()
            self._thread = None
        if self._engine is not None:
            self._engine.engine_core.shutdown()
            self._engine = None

    def _serve(self) -> None:
        running: dict[str, _Running] = {}
        try:
            while True:
                while not running or not self._arrived.empty():
                    arrived = self._arrived.get()
                    if arrived is None:
                        return
                    for request in arrived:
                        self._add(request)
                        running[str(request.index)] = _Running(request)
                self._step(running)
        except Exception as error:  # noqa: BLE001 - whatever stepping raises ends the engine, and is told
            failure = EngineError(f"{type(error).__name__}: {error}")
            failure.__cause__ = error
            self._answers.put(failure)

    def _add(self, request: Request) -> None:
        from vllm import SamplingParams, TokensPrompt
        from vllm.sampling_params import RequestOutputKind

        told = SamplingParams(
            temperature=0.0,
            max_tokens=request.output_tokens,
            ignore_eos=True,
            detokenize=False,
            output_kind=RequestOutputKind.DELTA,
        )
        self._engine.add_request(str(request.index), TokensPrompt(prompt_token_ids=list(request.prompt)), told)

    def _step(self, running: dict[str, _Running]) -> None:
        outputs = self._engine.step()
        moment_s = time.perf_counter()
        self._steps += 1
        for output in outputs:
            one = running[output.request_id]
            found = output.outputs[0].token_ids
            one.tokens += found
            one.times_s += [moment_s] * len(found)
            if output.num_cached_tokens is not None:
                one.cached = max(one.cached or 0, output.num_cached_tokens)
            if output.finished:
                del running[output.request_id]
                self._times.append(tuple(one.times_s))
                self._answers.put(Answer(one.request.index, tuple(one.tokens), tuple(one.times_s), one.cached))


class _Running:
    """What one request has got so far."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.tokens: list[int] = []
        self.times_s: list[float] = []
        self.cached: int | None = None
