"""Owns which engine an arm is served by."""

from __future__ import annotations

from typing import Any

from benchmarks.engine.engines import Engine, EngineError
from benchmarks.engine.features import CLIENT, PROMPTS
from benchmarks.engine.study import IMPLEMENTATIONS, Side


def make(side: Side, model: Any) -> Engine:
    """Return the engine of an arm over a built model; it is not open yet.

    Raises:
        EngineError: there is no such engine.
    """
    if side.engine == "static":
        from benchmarks.engine.engines.static import StaticEngine

        return StaticEngine(model)
    if side.engine == "continuous":
        from benchmarks.engine.engines.continuous import ContinuousEngine

        return ContinuousEngine(model, dict(side.switches))
    if side.engine == "transformers-server":
        from benchmarks.engine.engines.server import ServedEngine
        from benchmarks.engine.engines.transformers_server import TransformersServer

        return ServedEngine(TransformersServer(model.device.type, str(model.dtype).removeprefix("torch.")), model)
    if side.engine == "vllm":
        from benchmarks.engine.engines.vllm import VllmEngine

        return VllmEngine(model)
    if side.engine == "vllm-server":
        from benchmarks.engine import environments
        from benchmarks.engine.engines.http import TokenIds
        from benchmarks.engine.engines.server import ServedEngine
        from benchmarks.engine.engines.vllm_bench import BenchedServer
        from benchmarks.engine.engines.vllm_server import TEXT, VllmServer

        python, dtype = environments.interpreter(side.stack), str(model.dtype).removeprefix("torch.")
        if CLIENT in side.features:
            return BenchedServer(python, dtype, model)
        dialect = TEXT if dict(side.switches).get(PROMPTS) == "text" else TokenIds()
        return ServedEngine(VllmServer(python, dtype, dialect), model)
    raise EngineError(f"no engine {side.engine!r}", fix=f"known: {', '.join(IMPLEMENTATIONS)}")
