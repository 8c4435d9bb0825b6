"""Owns synthetic parts for tests. Every number made here is invented; none of it was measured."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evidence.book import Book
from evidence.errors import UnknownNameError
from evidence.project import MacroSettings, Project
from evidence.schema import (
    Accelerator,
    Arm,
    Artifact,
    AtOnce,
    Counter,
    Crashed,
    DeviceConditions,
    Dimension,
    Divergence,
    EngineWorkload,
    Failed,
    ForeignWorkload,
    Gate,
    GitSource,
    Host,
    HostConditions,
    Imported,
    Inputs,
    Method,
    Metric,
    NumericDetail,
    OpWorkload,
    Origin,
    PackageSource,
    Passed,
    Process,
    Profile,
    ProfileMetric,
    Provenance,
    RandomWeights,
    Rank,
    Record,
    Reference,
    Rejected,
    Reported,
    Requests,
    Samples,
    Setting,
    Skipped,
    SourcePath,
    Stack,
    TensorErrors,
    Timed,
    TokenControl,
    TokenLengths,
    TokensDetail,
    Tolerance,
    Unavailable,
    Unread,
    Work,
    series,
)
from evidence.schema.leaves import leaves
from evidence.store import Entry, Loaded, Store, save

STARTED = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)
DIGEST = "0123456789abcdef" * 4
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def accelerator(**changes: Any) -> Accelerator:
    """A synthetic GPU."""
    return Accelerator(
        **{
            "model": "Synthetic GPU A",
            "uuid_sha256": DIGEST,
            "memory_bytes": 80 * 10**9,
            "l2_bytes": 50 * 2**20,
            "compute_capability": "9.0",
            "vbios": "00.00.00.00.00",
            "ecc_enabled": True,
            "mig_enabled": False,
            "persistence_enabled": True,
            "power_limit_w": 700.0,
            "max_sm_clock_hz": 1.98e9,
            "max_memory_clock_hz": 3.2e9,
            "missing": (),
            **changes,
        }
    )


def host(**changes: Any) -> Host:
    """A synthetic machine with one GPU."""
    return Host(
        **{
            "name": "h0",
            "accelerators": (accelerator(),),
            "interconnect": None,
            "driver": "580.00",
            "cpu_model": "Synthetic CPU",
            "cpu_cores": 16,
            "cpu_affinity": tuple(range(16)),
            "cpu_governor": "performance",
            "memory_bytes": 128 * 10**9,
            "os": "Linux 12",
            "kernel": "6.1",
            "missing": ({"field": "interconnect", "reason": "one accelerator"},),
            **changes,
        }
    )


def stack(**changes: Any) -> Stack:
    """A synthetic interpreter."""
    return Stack(
        **{
            "name": "main",
            "executable": "python3",
            "python": "3.12.3",
            "runtime": "CUDA 13.0",
            "container": None,
            "packages": ("fla-core==0.6.0", "torch==2.11.0", "triton==3.6.0"),
            "missing": ({"field": "container", "reason": "not in a container"},),
            **changes,
        }
    )


def git_source(**changes: Any) -> GitSource:
    """A clean synthetic checkout."""
    return GitSource(
        **{
            "name": "repository",
            "repository": None,
            "commit": COMMIT,
            "commit_tree_sha256": DIGEST,
            "tree_sha256": DIGEST,
            "paths": (SourcePath(path="benchmarks/ops/kernels/toy.py", sha256=DIGEST),),
            "missing": ({"field": "repository", "reason": "no remote"},),
            **changes,
        }
    )


def package_source(**changes: Any) -> PackageSource:
    """A synthetic installed package."""
    return PackageSource(
        **{
            "name": "toy",
            "package": "toy==1.0",
            "record_sha256": DIGEST,
            "commit": None,
            "missing": ({"field": "commit", "reason": "its metadata does not say"},),
            **changes,
        }
    )


def arm(name: str = "eager", role: str = "baseline", **changes: Any) -> Arm:
    """An arm on the one device."""
    return Arm(
        **{
            "name": name,
            "role": role,
            "control_of": None,
            "implementation": f"toy.ops:{name}",
            "source": "toy",
            "ranks": (Rank(host="h0", device=0, stack="main"),),
            "command": ("python", "-m", "benchmarks.ops.worker"),
            "switches": (),
            "mechanism": (),
            "outputs": "same",
            **changes,
        }
    )


def workload(name: str = "n1024", size: int = 1024, **changes: Any) -> OpWorkload:
    """An op workload of one dimension."""
    return OpWorkload(
        **{
            "name": name,
            "role": "target",
            "op": "toy",
            "shape": (Dimension(name="N", size=size),),
            "dtype": "bf16",
            "direction": "forward",
            "cache": "cold",
            "parameters": (),
            "inputs": Inputs(distribution="normal", seed=7, sets=2, sha256=None),
            "work": (Work(of="flop", count=size * 10), Work(of="bytes", count=size * 4)),
            **changes,
        }
    )


def metric(name: str = "time", **changes: Any) -> Metric:
    """The usual time per call."""
    return Metric(**{"name": name, "unit": "s", "better": "lower", "of": "iteration", "role": "target", **changes})


def method(**changes: Any) -> Method:
    """A do_bench method."""
    return Method(
        **{
            "name": "do-bench",
            "timer_requested": "triton.testing.do_bench",
            "timer_used": "triton.testing.do_bench",
            "fallback_reason": None,
            "timer_overhead_s": 2e-6,
            "warm_up_s": 1.0,
            "warm_up_calls": 10,
            "flush_bytes": 256 * 10**6,
            "allocates_outputs": True,
            "minimum_samples": 10,
            "maximum_samples": 1000,
            "target_spread": None,
            "budget_s": None,
            "processes": 9,
            "order": "interleaved",
            **changes,
        }
    )


def gate(**changes: Any) -> Gate:
    """A full numeric gate."""
    return Gate(
        **{
            "name": "numeric",
            "kind": "numeric",
            "command": (),
            "scope": "full",
            "selection": None,
            "reference": Reference(implementation="toy.naive:reference", source="toy", stack=None, dtype="fp32"),
            "tolerances": (Tolerance(of="relative", limit=0.01), Tolerance(of="absolute", limit=0.001)),
            "frozen": (),
            "variables": (),
            "log": None,
            "mutants": None,
            "mutants_killed": None,
            **changes,
        }
    )


def tensor(**changes: Any) -> TensorErrors:
    """A clean comparison of one output."""
    return TensorErrors(
        **{
            "name": "o",
            "elements": 1024,
            "mismatched": 0,
            "non_finite": 0,
            "maximum_absolute": 1e-4,
            "maximum_relative": 1e-3,
            "rms_to_fp64": None,
            **changes,
        }
    )


def passed(**changes: Any) -> Passed:
    """A passed numeric gate."""
    detail = NumericDetail(tensors=(tensor(),))
    return Passed(
        **{"gate": "numeric", "source": "toy", "phase": "before", "seeds": (0, 1, 2), "detail": detail, **changes}
    )


def failed(**changes: Any) -> Failed:
    """A failed numeric gate."""
    detail = NumericDetail(tensors=(tensor(mismatched=41, maximum_absolute=0.3),))
    message = "o: 41 of 1024 elements are beyond the tolerance"
    return Failed(
        **{
            "gate": "numeric",
            "source": "toy",
            "reason": "mismatch",
            "message": message,
            "seeds": (0, 1, 2),
            "detail": detail,
            **changes,
        }
    )


def process(
    index: int, values: Sequence[float], *, started_s: float, metric_name: str = "time", **changes: Any
) -> Process:
    """One process with samples of one metric."""
    return Process(
        **{
            "index": index,
            "started_s": started_s,
            "ended_s": started_s + 1.5,
            "stopped": "maximum",
            "compilations": 0,
            "client_cpu_s": None,
            "counters": (),
            "work": (),
            "samples": (Samples(metric=metric_name, rank=0, values=tuple(values)),) if values else (),
            "requests": None,
            **changes,
        }
    )


def timed(
    arm_name: str = "eager",
    workload_name: str = "n1024",
    *,
    median_s: float = 1e-3,
    spread: float = 0.002,
    processes: int = 9,
    samples: int = 20,
    slot: int = 0,
    seed: int = 0,
    **changes: Any,
) -> Timed:
    """A timed cell with invented samples round `median_s`; `slot` interleaves the windows of several cells."""
    rng = random.Random(f"{arm_name}/{workload_name}/{seed}")
    made = []
    for index in range(processes):
        centre = median_s * (1 + rng.gauss(0, spread))
        values = [round(centre * (1 + abs(rng.gauss(0, spread))), 12) for _ in range(samples)]
        made.append(process(index, values, started_s=2.0 * (16 * index + slot)))
    return Timed(
        **{
            "arm": arm_name,
            "workload": workload_name,
            "gate": passed(),
            "further": (),
            "method": "do-bench",
            "ran": (),
            "processes": tuple(made),
            "discards": (),
            "cross_checks": (),
            **changes,
        }
    )


def rejected(arm_name: str = "fused", workload_name: str = "n1024", **changes: Any) -> Rejected:
    """A cell whose gate failed."""
    return Rejected(**{"arm": arm_name, "workload": workload_name, "gate": failed(), "further": (), **changes})


def conditions(boundaries: int = 10, **changes: Any) -> DeviceConditions:
    """A quiet device."""
    return DeviceConditions(
        **{
            "host": "h0",
            "device": 0,
            "at_s": tuple(32.0 * index for index in range(boundaries)),
            "sm_clock_hz": (1.9e9,) * boundaries,
            "memory_clock_hz": (3.2e9,) * boundaries,
            "temperature_c": (50.0,) * boundaries,
            "power_w": (300.0,) * boundaries,
            "energy_j": tuple(100.0 * index for index in range(boundaries)),
            "thermal_violation_ns": (0,) * boundaries,
            "power_violation_ns": (0,) * boundaries,
            "event_reasons": (0,) * boundaries,
            "ecc_uncorrected": (0,) * boundaries,
            "foreign_processes": (0,) * boundaries,
            "missing": (),
            **changes,
        }
    )


def record(log: str = "kernels/toy_20260901", **changes: Any) -> Record:
    """A sound record: eager (baseline), its A/A control, and fused, which is 1.25 times faster, on one workload."""
    values: dict[str, Any] = {
        "schema_version": 1,
        "log": log,
        "started_at": STARTED,
        "ended_at": STARTED + timedelta(minutes=6),
        "provenance": Provenance(
            argv=("python", "-m", "benchmarks.ops.run", "--op", "toy", "--log"),
            directory=".",
            variables=(Setting(name="OMP_NUM_THREADS", value="1"),),
            runner="benchmarks.ops.run",
            runner_version="0.1.0",
            seed=7,
            source="repository",
        ),
        "origin": None,
        "sources": (git_source(), package_source()),
        "hosts": (host(),),
        "stacks": (stack(),),
        "conditions": (conditions(),),
        "axes": ("implementation",),
        "arms": (
            arm("eager"),
            arm("fused", "candidate"),
            arm("eager-again", "control", control_of="eager", implementation="toy.ops:eager"),
        ),
        "workloads": (workload(),),
        "metrics": (metric(),),
        "methods": (method(),),
        "gates": (gate(),),
        "cells": (
            timed("eager", slot=0),
            timed("fused", median_s=0.8e-3, slot=1),
            timed("eager-again", slot=2),
        ),
        "profiles": (),
        "artifacts": (),
        "unavailable": (),
        "limitations": ("synthetic numbers for a test",),
        "supersedes": (),
    }
    return Record(**{**values, **changes})


def sweep(
    times: Mapping[str, Mapping[int, float]],
    log: str = "kernels/sweep_20260901",
    *,
    control_of: str | None = "eager",
    spread: float = 0.002,
    **changes: Any,
) -> Record:
    """A record of arms over sizes: seconds by arm and N; the first arm is the baseline, the second the candidate."""
    sizes = list(next(iter(times.values())))
    roles = dict(zip(times, ["baseline", "candidate", *["alternative"] * len(times)], strict=False))
    arms = [arm(name, role) for name, role in roles.items()]
    asked = dict(times)
    if control_of is not None:
        twin = f"{control_of}-again"
        arms.append(arm(twin, "control", control_of=control_of, implementation=f"toy.ops:{control_of}"))
        asked[twin] = times[control_of]
    cells = [
        timed(name, f"n{size}", median_s=by_size[size], slot=slot, spread=spread)
        for slot, (name, by_size) in enumerate(asked.items())
        for size in sizes
    ]
    loads = tuple(workload(f"n{size}", size) for size in sizes)
    return record(log, **{"arms": tuple(arms), "workloads": loads, "cells": tuple(cells), **changes})


def on_device(model: str, **changes: Any) -> tuple[Host, ...]:
    """The hosts of a record on another GPU."""
    return (host(accelerators=(accelerator(model=model, **changes),)),)


def outcomes_record(log: str = "kernels/outcomes_20260901", **changes: Any) -> Record:
    """A record with every outcome of a cell: timed, rejected, crashed and skipped."""
    names = ("fits", "wrong", "large", "odd")
    cells = (
        *(timed("eager", name, slot=0) for name in names),
        timed("fused", "fits", median_s=0.8e-3, slot=1),
        rejected("fused", "wrong"),
        Crashed(arm="fused", workload="large", cause="oom", phase="warm-up", message="64 GiB wanted | 3 GiB free"),
        Skipped(arm="fused", workload="odd", reason="needs a size that four divides"),
        *(timed("eager-again", name, slot=2) for name in names),
    )
    loads = tuple(workload(name, 1024 + index) for index, name in enumerate(names))
    return record(log, **{"workloads": loads, "cells": cells, **changes})


def engine_workload(name: str = "skewed", **changes: Any) -> EngineWorkload:
    """Requests to a random model, all there at the start."""
    return EngineWorkload(
        **{
            "name": name,
            "role": "target",
            "weights": RandomWeights(model="toy-3b", parameters=3 * 10**9, seed=17),
            "dtype": "bf16",
            "requests": 8,
            "arrival": AtOnce(),
            "prompt_tokens": TokenLengths(minimum=64, maximum=512, total=2048),
            "output_tokens": TokenLengths(minimum=16, maximum=64, total=256),
            "ignore_eos": True,
            "sampling": (Setting(name="temperature", value="0"),),
            "prefix_cache": "off",
            "warm_up_requests": 2,
            "inputs": Inputs(distribution="uniform token ids", seed=7, sets=2, sha256=None),
            "work": (),
            **changes,
        }
    )


def requests(scale: float = 1.0, tokens: Sequence[int] = (16, 16, 16, 32, 32, 32, 48, 64), **changes: Any) -> Requests:
    """Rows of requests that start at once and wait `scale` times as long."""
    rows = len(tokens)
    first = [round(scale * 0.05 * (index + 1), 9) for index in range(rows)]
    last = [round(start + scale * 0.01 * (count - 1), 9) for start, count in zip(first, tokens, strict=True)]
    return Requests(
        **{
            "enqueued_s": (0.0,) * rows,
            "prompt_tokens": (256,) * rows,
            "cached_tokens": (0,) * rows,
            "output_tokens": tuple(tokens),
            "ttft_s": tuple(first),
            "latency_s": tuple(last),
            **changes,
        }
    )


def tokens_passed(**changes: Any) -> Passed:
    """A passed gate that compared tokens: all but one tie agree."""
    values: dict[str, Any] = {
        "compared": 256,
        "agreed": 250,
        "prompts": 8,
        "prompts_equal": 7,
        "controls": (TokenControl(kind="same-arm", compared=256, agreed=256),),
        "divergences": (Divergence(request=3, position=26, margin=0.0004, is_tie=True),),
    }
    return passed(gate="parity", seeds=(17,), detail=TokensDetail(**{**values, **changes}))


def engine_timed(
    arm_name: str,
    workload_name: str = "skewed",
    *,
    scale: float = 1.0,
    slot: int = 0,
    processes: int = 9,
    **changes: Any,
) -> Timed:
    """A timed cell of an engine: wall time, peak memory and a row a request, all `scale` times the usual."""
    rng = random.Random(f"{arm_name}/{workload_name}")
    made = []
    for index in range(processes):
        own = scale * (1 + rng.gauss(0, 0.002))
        columns = (
            Samples(metric="wall_time", rank=0, values=(round(1.1 * own, 9),)),
            Samples(metric="peak_memory", rank=0, values=(2.0e9,)),
            Samples(metric="wasted_tokens", rank=0, values=(128.0 * (arm_name == "static"),)),
        )
        made.append(
            process(
                index,
                (),
                started_s=2.0 * (16 * index + slot),
                samples=columns,
                stopped="fixed",
                client_cpu_s=0.02,
                counters=(Counter(name="joined", count=5),),
                requests=requests(own),
            )
        )
    values = {"gate": tokens_passed(), "method": "wall", "processes": tuple(made), **changes}
    return timed(arm_name, workload_name, processes=1).model_copy(update=values)


TIMELINE = b'{"arm": "continuous", "workload": "skewed", "process": 0, "request": 0, "gaps_us": [50000, 10000]}\n'


def artifact(path: str = "timeline.jsonl", content: bytes = TIMELINE, **changes: Any) -> Artifact:
    """A file of a log by its bytes."""
    digest = hashlib.sha256(content).hexdigest()
    return Artifact(
        **{
            "path": path,
            "role": "timeline",
            "sha256": digest,
            "bytes": len(content),
            "arms": (),
            "workloads": (),
            **changes,
        }
    )


def engine_record(log: str = "engine/continuous_toy_20260902", **changes: Any) -> Record:
    """A sound engine record: continuous batching against a static arm, with requests and a timeline file."""

    def side(name: str, role: str, batching: str, **more: Any) -> Arm:
        return arm(name, role, **{"switches": (Setting(name="batching", value=batching),), **more})

    static = {"implementation": "toy.engine:generate"}
    values: dict[str, Any] = {
        "axes": ("batching", "implementation"),
        "arms": (
            side("static", "baseline", "static", **static),
            side("continuous", "candidate", "continuous", implementation="toy.engine:serve", mechanism=("joined",)),
            side("static-again", "control", "static", control_of="static", **static),
        ),
        "workloads": (engine_workload(), engine_workload("even", requests=8)),
        "metrics": (
            metric("wall_time", of="process"),
            metric("peak_memory", unit="B", of="process", role="guard"),
            metric("wasted_tokens", unit="1", of="process", role="context"),
            metric("latency", of="request"),
            metric("ttft", of="request"),
            metric("token_agreement", unit="1", better="higher", of="gate", role="guard"),
        ),
        "methods": (method(name="wall", timer_requested="perf_counter", timer_used="perf_counter", flush_bytes=0),),
        "gates": (
            gate(
                name="parity",
                kind="tokens",
                tolerances=(Tolerance(of="agreement", limit=0.95),),
                reference=Reference(implementation="toy.engine:greedy", source="toy", stack=None, dtype="fp32"),
            ),
        ),
        "cells": (
            engine_timed("static", slot=0),
            engine_timed("static", "even", slot=1),
            engine_timed("continuous", scale=0.8, slot=2),
            engine_timed("continuous", "even", scale=1.0, slot=3),
            engine_timed("static-again", slot=4),
            engine_timed("static-again", "even", slot=5),
        ),
        "conditions": (
            conditions(),
            HostConditions(host="h0", at_s=(0.0, 288.0), load=(0.5, 0.7), cpu_clock_hz=None, missing=_NO_CLOCK),
        ),
        "artifacts": (artifact(),),
        "profiles": (
            Profile(
                arm="continuous",
                workload="skewed",
                tool="toy-profiler",
                bottleneck="memory",
                top_kernels=("attention",),
                metrics=(ProfileMetric(name="dram", unit="%", value=81.5),),
                artifact="timeline.jsonl",
            ),
        ),
        "unavailable": (Unavailable(what="prompts", reason="too large to keep"),),
    }
    return record(log, **{**values, **changes})


_NO_CLOCK = ({"field": "cpu_clock_hz", "reason": "not readable in a container"},)


def imported_record(log: str = "engine/foreign_20260903", **changes: Any) -> Record:
    """A sound import: aggregates of a foreign file, one placeholder left unread, nothing measured here."""
    raw = b'{"p50": 0.125, "duration": 12, "itl": -1}\n'
    load = ForeignWorkload(
        name="short",
        role="target",
        work=(),
        settings=(Setting(name="batch", value="4"), Setting(name="dtype", value="fp16")),
    )
    cell = Imported(
        arm="served",
        workload="short",
        reported=(Reported(metric="latency", statistic="p50", value=0.125, pointer="/p50"),),
        unread=(Unread(pointer="/itl", found="-1", reason="stands for nothing measured"),),
        processes=(process(0, (12.0,), started_s=0.0, metric_name="wall_time", stopped="fixed", compilations=None),),
        work=(Work(of="requests", count=8),),
        outcome=None,
    )
    values: dict[str, Any] = {
        "provenance": None,
        "origin": Origin(
            format="toy-bench-json",
            tool="toy-bench",
            tool_version="1.2",
            url=None,
            file="raw.json",
            measured_at=None,
            missing=(
                {"field": "url", "reason": "the file names none"},
                {"field": "measured_at", "reason": "the file gives a time without a zone"},
            ),
        ),
        "sources": (),
        "hosts": (),
        "stacks": (),
        "conditions": (),
        "axes": (),
        "arms": (arm("served", ranks=(), source="toy", command=()),),
        "workloads": (load,),
        "metrics": (metric("wall_time", of="process"), metric("latency", of="request", role="context")),
        "methods": (),
        "gates": (),
        "cells": (cell,),
        "artifacts": (artifact("raw.json", raw, role="raw"),),
    }
    return record(log, **{**values, **changes})


def loaded(value: Record, folder: Path, artifacts: Mapping[str, bytes] | None = None) -> Loaded:
    """Save a record into a store and read it back."""
    files = artifacts if artifacts is not None else {"timeline.jsonl": TIMELINE} if value.artifacts else {}
    return Store(folder).load(save(folder, value, files))


def held(value: Record) -> Loaded:
    """A record as if it had been read, without a file."""
    return Loaded(Entry(value.log, Path("record.json")), value, DIGEST, 1024, leaves(value)[0])


def loader(*records: Record) -> Callable[[str], Loaded]:
    """What finds a log by series or by name among these records."""
    known = {key: held(one) for one in records for key in (series(one.log), one.log)}

    def load(name: str) -> Loaded:
        if name not in known:
            raise UnknownNameError("series", name, known)
        return known[name]

    return load


def project(root: Path) -> Project:
    """A documentation project with empty folders."""
    (root / "docs/claims").mkdir(parents=True, exist_ok=True)
    return Project(root=root, config=root / "mkdocs.yml", docs=root / "docs", macros=MacroSettings())


def book(root: Path, claims: str, *records: Record) -> Book:
    """A project with one claims file over these records."""
    made = project(root)
    (made.claims / "page.yml").write_text(claims, encoding="utf-8")
    for one in records:
        loaded(one, made.logs)
    return Book(made, Store(made.logs))
