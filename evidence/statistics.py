"""Owns inference: intervals, verdicts and sample diagnostics over plain numbers; it knows no record and reads no file.

The unit of inference is the process: every function takes one number a process unless it says otherwise. Intervals
are 95 % intervals. Nothing here draws random numbers, and sums are exact, so the order of the samples never matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist, fmean, median
from typing import TYPE_CHECKING

from evidence.errors import ComparisonError

if TYPE_CHECKING:
    from collections.abc import Sequence

TAIL = 0.025
"""What an interval leaves out on either side."""

BASE_EFFECT = 0.01
"""No difference below 1 % is ever called better or worse, and only an interval inside it is called the same."""

_MOST_PROCESSES = 1_000_000
_MOST_TERMS = 10_000
_TINY = 1e-300
_LARGEST = 1e150
_LARGEST_LOG = 700.0
_DRIFT_Z = 2.576
_DRIFT_SAMPLES = 10
_MODE_SAMPLES = 30
_MODE_SHARE = 0.88


class Verdict(StrEnum):
    """What a comparison says; `judge` gives the first four, the last two need the record."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    INCOMPARABLE = "incomparable"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate between its two bounds, all three finite."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse bounds that do not enclose the value, and anything not finite."""
        if not all(map(math.isfinite, (self.value, self.low, self.high))):
            raise ValueError(f"an interval is finite, not {self.value} ({self.low}, {self.high})")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside its interval ({self.low}, {self.high})")

    @property
    def half_width(self) -> float:
        """Half the distance between the bounds."""
        return (self.high - self.low) / 2

    def inverse(self) -> Interval:
        """The interval of 1/x: the same ratio read from the other side."""
        if self.low <= 0:
            raise ComparisonError("only a positive interval has an inverse")
        return Interval(1 / self.value, 1 / self.high, 1 / self.low)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A percentile refused: the samples each process needs, and the fewest that one has."""

    needed: int
    have: int


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """A geometric mean of ratios, how many went in, and its range when any one of them is left out."""

    interval: Interval
    count: int
    leave_one_out: tuple[float, float] | None


def gain(baseline: Sequence[float], candidate: Sequence[float], lower_is_better: bool) -> Interval:
    """How many times better the candidate is: above 1 is a win whichever way the metric points.

    Welch's t interval on the logarithms (Welch 1947, degrees of freedom by Satterthwaite 1946), so the estimate is the
    ratio of geometric means and swapping the sides gives the inverse. A side without variance adds none; with none on
    either side, as with counted bytes, the interval is the ratio itself. Whether a timer was too coarse to show any
    variance is for the rules on timers, not decided here.

    Raises:
        ComparisonError: a side has fewer than two values, or a value is not positive and finite.
    """
    before, after = _logs(baseline), _logs(candidate)
    shift = fmean(before) - fmean(after) if lower_is_better else fmean(after) - fmean(before)
    before_error, after_error = (_variance(side) / len(side) for side in (before, after))
    squared = before_error + after_error
    if squared == 0:
        return _exponential(shift, shift, shift)
    share = before_error / squared
    freedom = 1 / (share**2 / (len(before) - 1) + (1 - share) ** 2 / (len(after) - 1))
    half = _student(freedom) * math.sqrt(squared)
    return _exponential(shift, shift - half, shift + half)


def leaning(baseline: Sequence[float], candidate: Sequence[float], lower_is_better: bool) -> Verdict | None:
    """The one of BETTER, WORSE and SAME that `judge` may give on the `gain` of two samples; None where there is none.

    The estimate lies in its interval, so a decided verdict says on which side of the base effect it lies. It is known
    from two means, long before the interval is.
    """
    if not (baseline and candidate) or min(baseline) <= 0 or min(candidate) <= 0:
        return None
    shift = fmean([*map(math.log, baseline)]) - fmean([*map(math.log, candidate)])
    if abs(shift) <= math.log1p(BASE_EFFECT):
        return Verdict.SAME
    return Verdict.BETTER if (shift > 0) is lower_is_better else Verdict.WORSE


def change(ratio: Interval, lower_is_better: bool) -> Interval:
    """The metric's own signed change, as a fraction, from how many times better it became: a time halved is -0.5."""
    quotient = ratio.inverse() if lower_is_better else ratio
    return Interval(quotient.value - 1, quotient.low - 1, quotient.high - 1)


def location(values: Sequence[float]) -> Interval:
    """The median over processes, with its percentile bootstrap interval.

    The bootstrap distribution of a median is known exactly, so nothing is resampled: see `_middle_weights`. For fewer
    than six values the interval is their whole range, and a range of n values covers the median of the population
    with probability 1 - 2^(1-n) only: 94 % for five, 75 % for three.

    Raises:
        ComparisonError: fewer than two values, or one that is not finite.
    """
    ordered = _ordered(values, at_least=2)
    middle = [((ordered[k] + ordered[m]) / 2, weight) for k, m, weight in _middle_weights(len(ordered))]
    middle.sort()
    rising = accumulate(weight for _, weight in middle)
    falling = accumulate(weight for _, weight in reversed(middle))
    low = next((value for (value, _), mass in zip(middle, rising, strict=True) if mass >= TAIL), ordered[-1])
    high = next((value for (value, _), mass in zip(reversed(middle), falling, strict=True) if mass >= TAIL), ordered[0])
    return Interval(median(ordered), low, high)


def quantile(values: Sequence[float], p: float) -> float:
    """The p-quantile, linear between order statistics: definition 7 of Hyndman and Fan 1996, as serving tools print it.

    Raises:
        ComparisonError: no values, or one that is not finite.
        ValueError: p outside 0..1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {p}")
    ordered = _ordered(values, at_least=1)
    position = (len(ordered) - 1) * p
    below = math.floor(position)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = position - below
    return min(max(low * (1 - part) + high * part, low), high)


def samples_needed(p: float) -> int:
    """The fewest samples of one process that support its p-quantile: 6, 36, 72, 368 and 3688 for p50 to p99.9.

    From then on the largest of n samples lies above the quantile with probability 1 - p^n >= 97.5 %, so the order
    statistics bound it from both sides (David and Nagaraja 2003, section 7.1); below a half, by symmetry.

    Raises:
        ValueError: p is not between 0 and 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"no number of samples supports the quantile {p}")
    return math.ceil(math.log(TAIL) / math.log(max(p, 1 - p)))


def quantile_location(by_process: Sequence[Sequence[float]], p: float) -> Interval | Unsupported:
    """A latency percentile over processes: the t interval on the logs of each process's own quantile.

    Requests are never pooled: those of one process share its luck, and the pooled interval covers far too little.

    Raises:
        ComparisonError: fewer than two processes, or a quantile that is not positive and finite.
    """
    if len(by_process) < 2:
        raise ComparisonError(f"an interval over processes needs at least 2, not {len(by_process)}")
    needed, have = samples_needed(p), min(map(len, by_process))
    if have < needed:
        return Unsupported(needed, have)
    logs = _logs([quantile(values, p) for values in by_process])
    centre = fmean(logs)
    half = _student(len(logs) - 1) * math.sqrt(_variance(logs) / len(logs))
    return _exponential(centre, centre - half, centre + half)


def minimum_effect(noise: Interval | None) -> float:
    """The smallest change worth naming: 1 %, or the farther bound of the A/A interval from 1, whichever is larger."""
    if noise is None:
        return BASE_EFFECT
    return max(BASE_EFFECT, noise.high - 1, noise.inverse().high - 1)


def judge(ratio: Interval, effect: float) -> Verdict:
    """The verdict on a ratio, above 1 being better; only an interval beyond `effect` is better or worse.

    SAME is equivalence within the base 1 % whatever the effect: a noisy control raises the bar for better and worse
    and never makes SAME easier.

    Raises:
        ComparisonError: a ratio that is not positive.
        ValueError: an effect below the base 1 %.
    """
    if not (math.isfinite(effect) and effect >= BASE_EFFECT):
        raise ValueError(f"a minimum effect is at least {BASE_EFFECT}, not {effect}")
    worse_by = ratio.inverse()
    if ratio.low > 1 + effect:
        return Verdict.BETTER
    if worse_by.low > 1 + effect:
        return Verdict.WORSE
    if ratio.high <= 1 + BASE_EFFECT and worse_by.high <= 1 + BASE_EFFECT:
        return Verdict.SAME
    return Verdict.INCONCLUSIVE


def processes_needed(ratio: Interval, effect: float, n: int) -> int | None:
    """How many more processes a side would decide this ratio, measured with `n`; 0 if it is decided.

    Supposes that the estimate and the spread stay: the half-width on the log scale then falls as t / sqrt(n) (the
    usual iteration for a sample size, as in Snedecor and Cochran 1989). The estimate will move, so this is a plan with
    about even odds, not a promise. None: no number decides, because the estimate lies between SAME and the
    minimum effect, or so near one of them that a million would not do.

    Raises:
        ComparisonError: a ratio that is not positive.
        ValueError: `n` below 2, or an effect below the base 1 %.
    """
    if n < 2:
        raise ValueError(f"a ratio with an interval has at least 2 processes a side, not {n}")
    if judge(ratio, effect) is not Verdict.INCONCLUSIVE:
        return 0
    distance = abs(math.log(ratio.value))
    room = max(distance - math.log1p(effect), math.log1p(BASE_EFFECT) - distance)
    spread = (math.log(ratio.high) - math.log(ratio.low)) / 2 * math.sqrt(n) / _student(2 * n - 2)

    def decides(count: int) -> bool:
        return spread * _student(2 * count - 2) / math.sqrt(count) < room

    if not decides(_MOST_PROCESSES):
        return None
    few, enough = n, _MOST_PROCESSES
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return enough - n


def geometric_mean(ratios: Sequence[Interval]) -> GeometricMean:
    """The geometric mean of ratios that were measured apart, a statement about these cells and no others.

    The bounds add in quadrature on the log scale, each side by itself: the MOVER of Zou and Donner 2008, for
    independent estimates.

    Raises:
        ComparisonError: no ratios, or one that is not positive.
    """
    if not ratios:
        raise ComparisonError("a geometric mean of no ratios")
    if any(ratio.low <= 0 for ratio in ratios):
        raise ComparisonError("a geometric mean needs positive ratios")
    count = len(ratios)
    logs = [math.log(ratio.value) for ratio in ratios]
    centre = fmean(logs)
    below = math.hypot(*(log - math.log(ratio.low) for log, ratio in zip(logs, ratios, strict=True))) / count
    above = math.hypot(*(math.log(ratio.high) - log for log, ratio in zip(logs, ratios, strict=True))) / count
    return GeometricMean(_exponential(centre, centre - below, centre + above), count, _leave_one_out(logs))


def coefficient_of_variation(values: Sequence[float]) -> float:
    """The sample standard deviation (n - 1) over the mean.

    Raises:
        ComparisonError: fewer than two values, one that is not finite, or a mean that is not positive.
    """
    mean = fmean(_finite(values))
    if mean <= 0:
        raise ComparisonError("a coefficient of variation needs a positive mean")
    return math.sqrt(_variance(values)) / mean


def drift(samples: Sequence[float], least: float = 0.0) -> float | None:
    """The change of one process's samples from their first third to their last, as a fraction of the median.

    None when their order says nothing: Spearman's correlation with time, which under no trend has variance 1/(n - 1)
    (Daniels 1950), stays below the two-sided 1 % point; also for fewer than ten samples or a median of zero. Small
    drifts of many samples are significant too, so a rule judges the size: of a change smaller than `least`, which is
    None too, the order is not looked at.
    """
    count, centre = len(samples), median(_finite(samples, at_least=1))
    if count < _DRIFT_SAMPLES or centre == 0:
        return None
    third = count // 3
    change = (median(samples[-third:]) - median(samples[:third])) / abs(centre)
    if abs(change) < least or abs(_rank_correlation_with_time(samples)) * math.sqrt(count - 1) < _DRIFT_Z:
        return None
    return change


def modes(samples: Sequence[float]) -> tuple[float, float] | None:
    """The means of the two groups that samples fall into, or None when they do not.

    Otsu's criterion (1979): the best split into two must explain 88 % of the variance; it explains 64 % of a normal
    and 75 % of a uniform distribution. One in twenty is cut off at each end, and each group holds a tenth, so a few
    outliers are not a mode. Modes less than 1 % apart and fewer than thirty samples give None.
    """
    ordered = _ordered(samples, at_least=1)
    if len(ordered) < _MODE_SAMPLES:
        return None
    cut = len(ordered) // 20
    kept = ordered[cut : len(ordered) - cut]
    centre, count = fmean(kept), len(kept)
    total = math.fsum((value - centre) ** 2 for value in kept)
    sums = list(accumulate(value - centre for value in kept))
    smallest = math.ceil(count / 10)
    # The deviations sum to zero, so the first group's sum alone gives the variance between the two groups.
    between, split = max(
        (sums[i - 1] ** 2 * count / (i * (count - i)), i) for i in range(smallest, count - smallest + 1)
    )
    low, high = fmean(kept[:split]), fmean(kept[split:])
    if between <= _MODE_SHARE * total or high - low < BASE_EFFECT * abs(centre):
        return None
    return low, high


def _finite(values: Sequence[float], at_least: int = 2) -> Sequence[float]:
    if len(values) < at_least:
        raise ComparisonError(f"at least {at_least} values are needed, not {len(values)}")
    # What is no number makes no sum either, and hides from min and max.
    if not (min(values) > -_LARGEST and max(values) < _LARGEST) or math.isnan(sum(values)):
        raise ComparisonError(f"every value must be a number below {_LARGEST:g}, so that squares stay finite")
    return values


def _ordered(values: Sequence[float], at_least: int) -> list[float]:
    """Sort values and hold them to be finite: the ends tell of numbers, and the sum of what has no order."""
    ordered = sorted(values)
    if len(ordered) < at_least or math.isnan(sum(ordered)) or ordered[0] <= -_LARGEST or ordered[-1] >= _LARGEST:
        _finite(values, at_least)
    return ordered


def _logs(values: Sequence[float]) -> list[float]:
    if any(value <= 0 for value in _finite(values)):
        raise ComparisonError("every value must be positive: an interval on logarithms has no place for zero")
    return [math.log(value) for value in values]


def _variance(values: Sequence[float]) -> float:
    # Equal values have a mean that may differ from them in the last bit; their variance is nevertheless zero.
    if min(values) == max(values):
        return 0.0
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _exponential(value: float, low: float, high: float) -> Interval:
    """Back from logarithms; what no float can hold is cut to the largest or smallest that one can."""
    return Interval(*(math.exp(min(max(log, -_LARGEST_LOG), _LARGEST_LOG)) for log in (value, low, high)))


@lru_cache(maxsize=1024)
def _student(freedom: float) -> float:
    """The 97.5 % point of Student's t, by Newton's method on its tail.

    Own code, because the library's costs more to import than the whole check of a small site takes; tests hold the two
    together. The start is Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5), and a step never more than
    halves or doubles, so that one degree of freedom converges too.
    """
    z = NormalDist().inv_cdf(1 - TAIL)
    t = z + (z**3 + z) / (4 * freedom)
    t += (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    for _ in range(60):
        tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
        density = scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        step = min(max((tail - TAIL) / density, -t / 2), t)
        t += step
        if abs(step) < 1e-8 * t:  # the error left is about its square
            break
    return t


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22, Lentz's method).

    Raises:
        ValueError: a or b is not positive, or x lies outside 0..1.
    """
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        raise ValueError(f"no incomplete beta function of {a}, {b}, {x}")
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):  # beyond it the fraction of the complement converges faster
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    # A tail of Student's t takes hundreds of these terms, so none costs a call; Lentz has only 0 itself give way.
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or _TINY)
    fraction = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or _TINY)
            c = (1 + term / c) or _TINY
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


@lru_cache(maxsize=64)
def _middle_weights(n: int) -> tuple[tuple[int, int, float], ...]:
    """(k, m, probability): the two middle values of a resample of n are the k-th and m-th of the sample, from 0.

    For odd n both are one order statistic j, at most the k-th value with probability I(k/n; j, n - j + 1), the
    regularised incomplete beta function (Efron 1979; Maritz and Jarrett 1978). For even n, h = n/2, the two are the
    k-th < m-th when h draws are at most the k-th and include it, and h are at least the m-th and include it:
    C(n, h) ((k/n)^h - ((k-1)/n)^h) (((n-m+1)/n)^h - ((n-m)/n)^h) (counting as in Evans, Leemis and Drew 2006).
    Ranks beyond eight standard deviations of the middle, which exist from n = 65 on, are left out.
    """
    lower = (n + 1) // 2
    reach = 4 * math.isqrt(n) + 4
    ranks = range(max(1, lower - reach), min(n, lower + 1 + reach) + 1)
    above = n - lower + 1
    at = {k: incomplete_beta(lower, above, k / n) - incomplete_beta(lower, above, (k - 1) / n) for k in ranks}
    if n % 2:
        return tuple((k - 1, k - 1, at[k]) for k in ranks)
    half = n // 2
    ways = math.lgamma(n + 1) - 2 * math.lgamma(half + 1)

    def log_reaching(k: int) -> float:
        return half * math.log(k / n) + math.log1p(-(((k - 1) / k) ** half))

    weights = []
    for k in ranks:
        apart = [(k - 1, m - 1, math.exp(ways + log_reaching(k) + log_reaching(n + 1 - m))) for m in ranks if m > k]
        weights += [(k - 1, k - 1, max(0.0, at[k] - math.fsum(weight for _, _, weight in apart))), *apart]
    return tuple(weights)


def _leave_one_out(logs: Sequence[float]) -> tuple[float, float] | None:
    if len(logs) < 2:
        return None
    total = math.fsum(logs)
    means = [(total - log) / (len(logs) - 1) for log in logs]
    return math.exp(min(means)), math.exp(max(means))


def _rank_correlation_with_time(samples: Sequence[float]) -> float:
    count = len(samples)
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(samples), start=1):
        places.setdefault(value, []).append(place)
    ranks = [fmean(places[value]) - (count + 1) / 2 for value in samples]
    times = [index - (count - 1) / 2 for index in range(count)]
    scale = math.sqrt(math.fsum(rank**2 for rank in ranks) * math.fsum(time**2 for time in times))
    return math.fsum(rank * time for rank, time in zip(ranks, times, strict=True)) / scale if scale else 0.0
