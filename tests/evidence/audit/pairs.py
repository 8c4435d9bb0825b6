"""Owns synthetic pages and result files in the shapes of public ones. Every number is invented; none was measured."""

from __future__ import annotations

import json
import random
from pathlib import Path

from evidence.audit.auditing import run
from evidence.audit.verdicts import Audit, Judged

DEPTHS = (0, 2048, 8192, 32768)
BUILDS = ("plain-hip", "old-mfma", "wide-tile")
_MODELS = {"quokka 2B Q5 - Small": (1_610_612_736, 2_048_000_512), "wombat 9B F16": (19_327_352_832, 9_112_223_744)}


def audited(page: Path, *logs: Path) -> Audit:
    """Audit one page."""
    return run([page], logs).audit


def verdict_of(audit: Audit, text: str, line: int | None = None) -> Judged:
    """Return the one verdict on a text of the page."""
    found = [one for one in audit.judged if one.printed.text == text and line in (None, one.printed.at.line)]
    assert len(found) == 1, [(one.printed.text, one.printed.at.line) for one in audit.judged]
    return found[0]


def speeds() -> dict[tuple[str, str, str, int], float]:
    """Tokens per second by model, build, kind and depth."""
    drawn = random.Random(20)
    found = {}
    for model in _MODELS:
        for build in BUILDS:
            for kind, top in (("pp", 4000.0), ("tg", 180.0)):
                for depth in DEPTHS:
                    size = top / (1 + depth / 9000) * (0.5 if "9B" in model else 1.0)
                    found[model, build, kind, depth] = round(size * drawn.uniform(0.7, 1.3), 6)
    return found


def kernel_logs(root: Path, *, leave_out: tuple[str, str] | None = None) -> Path:
    """Write JSON lines, one file a model and build, as a kernel benchmark of prompts and tokens does."""
    folder = root / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    values = speeds()
    for model, (size, parameters) in _MODELS.items():
        for build in BUILDS:
            if (model, build) == leave_out:
                continue
            lines = [
                {
                    "build_commit": f"{build:.4}0a1b",
                    "gpu_info": "Toy GPU 7000",
                    "model_type": model,
                    "model_size": size,
                    "model_n_params": parameters,
                    "n_batch": 2048,
                    "n_ubatch": 512,
                    "n_prompt": 512 if kind == "pp" else 0,
                    "n_gen": 0 if kind == "pp" else 128,
                    "n_depth": depth,
                    "test_time": f"2026-03-0{1 + BUILDS.index(build)}T10:00:00Z",
                    "avg_ns": int(1e9 * (512 if kind == "pp" else 128) / values[model, build, kind, depth]),
                    "avg_ts": values[model, build, kind, depth],
                    "stddev_ts": 0.0,
                    "samples_ts": [float(f"{values[model, build, kind, depth]:.6g}")],
                }
                for kind in ("pp", "tg")
                for depth in DEPTHS
            ]
            name = f"{model.split()[0]}.{build}.jsonl"
            (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def kernel_page(root: Path, values: dict[tuple[str, str, str, int], float] | None = None) -> Path:
    """Write the page of those logs: tables of two builds with a column of changes."""
    values = values or speeds()
    text = ["# Faster attention on one device", "", "Measured on 2026-03-02 with version 1.4.2.", ""]
    for model, (size, parameters) in _MODELS.items():
        text += [f"## {model}", ""]
        for first, second in (("plain-hip", "old-mfma"), ("plain-hip", "wide-tile")):
            for kind, title in (("pp", "Prefill (pp)"), ("tg", "Decode (tg)")):
                head = f"| model | size | params | test | {first.split('-')[1].upper()} | {second} | Δ% |"
                text += [title, "", head, "|---|---:|---:|---|---:|---:|---:|"]
                for depth in DEPTHS:
                    a, b = values[model, first, kind, depth], values[model, second, kind, depth]
                    test = ("pp512" if kind == "pp" else "tg128") + (f" @ d{depth}" if depth else "")
                    sizes = f"{size / 2**20:.2f} MiB | {parameters / 1e9:.2f} B"
                    text.append(f"| {model} | {sizes} | {test} | {a:.2f} | {b:.2f} | {(b / a - 1) * 100:.2f}% |")
                text.append("")
    page = root / "README.md"
    page.write_text("\n".join(text), encoding="utf-8")
    return page


METRICS = (
    "duration",
    "request_throughput",
    "mean_ttft_ms",
    "median_ttft_ms",
    "p99_ttft_ms",
    "mean_itl_ms",
    "p99_itl_ms",
)


def serving_runs() -> list[dict[str, object]]:
    """Six runs of a serving benchmark."""
    drawn = random.Random(21)
    return [
        {
            "date": f"202604{10 + number}-12000{number}",
            "label": None,
            "model_id": "acme/wombat-9b",
            "num_prompts": 400,
            "request_rate": "inf",
            "max_concurrency": concurrency,
            "completed": 400,
            "total_input_tokens": 400 * size + 3 * number,
            **{metric: drawn.uniform(5, 900) for metric in METRICS},
        }
        for number, (concurrency, size) in enumerate((c, s) for c in (16, 64, 256) for s in (128, 1024))
    ]


def serving_pair(root: Path, kept: tuple[int, ...] = (1, 4)) -> tuple[Path, Path]:
    """Write a CSV derived from JSON files, and those of the files that are kept."""
    folder = root / "raw"
    folder.mkdir(parents=True)
    runs = serving_runs()
    head = ["conc", *runs[0], "source_file"]
    lines = [",".join(head)]
    for number, made in enumerate(runs):
        name = f"run_conc{made['max_concurrency']}_{made['date']}.json"
        cells = ["" if value is None else str(value) for value in made.values()]
        lines.append(",".join([str(made["max_concurrency"]), *cells, name]))
        if number in kept:
            (folder / name).write_text(json.dumps(made), encoding="utf-8")
    page = root / "results.csv"
    page.write_bytes("\r\n".join(lines).encode() + b"\r\n")
    return page, folder


SWEEP = (1, 2, 4, 8, 16, 32)


def sweep_pair(root: Path) -> tuple[Path, Path]:
    """Write a page whose tables are nan but for one column, beside the log that has every value."""
    drawn = random.Random(22)
    root.mkdir(parents=True, exist_ok=True)
    lines, rows = [], []
    for build in ("toy-hip", "toy-vulkan"):
        for switch in ("", "-fa 1"):
            cells = []
            for size in SWEEP:
                value = round(drawn.uniform(20, 900), 6)
                cells.append(f"{value}" if size == SWEEP[-1] else "nan")
                entry = {"mode": "pp", "value": size, "tokens_per_sec": value, "build": build, "fa": switch, "b": ""}
                entry["bench_raw"] = {"gpu_info": "Toy GPU 7000", "n_prompt": size, "avg_ts": value}
                lines.append(json.dumps(entry))
            rows.append(f"| {build} | {switch} |  | {' | '.join(cells)} |")
            lines.append(json.dumps({"mode": "pp", "value": 1, "tokens_per_sec": None, "build": build, "fa": switch}))
    log = root / "results.jsonl"
    log.write_text("\n".join(lines), encoding="utf-8")
    head = "| backend | -fa | -b | " + " | ".join(map(str, SWEEP)) + " |"
    page = root / "README.md"
    page.write_text("\n".join(["# PP sweep", "", head, "|---" * (3 + len(SWEEP)) + "|", *rows]), encoding="utf-8")
    return page, log


def moved_on_pair(root: Path) -> tuple[Path, Path]:
    """Write a page of serving numbers beside logs that hold none of them."""
    root.mkdir(parents=True, exist_ok=True)
    drawn = random.Random(23)
    lines = [
        {
            "backend": "toyserve",
            "request_rate": rate,
            "completed": int(rate * 300),
            "median_e2e_latency_ms": drawn.uniform(2e3, 2e5),
            "median_ttft_ms": drawn.uniform(60, 700),
            "median_itl_ms": drawn.uniform(12, 180),
            "output_throughput": drawn.uniform(400, 5000),
        }
        for rate in (1.0, 2.0, 4.0, 8.0, 4.0, 8.0)
    ]
    log = root / "online_output.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    page = root / "README.md"
    page.write_text(
        """\
## Online

### Wombat 70B 4 x T900

| RPS | Num Prompts | Engine | Median E2E Latency | Median TTFT | Median TPOT | Median ITL |
|-----|-------------|--------|--------------------|-------------|-------------|------------|
| 4   | 1200        | Toy    | 3105.27            | **61.93**   | 18.91       | **11.87**  |
| 8   | 2400        | Toy    | 4264.91            | **71.08**   | 23.77       | **21.02**  |
""",
        encoding="utf-8",
    )
    return page, log
