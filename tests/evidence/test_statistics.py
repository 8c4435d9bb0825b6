from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from statistics import median, stdev

import pytest
import scipy.special
from hypothesis import assume, given
from hypothesis import strategies as st

from evidence.errors import ComparisonError
from evidence.statistics import (
    BASE_EFFECT,
    Interval,
    Unsupported,
    Verdict,
    _student,
    change,
    coefficient_of_variation,
    drift,
    gain,
    geometric_mean,
    incomplete_beta,
    judge,
    leaning,
    location,
    minimum_effect,
    modes,
    processes_needed,
    quantile,
    quantile_location,
    samples_needed,
)

positive = st.floats(1e-9, 1e9)
sides = st.lists(positive, min_size=2, max_size=12)
shuffles = st.randoms(use_true_random=False)
decimal_places = st.integers(-6, 6).map(lambda power: 10.0**power)
effects = st.floats(BASE_EFFECT, 0.5)


def same(first: Interval, second: Interval, rel: float = 1e-9) -> bool:
    pairs = zip((first.value, first.low, first.high), (second.value, second.low, second.high), strict=True)
    return all(a == pytest.approx(b, rel=rel, abs=1e-250) for a, b in pairs)


@st.composite
def ratios(draw: st.DrawFn) -> Interval:
    centre, below, above = draw(st.floats(-0.7, 0.7)), draw(st.floats(0, 0.3)), draw(st.floats(0, 0.3))
    return Interval(math.exp(centre), math.exp(centre - below), math.exp(centre + above))


# Interval


@pytest.mark.parametrize("numbers", [(1, 2, 3), (3, 1, 2), (math.nan, 1, 2), (1, -math.inf, 2), (1, 0, math.inf)])
def test_an_interval_encloses_its_value_and_is_finite(numbers):
    with pytest.raises(ValueError, match="interval"):
        Interval(*numbers)


def test_inverse_and_half_width():
    assert Interval(2, 1, 4).inverse() == Interval(0.5, 0.25, 1)
    assert Interval(2, 1, 4).half_width == 1.5
    with pytest.raises(ComparisonError, match="positive"):
        Interval(1, 0, 2).inverse()


def test_change_is_the_metrics_own():
    assert change(Interval(2, 1, 4), lower_is_better=True) == Interval(-0.5, -0.75, 0)
    assert change(Interval(2, 1, 4), lower_is_better=False) == Interval(1, 0, 3)


# gain


@given(sides, sides, st.booleans())
def test_swapped_sides_give_the_inverse(a, b, lower):
    assert same(gain(a, b, lower), gain(b, a, lower).inverse())


@given(sides, sides)
def test_the_direction_of_the_metric_gives_the_inverse(a, b):
    assert same(gain(a, b, True), gain(a, b, False).inverse())


@given(sides, sides, shuffles)
def test_the_order_of_values_never_matters_to_gain(a, b, rng):
    before = gain(a, b, True)
    rng.shuffle(a)
    rng.shuffle(b)
    assert gain(a, b, True) == before


@given(sides, sides, decimal_places)
def test_a_common_unit_cancels_in_gain(a, b, factor):
    scaled = gain([x * factor for x in a], [x * factor for x in b], True)
    assert scaled.value == pytest.approx(gain(a, b, True).value)


@given(sides, st.floats(0.1, 10))
def test_a_faster_candidate_wins_by_its_factor(a, factor):
    assert gain(a, [x / factor for x in a], True).value == pytest.approx(factor)


def test_gain_is_welch_on_logs():
    # Against scipy.stats.ttest_ind(log b, log c, equal_var=False).confidence_interval() of scipy 1.17.
    found = gain([1.00, 1.02, 0.99, 1.01, 1.03, 1.00], [0.80, 0.84, 0.79, 0.88, 0.81, 0.83, 0.80], True)
    assert found.value == pytest.approx(1.2281773, rel=1e-7)
    assert (found.low, found.high) == pytest.approx((1.1853445, 1.2725579), rel=1e-7)


def test_one_constant_side_adds_no_spread():
    noisy = [1.0, 1.1, 0.9, 1.05]
    found = gain([2.0] * 9, noisy, True)
    logs = [math.log(x) for x in noisy]
    half = 3.182446305284263 * stdev(logs) / 2
    assert math.log(found.high / found.low) / 2 == pytest.approx(half)


def test_two_constant_sides_give_the_ratio_itself():
    found = gain([3e9, 3e9], [1e9, 1e9, 1e9], True)
    assert found.low == found.value == found.high == pytest.approx(3)
    assert gain([0.1] * 3, [0.1] * 7, True) == Interval(1, 1, 1)


@pytest.mark.parametrize("bad", [[1.0], [], [1.0, 0.0], [1.0, -1.0], [1.0, math.nan], [1.0, math.inf]])
def test_gain_refuses_what_has_no_logarithm_or_spread(bad):
    with pytest.raises(ComparisonError):
        gain(bad, [1.0, 1.1], True)
    with pytest.raises(ComparisonError):
        gain([1.0, 1.1], bad, True)


@given(
    st.lists(st.floats(5e-324, 9e149), min_size=2, max_size=4),
    st.lists(st.floats(5e-324, 9e149), min_size=2, max_size=4),
)
def test_absurd_values_still_give_a_finite_interval(a, b):
    found = gain(a, b, True)
    assert 0 < found.low <= found.value <= found.high


# location


def resampled_median_counts(values: list[float]) -> Counter[float]:
    return Counter(median(draw) for draw in itertools.product(values, repeat=len(values)))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_location_is_the_bootstrap_of_every_possible_resample(n):
    values = [math.sqrt(2 + 3 * k) for k in range(n)]
    counts = resampled_median_counts(values)
    total, ordered = n**n, sorted(counts)
    low = next(x for x in ordered if sum(counts[y] for y in ordered if y <= x) >= 0.025 * total)
    high = next(x for x in reversed(ordered) if sum(counts[y] for y in ordered if y >= x) >= 0.025 * total)
    assert location(values) == Interval(median(values), low, high)


@pytest.mark.parametrize("n", [9, 10, 63, 64, 200, 1001])
def test_location_agrees_with_drawn_resamples(n):
    rng = random.Random(n)
    values = [rng.gauss(100, 5) for _ in range(n)]
    drawn = sorted(median(rng.choices(values, k=n)) for _ in range(max(400, 4000 // n)))
    found = location(values)
    spread = found.high - found.low
    assert found.low == pytest.approx(quantile(drawn, 0.025), abs=0.25 * spread)
    assert found.high == pytest.approx(quantile(drawn, 0.975), abs=0.25 * spread)


values_of_processes = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)


@given(values_of_processes, shuffles)
def test_location_ignores_order_and_stays_within_the_values(values, rng):
    found = location(values)
    assert min(values) <= found.low <= found.value <= found.high <= max(values)
    rng.shuffle(values)
    assert location(values) == found


@given(sides, st.sampled_from([0.25, 0.5, 2.0, 1024.0]))
def test_location_scales_with_its_values(values, factor):
    found, scaled = location(values), location([x * factor for x in values])
    assert scaled == Interval(found.value * factor, found.low * factor, found.high * factor)


@given(values_of_processes)
def test_location_of_mirrored_values_is_mirrored(values):
    found, mirrored = location(values), location([-x for x in values])
    assert mirrored == Interval(-found.value, -found.high, -found.low)


def test_location_refuses_one_value_and_what_is_not_finite():
    for bad in ([1.0], [], [1.0, math.nan], [1.0, math.inf]):
        with pytest.raises(ComparisonError):
            location(bad)


# quantiles


def test_quantile_is_linear_between_order_statistics():
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([1, 2, 3, 4, 5], 0.9) == pytest.approx(4.6)
    assert quantile([7], 0.99) == 7
    assert (quantile([3, 1, 2], 0), quantile([3, 1, 2], 1)) == (1, 3)
    with pytest.raises(ComparisonError):
        quantile([], 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile([1], 1.5)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.floats(0, 1), st.floats(0, 1))
def test_quantile_rises_with_p(values, p, q):
    low, high = sorted((p, q))
    at_low, at_high = quantile(values, low), quantile(values, high)
    assert min(values) <= at_low <= max(values)
    assert at_low <= at_high or at_low == pytest.approx(at_high)


@pytest.mark.parametrize(("p", "needed"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688)])
def test_samples_that_support_a_percentile(p, needed):
    assert samples_needed(p) == needed
    assert samples_needed(1 - p) == needed
    assert p**needed <= 0.025 < p ** (needed - 1)


@pytest.mark.parametrize("p", [0, 1, -1, math.nan])
def test_no_number_of_samples_supports_an_extreme(p):
    with pytest.raises(ValueError, match="supports"):
        samples_needed(p)


def test_percentiles_are_refused_by_the_smallest_process():
    many, few = [1.0 + k for k in range(400)], [1.0 + k for k in range(367)]
    assert quantile_location([many, few, many], 0.99) == Unsupported(needed=368, have=367)
    assert isinstance(quantile_location([many, many, many], 0.99), Interval)
    with pytest.raises(ComparisonError, match="at least 2"):
        quantile_location([many], 0.5)


def test_percentile_is_the_geometric_mean_of_the_processes():
    found = quantile_location([[1.0] * 6, [4.0] * 6], 0.5)
    assert isinstance(found, Interval)
    assert found.value == pytest.approx(2)
    assert found.low * found.high == pytest.approx(4)


# verdicts


def test_minimum_effect_is_the_farther_bound_of_the_noise():
    assert minimum_effect(None) == 0.01
    assert minimum_effect(Interval(1, 0.995, 1.004)) == 0.01
    assert minimum_effect(Interval(1, 0.999, 1.03)) == pytest.approx(0.03)
    assert minimum_effect(Interval(0.99, 0.96, 1.001)) == pytest.approx(1 / 0.96 - 1)


@given(ratios())
def test_minimum_effect_reads_alike_from_both_sides(noise):
    assert minimum_effect(noise) == pytest.approx(minimum_effect(noise.inverse()))


@pytest.mark.parametrize(
    ("low", "value", "high", "effect", "verdict"),
    [
        (1.02, 1.05, 1.08, 0.01, Verdict.BETTER),
        (1.01, 1.05, 1.08, 0.01, Verdict.INCONCLUSIVE),
        (1.02, 1.05, 1.08, 0.03, Verdict.INCONCLUSIVE),
        (0.90, 0.95, 0.98, 0.01, Verdict.WORSE),
        (0.90, 0.95, 0.98, 0.05, Verdict.INCONCLUSIVE),
        (0.995, 1.0, 1.005, 0.01, Verdict.SAME),
        (0.98, 1.0, 1.005, 0.05, Verdict.INCONCLUSIVE),
        (0.5, 1.0, 2.0, 0.01, Verdict.INCONCLUSIVE),
        (1.0, 1.0, 1.0, 0.2, Verdict.SAME),
    ],
)
def test_verdicts(low, value, high, effect, verdict):
    assert judge(Interval(value, low, high), effect) is verdict


MIRROR = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


@given(ratios(), effects)
def test_judge_is_antisymmetric(ratio, effect):
    edges = [1 + effect, 1 / (1 + effect), 1 + BASE_EFFECT, 1 / (1 + BASE_EFFECT)]
    assume(all(abs(bound - edge) > 1e-12 for bound in (ratio.low, ratio.high) for edge in edges))
    verdict = judge(ratio, effect)
    assert judge(ratio.inverse(), effect) is MIRROR.get(verdict, verdict)


ORDER = {Verdict.WORSE: 0, Verdict.INCONCLUSIVE: 1, Verdict.SAME: 1, Verdict.BETTER: 2}


@given(ratios(), effects, st.floats(1, 2))
def test_a_better_ratio_is_never_judged_worse(ratio, effect, factor):
    better = Interval(ratio.value * factor, ratio.low * factor, ratio.high * factor)
    assert ORDER[judge(better, effect)] >= ORDER[judge(ratio, effect)]


@given(ratios(), effects, effects)
def test_a_higher_bar_decides_nothing_new(ratio, first, second):
    low, high = sorted((first, second))
    if judge(ratio, high) is not Verdict.INCONCLUSIVE:
        assert judge(ratio, low) is judge(ratio, high)


@pytest.mark.parametrize("effect", [0, 0.009, -1, math.nan, math.inf])
def test_an_effect_below_one_percent_is_refused(effect):
    with pytest.raises(ValueError, match="at least"):
        judge(Interval(1, 1, 1), effect)


# planning


def test_processes_needed_shrinks_the_interval_until_it_decides():
    assert processes_needed(Interval(1.05, 1.03, 1.07), 0.01, 9) == 0
    assert processes_needed(Interval(1.05, 1.05 / 1.06, 1.05 * 1.06), 0.01, 9) == 10
    assert processes_needed(Interval(1, 1 / 1.02, 1.02), 0.01, 9) == 23
    with pytest.raises(ValueError, match="at least 2"):
        processes_needed(Interval(1, 1, 1), 0.01, 1)


def test_nothing_decides_an_estimate_between_same_and_the_minimum_effect():
    assert processes_needed(Interval(1.02, 1.0, 1.04), 0.03, 9) is None
    assert processes_needed(Interval(1.01, 0.99, 1.03), 0.01, 9) is None


@given(ratios(), effects, st.integers(2, 40))
def test_planning_reads_alike_from_both_sides(ratio, effect, n):
    assume(abs(ratio.value - 1) > 1e-6)
    first, second = processes_needed(ratio, effect, n), processes_needed(ratio.inverse(), effect, n)
    assert first == second or abs((first or 10**6) - (second or 10**6)) <= 1e-6 * 10**6


def test_planned_processes_decide_about_every_other_time():
    rng, spread, speedup, decided = random.Random(5), 0.02, 1.03, 0
    half = 2.2281388519649385 * spread * math.sqrt(2 / 6)
    more = processes_needed(Interval(speedup, speedup / math.exp(half), speedup * math.exp(half)), BASE_EFFECT, 6)
    assert more is not None
    for _ in range(400):
        baseline = [math.exp(rng.gauss(0, spread)) for _ in range(6 + more)]
        candidate = [math.exp(rng.gauss(0, spread)) / speedup for _ in range(6 + more)]
        decided += judge(gain(baseline, candidate, True), BASE_EFFECT) is Verdict.BETTER
    assert 0.4 < decided / 400 < 0.6


# geometric mean


def test_geometric_mean_of_equal_intervals_narrows_by_the_root_of_the_count():
    one = Interval(1.2, 1.2 / 1.1, 1.2 * 1.1)
    found = geometric_mean([one] * 4)
    assert found.count == 4
    assert found.interval.value == pytest.approx(1.2)
    assert math.log(found.interval.high / found.interval.low) == pytest.approx(math.log(1.1))
    assert found.leave_one_out == pytest.approx((1.2, 1.2))


def test_one_cell_that_dominates_shows_when_left_out():
    found = geometric_mean([Interval(1, 1, 1), Interval(1, 1, 1), Interval(8, 8, 8)])
    assert found.interval.value == pytest.approx(2)
    assert found.leave_one_out == pytest.approx((1, math.sqrt(8)))


def test_geometric_mean_of_one_is_itself():
    one = Interval(1.2, 1.1, 1.4)
    found = geometric_mean([one])
    assert same(found.interval, one)
    assert found.leave_one_out is None


def test_geometric_mean_refuses_nothing_and_zero():
    with pytest.raises(ComparisonError, match="no ratios"):
        geometric_mean([])
    with pytest.raises(ComparisonError, match="positive"):
        geometric_mean([Interval(1, 0, 2)])


@given(st.lists(ratios(), min_size=1, max_size=8), shuffles)
def test_geometric_mean_ignores_order_and_inverts(several, rng):
    found = geometric_mean(several)
    assert same(found.interval, geometric_mean([r.inverse() for r in several]).interval.inverse())
    rng.shuffle(several)
    assert same(found.interval, geometric_mean(several).interval)


# samples


def test_coefficient_of_variation():
    assert coefficient_of_variation([0.1] * 3) == 0
    assert coefficient_of_variation([9.0, 11.0]) == pytest.approx(math.sqrt(2) / 10)
    for bad in ([1.0], [-1.0, 1.0], [math.nan, 1.0]):
        with pytest.raises(ComparisonError):
            coefficient_of_variation(bad)


def noise(rng: random.Random, n: int) -> list[float]:
    return [rng.gauss(100, 1) for _ in range(n)]


def test_drift_is_found_and_sized():
    rng = random.Random(1)
    rising = [value * (1 + 0.05 * k / 100) for k, value in enumerate(noise(rng, 100))]
    found = drift(rising)
    assert found is not None
    assert found == pytest.approx(0.033, abs=0.01)
    assert drift(rising[::-1]) == pytest.approx(-found)


def test_drift_rarely_cries_wolf():
    rng = random.Random(2)
    alarms = sum(drift(noise(rng, n)) is not None for n in (10, 30, 100) for _ in range(300))
    assert alarms / 900 < 0.02


@given(st.lists(st.floats(1.0, 2.0), min_size=10, max_size=40), st.floats(0.0, 0.5))
def test_drift_leaves_out_small_changes_and_no_others(samples, least):
    found = drift(samples)
    assert drift(samples, least) == (found if found is not None and abs(found) >= least else None)


def test_drift_needs_samples_that_differ():
    assert drift([1.0] * 50) is None
    assert drift([1.0, 2.0, 3.0]) is None
    assert drift([-1.0] * 10 + [0.0] + [1.0] * 10) is None


@given(st.lists(st.sampled_from([1.0, 1.5, 2.0]), max_size=40).filter(bool))
def test_drift_of_tied_samples_mirrors(samples):
    forwards, backwards = drift(samples), drift(samples[::-1])
    assert (forwards is None) == (backwards is None)
    assert forwards is None or forwards == -backwards


def test_two_modes_are_found():
    rng = random.Random(3)
    found = modes([rng.gauss(rng.choice((100, 110)), 0.5) for _ in range(100)])
    assert found == pytest.approx((100, 110), abs=0.5)
    assert modes([6.05e-6] * 70 + [6.66e-6] * 30) == pytest.approx((6.05e-6, 6.66e-6))


def test_one_mode_is_not_two():
    rng = random.Random(4)
    shapes = (
        lambda: rng.gauss(100, 1),
        lambda: rng.uniform(90, 110),
        lambda: 100 + rng.expovariate(1),
        lambda: rng.lognormvariate(0, 0.3),
    )
    alarms = sum(
        modes([draw() for _ in range(n)]) is not None for draw in shapes for n in (30, 100) for _ in range(100)
    )
    assert alarms <= 8
    assert modes([1.0] * 100) is None
    assert modes([*noise(rng, 95), *[500.0] * 5]) is None
    assert modes([1.0, 2.0]) is None
    assert modes([1.0] * 50 + [1.001] * 50) is None


# the facts the method rests on, simulated with fixed seeds


def process(rng: random.Random, between: float, within: float, samples: int) -> list[float]:
    centre = rng.gauss(0, between)
    return [math.exp(centre + rng.gauss(0, within)) for _ in range(samples)]


def test_pooled_samples_call_identical_code_different_and_processes_do_not():
    rng, pooled, by_process = random.Random(11), 0, 0
    for _ in range(300):
        a, b = ([process(rng, 0.005, 0.003, 100) for _ in range(5)] for _ in "ab")
        crosses = gain(*([x for one in side for x in one] for side in (a, b)), True)
        pooled += not crosses.low <= 1 <= crosses.high
        crosses = gain(*([median(one) for one in side] for side in (a, b)), True)
        by_process += not crosses.low <= 1 <= crosses.high
    assert pooled / 300 > 0.75
    assert by_process / 300 < 0.08


@pytest.mark.parametrize("n", [3, 6, 9])
def test_gain_covers_the_true_ratio(n):
    rng, hits = random.Random(12 + n), 0
    for _ in range(1000):
        a, b = [math.exp(rng.gauss(0.3, 0.01)) for _ in range(n)], [math.exp(rng.gauss(0, 0.03)) for _ in range(n)]
        found = gain(a, b, True)
        hits += found.low <= math.exp(0.3) <= found.high
    assert 0.93 <= hits / 1000 <= 0.985


@pytest.mark.parametrize(("n", "least"), [(6, 0.9), (9, 0.91), (10, 0.91), (20, 0.92)])
def test_location_covers_the_true_median(n, least):
    rng, hits = random.Random(n), 0
    for _ in range(1000):
        found = location([rng.lognormvariate(0, 0.1) for _ in range(n)])
        hits += found.low <= 1 <= found.high
    assert least <= hits / 1000 <= 0.99


def test_percentiles_over_processes_cover_where_pooled_ones_do_not():
    rng, over, pooled = random.Random(21), 0, 0
    for _ in range(150):
        by_process = [process(rng, 0.1, 0.4, 256) for _ in range(9)]
        truth = math.exp(1.2815515655446004 * math.hypot(0.1, 0.4))
        found = quantile_location(by_process, 0.9)
        assert isinstance(found, Interval)
        over += found.low <= truth <= found.high
        everything = sorted(x for one in by_process for x in one)
        # The order-statistic interval of 2304 pooled requests, as if they were independent.
        pooled += everything[2044] <= truth <= everything[2102]
    assert over / 150 > 0.85
    assert pooled / 150 < 0.6


@given(st.floats(0.05, 5000), st.floats(0.05, 5000), st.floats(0, 1))
def test_the_incomplete_beta_function_is_that_of_scipy(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(scipy.special.betainc(a, b, x), rel=1e-9, abs=1e-12)


@given(st.floats(1, 1e6))
def test_students_point_is_that_of_scipy(freedom: float) -> None:
    assert _student(freedom) == pytest.approx(scipy.special.stdtrit(freedom, 0.975), rel=1e-9)


@pytest.mark.parametrize(("a", "b", "x"), [(0.0, 1.0, 0.5), (1.0, -1.0, 0.5), (1.0, 1.0, -0.1), (1.0, 1.0, 1.1)])
def test_no_incomplete_beta_function_outside_its_domain(a: float, b: float, x: float) -> None:
    with pytest.raises(ValueError, match="no incomplete beta"):
        incomplete_beta(a, b, x)


@given(sides, sides, st.booleans())
def test_a_decided_verdict_is_the_one_that_the_means_lean_to(a, b, lower):
    verdict = judge(gain(a, b, lower), BASE_EFFECT)
    if verdict is not Verdict.INCONCLUSIVE:
        assert verdict is leaning(a, b, lower)


@given(sides, st.floats(0.97, 1.03), st.booleans())
def test_close_calls_lean_as_they_are_decided(a, factor, lower):
    b = [value * factor for value in a]
    verdict = judge(gain([a[0]] * 6, [b[0]] * 6, lower), BASE_EFFECT)
    assert verdict in (Verdict.INCONCLUSIVE, leaning([a[0]], [b[0]], lower))


def test_what_has_no_logarithm_leans_nowhere():
    assert leaning([], [1.0], True) is None
    assert leaning([1.0, 0.0], [1.0, 1.0], True) is None
