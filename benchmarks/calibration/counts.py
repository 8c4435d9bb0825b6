"""Owns what a study's record counts: its metrics, and their values for one trial and for all of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchmarks.calibration.trials import Kind, Tally, Trial, highest_rate, least_effect, lowest_rate
from evidence.schema import Metric
from evidence.schema.metrics import Better
from evidence.statistics import Verdict

_BETTER: Mapping[str, Better] = {
    "trials": "neither",
    "unusable": "lower",
    "not_tried": "neither",
    "faster": "lower",
    "slower": "neither",
    "same": "neither",
    "inconclusive": "neither",
    "called": "lower",
    "called_rate": "lower",
    "called_rate_high": "lower",
    "found": "higher",
    "missed": "lower",
    "found_rate": "higher",
    "found_rate_low": "higher",
    "least_effect": "lower",
    "least_effect_worst": "lower",
    "ratio": "neither",
    "ratio_low": "neither",
    "ratio_high": "neither",
    "planted": "neither",
    "planted_least": "neither",
    "planted_most": "neither",
}
_WORDS = {Verdict.BETTER: "faster", Verdict.WORSE: "slower", Verdict.SAME: "same", Verdict.INCONCLUSIVE: "inconclusive"}
TARGETS = frozenset({"called", "found"})

Values = Mapping[str, float]


def metrics(used: Sequence[Values]) -> tuple[Metric, ...]:
    """Return the metrics that any of these values has, in a fixed order; all are counts or shares."""
    names = {name for values in used for name in values}
    return tuple(
        Metric(name=name, unit="1", better=better, of="process", role="target" if name in TARGETS else "context")
        for name, better in _BETTER.items()
        if name in names
    )


def of_trial(trial: Trial, least_processes: int) -> Values:
    """Return what one trial came to: its verdict as counts of one and none, its ratio, and what it is able to tell."""
    is_judged = trial.is_judged(least_processes)
    found: dict[str, float] = {"trials": int(is_judged), "unusable": int(not is_judged)}
    if is_judged:
        found |= {word: int(trial.comparison.verdict is verdict) for verdict, word in _WORDS.items()}
        found |= {"called": int(trial.is_called)} if trial.kind == "a-a" else _finds([trial])
    if trial.ratio is not None:
        found |= {"ratio": trial.ratio.value, "ratio_low": trial.ratio.low, "ratio_high": trial.ratio.high}
    if trial.kind == "a-a" and (least := least_effect(trial)) is not None:
        found["least_effect"] = least
    return found | ({} if trial.planted is None else {"planted": trial.planted})


def of_all(tally: Tally, kind: Kind, not_tried: int) -> Values:
    """Return what the trials of a kind came to together, beside how many cells were not tried."""
    found: dict[str, float] = {"trials": len(tally.judged), "unusable": len(tally.unusable), "not_tried": not_tried}
    found |= {word: tally.count(verdict) for verdict, word in _WORDS.items()}
    return found | (dict(_calls(tally)) if kind == "a-a" else {**_finds(tally.judged), **dict(_plants(tally.judged))})


def _calls(tally: Tally) -> Iterator[tuple[str, float]]:
    called, tried = tally.count(Verdict.BETTER, Verdict.WORSE), len(tally.judged)
    yield "called", called
    if tried:
        yield "called_rate", called / tried
        yield "called_rate_high", highest_rate(called, tried)
    least = [effect for trial in tally.judged if (effect := least_effect(trial)) is not None]
    if least:
        yield "least_effect", median(least)
        yield "least_effect_worst", max(least)


def _finds(judged: Sequence[Trial]) -> dict[str, float]:
    found, tried = sum(trial.is_found for trial in judged), len(judged)
    rates = {"found_rate": found / tried, "found_rate_low": lowest_rate(found, tried)} if tried > 1 else {}
    return {"found": found, "missed": tried - found, **rates}


def _plants(judged: Sequence[Trial]) -> Iterator[tuple[str, float]]:
    shares = [trial.planted for trial in judged if trial.planted is not None]
    if shares:
        yield "planted", median(shares)
        yield "planted_least", min(shares)
        yield "planted_most", max(shares)
