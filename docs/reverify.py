#!/usr/bin/env python3
"""Verify the benchmark evidence of a project or of a published site again, with nothing but Python 3.11 or newer.

    python reverify.py DIRECTORY

DIRECTORY is a site as built or downloaded (it holds benchmark_logs/ and evidence.json), or the docs folder of a
checkout, where nothing says which cells a text of the lock is of, and its numbers only have to be some cells'. To check
a site from elsewhere, fetch it and run the copy that you trust:

    wget --mirror --no-parent --no-host-directories --directory-prefix=site https://the.site/
    python reverify.py site

This file shares no code with the package that made the site. It reads each record.json by itself, holds it to
SHA256SUMS, judges each gate again from its counts, and computes medians, intervals, ratios and verdicts again from the
raw samples. Then it compares: the lock with the logs, evidence.json (what every printed number is read from) with the
samples, and the HTML with both. What people wrote in their own words, reasons included, how charts are drawn, and
by how much the level of a history changes is not its business.

It prints a line a problem, and last `verified N records, M printed values: ok` or how many problems there are. It exits
with 0 if all is well, 1 if anything is not, and 2 if there was nothing that it could verify.
"""

import hashlib
import json
import math
import re
import shlex
import sys
import tomllib
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from itertools import combinations, islice, product
from pathlib import Path
from statistics import fmean, median

LOGS, LEDGER, FIGURES, LOCK = "benchmark_logs", "SHA256SUMS", "evidence.json", "claims/evidence.lock"
LEAST_EFFECT = 0.01  # nothing below 1 % is ever better or worse
FEWEST = 6  # processes a side of a comparison
RATE_UNITS = ("1/s", "token/s", "B/s", "FLOP/s")


class Fault(Exception):
    """Something is not as it is printed; the message says what."""


SENSELESS = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    StopIteration,
)


def attempt(say, at, check, *arguments):
    """Run one check; what it finds is a problem, as is a thing that it can make no sense of."""
    try:
        check(*arguments)
    except Fault as fault:
        say(at, str(fault))
    except SENSELESS as error:
        say(at, f"makes no sense: {type(error).__name__}: {error}")


# ---------------------------------------------------------------------------------------------------------------------
# Statistics. One number a process goes in; an interval is (estimate, low, high), 95 %.


def welch(before, after, lower_is_better):
    """How many times better `after` is: Welch's t interval on the difference of mean logarithms."""
    if min(len(before), len(after)) < 2 or min(*before, *after) <= 0:
        raise Fault("no ratio: too few processes, or a value that is not positive")
    logs = [[math.log(value) for value in side] for side in (before, after)]
    gain = fmean(logs[0]) - fmean(logs[1])
    parts = [0.0 if min(side) == max(side) else sum_of_squares(side) / (len(side) - 1) / len(side) for side in logs]
    half = 0.0
    if total := sum(parts):
        freedom = total**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, logs, strict=True))
        half = student(freedom) * math.sqrt(total)
    gain = gain if lower_is_better else -gain
    return math.exp(gain), math.exp(gain - half), math.exp(gain + half)


def sum_of_squares(values):
    """Squared deviations from the mean, summed."""
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)


@cache
def student(freedom):
    """The 97.5 % point of Student's t.

    With t = sqrt(v) tan(a) the distribution is an integral of cos(a)^(v-1), here by Simpson's rule; the angle that
    encloses 95 % is found by Newton's steps, kept inside the bracket.
    """
    total = math.sqrt(math.pi) / 2 * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
    low, high = 0.0, math.pi / 2
    angle = math.atan(2 / math.sqrt(freedom))
    for _ in range(100):
        step = angle / 400
        heights = [math.cos(step * index) ** (freedom - 1) for index in range(401)]
        inside = step / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
        low, high = (angle, high) if inside < 0.95 * total else (low, angle)
        following = angle - (inside - 0.95 * total) / heights[-1]
        following = following if low < following < high else (low + high) / 2
        if abs(following - angle) < 1e-13:
            break
        angle = following
    return math.sqrt(freedom) * math.tan(angle)


def location(values):
    """The median with its percentile bootstrap interval, counted exactly over all n^n resamples and not drawn."""
    ordered = sorted(values)
    low, high = (bootstrap_bound(ordered, tail) for tail in (Fraction(1, 40), Fraction(39, 40)))
    return median(ordered), low, high


def bootstrap_bound(ordered, share):
    """The median of resamples that `share` of them do not exceed; from above for a share over a half."""
    outcomes = sorted((((ordered[k] + ordered[m]) / 2, ways) for k, m, ways in middles(len(ordered))))
    if share > Fraction(1, 2):
        outcomes, share = outcomes[::-1], 1 - share
    needed, mass = share * len(ordered) ** len(ordered), 0
    for value, ways in outcomes:
        mass += ways
        if mass >= needed:
            return value
    return outcomes[-1][0]


@cache
def middles(count):
    """(k, m, ways): in how many of the n^n resamples the middle two values are the k-th and m-th of the sample."""
    if count % 2:
        half = (count + 1) // 2

        def up_to(k):  # resamples with at least `half` draws among the k lowest
            return sum(math.comb(count, j) * k**j * (count - k) ** (count - j) for j in range(half, count + 1))

        return [(k - 1, k - 1, up_to(k) - up_to(k - 1)) for k in range(1, count + 1)]
    half = count // 2
    found = []
    for k in range(1, count + 1):
        below = sum(math.comb(count, j) * k**j * (count - k) ** (count - j) for j in range(half, count + 1))
        below -= sum(
            math.comb(count, j) * (k - 1) ** j * (count - k + 1) ** (count - j) for j in range(half, count + 1)
        )
        for m in range(k + 1, count + 1):
            ways = math.comb(count, half) * (k**half - (k - 1) ** half)
            ways *= (count - m + 1) ** half - (count - m) ** half
            found.append((k - 1, m - 1, ways))
            below -= ways
        found.append((k - 1, k - 1, below))
    return found


def geometric_mean(ratios):
    """The geometric mean of independent ratios; distances to the bounds add in quadrature on the log scale."""
    logs = [[math.log(end) for end in ratio] for ratio in ratios]
    centre = fmean(one[0] for one in logs)
    below = math.sqrt(math.fsum((one[0] - one[1]) ** 2 for one in logs)) / len(logs)
    above = math.sqrt(math.fsum((one[2] - one[0]) ** 2 for one in logs)) / len(logs)
    return math.exp(centre), math.exp(centre - below), math.exp(centre + above)


def quantile(values, share):
    """Linear between order statistics."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    lower = int(place)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (ordered[upper] - ordered[lower]) * (place - lower)


def judge(ratio, effect):
    """Better or worse only beyond the effect; the same only within 1 %, however noisy the control."""
    _, low, high = ratio
    if low > 1 + effect:
        return "better"
    if 1 / high > 1 + effect:
        return "worse"
    return "same" if high <= 1 + LEAST_EFFECT and 1 / low <= 1 + LEAST_EFFECT else "inconclusive"


def effect_of(noise):
    """The bar that an A/A ratio sets: 1 %, or how far its farther bound lies from 1."""
    return max(LEAST_EFFECT, noise[2] - 1, 1 / noise[1] - 1)


# ---------------------------------------------------------------------------------------------------------------------
# Records, as plain JSON.


def strict_json(data):
    """Read JSON that says one thing only: no key twice, and nothing that is not finite."""

    def once(pairs):
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            raise Fault(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
        return dict(pairs)

    def finite(text):
        if not math.isfinite(float(text)):
            raise Fault(f"{text} is not a finite number")
        return float(text)

    try:
        return json.loads(data.decode(), object_pairs_hook=once, parse_float=finite, parse_constant=finite)
    except (ValueError, RecursionError) as error:
        raise Fault(f"not JSON: {error}") from None


RECORD_KEYS = set(
    "schema_version log started_at ended_at provenance origin sources hosts stacks conditions axes arms workloads "
    "metrics methods gates cells profiles artifacts unavailable limitations supersedes".split()
)
CELL_KEYS = {
    "timed": set("kind arm workload gate further method ran processes discards cross_checks".split()),
    "rejected": set("kind arm workload gate further".split()),
    "skipped": set("kind arm workload reason".split()),
    "crashed": set("kind arm workload cause phase message".split()),
    "imported": set("kind arm workload reported unread processes work outcome".split()),
}
HOST_KEYS = set("driver cpu_model cpu_cores memory_bytes os kernel accelerators".split())


DIRECTIONS = {"lower": True, "higher": False, "neither": None}  # whether lower is better
DERIVED = {  # what reserved names mean, whether a record declares them or not
    **dict.fromkeys(("time", "wall_time", "ttft", "tpot", "itl", "latency"), ("s", True)),
    **{"throughput": ("token/s", False), "request_throughput": ("1/s", False), "energy": ("J", True)},
    **{"bandwidth": ("B/s", None), "flop_rate": ("FLOP/s", None), "peak_memory": ("B", True)},
    **{"token_agreement": ("1", False), "bits_per_byte": ("bit/B", True)},
}


@dataclass
class Log:
    """One record with its parts by name."""

    name: str
    data: dict
    sha256: str
    made: dict = field(default_factory=dict)

    def __post_init__(self):
        """Index what is asked for often."""
        self.arms = {arm["name"]: arm for arm in self.data["arms"]}
        self.workloads = {load["name"]: load for load in self.data["workloads"]}
        self.metrics = {metric["name"]: metric for metric in self.data["metrics"]}
        self.cells = {(cell["arm"], cell["workload"]): cell for cell in self.data["cells"]}

    def once(self, key, make):
        """Compute a thing once: many figures are of the same cells."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def structure(name, data):
    """Yield what keeps parsed JSON from being evidence: the parts that a number cannot do without."""
    if not isinstance(data, dict) or set(data) != RECORD_KEYS:
        yield f"keys differ from a record's: {', '.join(sorted(set(data) ^ RECORD_KEYS))}"
        return
    if (data["log"], data["schema_version"]) != (name, 1):
        yield f"the record says it is {data['log']}, version {data['schema_version']}"
    started, ended = (datetime.fromisoformat(data[key]) for key in ("started_at", "ended_at"))
    date = re.fullmatch(r"[a-z][a-z0-9_]*/[a-z0-9][a-z0-9._+-]*_([0-9]{8})(-[1-9][0-9]*)?", name)
    if date is None or date[1] != started.strftime("%Y%m%d") or ended < started:
        yield "its name, its date and its times do not agree"
    measured = data["origin"] is None
    if measured == (data["provenance"] is None):
        yield "a measured record has provenance, an import has an origin: exactly one of the two"
    if measured and not (data["provenance"] or {}).get("argv"):
        yield "no command"
    names = {}
    for part in ("sources", "hosts", "stacks", "arms", "workloads", "metrics", "methods", "gates"):
        found = [one["name"] for one in data[part]]
        names[part] = set(found)
        if len(found) != len(names[part]):
            yield f"{part}: a name stands twice"
        if measured and not found:
            yield f"no {part}"
    yield from unexplained(data, "")
    for host in data["hosts"]:
        if lacking := HOST_KEYS - set(host):
            yield f"host {host['name']}: no {', '.join(sorted(lacking))}"
    for source in data["sources"]:
        if source["kind"] == "git" and source["tree_sha256"] != source["commit_tree_sha256"]:
            yield f"source {source['name']}: measured with uncommitted changes"
    for metric in data["metrics"]:
        meaning = (metric["unit"], DIRECTIONS[metric["better"]])
        if DERIVED.get(metric["name"], meaning) != meaning:
            yield f"metric {metric['name']}: not its unit and direction"
    files = {one["path"] for one in data["artifacts"]}
    named = [gate["log"] for gate in data["gates"]] + [one["artifact"] for one in data["profiles"]]
    if lost := set(named) - files - {None}:
        yield f"{', '.join(sorted(lost))}: named, and not among the artifacts"
    yield from arm_problems(data, names, measured)
    yield from cell_problems(data, names, measured)


def unexplained(part, place):
    """Yield each null that a machine or file should have told and that has no reason."""
    if isinstance(part, list):
        for index, one in enumerate(part):
            yield from unexplained(one, f"{place}/{index}")
    elif isinstance(part, dict):
        if isinstance(part.get("missing"), list):
            nulls = {key for key, value in part.items() if value is None}
            if nulls != {one["field"] for one in part["missing"]}:
                yield f"{place}: nulls and their reasons are not the same fields"
        for key, value in part.items():
            yield from unexplained(value, f"{place}/{key}")


def arm_problems(data, names, measured):
    """Yield arms that did not run anywhere, or controls that are none."""
    hosts = {host["name"]: host for host in data["hosts"]}
    arms = {arm["name"]: arm for arm in data["arms"]}
    for name, arm in arms.items():
        if measured and not arm["ranks"]:
            yield f"arm {name} ran nowhere: no environment"
        if measured and arm["source"] not in names["sources"]:
            yield f"arm {name}: no source {arm['source']}"
        for rank in arm["ranks"]:
            devices = hosts.get(rank["host"], {}).get("accelerators")
            known = devices is not None and (rank["device"] is None or rank["device"] < len(devices))
            if not known or rank["stack"] not in names["stacks"]:
                yield f"arm {name}: its rank names no host, device or stack of the record"
        twin = arms.get(arm["control_of"] or "")
        if (arm["role"] == "control") != (twin is not None):
            yield f"arm {name}: a control names its twin, and nothing else does"
        if twin and any(arm[key] != twin[key] for key in ("implementation", "source", "ranks", "command", "switches")):
            yield f"arm {name} differs from {twin['name']}, so it is no control"


def cell_problems(data, names, measured):
    """Yield what is wrong with the sweep: cells are arms x workloads, and only a passed gate licenses a timing."""
    pairs = [(cell["arm"], cell["workload"]) for cell in data["cells"]]
    swept = {(arm, load) for arm in names["arms"] for load in names["workloads"]}
    if len(pairs) != len(set(pairs)) or set(pairs) != swept:
        yield f"cells are not exactly arms x workloads: {sorted(set(pairs) ^ swept) or 'one stands twice'}"
    gates = {gate["name"]: gate for gate in data["gates"]}
    metrics = {metric["name"]: metric for metric in data["metrics"]}
    for cell in data["cells"]:
        kind, at = cell.get("kind"), f"{cell['arm']} on {cell['workload']}"
        if set(cell) != CELL_KEYS.get(kind):
            yield f"{at}: not the keys of a cell that is {kind}"
            continue
        if (kind == "imported") == measured and kind in ("timed", "imported"):
            yield f"{at}: {kind} in a record of the other kind"
        if kind == "timed":
            for outcome in [cell["gate"], *cell["further"]]:
                if fault := gate_fault(gates, outcome):
                    yield f"{at}: timed, but {fault}"
            if cell["method"] not in names["methods"] or not cell["processes"]:
                yield f"{at}: no method, or no process"
        if kind == "rejected" and (cell["gate"] or {}).get("outcome") != "failed":
            yield f"{at}: rejected by a gate that did not fail"
        for process in all_processes(cell):
            if fault := process_fault(process, metrics):
                yield f"{at}, process {process['index']}: {fault}"
        if len({tuple((one["metric"], one["rank"]) for one in p["samples"]) for p in cell.get("processes", ())}) > 1:
            yield f"{at}: its processes hold different samples"


def all_processes(cell):
    """Every process of a cell, those of a second timer included."""
    return [*cell.get("processes", ()), *(p for check in cell.get("cross_checks", ()) for p in check["processes"])]


def process_fault(process, metrics):
    """What is wrong with one process; empty if nothing is."""
    if process["ended_s"] <= process["started_s"]:
        return "it ends before it starts"
    if not process["samples"] and process["requests"] is None:
        return "it measured nothing"
    for first, last in (
        zip(*(process["requests"][key] for key in ("ttft_s", "latency_s")), strict=True) if process["requests"] else ()
    ):
        if min(first or 1, last or 1) <= 0 or (first or 0) > (last or math.inf):
            return "a request whose first token comes after its last, or before it was sent"
    for column in process["samples"]:
        metric, values = metrics.get(column["metric"]), column["values"]
        if metric is None or metric["of"] not in ("iteration", "process") or not values:
            return f"samples of {column['metric']}, which is not declared, or none"
        if any(isinstance(one, bool) or not isinstance(one, int | float) or one < 0 for one in values):
            return f"{column['metric']}: a sample that is not a number of zero or more"
        if (metric["unit"] == "s" and min(values) == 0) or (metric["of"] == "process" and len(values) != 1):
            return f"{column['metric']}: a duration of zero, or several values of one process"
    return ""


def gate_fault(gates, outcome):
    """Judge an outcome again from its own counts and the gate's tolerances; empty if it holds."""
    if not isinstance(outcome, dict) or outcome.get("outcome") != "passed":
        return "its gate has not passed"
    gate, detail = gates.get(outcome["gate"]), outcome["detail"]
    if gate is None or gate["kind"] != detail["kind"]:
        return f"there is no gate {outcome['gate']} of that kind"
    limits = {one["of"]: one["limit"] for one in gate["tolerances"]}
    match detail["kind"]:
        case "tests":
            counted = detail["passed"] + detail["failed"] + detail["skipped"] == detail["collected"]
            skips = detail["skipped"] <= len(detail["allowed_skips"])
            return "" if counted and skips and detail["passed"] and not detail["failed"] else "its tests did not pass"
        case "numeric":
            rms, alone = limits.get("rms", math.inf), "relative" in limits and "absolute" not in limits
            relative = limits["relative"] if alone else math.inf  # with both, an element is held to their sum
            for one in detail["tensors"]:
                if one["mismatched"] or one["non_finite"] or one["elements"] <= 0 or (one["rms_to_fp64"] or 0) > rms:
                    return f"{one['name']} is beyond its gate's tolerance"
                if (one["maximum_relative"] or 0) > relative:
                    return f"{one['name']} is beyond its gate's tolerance"
            return "" if detail["tensors"] else "nothing was compared"
        case "tokens":
            held = detail["compared"] > 0 and detail["agreed"] >= limits.get("agreement", 1) * detail["compared"]
            return "" if held and detail["agreed"] <= detail["compared"] else "too few tokens agree"
        case "accuracy":
            own, other = (detail[f"{who}numerator"] / detail[f"{who}denominator"] for who in ("", "reference_"))
            return "" if abs(own - other) <= limits.get("accuracy", 0) else "its accuracy is not the reference's"
    return "its gate is of an unknown kind"


# ---------------------------------------------------------------------------------------------------------------------
# Readings: from cells to one number a process, and to comparisons.


@dataclass(frozen=True)
class Asked:
    """What a figure reads: one metric of one arm, or of two compared, on named workloads of one log."""

    metric: str
    statistic: str
    per: str
    arm: str
    baseline: str


def unit_of(log, asked):
    """Return unit and direction of a metric."""
    if asked.metric in log.metrics:
        metric = log.metrics[asked.metric]
        return metric["unit"], DIRECTIONS[metric["better"]]
    if asked.metric not in DERIVED:
        raise Fault(f"{log.name} has no metric {asked.metric}")
    return DERIVED[asked.metric]


def numbers(log, asked, arm, workload):
    """Return one number a process, in order; a metric of the gate has one for the cell. Empty: there is none."""
    cell = log.cells.get((arm, workload))
    if cell is None:
        raise Fault(f"{log.name} has no cell of {arm} on {workload}")
    return log.once((asked.metric, asked.statistic, asked.per, arm, workload), lambda: _numbers(log, asked, cell))


def _numbers(log, asked, cell, processes=None):
    gated = gate_value(cell, asked.metric)
    if gated is not None:
        return [gated]
    found = [process_number(log, asked, cell, one) for one in processes or cell.get("processes", ())]
    return [] if None in found else found


def gate_value(cell, metric):
    """Return a metric that is a ratio of a gate's counts."""
    for outcome in [cell["gate"], *cell["further"]] if cell["kind"] == "timed" else []:
        detail = outcome["detail"]
        if detail["kind"] == "tokens" and metric == "token_agreement":
            return detail["agreed"] / detail["compared"]
        if detail["kind"] == "accuracy" and metric == detail["measure"]:
            return detail["numerator"] / detail["denominator"]
    return None


def process_number(log, asked, cell, process):
    """Return one process's number: the statistic of its samples or requests, divided where a count is asked for."""
    rate_of = {"bandwidth": "bytes", "flop_rate": "flop"}.get(asked.metric)
    if rate_of:
        work = dict(amounts(log.workloads[cell["workload"]]["work"])).get(rate_of)
        times = column(process, "time")
        value = work / median(times) if work and times else None
    elif asked.metric == "energy":
        value = energy(log, cell, process)
    else:
        values = column(process, asked.metric) or request_values(process["requests"], asked.metric)
        value = reduced(values, asked.statistic) if values else None
    if value is None or not asked.per:
        return value
    done = dict(work_of(log, cell, process))
    ranks = sum(rank["device"] is not None for rank in log.arms[cell["arm"]]["ranks"])
    divisor = ranks if asked.per == "accelerators" else done.get(asked.per.replace("_", "-"))
    return value / divisor if divisor else None


def column(process, metric):
    """Return samples in order; of several ranks the slowest of each iteration."""
    columns = [one["values"] for one in process["samples"] if one["metric"] == metric]
    return [max(values) for values in zip(*columns, strict=True)]


def reduced(values, statistic):
    """Reduce one process's values to its number."""
    if statistic in ("", "median"):
        return median(values)
    if statistic in ("mean", "min", "max"):
        return {"mean": fmean, "min": min, "max": max}[statistic](values)
    return quantile(values, float(statistic.removeprefix("p")) / 100)


def request_values(requests, metric):
    """Return one value a completed request; of a throughput, one for all of them."""
    if requests is None:
        return []
    first, last, tokens = requests["ttft_s"], requests["latency_s"], requests["output_tokens"]
    rows = list(zip(first, last, tokens, strict=True))
    if metric in ("ttft", "latency"):
        return [value for value in (first if metric == "ttft" else last) if value is not None]
    if metric == "tpot":
        return [(b - a) / (n - 1) for a, b, n in rows if a is not None and b is not None and n > 1]
    if metric in ("throughput", "request_throughput") and requests["enqueued_s"] is not None:
        ends = [s + e for s, e in zip(requests["enqueued_s"], last, strict=True) if e is not None]
        span = max(ends) - min(requests["enqueued_s"]) if ends else 0
        done = sum(n for _, b, n in rows if b is not None) if metric == "throughput" else len(ends)
        return [done / span] if span > 0 else []
    return []


def energy(log, cell, process):
    """Return joules of the arm's devices, from their counters round the process."""
    total = 0.0
    for rank in log.arms[cell["arm"]]["ranks"]:
        wanted = (rank["host"], rank["device"])
        states = [one for one in log.data["conditions"] if (one["host"], one.get("device")) == wanted]
        readings = next((one for one in states if one["kind"] == "device" and one["energy_j"]), None)
        if readings is None:
            return None
        rows = list(zip(readings["at_s"], readings["energy_j"], strict=True))
        before = [joules for at, joules in rows if at <= process["started_s"]]
        after = [joules for at, joules in rows if at >= process["ended_s"]]
        if not before or not after:
            return None
        total += after[0] - before[-1]
    return total or None


def amounts(work):
    """Return kinds of work with their counts."""
    return {(one["of"], one["count"]) for one in work}


def work_of(log, cell, process):
    """Return what one process did: its own count, its completed requests, or what the workload declares."""
    requests = process["requests"]
    if process["work"] or requests is None:
        return amounts(process["work"] or log.workloads[cell["workload"]]["work"])
    done = [index for index, latency in enumerate(requests["latency_s"]) if latency is not None]
    sums = {kind: sum(requests[f"{kind}_tokens"][index] for index in done) for kind in ("prompt", "output")}
    return {("requests", len(done)), *((f"{kind}-tokens", count) for kind, count in sums.items())}


@dataclass(frozen=True)
class Compared:
    """Two arms on one workload: the verdict, and a ratio where there is one."""

    verdict: str
    ratio: tuple | None
    effect: float
    processes: int
    identical: bool
    workload: str


def compare(log, asked, workload):
    """Compare two arms on one workload, in the order that METHOD asks for: may they be, can they be, what comes out."""
    key = ("compared", asked, workload)
    return log.once(key, lambda: _compare(log, asked, workload))


def _compare(log, asked, workload):
    unit, lower = unit_of(log, asked)
    pair = [log.cells[name, workload] for name in (asked.baseline, asked.arm)]
    values = [numbers(log, asked, cell["arm"], workload) for cell in pair]
    counts = gate_value(pair[0], asked.metric) is not None
    made = {
        "effect": LEAST_EFFECT,
        "processes": min(map(len, values)),
        "identical": identical(log, *pair),
        "workload": workload,
    }
    if differing(*(log.arms[cell["arm"]] for cell in pair)) - set(log.data["axes"]):
        return Compared("incomparable", None, **made)
    if any(cell["kind"] != "timed" for cell in pair) or min(map(len, values)) < (1 if counts else FEWEST):
        return Compared("refused", None, **made)
    done = [set().union(*(work_of(log, cell, one) for one in cell["processes"])) for cell in pair]
    is_rate = unit in RATE_UNITS or asked.per or asked.metric in ("ttft", "tpot", "itl")
    if done[0] != done[1] and not (counts or is_rate):
        return Compared("incomparable", None, **made)
    if min(map(min, values)) <= 0:
        return Compared("refused", None, **made)
    if counts:
        times = values[0][0] / values[1][0] if lower else values[1][0] / values[0][0]
        return Compared(judge((times,) * 3, LEAST_EFFECT), (times,) * 3, **made)
    ratio = welch(*values, lower)
    for twin in log.data["arms"]:
        if twin["control_of"] == asked.baseline and twin["name"] != asked.arm:
            noise = numbers(log, asked, twin["name"], workload)
            if len(noise) >= FEWEST and min(noise) > 0:
                made["effect"] = max(made["effect"], effect_of(welch(values[0], noise, lower)))
    apart = any(timers_disagree(log, asked, cell) for cell in pair)
    return Compared("inconclusive" if apart else judge(ratio, made["effect"]), ratio, **made)


def differing(one, other):
    """Return the axes in which two arms differ; another implementation brings its own source."""
    switches = [{switch["name"]: switch["value"] for switch in arm["switches"]} for arm in (one, other)]
    axes = {name for name in switches[0] | switches[1] if switches[0].get(name) != switches[1].get(name)}
    if one["implementation"] != other["implementation"]:
        axes.add("implementation")
    elif one["source"] != other["source"]:
        axes.add("source")
    ranks = [[rank["device"] for rank in arm["ranks"]] for arm in (one, other)]
    axes |= {"ranks"} if ranks[0] != ranks[1] else set()
    for axis in ("host", "stack"):
        axes |= {axis} if len({frozenset(r[axis] for r in arm["ranks"]) for arm in (one, other)}) > 1 else set()
    return axes


def identical(log, one, other):
    """Whether two arms resolved to one configuration, and neither's mechanism tells them apart: a ratio of noise."""
    if one["kind"] != "timed" or other["kind"] != "timed":
        return False
    arms = [log.arms[cell["arm"]] for cell in (one, other)]
    names = [arm["name"] for arm in arms]
    if names[0] == names[1] or arms[0]["control_of"] == names[1] or arms[1]["control_of"] == names[0]:
        return names[0] == names[1]
    ran = [{(setting["name"], setting["value"]) for setting in cell["ran"]} for cell in (one, other)]
    if arms[0]["implementation"] != arms[1]["implementation"] or not ran[0] or ran[0] != ran[1]:
        return False
    mechanisms = {*arms[0]["mechanism"], *arms[1]["mechanism"]}
    every = [[one for process in cell["processes"] for one in process["counters"]] for cell in (one, other)]
    fired = [{one["name"] for one in counters if one["count"]} & mechanisms for counters in every]
    return fired[0] == fired[1]


def timers_disagree(log, asked, cell):
    """Whether a second timer is over 5 % from the first."""
    first = median(numbers(log, asked, cell["arm"], cell["workload"]))
    for check in cell["cross_checks"]:
        values = _numbers(log, asked, cell, check["processes"])
        if values and first and abs(median(values) / first - 1) > 0.05:
            return True
    return False


@dataclass
class Reading:
    """A figure's selection, computed: comparisons without those of identical arms, or one arm's values."""

    log: Log
    asked: Asked
    workloads: list
    control: "Reading | None" = None

    def comparisons(self):
        """Compare every cell and hold it to the control; cells of identical arms leave every mean and tally."""
        found = [compare(self.log, self.asked, name) for name in self.workloads]
        return [self.held(one) for one in found if not one.identical]

    def held(self, one):
        """A control that moved leaves nothing decided; one that strays raises the bar."""
        if self.control is None or one.ratio is None or one.verdict not in ("better", "worse"):
            return one
        others = self.control.comparisons()
        strays = [effect_of(other.ratio) for other in others if other.ratio]
        effect = max([one.effect, *strays])
        moved = any(other.verdict in ("better", "worse") for other in others)
        verdict = "inconclusive" if moved else judge(one.ratio, effect)
        return Compared(verdict, one.ratio, one.effect if moved else effect, one.processes, False, one.workload)

    def ratios(self):
        """The ratios of the compared cells that have one."""
        return [one.ratio for one in self.comparisons() if one.ratio]

    def verdict(self):
        """The one verdict of all cells, or that of their geometric mean."""
        found = self.comparisons()
        if len({one.verdict for one in found}) == 1:
            return found[0].verdict
        return judge(geometric_mean(self.ratios()), max(o.effect for o in found)) if self.ratios() else "refused"

    def values(self, arm):
        """One arm's number in each cell that has one: (workload, interval, whether it is exact)."""
        found = [(name, numbers(self.log, self.asked, arm, name)) for name in self.workloads]
        return [(name, *interval_of(values)) for name, values in found if values]


def interval_of(values):
    """Return the interval over processes; numbers that are all the same are exact."""
    if min(values) == max(values):
        return (values[0],) * 3, True
    return location(values), False


def coordinates(log, name):
    """Where a workload stands on every axis, as text."""
    load = log.workloads[name]
    hosts = {host["name"]: host for host in log.data["hosts"]}
    ranks = [(hosts[rank["host"]], rank["device"]) for arm in log.data["arms"] for rank in arm["ranks"]]
    models = [host["cpu_model"] if index is None else host["accelerators"][index]["model"] for host, index in ranks]
    device = ", ".join(dict.fromkeys(model or "unknown CPU" for model in models)) or "not recorded"
    found = {"workload": name, "device": device}
    if load["kind"] == "op":
        found |= {key: load[key] for key in ("op", "dtype", "direction", "cache")}
        found["shape"] = " × ".join(f"{one['name']}{one['size']}" for one in load["shape"])
        found |= {one["name"]: str(one["size"]) for one in load["shape"]}
        found |= {one["name"]: one["value"] for one in load["parameters"]}
    elif load["kind"] == "engine":
        arrival = load["arrival"]
        waiting = (
            f"{load['requests']} at once" if arrival["kind"] == "at-once" else arrival.get("concurrency") or "unbounded"
        )
        found |= {"scenario": name, "model": load["weights"]["model"], "dtype": load["dtype"]}
        found |= {"requests": str(load["requests"]), "prefix_cache": load["prefix_cache"]}
        found |= {"arrival": arrival["kind"], "concurrency": str(waiting)}
        found |= {one["name"]: one["value"] for one in [*load["sampling"], *load.get("parameters", [])]}
    else:
        found |= {one["name"]: one["value"] for one in load["settings"]}
    return found


# ---------------------------------------------------------------------------------------------------------------------
# What is printed: evidence.json names what each text is read from, and here it is held to that.

NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")
PREFIXES = {"n": -9, "µ": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
SHOWN_UNITS = {"1": "", "1/s": "/s", "token/s": "tok/s"}
WORDS = {"B": ("SMALLER", "LARGER"), **dict.fromkeys(("s", *RATE_UNITS), ("FASTER", "SLOWER"))}


def word_of(verdict, unit):
    """The metric's own word for a verdict."""
    better, worse = WORDS.get(unit, ("BETTER", "WORSE"))
    return {"better": better, "worse": worse}.get(verdict, verdict.upper())


def power_of(suffix, unit):
    """The power of ten of a shown unit, which must be one of the metric's."""
    base = SHOWN_UNITS.get(unit, unit)
    if not suffix.endswith(base) or suffix.removesuffix(base) not in PREFIXES:
        raise Fault(f"the unit {suffix!r} is not one of {unit}")
    return PREFIXES[suffix.removesuffix(base)]


def require(text, values, power=0):
    """Hold the numbers in a text to values: each must be its value rounded to the digits that are printed."""
    printed = NUMBER.findall(text)
    if len(printed) != len(values):
        raise Fault(f"{text!r} should hold {len(values)} numbers")
    for digits, value in zip(printed, values, strict=True):
        places = len(digits.partition(".")[2])
        exact = Decimal(repr(float(value))).scaleb(-power)
        off = abs(Decimal(digits.replace(",", "").replace("−", "-")) - exact)
        if off > Decimal(1).scaleb(-places) * Decimal("0.5000005"):
            raise Fault(f"{text!r} is printed, the samples give {float(exact):.6g}")


def require_equal(printed, computed):
    """Hold a text to the one that it must be."""
    if printed != computed:
        raise Fault(f"{printed!r} is printed, the records give {computed!r}")


def require_change(text, ratio, lower):
    """Hold signed percentages to the metric's own change."""
    value, low, high = (1 / end for end in (ratio[0], ratio[2], ratio[1])) if lower else ratio
    ends = [value - 1, low - 1, high - 1]
    require(text, ends if len(NUMBER.findall(text)) == 3 else ends[:1], -2)


def quantity(text, unit):
    """Split `69.8 µs` into its number and the power of its unit."""
    number, _, suffix = text.partition(" ")
    return number, power_of(suffix, unit)


class Printed:
    """The figures, claims and tables of a site against its logs."""

    def __init__(self, published, logs, say):
        """Take evidence.json as read, the logs by name, and where problems go."""
        self.figures, self.claims, self.tables = (published[key] for key in ("figures", "claims", "tables"))
        self.logs, self.say, self.count = logs, say, 0
        self.rows, self.placed = {}, {}
        for one in self.figures:
            self.placed.setdefault((one["of"], one["at"]), []).append(one)
            if one["at"] == "table":
                self.rows.setdefault((one["of"], one["row"]), {})[one["column"]] = one
        for name, log in published["logs"].items():
            if name not in logs or logs[name].sha256 != log["sha256"]:
                say(FIGURES, f"{name} is not the log that the site was made from")
        for one in self.figures:
            at = f"{one.get('of')}, {one.get('at')}" + (
                f" row {one['row']}, column {one['column']}" if "row" in one else ""
            )
            attempt(say, f"{FIGURES}: {at}", self.figure, one)
        for id_, claim in self.claims.items():
            attempt(say, f"{FIGURES}: claim {id_}", self.claim, claim)
        for id_, table in self.tables.items():
            attempt(say, f"{FIGURES}: table {id_}", self.table, id_, table)

    def reading(self, one):
        """Return what a figure reads."""
        if one["log"] not in self.logs:
            raise Fault(f"there is no log {one['log']}, or it is not a record")
        asked = Asked(*(one[key] for key in ("metric", "statistic", "per", "arm", "baseline")))
        control = self.reading(one["control"]) if "control" in one else None
        return Reading(self.logs[one["log"]], asked, one["workloads"], control)

    def figure(self, one):
        """Hold one printed text to what it is read from."""
        reading = self.reading(one)
        self.count += 1
        if one["at"] == "table":
            self.cell(one, reading)
        else:
            self.field(one, reading)

    def table(self, id_, table):
        """Hold the tally above a table to its own figures: verdicts first, then the cells that have none."""
        figures = [one for place in range(len(table["rows"])) for one in self.rows.get((id_, place), {}).values()]
        told = [one["word"].lower() for one in figures if "verdict" in one]
        gone = {(one["row"], one["arm"], *one["workloads"], one["outcome"]) for one in figures if "outcome" in one}
        told += [outcome for *_, outcome in gone if outcome != "missing"]
        require_equal(
            sorted(filter(None, table["tally"].split(" · "))), sorted(f"{told.count(one)} {one}" for one in set(told))
        )

    def cell(self, one, reading):
        """Hold a cell of a table: a number, a comparison, or the reason that there is neither."""
        log, (workload,) = reading.log, reading.workloads
        title = self.tables[one["of"]]["columns"][one["column"]]
        values = numbers(log, reading.asked, one["arm"], workload)
        cell = log.cells[one["arm"], workload]
        unit, lower = unit_of(log, reading.asked)
        if "outcome" in one:
            if one["outcome"] != "missing" and one["outcome"] != cell["kind"]:
                raise Fault(f"printed as {one['outcome']}, but the cell is {cell['kind']}")
            return
        if cell["kind"] not in ("timed", "imported"):
            raise Fault(f"printed, but the cell is {cell['kind']}")
        if one["show"] in ("value", "peak"):
            interval, exact = interval_of(values)
            peak = one["peak"] if one["show"] == "peak" else 1
            power = -2 if one["show"] == "peak" else power_of(one["unit"], unit)
            require(one["text"], [interval[0] / peak], power)
            require(" ".join(one["interval"]), [] if exact else [end / peak for end in interval[1:]], power)
            if one["show"] == "value" and one["unit"] and not title["title"].endswith(f", {one['unit']}"):
                raise Fault(f"its column is headed {title['title']!r}, the number is in {one['unit']}")
            return
        if "verdict" not in one:
            return require_equal(one["text"], "baseline")
        found = compare(log, reading.asked, workload)
        require_equal(one["verdict"], found.verdict)
        require_equal(one["word"], word_of(found.verdict, unit))
        if found.ratio is None or not one["text"]:
            return require_equal(one["text"], "" if found.ratio is None else "a number")
        if one["show"] == "ratio":
            require(one["text"], found.ratio[:1])
            require(" ".join(one["interval"]), found.ratio[1:])
            arms = (one["baseline"], "baseline"), (one["arm"], "arm")  # a column of several arms says just that
            over, under = arms if lower else arms[::-1]
            heads = [f"{a} ÷ {b}" for a in over for b in under]
            if "÷" in title["title"] and not title["title"].startswith(tuple(heads)):
                raise Fault(f"its column is headed {title['title']!r}, the number is {heads[0]}")
        else:
            require_change(" ".join([one["text"], *one["interval"]]), found.ratio, lower)
        return None

    def field(self, one, reading):
        """Hold a field of a sentence: a fact, a verdict, or numbers reduced over the selected cells."""
        unit, lower = unit_of(reading.log, reading.asked)
        compared, text, reducer = reading.comparisons() if one["baseline"] else [], one["text"], one.get("reduce", "")
        match one["show"]:
            case "fact":
                require_equal(text, in_words(facts(reading)[one["fact"]]))
            case "verdict":
                require_equal(text, word_of(reading.verdict(), unit))
            case "tally":
                require_equal(text, tally(reading, unit))
            case "count":
                require_equal(text, f"{len(compared):,}")
            case "identical":
                require_equal(text, f"{len(reading.workloads) - len(compared):,}")
            case "ratio" | "change" as show:
                ratios = [(found.workload, found.ratio) for found in compared if found.ratio]
                if reducer == "geomean":
                    ratios = [("", geometric_mean([ratio for _, ratio in ratios]))]
                hold = (lambda words, ratio: require(words, ratio[:1])) if show == "ratio" else None
                hold = hold or (lambda words, ratio: require_change(words, ratio, lower))
                self.reduced(text, reducer, ratios, reading, hold)
                if one["interval"] and len(ratios) == 1 and show == "ratio":
                    require(one["interval"].replace("–", " "), ratios[0][1][1:])
            case show:
                arm = one["baseline"] if show == "baseline" else one["arm"]
                values = reading.values(arm)

                def hold(words, interval):
                    number, power = quantity(words, unit)
                    require(number, interval[:1], power)

                self.reduced(text, reducer, [(name, interval) for name, interval, _ in values], reading, hold)
                if one["interval"] and len(values) == 1:
                    _, interval, exact = values[0]
                    self.bounds(one["interval"], unit, None if exact else interval)

    def bounds(self, text, unit, interval):
        """Hold a printed interval, which is `exact` where all processes agree."""
        if interval is None:
            return require_equal(text, "exact")
        ends, _, suffix = text.rpartition(" ") if not text[-1].isdigit() else (text, "", "")
        return require(ends.replace("–", " "), interval[1:], power_of(suffix, unit))

    def reduced(self, text, reducer, found, reading, hold):
        """Hold one number, the ends of a range, or the place of an end."""
        low, high = min(found, key=lambda one: one[1][0]), max(found, key=lambda one: one[1][0])
        if reducer == "range":
            first, _, last = text.partition(" to ")
            hold(first, low[1])
            hold(last or first, high[1])
        elif reducer.endswith(".at"):
            end = (low if reducer.startswith("min") else high)[0]
            apart = [axis for axis, values in facts(reading).items() if len(values) > 1]
            place = {**coordinates(reading.log, end), "workload": "", "shape": ""}
            require_equal(text, ", ".join(f"{axis} {place[axis]}" for axis in apart if place.get(axis)) or end)
        else:
            if reducer in ("", "geomean") and len(found) != 1:
                raise Fault(f"{text!r} is one number of {len(found)} cells")
            hold(text, (high if reducer == "max" else low)[1])

    def claim(self, claim):
        """Hold a claim's sentence to its figures, and its verdict, headline and notes to its readings."""
        texts = [part if isinstance(part, str) else self.figures[part]["text"] for part in claim["parts"]]
        require_equal(claim["says"], "".join(texts))
        readings = {name: self.reading(one) for name, one in claim["readings"].items()}
        notes = {name: one["note"] for name, one in claim["readings"].items()}
        for name, reading in readings.items():
            self.note(notes[name], reading)
        told = {name: f"{name}: {note}" if name else note for name, note in notes.items()}
        worse = [name for name, one in readings.items() if name == "" or (one.asked.baseline and is_worse(one))]
        require_equal(claim["note"], "; ".join(told.values()))
        require_equal(claim["short_note"], "; ".join(told[name] for name in worse))
        main = readings[""]
        unit, _ = unit_of(main.log, main.asked)
        verdict = main.verdict() if main.asked.baseline else "same"
        require_equal(claim["verdict"], verdict)
        require_equal(claim["word"], word_of(verdict, unit) if main.asked.baseline else "MEASURED")
        if claim["headline"] is not None:
            value, low, high = geometric_mean(main.ratios())
            require(" ".join([claim["headline"]["text"], *claim["headline"]["interval"]]), [value, low, high])

    def note(self, text, reading):
        """Hold a note: verdict or tally, ratio with interval, n, cells, and the least effect where it was raised."""
        unit, _ = unit_of(reading.log, reading.asked)
        total = len(reading.log.workloads)
        compared = reading.comparisons() if reading.asked.baseline else []
        values = reading.values(reading.asked.arm)
        if reading.asked.baseline:
            start = tally(reading, unit) if len(reading.ratios()) > 1 else word_of(reading.verdict(), unit)
            if not text.startswith(start):
                raise Fault(f"{text!r} is printed, but the verdict is {start}")
            if ratio := re.search(r"([\d,.]+×) \(95 % ([^)]*)\)", text):
                require(f"{ratio[1]} {ratio[2].replace('–', ' ')}", geometric_mean(reading.ratios()))
            effect = max([LEAST_EFFECT, *(one.effect for one in compared)])
            raised = re.search(r"minimum effect raised to ([\d,.]+) %", text)
            if (raised is not None) != (effect > LEAST_EFFECT):
                raise Fault(f"{text!r}: the least effect is {effect:.2%}")
            if raised:
                require(raised[1], [effect], -2)
        else:
            pairs = re.findall(r"(\S+(?: [^\s(,]+)?) \(([^)]*)\)", text)
            for (words, ends), (_, interval, exact) in zip(pairs, values[:3], strict=True):
                number, power = quantity(words, unit)
                require(number, interval[:1], power)
                self.bounds(ends, unit, None if exact else interval)
        counts = [one.processes for one in compared]
        counts = counts or [len(numbers(reading.log, reading.asked, reading.asked.arm, name)) for name, *_ in values]
        scope = f", {len(reading.workloads)} of {total} cells" if total > 1 else ""
        if f", n {min(counts, default=0)}{scope}" not in text:
            raise Fault(f"{text!r} should say n {min(counts, default=0)}{scope}")


def is_worse(reading):
    """Whether any cell of a comparison is worse."""
    return any(one.verdict == "worse" for one in reading.comparisons())


def facts(reading):
    """The values of every axis over a reading's cells."""
    places = [coordinates(reading.log, name) for name in reading.workloads]
    axes = dict.fromkeys(axis for place in places for axis in place)
    found = {axis: list(dict.fromkeys(place[axis] for place in places if axis in place)) for axis in axes}
    return {**found, "arm": [reading.asked.arm], "date": [reading.log.data["started_at"][:10]]}


def in_words(values):
    """Write the values of an axis: `8`, `1, 8 and 64`, or `1–4096 (12 values)`."""
    if len(values) > 4 and all(value.isdecimal() for value in values):
        ordered = sorted(map(int, values))
        return f"{ordered[0]}–{ordered[-1]} ({len(ordered)} values)"
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"


def tally(reading, unit):
    """Write `5 faster, 1 slower, 3 with identical configuration left out`."""
    found = [one.verdict for one in reading.comparisons()]
    order = ("better", "worse", "same", "inconclusive", "incomparable", "refused")
    words = [f"{found.count(one)} {word_of(one, unit).lower()}" for one in order if one in found]
    left = len(reading.workloads) - len(found)
    return ", ".join([*words, *([f"{left} with identical configuration left out"] if left else [])])


def locked(printed):
    """What a lock must say of claims and tables: key -> pattern, in which a reason may be any text."""
    found = {}
    for id_, claim in printed.claims.items():
        found |= {("claims", id_, key): re.escape(claim[key]) for key in ("says", "note")}
    for id_, table in printed.tables.items():
        columns = [(place, one["kind"]) for place, one in enumerate(table["columns"]) if one["kind"] != "axis"]
        for index, row in enumerate(table["rows"]):
            figures, name, again = printed.rows.get((id_, index), {}), " / ".join(row), 2
            while ("tables", id_, name) in found:
                name, again = f"{' / '.join(row)} ({again})", again + 1
            cells = [".*" if kind == "text" else locked_cell(figures.get(place)) for place, kind in columns]
            found["tables", id_, name] = r" \| ".join(cells)
    return found


def locked_cell(one):
    """What a lock must say of one cell, as a pattern."""
    if one is None or "outcome" in one:
        return f"— {(one or {}).get('outcome', 'missing').upper()}(: .*)?"
    after = one.get("word") or one.get("unit", "")
    return re.escape(f"{one['text']} {after}".strip()) if one["text"] else f"— {after}(: .*)?"


def check_lock(path, printed, logs, say, counted):
    """Hold the lock's series to their logs, and its printed texts to those that were held to the samples."""
    lock = tomllib.loads(path.read_text(encoding="utf-8"))
    for series, line in lock.pop("series", {}).items():
        attempt(say, f"{LOCK}: {series}", locked_series, series, line, logs)
    texts_ = {(part, id_, what): text for part in lock for id_ in lock[part] for what, text in lock[part][id_].items()}
    if printed is None:  # without a site nothing says which cells a text is of, but its numbers must be of some
        for (part, id_, what), text in texts_.items():
            check, more = (found_row, ()) if part == "tables" else (found_words, (lock[part][id_],))
            attempt(say, f"{LOCK}: {part}.{id_}.{what}", check, text, *more, logs)
        counted.extend(texts_)
        return
    expected = locked(printed)
    printed.count += len(texts_)
    for key in sorted(texts_.keys() | expected.keys()):
        text = texts_.get(key, "")
        if len(text) < 2000 and not re.fullmatch(expected.get(key, "(?!)"), text, re.DOTALL):
            say(LOCK, f"{'.'.join(key)} is not what is printed: {text!r}")


def found_row(text, logs):
    """Hold the numbers of a locked row to the logs: one has them all. A share of a peak is passed over."""
    cells = [match.groups() for cell in text.split(" | ") if (match := re.fullmatch(f"({AMOUNT})(?: ([A-Z]+))?", cell))]
    cells = [(amount, word) for amount, word in cells if word or not amount.endswith("%")]
    tries = ((log, wide) for wide in (False, True) for log in logs.values())
    if not any(all(is_in(log, amount, word, wide) for amount, word in cells) for log, wide in tries):
        raise Fault(f"no log has these numbers: {text!r}")


def found_words(text, claim, logs):
    """Hold the numbers of a locked sentence or note: some log has each, or cells of which it is the geometric mean."""
    amounts = []
    for mean, ratio, ends in RATIO.findall(text):
        amount = f"{ratio} {ends.replace('–', ' ')}"
        if not mean:
            amounts.append(amount)
        elif not any(is_mean(log, amount) for log in logs.values()):
            raise Fault(f"no log has cells whose geometric mean is {ratio} ({ends})")
    bare = re.sub(r"\([^()]*–[^()]*\)|raised to [\d.,]+ %", "", RATIO.sub("", text))
    told = [one for one in re.findall(rf"{NUMBER.pattern}×", bare) if one in claim["note"]]
    amounts += [one for one in re.findall(rf"(?<![\w.,−])({AMOUNT})(?!\w)", bare) if one not in told]
    stated = [value for log in logs.values() for name in log.workloads for value in coordinates(log, name).values()]
    for amount in amounts:
        if any(amount in value for value in stated):
            continue  # a size or a setting of a workload
        if not any(is_in(log, amount, None, wide) for wide in (False, True) for log in logs.values()):
            raise Fault(f"no log has {amount!r}")


AMOUNT = rf"\+?{NUMBER.pattern}(?:×| (?:%|[nµmkMGTP]?(?:B/s|FLOP/s|tok/s|bit/B|/s|s|B|J)))"
RATIO = re.compile(rf"(geometric mean )?({NUMBER.pattern}×) \(95 % ({NUMBER.pattern}–{NUMBER.pattern})\)")


def is_in(log, amount, word, wide):
    """Whether a cell of a log gives an amount, or two cells with that verdict; wide: by other statistics too."""
    pools = [log.once(("pool", one), lambda one=one: pool(log, one)) for one in ((False, True) if wide else (False,))]
    return any(fits(amount, word, *one) for found in pools for one in found)


def fits(amount, word, unit, lower, interval, verdict):
    """Whether one number of a log prints as an amount; that of two cells has a verdict."""
    is_compared = "×" in amount or amount.endswith("%")
    if is_compared == (verdict is None) or word not in (None, verdict and word_of(verdict, unit)):
        return False
    try:
        if verdict is None:
            number, power = quantity(amount, unit)
            require(number, interval[:1], power)
        elif amount.endswith("%"):
            require_change(amount, interval, lower)
        else:
            require(amount, interval[: len(NUMBER.findall(amount))])
    except Fault:
        return False
    return True


def pool(log, wide):
    """Every number of a log: of each cell, and of each two arms; wide: other statistics, and divided ones, too."""
    cells = log.data["cells"]
    counts = {
        kind.replace("-", "_") for cell in cells for one in all_processes(cell) for kind, _ in work_of(log, cell, one)
    }
    ways = [("", "")]
    if wide:
        ways = [(one, "") for one in "mean min max p50 p90 p95 p99".split()]
        ways += [("", one) for one in ("accelerators", *sorted(counts))]
    found = []
    for metric, (statistic, per), (arm, workload) in product(sorted({*log.metrics, *DERIVED}), ways, log.cells):
        asked = Asked(metric, statistic, per, arm, "")
        if not (values := numbers(log, asked, arm, workload)):
            continue
        unit, lower = unit_of(log, asked)
        found.append((unit, lower, interval_of(values)[0], None))
        for other in log.arms if lower is not None else ():
            both = compare(log, Asked(metric, statistic, per, arm, other), workload)
            if both.ratio and other != arm:
                found.append((unit, lower, both.ratio, both.verdict))
    return found


def is_mean(log, text):
    """Whether some cells of two arms have this geometric mean; where there are very many, not all are tried."""
    digits = NUMBER.search(text)[0]
    wanted, place = float(digits.replace(",", "")), 10.0 ** -len(digits.partition(".")[2])
    for ratios in log.once("ratios", lambda: ratios_of(log)):
        centres = [math.log(ratio[0]) for ratio in ratios]
        for count in range(2, len(ratios) + 1):
            chosen = zip(combinations(centres, count), combinations(ratios, count), strict=True)
            for logs, cells in islice(chosen, 2000):
                if abs(math.exp(sum(logs) / count) - wanted) > place:
                    continue  # most have another mean, which shows before their bounds are computed
                try:
                    require(text, geometric_mean(cells))
                except Fault:
                    continue
                return True
    return False


def ratios_of(log):
    """The ratios of each two arms by each metric that has a better end."""
    found = []
    for metric, one, other in product(sorted({*log.metrics, *DERIVED}), log.arms, log.arms):
        asked = Asked(metric, "", "", one, other)
        if one != other and unit_of(log, asked)[1] is not None:
            found.append(Reading(log, asked, list(log.workloads)).ratios())
    return found


def locked_series(series, line, logs):
    """Hold a series to the log that it stands on: digest and device."""
    log = logs.get(f"{series}_{line['log']}")
    if log is None:
        raise Fault(f"stands on {line['log']}, which is no record here")
    device = coordinates(log, next(iter(log.workloads)))["device"]
    require_equal((line["sha256"], line["stance"].partition(" · ")[0]), (log.sha256, device))


# ---------------------------------------------------------------------------------------------------------------------
# Pages, as published.

VOID = set("area base br col embed hr img input link meta param source track wbr".split())


class Tree(HTMLParser):
    """A page as elements: (tag, attributes, children), texts being strings."""

    def __init__(self, html):
        """Parse a whole page."""
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Open an element."""
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        """Add an element without content."""
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        """Close the innermost open element of that name."""
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].tag == tag:
                del self.open[depth:]
                break

    def handle_data(self, data):
        """Add a text."""
        self.open[-1].children.append(data)


@dataclass
class Element:
    """One element of a page."""

    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    def classes(self):
        """Its classes."""
        return self.attributes.get("class", "").split()

    def find(self, name):
        """Yield elements below this one, in order, by class (`.ev-claim`) or tag."""
        for child in self.children:
            if isinstance(child, Element):
                if name[1:] in child.classes() if name.startswith(".") else child.tag == name:
                    yield child
                yield from child.find(name)

    def text(self, without=()):
        """Its text on one line, leaving out some tags."""
        return " ".join("".join(self._texts(without)).split())

    def _texts(self, without):
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag not in without:
                yield from child._texts(without)


def visible(text, limit):
    """A text as a page shows it: cut, and what cannot be seen written out."""
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    kept = (
        one if one.isprintable() or unicodedata.category(one) == "Zs" or one in "\n\t" else escaped(one) for one in text
    )
    return " ".join("".join(kept).split())


def escaped(character):
    """Write out one character that cannot be seen."""
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def anchor(name):
    """The id of a claim's or table's element."""
    plain = re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name) and len(name) <= 80
    return f"ev-{name}" if plain else f"ev-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:16]}"


class Pages:
    """The HTML of a site against evidence.json and the logs."""

    def __init__(self, root, printed, logs):
        """Read every page of a site."""
        self.printed, self.logs = printed, logs
        self.claims = {anchor(id_): (id_, claim) for id_, claim in printed.claims.items()}
        self.tables = {anchor(id_): id_ for id_ in printed.tables}
        self.of_logs = {anchor(name): log for name, log in logs.items()}
        checks = {
            ".ev-claim": self.claim,
            ".ev-says": self.says,
            ".ev-value": self.value,
            ".ev-borrowed": self.borrowed,
            ".ev-block": self.table,
            ".ev-table--board": self.board,
            ".ev-fold": self.fold,
            ".ev-reproduce": self.command,
            ".ev-chart": self.chart,
        }
        for path in sorted(root.rglob("*.html")):
            attempt(printed.say, path.relative_to(root).as_posix(), self.page, path, path.relative_to(root), checks)

    def page(self, path, name, checks):
        """Hold one page, each thing by itself."""
        tree = Tree(path.read_text(encoding="utf-8")).root
        for wanted, check in checks.items():
            for element in tree.find(wanted):
                what = element.attributes.get("id") or wanted[1:]
                attempt(self.printed.say, f"{name.as_posix()}: {what}", check, element)

    def claim(self, element):
        """Hold a callout: sentence, note, verdict and headline."""
        claim = self.known(self.claims, element.attributes.get("id"))[1]
        require_equal(texts(element, ".ev-claim-text"), [visible(claim["says"], 2000)])
        require_equal(texts(element, ".ev-note"), [visible(claim["note"], 2000)])
        require_equal(texts(element, ".ev-chip"), [claim["word"]])
        headline = claim["headline"]
        require_equal(texts(element, ".ev-big"), [headline["text"]] if headline else [])
        if headline:
            require_equal(texts(element, ".ev-range", ("small",)), [span(headline["interval"])])
        self.printed.count += 1

    def known(self, among, anchored):
        """Return what an anchor stands for."""
        if anchored not in among:
            raise Fault(f"{FIGURES} says nothing of it")
        return among[anchored]

    def target(self, element):
        """Return the claim that a link leads to."""
        return self.known(self.claims, element.attributes.get("href", "").rpartition("#")[2])

    def says(self, element):
        """Hold a sentence in running text, with its short note."""
        _, claim = self.target(next(element.find("a")))
        note, told = texts(element, ".ev-says-note")[0], visible(claim["short_note"], 2000)
        require_equal(note, told)
        require_equal(element.text().split(f" ({told})")[0], visible(claim["says"], 2000))
        self.printed.count += 1

    def value(self, element):
        """Hold a single value."""
        id_, _ = self.target(element)
        interval = [one.strip("[]") for one in texts(element, "span") if one.startswith("[")]
        shown = texts(element, "b"), interval
        figures = self.printed.placed.get((id_, "value"), [])
        if shown not in [
            ([visible(one["text"], 2000)], [one["interval"]] if one["interval"] else []) for one in figures
        ]:
            raise Fault(f"{element.text()!r} is not a value of {id_}")
        self.printed.count += 1

    def borrowed(self, element):
        """Hold a number that is labelled as a diagnostic; others of its kind were measured by somebody else."""
        text, mark, _ = element.text().partition(" (diagnostic")
        figures = [one for one in self.printed.figures if one["at"] == "diagnostic"]
        known = [one["text"] + (f" [{one['interval']}]" if one["interval"] else "") for one in figures]
        if mark and text not in [visible(one, 2000) for one in known]:
            raise Fault(f"{text!r} is no diagnostic that {FIGURES} knows")
        self.printed.count += bool(mark)

    def board(self, element):
        """Hold the board of all claims."""
        claims = {visible(one["says"], 400): one for one in self.printed.claims.values()}
        for row in next(element.find("tbody")).find("tr"):
            said = next(row.find("th")).text(("small",))
            claim = claims.get(said)
            if claim is None:
                raise Fault(f"{said!r} is no claim of {FIGURES}")
            require_equal(texts(row, ".ev-chip"), [claim["word"]])
            headline = claim["headline"]
            shown = [
                (cell.text(("small",)), *texts(cell, "small")) for cell in row.find(".ev-n") if list(cell.find("b"))
            ]
            wanted = [(headline["text"], *filter(None, [span(headline["interval"])]))] if headline else []
            require_equal(shown, wanted)
            self.printed.count += 1

    def fold(self, element):
        """Hold the digest and the command under a table or a claim."""
        for code in element.find(".ev-digest"):
            log = next((one for one in self.logs.values() if one.sha256 == code.text()), None)
            if log is None:
                raise Fault(f"{code.text()} is the digest of no log here")
            summary = next(element.find("summary")).text()
            if log.name not in summary or f"sha256 {log.sha256[:12]}" not in summary:
                raise Fault(f"{summary!r} is not of {log.name}")
            require_equal(texts(element, "pre")[:1], [visible(command_of(log.data), 20000)])

    def command(self, element):
        """Hold a command to be run again."""
        log = self.logs.get(texts(element, ".ev-muted")[0])
        require_equal(texts(element, "pre"), [visible(command_of(log.data), 20000)] if log else [])

    def chart(self, element):
        """Hold the numbers that a chart writes beside its marks, and its data: each is of its table, or of a log."""
        for figure in element.find(".ev-figure"):
            title = next(figure.find(".ev-figure-title")).attributes["id"]
            if title.endswith("-roofline-heading"):
                self.roofline(figure)
                continue
            known = self.history(figure) if title.endswith("-history-heading") else self.of_table(title)
            labels = {"b", "q", "ev-row"}
            drawn = [one for one in figure.find("text") if "n" in one.classes() and not labels & set(one.classes())]
            cells = [one for row in figure.find("tr") for one in row.find("td")]
            for one in [*drawn, *cells]:
                if re.match(r"[−\d]", one.text()) and one.text() not in known:
                    raise Fault(f"{one.text()!r} is drawn, and is no number of {title}")

    def of_table(self, title):
        """Return every way in which a chart may write the numbers of its table."""
        id_ = next(
            (id_ for anchored, id_ in self.tables.items() if re.match(rf"{anchored}-(bars|forest)-\d", title)), ""
        )
        known = set()
        for one in self.printed.placed.get((id_, "table"), []):
            interval = span(one.get("interval", ["", ""]))
            number = f"{one['text']} [{interval}]" if interval else one["text"]
            known |= {one["text"], interval, number, f"{number} {one.get('word', '')}"}
        return known

    def history(self, figure):
        """Hold each row of a history to its log, where some cell or two arms must give it; return what may be drawn."""
        unit, known = next(figure.find(".ev-figure-subtitle")).text().partition(",")[0], set()
        for row in next(figure.find("tbody")).find("tr"):
            name, (date, value, interval, word, level, *_) = next(row.find("th")).text(), texts(row, "td")
            log = self.known(self.logs, name)
            require_equal(date, log.data["started_at"][:10])
            amount = f"{value} {interval.replace('–', ' ')}" if value.endswith("×") else f"{value} {unit}"
            if value and not is_in(log, amount, word or None, wide=True):
                raise Fault(f"{value} {word} is no number of {name}")
            known |= {date, value, interval, f"{value} {word}", level, f"{level} from here"}
        return known

    def roofline(self, figure):
        """Hold each point of a roofline to its log: the work a byte pays for, and the rate over processes."""
        suffix = next(figure.find(".ev-figure-subtitle")).text().partition(" ")[0]
        for row in next(figure.find("tbody")).find("tr"):
            arm, name, workload, intensity, value, interval, _ = texts(row, "td")
            if not value:
                continue
            log, asked = self.known(self.logs, name), Asked("flop_rate", "", "", arm, "")
            work = {one["of"]: one["count"] for one in log.workloads[workload]["work"]}
            require(intensity, [work["flop"] / work["bytes"]])
            found, exact = interval_of(numbers(log, asked, arm, workload))
            printed = found[:1] if exact else found
            require(f"{value} {interval.replace('–', ' ')}", printed, power_of(suffix, unit_of(log, asked)[0]))
            self.printed.count += 1

    def table(self, element):
        """Hold a table: its heads, and each row's verdicts and numbers in the order that they stand in."""
        anchored = element.attributes.get("id")
        if anchored in self.of_logs and anchored not in self.tables:
            return self.log_table(element, self.of_logs[anchored])
        id_ = self.known(self.tables, anchored)
        table = self.printed.tables[id_]
        require_equal(texts(element, ".ev-title"), [visible(table["title"], 2000)])
        require_equal(texts(element, ".ev-tally"), [table["tally"]] if table["tally"] else [])
        order = {"axis": 0, "ratio": 1, "change": 1, "value": 2, "peak": 2, "text": 3}
        lanes = sorted(enumerate(table["columns"]), key=lambda one: order[one[1]["kind"]])
        heads = [" / ".join(one["title"] for _, one in lanes if one["kind"] == "axis") or "Selection"]
        for _, one in lanes:
            compared = one["kind"] in ("ratio", "change")
            heads += [] if one["kind"] == "axis" else ["Verdict"] * compared + [visible(one["title"], 80)]
        require_equal(
            [head.text(("small",)) for head in element.find("th") if head.attributes.get("scope") != "row"], heads
        )
        rows = list(next(element.find("tbody")).find("tr"))
        require_equal(len(rows), len(table["rows"]))
        for index, (row, axes) in enumerate(zip(rows, table["rows"], strict=True)):
            label = next(row.find("th"))
            require_equal(label.text(("sup",)), " / ".join(visible(axis, 80) for axis in axes) or "all")
            figures = self.printed.rows.get((id_, index), {})
            shown = [lane for lane in lanes if lane[1]["kind"] not in ("axis", "text")]
            if "ev-absent" in row.classes():
                require_equal([one["text"] for one in figures.values() if one["text"]], [])
            else:
                require_equal(marks(row), [one for place, _ in shown for one in self.expected(figures.get(place))])
        return None

    def expected(self, one):
        """Return the marks of one figure: its verdict and its number, or why there is none."""
        self.printed.count += 1
        if one is None or "outcome" in one:
            return [(one or {}).get("outcome", "missing").upper()]
        number = " ".join(filter(None, [one["text"], span(one.get("interval", ["", ""]))])) or "– no number"
        return [visible(one["word"], 80), number] if "verdict" in one else [number]

    def log_table(self, element, log):
        """Hold the table of a log's own page, which needs no evidence.json: its rows and heads say what it shows."""
        heads = [head.text(("small",)) for head in element.find("th") if head.attributes.get("scope") != "row"][1:]
        # Names that are cut alike stand in the record's order.
        named = {}
        for arm, workload in log.cells:
            named.setdefault(f"{visible(workload, 80)} / {arm}", []).append((workload, arm))
        for row in next(element.find("tbody")).find("tr"):
            known, found = self.known(named, next(row.find("th")).text(("sup",))), marks(row)
            workload, arm = known.pop(0) if len(known) > 1 else known[0]
            for head, mark in zip(heads, found, strict="ev-absent" not in row.classes()):
                metric, _, suffix = head.partition(", ")
                asked = Asked(metric, "", "", arm, "")
                values = numbers(log, asked, arm, workload)
                if values and NUMBER.match(mark):
                    interval, exact = interval_of(values)
                    printed = interval[:1] if exact else interval
                    require(mark.replace("–", " "), printed, power_of(suffix, unit_of(log, asked)[0]))
                elif values or NUMBER.match(mark):
                    raise Fault(f"{mark!r} is printed for {metric} of {arm} on {workload}")
                self.printed.count += 1


def marks(row):
    """Return what a row prints beside its label: verdicts, numbers with intervals, reasons for none."""
    found = []
    for cell in row.find("td"):
        tags = [tag.text() for tag in cell.find(".ev-tag")]
        if "ev-verdict" in cell.classes():
            found += texts(cell, ".ev-chip")
        elif tags:
            found += tags
        elif "ev-n" in cell.classes():
            found.append(
                " ".join("".join(part for part in cell._texts(())).split())
                if not list(cell.find("small"))
                else " ".join([cell.text(("small",)), *texts(cell, "small")])
            )
    return found


def texts(element, name, without=()):
    """Return the texts of the elements of that name, in order."""
    return [one.text(without) for one in element.find(name)]


def span(interval):
    """Write an interval as tables do."""
    low, high = interval
    return f"{low} {'to' if '−' in low + high else '–'} {high}" if low or high else ""


def command_of(record):
    """Write the command as run, quoted for a shell at the repository's root."""
    how = record["provenance"]
    if how is None:
        return f"# imported from {record['origin']['file']} ({record['origin']['format']})"
    before = f"cd {shlex.quote(how['directory'])} && " if how["directory"] != "." else ""
    variables = [f"{one['name']}={shlex.quote(one['value'])}" for one in how["variables"]]
    return before + " ".join([*variables, shlex.join(how["argv"])])


# ---------------------------------------------------------------------------------------------------------------------
# The store, and the whole.


def ledger_of(root):
    """Read SHA256SUMS: path -> digest."""
    entries = {}
    for line in (root / LEDGER).read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        if match is None or match[2] in entries:
            raise Fault(f"{line[:100]!r} is no line of a ledger, or stands twice")
        entries[match[2]] = match[1]
    return entries


def read_store(root, say):
    """Read every record, hold it to the ledger and to its files, and return those that are sound, by name."""
    files = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            say(f"{LOGS}/{name}", "a link, not a file")
        elif path.is_file() and name != LEDGER and not any(part.startswith(".") for part in name.split("/")):
            files[name] = path.read_bytes()
    try:
        ledger = ledger_of(root)
    except (Fault, OSError, UnicodeDecodeError) as error:
        say(f"{LOGS}/{LEDGER}", str(error))
        ledger = {}
    for name in sorted(ledger.keys() | files.keys()):
        if name not in files:
            say(f"{LOGS}/{name}", f"{LEDGER} lists it, and it is not there")
        elif ledger.get(name) != hashlib.sha256(files[name]).hexdigest():
            say(f"{LOGS}/{name}", f"its bytes are not those that {LEDGER} lists")
    logs, claimed = {}, set()
    for name in (name for name in files if name.rpartition("/")[2] == "record.json"):
        log, at = name.rpartition("/")[0], f"{LOGS}/{name}"
        try:
            data = strict_json(files[name])
            problems = [*structure(log, data)]
            problems += [] if problems else artifact_problems(log, data, files)
            claimed |= {name, *(f"{log}/{one['path']}" for one in data["artifacts"])}
            if not problems:
                logs[log] = Log(log, data, hashlib.sha256(files[name]).hexdigest())
                coordinates(logs[log], next(iter(logs[log].workloads)))
        except Fault as fault:
            problems = [str(fault)]
        except SENSELESS as error:
            problems = [f"not a record: {type(error).__name__}: {error}"]
            logs.pop(log, None)
        for problem in problems:
            say(at, problem)
    for name in sorted(files.keys() - claimed):
        say(f"{LOGS}/{name}", "a file that no record lists")
    for at, other in copies(logs):
        say(f"{LOGS}/{at}", f"its samples are those of {other}")
    return logs


def copies(logs):
    """Yield each place whose samples another place has too, in whatever order: nothing is measured twice alike."""
    seen = {}
    for log in logs.values():
        for cell in log.data["cells"]:
            for one in (one for process in all_processes(cell) for one in process["samples"]):
                key, at = tuple(sorted(one["values"])), f"{log.name}: {cell['arm']} on {cell['workload']}"
                if len(set(key)) >= FEWEST and seen.setdefault(key, at) is not at:
                    yield at, seen[key]
                    break


def artifact_problems(log, data, files):
    """Return which files of a record are not there as it lists them."""
    return [
        f"{one['path']} is not the file that the record lists"
        for one in data["artifacts"]
        if len(content := files.get(f"{log}/{one['path']}", b"")) != one["bytes"]
        or hashlib.sha256(content).hexdigest() != one["sha256"]
    ]


def main(arguments):
    """Verify a directory and return the exit status."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    root = Path(arguments[0])
    root = next((one for one in (root, root / "docs", root / "site") if (one / LOGS).is_dir()), root)
    if not (root / LOGS).is_dir():
        print(f"{root}: no {LOGS} here, so there is nothing to verify")
        return 2
    problems = []

    def say(where, message):
        problems.append(visible(f"{where}: {message}", 1000))

    logs = read_store(root / LOGS, say)
    printed, counted = None, []
    if (root / FIGURES).is_file():
        try:
            printed = Printed(strict_json((root / FIGURES).read_bytes()), logs, say)
        except (Fault, *SENSELESS) as error:
            say(FIGURES, f"not the figures of a site: {error}")
    if (root / LOCK).is_file():
        attempt(say, LOCK, check_lock, root / LOCK, printed, logs, say, counted)
    if printed is not None:
        attempt(say, FIGURES, Pages, root, printed, logs)
    for problem in problems:
        print(problem)
    count = printed.count if printed else len(counted)
    if problems:
        print(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}")
        return 1
    if not logs:
        print("no record here, so nothing was verified")
        return 2
    print(f"verified {len(logs)} record{'' if len(logs) == 1 else 's'}, {count:,} printed values: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
