"""Owns synthetic views for the renderers' tests. Every number made here is invented; none of it was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evidence.statistics import Interval, Verdict
from evidence.views import (
    Absent,
    Banner,
    Ceiling,
    Column,
    Evidence,
    Figure,
    GateLine,
    Measured,
    Point,
    Ratio,
    Roofline,
    Row,
    Shown,
    Statement,
    Table,
    TableCell,
    Words,
)

DIGEST = "0123456789abcdef" * 4

STANCE = (
    ("date", "2026-11-28"),
    ("device", "Synthetic GPU A, 80 GB × 1"),
    ("model", "none (op: qk_norm forward)"),
    ("precision", "bf16, fp32 accumulate"),
    ("lengths", "per line"),
    ("concurrency", "1 stream"),
    ("switches", "per line"),
    ("software", "torch 0.0, triton 0.0, driver 000.00"),
    ("instrument", "device events, 9 processes × 40 samples"),
)

WORDS = {Verdict.BETTER: "FASTER", Verdict.WORSE: "SLOWER"}


def gate(**changes: Any) -> GateLine:
    return replace(
        GateLine(
            "numeric",
            "passed",
            "36,864 of 36,864 elements",
            "against the fp64 reference; rtol 0.016, atol 0.02; tree 0123456789ab",
            "ops/qk_norm_synthetic_20261128/gate.txt",
        ),
        **changes,
    )


def evidence(**changes: Any) -> Evidence:
    return replace(
        Evidence(
            log="ops/qk_norm_synthetic_20261128",
            sha256=DIGEST,
            bytes=41_337,
            raw="benchmark_logs/ops/qk_norm_synthetic_20261128/record.json",
            command="python -m benchmarks.ops.run qk_norm \\\n    --arms eager,fused --control eager \\\n    --seed 7",
            environment=(
                ("Accelerator", "Synthetic GPU A, 80 GB, uuid sha256:0123…, ECC on, MIG off, persistence on"),
                ("Power and clocks", "limit 700 W; max SM 1,980 MHz, memory 3,201 MHz; not locked"),
                ("Host", "Synthetic CPU, 2 × 48 cores, governor performance"),
                ("Packages", "torch 0.0.0, triton 0.0.0 and 212 more in the record"),
            ),
            gates=(gate(),),
            limitations=("one device", "inputs are random normal; real activations have outliers"),
        ),
        **changes,
    )


def measured(value: float, half: float, decimals: int = 1, scale: float = 1e-6) -> Measured:
    low, high = value - half, value + half
    shown = Shown(f"{value:,.{decimals}f}", f"{low:,.{decimals}f}", f"{high:,.{decimals}f}")
    return Measured(Interval(value * scale, low * scale, high * scale), shown)


def ratio(verdict: Verdict, value: float, half: float, note: str = "", effect: float = 0.01) -> Ratio:
    low, high = value - half, value + half
    shown = Shown(f"{value:.3f}×", f"{low:.3f}", f"{high:.3f}")
    return Ratio(verdict, WORDS.get(verdict, verdict.upper()), Interval(value, low, high), shown, effect, note)


def no_ratio(verdict: Verdict, note: str) -> Ratio:
    return Ratio(verdict, verdict.upper(), None, None, 0.01, note)


COLUMNS = (
    Column("rows", "", "axis"),
    Column("hidden", "", "axis"),
    Column("eager time, µs", "median, 95 %", "value", "time", "µs", "eager", is_baseline=True),
    Column("fused time, µs", "median, 95 %", "value", "time", "µs", "fused"),
    Column("eager ÷ fused", "time, 95 %, above 1 is faster", "ratio", "time", "", "fused", "eager"),
)


def row(rows: str, hidden: str, *cells: TableCell, **changes: Any) -> Row:
    return replace(Row((Words(rows), Words(hidden), *cells)), **changes)


def gone(rows: str, hidden: str, outcome: Any, reason: str) -> Row:
    absent = Absent(outcome, reason)
    return row(rows, hidden, absent, absent, absent, absent=absent)


ROWS = (
    row("64", "4,096", measured(6.342, 0.025, 3), measured(7.024, 0.018, 3), ratio(Verdict.WORSE, 0.903, 0.004)),
    row("512", "4,096", measured(8.487, 0.011, 3), measured(8.491, 0.017, 3), ratio(Verdict.SAME, 1.0, 0.002)),
    row("4,096", "4,096", measured(25.05, 0.08, 2), measured(20.66, 0.06, 2), ratio(Verdict.BETTER, 1.213, 0.004)),
    row(
        "16,384",
        "8,192",
        measured(191.2, 1.9),
        measured(188.3, 1.4),
        ratio(Verdict.INCONCLUSIVE, 1.016, 0.012, "4 more processes would decide"),
        footnote="the third process ran 2 % slower than the rest",
    ),
    row("65,536", "8,192", measured(1197.2, 2.5), measured(847.4, 3.6), ratio(Verdict.BETTER, 1.411, 0.006)),
    row(
        "65,536",
        "12,288",
        measured(1803.0, 3.0),
        Absent("crashed", "out of memory, process 4"),
        Absent("crashed", "out of memory, process 4"),
    ),
    row(
        "65,536",
        "14,336",
        measured(2103.0, 3.0),
        measured(1503.0, 3.0),
        no_ratio(Verdict.INCOMPARABLE, "driver differs"),
    ),
    gone(
        "65,536", "16,384", "rejected", "gate failed: 3 of 512 outputs beyond atol 0.02 (worst 0.031 at [41, 7, 903])"
    ),
    gone("262,144", "16,384", "crashed", "out of memory: asked 32.0 GB, 18.6 GB free, process 4 of 9"),
    gone("64", "4,095", "skipped", "odd widths are not supported by the baseline arm"),
)


def table(**changes: Any) -> Table:
    return replace(
        Table(
            id="qk-norm",
            title="Fused qk-norm against eager, forward",
            tally="2 faster · 1 slower · 1 same · 1 inconclusive · 1 incomparable · 1 rejected · 2 crashed · 1 skipped",
            stance=STANCE,
            columns=COLUMNS,
            rows=ROWS,
            footnotes=("2 cells left out: identical configuration in both arms",),
            evidence=(evidence(),),
        ),
        **changes,
    )


def statement(**changes: Any) -> Statement:
    return replace(
        Statement(
            id="skewed-batch",
            sentence=(
                "On ",
                Figure("Synthetic GPU A"),
                ", a ",
                Figure("skewed"),
                " batch finishes ",
                Figure("1.16×", "1.15–1.17", Verdict.BETTER),
                " sooner with continuous batching.",
            ),
            verdict=Verdict.BETTER,
            word="FASTER",
            headline=ratio(Verdict.BETTER, 1.16, 0.01),
            note="FASTER; 1.16× (95 % 1.15–1.17), n 9, 1 of 3 cells; latency: FASTER; 2.72× (95 % 2.70–2.74)",
            short_note="FASTER; 1.16× (95 % 1.15–1.17), n 9",
            stance=STANCE,
            mechanism="Freed slots take waiting requests instead of padding. (timeline)",
            kind="engine",
            device="Synthetic GPU A",
            date="2026-11-28",
            evidence=(evidence(log="engine/continuous_synthetic_20261128"),),
        ),
        **changes,
    )


def loss(**changes: Any) -> Statement:
    return replace(
        statement(
            id="small-norm",
            sentence=("At 64 × 4,096 the fused kernel is ", Figure("0.903×", "0.899–0.907", Verdict.WORSE), "."),
            verdict=Verdict.WORSE,
            word="SLOWER",
            headline=ratio(Verdict.WORSE, 0.903, 0.004),
            note="SLOWER; 0.903× (95 % 0.899–0.907), n 9, 1 of 6 cells",
            short_note="SLOWER; 0.903× (95 % 0.899–0.907), n 9",
            kind="kernels",
        ),
        **changes,
    )


def stale(**changes: Any) -> Statement:
    return replace(
        statement(
            id="int4-decode",
            headline=ratio(Verdict.BETTER, 3.94, 0.04),
            banner=Banner("superseded", "Replaced by int4-decode-2 on 2026-11-20: the prefix cache was on in one arm."),
        ),
        **changes,
    )


def refused(**changes: Any) -> Statement:
    return replace(
        statement(
            id="prefix-cache",
            sentence=("Prefix cache on a shared system prompt.",),
            verdict=Verdict.REFUSED,
            word="REFUSED",
            headline=no_ratio(Verdict.REFUSED, "no passed gate; no cache-hit evidence"),
            note="REFUSED: missing-gate",
            short_note="REFUSED: missing-gate",
            mechanism="",
            evidence=(evidence(gates=(gate(state="failed", counts="509 of 512 elements"),)),),
        ),
        **changes,
    )


LATENCY_COLUMNS = (
    Column("concurrency", "", "axis"),
    Column("static ttft, ms", "median, 95 %", "value", "ttft", "ms", "static", is_baseline=True),
    Column("continuous ttft, ms", "median, 95 %", "value", "ttft", "ms", "continuous"),
    Column("continuous + graphs ttft, ms", "median, 95 %", "value", "ttft", "ms", "continuous + graphs"),
)


def latency(**changes: Any) -> Table:
    def ms(value: float, half: float) -> Measured:
        return measured(value, half, 0, 1e-3)

    rows = (
        Row((Words("8"), ms(61, 2), ms(58, 2), ms(44, 1))),
        Row((Words("16"), ms(88, 3), ms(71, 2), ms(57, 2))),
        Row((Words("32"), ms(151, 5), ms(94, 3), ms(79, 2))),
        Row((Words("64"), ms(298, 9), ms(147, 6), Absent("crashed", "out of memory, process 2"))),
    )
    return replace(
        table(
            id="ttft",
            title="Time to first token by concurrency",
            tally="",
            columns=LATENCY_COLUMNS,
            rows=rows,
            footnotes=(),
        ),
        **changes,
    )


def point(row: str, arm: str, intensity: float | None, rate: Measured | Absent) -> Point:
    text = "" if intensity is None else f"{intensity:.2f}"
    return Point(row, arm, "ops/qk_norm_synthetic_20261128", f"t{row}-fwd", intensity, text, rate)


def roofline(**changes: Any) -> Roofline:
    """Two arms on three rows, one of them rejected, under a datasheet and a measured ceiling."""
    points = (
        point("2048", "eager", 0.75, measured(210.0, 4.0, scale=1e9)),
        point("2048", "fused", 0.75, measured(305.0, 3.0, scale=1e9)),
        point("16384", "eager", 0.75, measured(213.0, 2.0, scale=1e9)),
        point("16384", "fused", 0.75, Absent("rejected", "o: 41 of 1024 elements are beyond the tolerance")),
        point("65536", "eager", 40.0, measured(9_000.0, 80.0, scale=1e9)),
        point("65536", "fused", 40.0, measured(14_000.0, 90.0, scale=1e9)),
    )
    return replace(
        Roofline(
            id="qk-norm",
            title="Query and key RMSNorm",
            unit="GFLOP/s",
            arms=(("eager", True), ("fused", False)),
            points=points,
            ceilings=(
                Ceiling(
                    "datasheet", 9e14, 1e12, "900.0 TFLOP/s", "1.0 TB/s", "datasheet: Synthetic GPU A, dense, bf16"
                ),
                Ceiling("measured", 7e14, 9e11, "700.0 TFLOP/s", "900.0 GB/s", "the best of ops/limits_20261128, bf16"),
            ),
            unknown=(),
            evidence=(evidence(),),
        ),
        **changes,
    )
