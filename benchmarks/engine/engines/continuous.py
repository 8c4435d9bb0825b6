"""Owns continuous batching by transformers' own manager and paged cache, in this process.

Its scheduler, cache and runner are watched from outside: each method that is wrapped counts what it was asked for and
is otherwise left alone. Times of tokens are those that the manager notes when it takes them from the device.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.engine.engines import EngineError, Limits
from benchmarks.engine.qk_norm import FusedNorms
from benchmarks.engine.requests import Answer, Failure, Request

_COUNTED = (
    "steps",
    "computed_tokens",
    "attended_pairs",
    "joined_running_batch",
    "prefill_chunks",
    "prefix_tokens",
    "prefix_hits",
    "copied_blocks",
    "preemptions",
    "offloaded_requests",
    "restored_requests",
    "graph_replays",
    "graph_captures",
    "overlapped_steps",
    "compiled_steps",
    "wasted_tokens",
    "fused_qk_norms",
)
_STOP_S = 30.0


class ContinuousEngine:
    """One manager, from opening to closing, with its features switched explicitly."""

    def __init__(self, model: Any, switches: Mapping[str, str]) -> None:
        """Serve this model under these switches; see `benchmarks.engine.features`."""
        self._model, self._switches = model, switches
        self._attention = model.config._attn_implementation
        self._manager: Any = None
        self._norms: FusedNorms | None = None

    def open(self, limits: Limits) -> None:
        """Make the cache, compile and record what is to be, and start the loop.

        Raises:
            EngineError: the manager refuses.
            UnexpectedAttentionError: norms are to be fused, and the model's attention is not the one that can be.
        """
        from transformers import GenerationConfig

        tokens = self._switches["chunk-tokens"]
        config = _config(self._switches, limits, limits.batch_tokens if tokens == "workload" else int(tokens))
        if self._switches["fused-qk-norm"] == "on":
            # Before the manager is made: a kernel must be compiled when it is recorded into a graph.
            self._norms = FusedNorms(self._model)
            self._norms.compile(config.max_batch_tokens)
        generation = GenerationConfig(max_new_tokens=limits.longest, do_sample=False, eos_token_id=-1, pad_token_id=0)
        try:
            self._manager = self._model.init_continuous_batching(
                generation_config=generation, continuous_batching_config=config
            )
            self._manager.warmup()
        except (RuntimeError, ValueError, ImportError) as error:
            raise EngineError(f"{type(error).__name__}: {error}") from error
        self._watched = _Watch(self._manager.batch_processor, self._norms)
        self._manager.start()

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand over requests while the loop stands between two steps."""
        with self._watched.between_steps:
            for request in requests:
                self._manager.add_request(
                    list(request.prompt),
                    request_id=str(request.index),
                    max_new_tokens=request.output_tokens,
                    record_timestamps=True,
                )

    def answer(self, timeout_s: float) -> Answer | None:
        """Return the next request that ended.

        Raises:
            EngineError: the loop has died.
        """
        found = self._manager.get_result(timeout=timeout_s)
        if found is None:
            fatal = self._manager.background_thread_status.fatal_error
            if fatal is not None or not self._manager.is_running():
                raise EngineError(f"the engine's loop has ended: {fatal}") from fatal
            return None
        name = found.request_id
        failure = None if found.error is None else Failure("engine", found.error)
        return Answer(
            index=int(name),
            tokens=tuple(found.generated_tokens),
            times_s=tuple(found.timestamps or ()),
            cached_tokens=self._watched.forget(name),
            failure=failure,
        )

    def counters(self) -> Mapping[str, int]:
        """Return what fired since the loop was started."""
        counts = self._watched.counts
        computed = 0 if self._norms is None else self._norms.calls
        fused = {"fused_qk_norms": counts["fused_qk_norms"] + computed}
        return {name: counts[name] for name in _COUNTED} | fused

    def settings(self) -> Mapping[str, str]:
        """Return the configuration as the manager resolved it."""
        config = self._manager.continuous_batching_config
        named = {
            "attention": self._model.config._attn_implementation,
            "block size": config.block_size,
            "blocks": config.num_blocks,
            "tokens a step": config.max_batch_tokens,
            "requests a batch": config.max_requests_per_batch,
            "blocks a request in the decode path": config.max_blocks_per_request,
            "scheduler": config.scheduler_type,
            "cuda graphs (varlen, decode)": config.use_cuda_graph,
            "async batching": config.use_async_batching,
            "prefix sharing": self._manager.batch_processor.cache.use_prefix_sharing,
            "compile level": config.default_compile_level,
            "offload space in GiB": config.cpu_offload_space,
        }
        return {name: str(value) for name, value in named.items()}

    def close(self) -> None:
        """Stop the loop and let go of its memory; the model's own attention is back afterwards."""
        if self._manager is not None:
            if self._manager.is_running():
                self._manager.stop(block=True, timeout=_STOP_S, hard_stop=True)
            self._manager.destroy()
            self._manager = None
        if self._norms is not None:
            self._norms.close()
            self._norms = None
        # A manager that never started leaves the model with its own kind of attention.
        if self._model.config._attn_implementation != self._attention:
            self._model.set_attn_implementation(self._attention)


def _config(switches: Mapping[str, str], limits: Limits, batch_tokens: int) -> Any:
    from transformers import ContinuousBatchingConfig

    level, space = switches["compile"], switches["cpu-offload"]
    # At least one request fits, or it would wait for blocks that no other can give up.
    blocks = max(
        -(-limits.longest // limits.block_tokens) + 1, round(float(switches["cache-share"]) * limits.cache_blocks)
    )
    return ContinuousBatchingConfig(
        block_size=limits.block_tokens,
        num_blocks=blocks,
        max_batch_tokens=batch_tokens,
        max_requests_per_batch=limits.concurrency,
        allow_block_sharing=switches["prefix-sharing"] == "on",
        use_async_batching=switches["async-batching"] == "on",
        use_cuda_graph=switches["cuda-graphs"] == "on",
        default_compile_level=0 if level == "off" else int(level),
        cpu_offload_space=0.0 if space == "off" else float(space),
        seed=0,
    )


class _Watch:
    """Counts what a batch processor does. Everything here runs on the engine's thread, but for `between_steps`."""

    def __init__(self, processor: Any, norms: FusedNorms | None) -> None:
        self.counts: Counter[str] = Counter()
        self.cached: dict[str, int] = {}
        """Prompt tokens that each request found in the cache when it was first admitted."""
        self.between_steps = threading.Lock()
        self._processor, self._norms = processor, norms
        self._seen: set[str] = set()
        self._in_flight = 0
        _wrap(processor, "prepare_next_batch", self._prepare)
        _wrap(processor, "update_batch", self._update)
        _wrap(processor.scheduler, "schedule_batch", self._schedule)
        _wrap(processor.cache, "search_prefix_match", self._search)
        _wrap(processor.cache, "copy_cache", self._copy)
        _wrap(processor.offloading_manager, "offload_requests", self._offload)
        _wrap(processor.offloading_manager, "_offload_to_cpu", self._offload_to_host)
        _wrap(processor.offloading_manager, "restore_scheduled_requests", self._restore)
        _wrap(processor.model_runner, "_get_forward_fn", self._forward)
        _wrap(processor.inputs_and_outputs, "prepare_batch_update", self._take)
        _wrap(processor.inputs_and_outputs, "get_graph", self._find_graph)
        _wrap(processor.inputs_and_outputs, "set_graph", self._keep_graph)

    def forget(self, name: str) -> int:
        """Let a request's name be used again, and return how much of its prompt the cache held."""
        self._seen.discard(name)
        return self.cached.pop(name, 0)

    def _prepare(self, original: Callable[..., Any], *given: Any) -> Any:
        with self.between_steps:
            is_ready = original(*given)
        if is_ready:
            self.counts["steps"] += 1
            self.counts["overlapped_steps"] += self._in_flight > 0
            self._in_flight += 1
        return is_ready

    def _update(self, original: Callable[..., Any], *given: Any) -> Any:
        self._in_flight -= 1
        return original(*given)

    def _schedule(self, original: Callable[..., Any], *given: Any) -> Any:
        found = original(*given)
        if found[0]:
            new = [one.state.request_id for one in found[0] if one.state.request_id not in self._seen]
            if len(new) < len(found[0]):
                self.counts["joined_running_batch"] += len(new)
            self._seen.update(new)
            self.counts["prefill_chunks"] += sum(not one.has_new_token for one in found[0])
            _, _, queries, read = found
            self.counts["computed_tokens"] += queries
            # A step is one packed sequence: a query meets the keys of all requests in it, and a mask hides the rest.
            self.counts["attended_pairs"] += queries * (queries + read)
        return found

    def _search(self, original: Callable[..., Any], name: str, prompt: Sequence[int]) -> Any:
        found = original(name, prompt)
        if found:
            used = min(int(found), len(prompt) - 1)
            self.counts["prefix_tokens"] += used
            self.counts["prefix_hits"] += 1
            self.cached.setdefault(name, used)
        return found

    def _copy(self, original: Callable[..., Any], sources: Sequence[int], *given: Any) -> Any:
        self.counts["copied_blocks"] += len(sources)
        return original(sources, *given)

    def _offload(self, original: Callable[..., Any], *given: Any) -> Any:
        scheduler = self._processor.scheduler
        kept = {name: state._timestamps for name, state in scheduler.active_requests.items()}
        evicted = original(*given)
        self.counts["preemptions"] += evicted
        # A request that starts over is a new object, which has forgotten when its first tokens came.
        for name, state in scheduler.waiting_requests.items():
            if name in kept:
                state._timestamps = kept[name]
        return evicted

    def _offload_to_host(self, original: Callable[..., Any], *given: Any) -> Any:
        moved = original(*given)
        self.counts["offloaded_requests"] += len(moved)
        return moved

    def _restore(self, original: Callable[..., Any], batch: Sequence[Any]) -> Any:
        self.counts["restored_requests"] += sum(one.state.is_cpu_offloaded for one in batch)
        return original(batch)

    def _forward(self, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
        found = original(*given, **named)
        runner = self._processor.model_runner
        self.counts["compiled_steps"] += found[0] in (runner._compiled_varlen, runner._compiled_decode)
        return found

    def _take(self, original: Callable[..., Any]) -> Any:
        from transformers.generation.continuous_batching.requests import RequestStatus

        found = original()
        gone = (RequestStatus.FINISHED, RequestStatus.PENDING)
        self.counts["wasted_tokens"] += sum(one.has_new_token and one.state.status in gone for one in found[0])
        return found

    def _find_graph(self, original: Callable[..., Any]) -> Any:
        graph = original()
        if graph is not None:
            self.counts["graph_replays"] += 1
            self.counts["fused_qk_norms"] += 0 if self._norms is None else self._norms.recorded
        return graph

    def _keep_graph(self, original: Callable[..., Any], graph: Any) -> Any:
        self.counts["graph_captures"] += 1
        return original(graph)


def _wrap(owner: Any, name: str, around: Callable[..., Any]) -> None:
    """Let `around` see each call of a method of one object; it gets the method and its arguments."""
    original = getattr(owner, name)
    setattr(owner, name, lambda *given, **named: around(original, *given, **named))
