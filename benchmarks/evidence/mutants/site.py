"""Owns the clean site that mutants are made of: what a careful author publishes, with every number from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from benchmarks.evidence.mutants.logs import (
    DEVICES,
    GATE_LOG,
    TIMELINE,
    Device,
    Log,
    Setting,
    arm,
    arms_of,
    day,
    kernel,
    metric,
    named,
    op_workload,
    switch,
)
from benchmarks.evidence.mutants.served import (
    QUESTIONS,
    REFERENCE_CORRECT,
    Served,
    engine,
    engine_workload,
    imported,
    lengths,
)
from benchmarks.evidence.mutants.texts import MKDOCS, TEXTS
from benchmarks.evidence.projects import LOGS, git, write, write_source
from benchmarks.evidence.records import Document
from evidence import documents, ledger, lock
from evidence.book import Book
from evidence.checker.corpus import Corpus
from evidence.printed import facts_of
from evidence.project import Project
from evidence.schema.text import dump
from evidence.store import RECORD_NAME, Store

_MIB = 2**20
_ELEMENTS = 2**20


def write_site(root: Path, seed: int) -> None:
    """Write a project of which the check finds nothing, all of it committed; `root` is an empty folder."""
    tree = write_source(root, MKDOCS)
    rng = random.Random(f"mutants {seed}")
    first, second = rng.sample(DEVICES, 2)
    setting = Setting(tree, seed, rng)
    lines: dict[str, str] = {}
    for log in _logs(setting, first, second):
        folder = root / LOGS / log.record.log
        folder.mkdir(parents=True)
        for name, content in {RECORD_NAME: dump(log.record), **log.files}.items():
            (folder / name).write_bytes(content)
            lines[f"{log.record.log}/{name}"] = ledger.digest_of(folder / name)
    write(root / LOGS / ledger.FILE_NAME, ledger.dump(lines))
    for path, text in TEXTS.items():
        write(root / path, text.replace("@A", first.slug).replace("@B", second.slug))
    relock(root)
    settle(root)
    _fill(root)
    settle(root)


def _fill(root: Path) -> None:
    """Fill what no macro runs on, and seal what was released, as `evidence sync --seal` does."""
    corpus = Corpus(Project.find(root))
    for held in corpus.documents.held:
        edits = [*held.edits, *documents.seal(held, corpus.book)]
        held.document.path.write_text(documents.apply(held.document.text, edits), encoding="utf-8")


def relock(root: Path) -> None:
    """Write the lock anew, as a first `evidence update` would."""
    project = Project.find(root)
    path = project.claims / lock.FILE_NAME
    path.unlink(missing_ok=True)
    path.write_text(lock.dump(facts_of(Book(project, Store(project.logs)))), encoding="utf-8")


def settle(root: Path) -> None:
    """Commit everything, as whoever wrote it would."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Site")


def _logs(setting: Setting, first: Device, second: Device) -> Iterator[Log]:
    rng = setting.rng
    gain, loss = rng.uniform(1.2, 1.9), rng.uniform(1.15, 1.6)
    per_element = rng.uniform(3e-10, 9e-10)
    slower = rng.uniform(1.15, 1.4)
    yield _fuse(setting, first, 0, per_element, gain, slower)
    yield _fuse(setting, first, 19, per_element * 0.99, gain, slower)
    yield _fuse(setting, second, 19, per_element / 2, 1 / loss, slower)
    yield _tile(setting, first, rng.uniform(1.1, 1.5))
    yield _batching(setting, first)
    yield _quantised(setting, first)
    yield _prefix(setting, first)
    yield _replicas(setting, first)
    yield _norm(setting, first)
    yield _speculation(setting, first)
    ttft, tpot = round(rng.uniform(0.05, 0.2), 4), round(rng.uniform(0.005, 0.02), 5)
    means = {"ttft": ttft, "tpot": tpot, "latency": round(ttft + 63 * tpot, 5)}
    raw = ("{" + ", ".join(f'"{name}": {value}' for name, value in means.items()) + "}\n").encode()
    yield imported(setting, f"foreign/sweep_{day(3):%Y%m%d}", day(3), means, raw)


def _fuse(setting: Setting, device: Device, number: int, per_element: float, gain: float, slower: float) -> Log:
    """Three sizes, a fused kernel, and plain library calls that are slower than the baseline."""
    loads = [op_workload("fuse", _ELEMENTS * factor) for factor in (1, 4, 16)]
    arms = (*arms_of("plain", "fused"), arm("library", "alternative", "library"))
    times: dict[tuple[str, str], float | Document] = {}
    for factor, load in zip((1, 4, 16), loads, strict=True):
        base = per_element * _ELEMENTS * factor
        name = load["name"]
        times |= {("plain", name): base, ("fused", name): base / gain, ("library", name): base * slower}
    return kernel(setting, named("kernels/fuse", device, number), day(number), device, arms, loads, times)


def _tile(setting: Setting, device: Device, gain: float) -> Log:
    """One implementation under two tilings: cells that differ, cells that do not, and three without a number."""
    rng = setting.rng
    shapes = [(16, 64), (16, 256), (64, 64), (64, 256), (256, 64), (256, 256)]
    loads = [op_workload("tile", _ELEMENTS * m * k // 1024, M=m, K=k) for m, k in shapes]
    default, tuned, again = arms_of("default", "tuned", ("tile",))
    arms = (
        {**default, "switches": switch("tiling", "default")},
        {**tuned, "switches": switch("tiling", "tuned")},
        {**again, "switches": switch("tiling", "default")},
    )
    times: dict[tuple[str, str], float | Document] = {}
    ran: dict[tuple[str, str], tuple[Document, ...]] = {}
    for index, ((m, k), load) in enumerate(zip(shapes, loads, strict=True)):
        base = rng.uniform(3e-7, 4e-7) * m * k
        name = load["name"]
        is_same = index in (0, 3)
        times |= {("default", name): base, ("tuned", name): base if is_same else base / gain}
        ran |= {
            ("default", name): switch("block", "64"),
            ("tuned", name): switch("block", "64" if is_same else "128"),
        }
    rejected, crashed = loads[4]["name"], loads[5]["name"]
    times["tuned", rejected] = {"kind": "rejected", "gate": _failed(rng), "further": ()}
    times["tuned", crashed] = {"kind": "crashed", "cause": "oom", "phase": "warm-up", "message": "out of memory"}
    log = named("kernels/tile", device, 20)
    return kernel(setting, log, day(20), device, arms, loads, times, axes=("tiling",), ran=ran)


def _failed(rng: random.Random) -> Document:
    wrong = rng.randint(2, 900)
    return {
        "outcome": "failed",
        "gate": "numeric",
        "source": "repository",
        "reason": "mismatch",
        "message": "elements are beyond the tolerance",
        "seeds": (7, 8, 9),
        "detail": {
            "kind": "numeric",
            "tensors": (
                {
                    "name": "o",
                    "elements": 1024,
                    "mismatched": wrong,
                    "non_finite": 0,
                    "maximum_absolute": 0.5,
                    "maximum_relative": 0.4,
                    "rms_to_fp64": None,
                },
            ),
        },
    }


_REQUEST_METRICS = (
    metric("wall_time", "s", "process"),
    metric("latency", "s", "request"),
    metric("ttft", "s", "request", role="guard"),
    metric("tpot", "s", "request", role="guard"),
    metric("peak_memory", "B", "process", role="guard"),
    metric("token_agreement", "1", "gate", better="higher", role="guard"),
)


def _batching(setting: Setting, device: Device) -> Log:
    """Sooner, with more memory; one arm wastes tokens, and a counter shows that the other did what it says."""
    rng = setting.rng
    arms = arms_of("static", "continuous")
    arms = (
        {**arms[0], "switches": switch("batching", "static")},
        {**arms[1], "switches": switch("batching", "continuous"), "mechanism": ("joined",)},
        {**arms[2], "switches": switch("batching", "static")},
    )
    served: dict[tuple[str, str], Served] = {}
    loads = []
    memory = 2e9 + _MIB * rng.randint(1, 512)
    for scenario, gain in (("skewed", rng.uniform(1.2, 1.6)), ("even", rng.uniform(1.08, 1.15))):
        tokens = lengths(rng, 16, 96)
        loads.append(engine_workload(scenario, tokens))
        tpot = rng.uniform(0.004, 0.008)
        waste = float(rng.randint(100, 4000))
        served["static", scenario] = Served(0.05, tpot, memory, tokens, extra={"wasted_tokens": waste})
        served["continuous", scenario] = Served(
            0.05 / gain,
            tpot / gain,
            memory * rng.uniform(1.05, 1.2),
            tokens,
            counters={"joined": rng.randint(3, 9)},
            extra={"wasted_tokens": 0.0},
        )
    timeline = "".join(f'{{"arm": "continuous", "request": {row}}}\n' for row in range(8)).encode()
    gate = f"parity of {rng.randint(100, 999)} tokens: passed\n".encode()
    return engine(
        setting,
        named("engine/batching", device, 21),
        day(21),
        device,
        arms,
        loads,
        served,
        axes=("batching", "implementation"),
        metrics=(*_REQUEST_METRICS, metric("wasted_tokens", "1", "process", role="context")),
        files={TIMELINE: ("timeline", timeline), GATE_LOG: ("gate-log", gate)},
    )


def _quantised(setting: Setting, device: Device) -> Log:
    """Sooner and smaller, with other tokens and fewer right answers, all of it told."""
    rng = setting.rng
    arms = arms_of("fp16", "fp8", ("generate",))
    arms = (
        {**arms[0], "switches": switch("weights", "fp16")},
        {**arms[1], "switches": switch("weights", "fp8"), "outputs": "may-differ"},
        {**arms[2], "switches": switch("weights", "fp16")},
    )
    tokens = lengths(rng, 24, 64)
    gain, tpot = rng.uniform(1.2, 1.7), rng.uniform(0.006, 0.012)
    served = {
        ("fp16", "chat"): Served(0.06, tpot, 4e9, tokens, correct=REFERENCE_CORRECT),
        ("fp8", "chat"): Served(
            0.06 / gain,
            tpot / gain,
            4e9 / rng.uniform(1.5, 1.9),
            tokens,
            agreed=rng.uniform(0.91, 0.96),
            correct=REFERENCE_CORRECT - rng.randint(15, QUESTIONS // 20),
        ),
    }
    return engine(
        setting,
        named("engine/quantised", device, 22),
        day(22),
        device,
        arms,
        [engine_workload("chat", tokens)],
        served,
        axes=("weights",),
        metrics=(*_REQUEST_METRICS, metric("exact_match", "1", "gate", better="higher", role="guard")),
        agreement=0.9,
    )


def _prefix(setting: Setting, device: Device) -> Log:
    """A prefix cache that holds a part of each prompt: the first token comes sooner."""
    rng = setting.rng
    arms = arms_of("uncached", "cached", ("serve",))
    arms = (
        {**arms[0], "switches": switch("prefix", "off")},
        {**arms[1], "switches": switch("prefix", "on"), "mechanism": ("prefix_hits",)},
        {**arms[2], "switches": switch("prefix", "off")},
    )
    tokens = lengths(rng, 16, 48)
    tpot, prefill = rng.uniform(0.0003, 0.0005), rng.uniform(0.08, 0.12)
    held = 16 * rng.randint(8, 14)
    served = {
        ("uncached", "turns"): Served(prefill, tpot, 2e9, tokens),
        ("cached", "turns"): Served(
            prefill * (1 - held / 300), tpot, 2e9, tokens, cached=held, counters={"prefix_hits": len(tokens)}
        ),
    }
    load = engine_workload("turns", tokens, prefix_cache="warm")
    log = named("engine/prefix", device, 23)
    return engine(setting, log, day(23), device, arms, [load], served, axes=("prefix",), metrics=_REQUEST_METRICS)


def _replicas(setting: Setting, device: Device) -> Log:
    """Two replicas: nearly twice the throughput, a little less for each."""
    rng = setting.rng
    one, two, again = arms_of("one", "two", ("serve",))
    two = {**two, "ranks": tuple({"host": "h0", "device": number, "stack": "main"} for number in (0, 1))}
    tokens = tuple(rng.randint(30, 40) for _ in range(16))
    tpot, drag = rng.uniform(0.006, 0.01), rng.uniform(1.05, 1.1)
    served = {
        ("one", "flood"): Served(0.05, tpot, 2e9, tokens),
        ("two", "flood"): Served(0.05 * drag, tpot * drag, 2e9, tokens, lanes=2),
    }
    log = named("engine/replicas", device, 24)
    metrics = [one for one in _REQUEST_METRICS if one["name"] != "ttft"]
    metrics.append(metric("throughput", "token/s", "request", better="higher"))
    load = engine_workload("flood", tokens)
    return engine(setting, log, day(24), device, (one, two, again), [load], served, axes=("ranks",), metrics=metrics)


def _norm(setting: Setting, device: Device) -> Log:
    """A fusion that two models have, and a third, the control, has not."""
    rng = setting.rng
    arms = arms_of("separate", "joint")
    served: dict[tuple[str, str], Served] = {}
    loads = []
    for model in ("toy-3b", "toy-9b", "control-1b"):
        tokens = lengths(rng, 24, 64)
        weights = {"origin": "random", "model": model, "parameters": 6 * 10**8, "seed": 7}
        loads.append(engine_workload(model, tokens, weights=weights))
        gain = 1.0 if model.startswith("control") else rng.uniform(1.06, 1.2)
        tpot = rng.uniform(0.004, 0.009)
        served["separate", model] = Served(0.04, tpot, 2e9, tokens)
        served["joint", model] = Served(0.04 / gain, tpot / gain, 2e9, tokens)
    log = named("engine/norm", device, 25)
    return engine(
        setting, log, day(25), device, arms, loads, served, axes=("implementation",), metrics=_REQUEST_METRICS
    )


def _speculation(setting: Setting, device: Device) -> Log:
    """Arms that stop at different ends: per token one is faster, whatever their whole times are."""
    rng = setting.rng
    arms = arms_of("off", "ngram", ("serve",))
    arms = (
        {**arms[0], "switches": switch("drafts", "off")},
        {**arms[1], "switches": switch("drafts", "ngram"), "mechanism": ("accepted",), "outputs": "may-differ"},
        {**arms[2], "switches": switch("drafts", "off")},
    )
    long = lengths(rng, 48, 96)
    short = tuple(max(8, count // 2) for count in long)
    tpot, gain = rng.uniform(0.006, 0.01), rng.uniform(1.3, 1.8)
    served = {
        ("off", "open"): Served(0.01, tpot, 2e9, long),
        ("ngram", "open"): Served(0.01 / gain, tpot / gain, 2e9, short, counters={"accepted": rng.randint(50, 400)}),
    }
    load = engine_workload("open", long, ignore_eos=False, work=())
    log = named("engine/speculation", device, 26)
    return engine(
        setting,
        log,
        day(26) + timedelta(hours=1),
        device,
        arms,
        [load],
        served,
        axes=("drafts",),
        metrics=_REQUEST_METRICS,
    )
