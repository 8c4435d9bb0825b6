"""Owns static batching: `model.generate` over padded batches, each served to its end before the next begins.

A token counts at the step that made it, as it could have been streamed. A request keeps its slot until its batch ends;
tokens made beyond what it asked for are wasted.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.engine.engines import EngineError, Limits
from benchmarks.engine.requests import Answer, Request
from benchmarks.engine.threads import take_over


class StaticEngine:
    """One thread that takes what waits, as many as fit a batch."""

    def __init__(self, model: Any) -> None:
        """Serve this model."""
        self._model = model
        self._arrived: queue.SimpleQueue[tuple[Request, ...] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer | EngineError] = queue.SimpleQueue()
        self._counts = {"batches": 0, "steps": 0, "attended_pairs": 0, "wasted_tokens": 0, "padding_tokens": 0}
        self._thread: threading.Thread | None = None
        self._computing_threads: int | None = None
        """Known once it serves."""

    def open(self, limits: Limits) -> None:
        """Begin to wait for requests."""
        self._limits = limits
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand over requests together."""
        self._arrived.put(tuple(requests))

    def answer(self, timeout_s: float) -> Answer | None:
        """Return the next request that ended.

        Raises:
            EngineError: generating raised.
        """
        try:
            found = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(found, EngineError):
            raise found
        return found

    def counters(self) -> Mapping[str, int]:
        """Return batches, steps, and tokens made for nothing."""
        return dict(self._counts)

    def settings(self) -> Mapping[str, str]:
        """Return the batch size, how attention is computed, and with how many threads."""
        return {
            "batch size": str(self._limits.concurrency),
            "attention": str(self._model.config._attn_implementation),
            "threads": str(self._computing_threads),
        }

    def close(self) -> None:
        """End the thread after its batch."""
        if self._thread is not None:
            self._arrived.put(None)
            self._thread.join()
            self._thread = None

    def _serve(self) -> None:
        waiting: list[Request] = []
        self._computing_threads = take_over()
        try:
            while True:
                while not waiting or not self._arrived.empty():
                    arrived = self._arrived.get()
                    if arrived is None:
                        return
                    waiting += arrived
                batch, waiting = waiting[: self._limits.concurrency], waiting[self._limits.concurrency :]
                self._generate(batch)
        except Exception as error:  # noqa: BLE001 - whatever generating raises ends the engine, and is told
            failure = EngineError(f"{type(error).__name__}: {error}")
            failure.__cause__ = error
            self._answers.put(failure)

    def _generate(self, batch: Sequence[Request]) -> None:
        import torch

        width, steps = max(len(one.prompt) for one in batch), max(one.output_tokens for one in batch)
        device = self._model.device
        padded = torch.zeros((len(batch), width), dtype=torch.long)
        mask = torch.zeros_like(padded)
        for row, request in enumerate(batch):
            padded[row, width - len(request.prompt) :] = torch.tensor(request.prompt)
            mask[row, width - len(request.prompt) :] = 1
        times: list[float] = []

        def note_time(tokens: Any, scores: Any, **more: Any) -> Any:
            del scores, more
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            times.append(time.perf_counter())
            return torch.zeros(tokens.shape[0], dtype=torch.bool, device=tokens.device)

        with torch.no_grad():
            made = self._model.generate(
                input_ids=padded.to(device),
                attention_mask=mask.to(device),
                max_new_tokens=steps,
                do_sample=False,
                stopping_criteria=[note_time],
            )
        rows = made[:, width:].tolist()
        self._counts["batches"] += 1
        self._counts["steps"] += len(times)
        keys = width * width + sum(range(width + 1, width + len(times)))
        self._counts["attended_pairs"] += len(batch) * keys
        for request, row in zip(batch, rows, strict=True):
            wanted = request.output_tokens
            self._counts["wasted_tokens"] += len(row) - wanted
            self._counts["padding_tokens"] += width - len(request.prompt)
            self._answers.put(Answer(request.index, tuple(row[:wanted]), tuple(times[:wanted]), cached_tokens=0))
