from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.statistics import Interval
from evidence.units import (
    FIGURE_SPACE,
    MINUS,
    PLAIN,
    PUNCTUATION_SPACE,
    Scale,
    counted,
    format_change,
    format_count,
    format_interval,
    format_number,
    format_ratio,
    format_value,
    parse_number,
    parse_quantity,
    scale_for,
    scale_named,
    sentence_decimals,
    sentence_ratio_decimals,
    table_change_decimals,
    table_decimals,
    table_ratio_decimals,
)

UNITS = ("s", "B", "J", "1", "1/s", "token/s", "B/s", "FLOP/s", "bit/B")
numbers = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.floats(1e-12, 1e18)


def around(value: float, half: float) -> Interval:
    return Interval(value, value - half, value + half)


@given(numbers, st.integers(0, 20))
def test_a_formatted_number_reads_back_within_half_a_unit_of_its_last_digit(value, decimals):
    error = abs(Decimal(repr(parse_number(format_number(value, decimals)))) - Decimal(repr(value)))
    # A float of 17 digits may itself be coarser than the last digit shown.
    assert error <= Decimal(5).scaleb(-decimals - 1) + abs(Decimal(repr(value))) * Decimal("1e-15")


@given(numbers, st.integers(0, 20))
def test_negation_changes_the_sign_alone(value, decimals):
    assert format_number(value, decimals).lstrip(MINUS) == format_number(-value, decimals).lstrip(MINUS)


@given(numbers, numbers, st.integers(0, 6))
def test_formatting_keeps_order(first, second, decimals):
    low, high = sorted((first, second))
    assert parse_number(format_number(low, decimals)) <= parse_number(format_number(high, decimals))


@given(sizes, st.sampled_from(UNITS))
def test_the_smallest_value_of_a_column_is_at_least_one_in_its_unit_where_one_is_small_enough(smallest, unit):
    scale = scale_for(smallest, unit)
    assert smallest / scale.factor >= 1 - 1e-12 or scale == scale_for(5e-324, unit)
    assert scale_for(-smallest, unit) == scale


@given(sizes, st.sampled_from(UNITS), st.integers(0, 6))
def test_a_value_reads_back_in_its_stored_unit(value, unit, decimals):
    scale = scale_for(value, unit)
    found, stored = parse_quantity(format_value(value, scale, decimals))
    assert stored == unit
    assert abs(found - value) <= 0.5001 * scale.factor * 10**-decimals + value * 1e-15


@given(st.text(max_size=20))
def test_any_text_is_a_number_or_a_value_error(text):
    for parse in (parse_number, parse_quantity):
        try:
            parse(text)
        except ValueError:
            continue


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_what_is_not_finite_has_no_text(value):
    for shown in (
        lambda: format_number(value, 1),
        lambda: format_value(value, PLAIN, 1),
        lambda: format_ratio(value, 1),
        lambda: format_change(value),
        lambda: scale_for(value, "s"),
    ):
        with pytest.raises(ValueError, match="finite"):
            shown()


@pytest.mark.parametrize("decimals", [-1, 10_000])
def test_a_number_is_never_rounded_to_tens(decimals):
    with pytest.raises(ValueError, match="tens"):
        format_number(549.495, decimals)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (549.495, 0, "549"),
        (549.495, 1, "549.5"),
        (1234567.891, 2, "1,234,567.89"),
        (-0.004, 2, "0.00"),
        (-1234.5, 1, "−1,234.5"),
        (0.125, 2, "0.12"),
        (0.375, 2, "0.38"),
        (2.675, 2, "2.68"),
        (1e22, 0, "10,000,000,000,000,000,000,000"),
        (9007199254740993, 0, "9,007,199,254,740,993"),
    ],
)
def test_numbers(value, decimals, text):
    assert format_number(value, decimals) == text


@pytest.mark.parametrize("half", [0.04, 0.3, 3, 12, 30, 499])
def test_549_495_is_never_550(half):
    for decimals in (sentence_decimals(around(549.495, half)), table_decimals(around(549.495, half))):
        assert format_number(549.495, decimals) != "550"


@pytest.mark.parametrize(
    ("smallest", "unit", "suffix"),
    [
        (69.8e-6, "s", "µs"),
        (0.9e-9, "s", "ns"),
        (1e-3, "s", "ms"),
        (0.000999999, "s", "µs"),
        (1e-6, "s", "µs"),
        (90, "s", "s"),
        (0, "s", "s"),
        (999, "B", "B"),
        (1207959552.0, "B", "GB"),
        (4.27e12, "B/s", "TB/s"),
        (300e9, "B/s", "GB/s"),
        (686e12, "FLOP/s", "TFLOP/s"),
        (0.002, "J", "mJ"),
        (1376, "token/s", "tok/s"),
        (12, "1/s", "/s"),
        (0.9, "1", ""),
        (0.97, "bit/B", "bit/B"),
    ],
)
def test_scale_of_a_column(smallest, unit, suffix):
    assert scale_for(smallest, unit).suffix == suffix


def test_scale_chosen_by_an_author_must_fit():
    assert scale_named("ms", "s") == Scale("ms", -3)
    assert scale_named("us", "s") == scale_named("μs", "s") == Scale("µs", -6)
    with pytest.raises(ValueError, match="not shown in 'GB' but in ns, µs, ms, s"):
        scale_named("GB", "s")
    with pytest.raises(ValueError, match="not a stored unit"):
        scale_named("ms", "ms")


def test_factor_is_stored_units_a_shown_unit():
    assert Scale("µs", -6).factor == 1e-6
    assert Scale("GB", 9).factor == 1e9


@pytest.mark.parametrize(
    ("value", "half", "sentence", "table"),
    [
        (69.8312, 0.4, 1, 1),
        (69.8312, 0.14, 1, 2),
        (69.8312, 0.29, 1, 2),
        (70, 0.3, 1, 1),
        (69.8312, 0.004, 2, 3),
        (69.8312, 2.9, 0, 1),
        (69.8312, 12, 0, 0),
        (12345.6, 0.5, 0, 1),
        (0.012, 0.0004, 4, 4),
        (2069.504, 1e-9, 0, 2),
        (2069.504, 0, 0, 0),
        (1.5, 0, 3, 3),
        (0, 0.02, 2, 3),
        (0, 0, 0, 0),
        (5, 400, 0, 0),
    ],
)
def test_digits_come_from_the_interval(value, half, sentence, table):
    assert sentence_decimals(around(value, half)) == sentence
    assert table_decimals(around(value, half)) == table


def test_digits_are_those_of_the_shown_unit():
    assert table_decimals(around(69.8312e-6, 0.14e-6), Scale("µs", -6)) == 2
    assert sentence_decimals(around(69.8312e-6, 0.14e-6), Scale("ns", -9)) == 0


@given(st.floats(1e-3, 1e6), st.floats(1e-6, 1e-1))
def test_a_sentence_never_has_more_digits_than_a_table(value, relative):
    interval = around(value, value * relative)
    assert sentence_decimals(interval) <= table_decimals(interval)
    assert sentence_ratio_decimals(interval) <= table_ratio_decimals(interval)


@given(st.floats(1e-3, 1e6), st.floats(1e-6, 1e-1))
def test_a_sentence_has_four_significant_digits_or_no_decimals(value, relative):
    decimals = sentence_decimals(around(value, value * relative))
    assert decimals == 0 or value * 10**decimals < 10_000


@pytest.mark.parametrize(
    ("low", "value", "high", "sentence", "table"),
    [
        (1.15, 1.16, 1.17, "1.16×", "1.160×"),
        (1.379, 1.381, 1.383, "1.38×", "1.381×"),
        (1.0, 1.2, 1.8, "1.2×", "1.20×"),
        (0.1, 3.2, 9.0, "3.2×", "3.20×"),
        (9.98, 9.984, 9.99, "9.98×", "9.984×"),
        (12.31, 12.345, 12.38, "12.3×", "12.34×"),
        (140, 150.4, 160, "150×", "150×"),
        (0.73, 0.7412, 0.75, "0.74×", "0.741×"),
        (1.0, 1.0, 1.0, "1.00×", "1.000×"),
    ],
)
def test_ratios(low, value, high, sentence, table):
    ratio = Interval(value, low, high)
    assert format_ratio(value, sentence_ratio_decimals(ratio)) == sentence
    assert format_ratio(value, table_ratio_decimals(ratio)) == table


@pytest.mark.parametrize(
    ("change", "decimals", "text"),
    [
        (1.31, 0, "+131 %"),
        (-0.5, 0, "−50 %"),
        (0.004, 0, "0 %"),
        (-0.004, 0, "0 %"),
        (0.0478, 1, "+4.8 %"),
        (0.139, 1, "+13.9 %"),
        (10.9, 0, "+1,090 %"),
        (0.0, 1, "0.0 %"),
    ],
)
def test_changes_carry_their_sign(change, decimals, text):
    assert format_change(change, decimals) == text


def test_a_change_in_a_table_has_one_decimal_at_most():
    assert table_change_decimals(around(0.048, 0.001)) == 1
    assert table_change_decimals(around(0.048, 0.04)) == 0
    assert table_change_decimals(around(0.5, 0)) == 1


def test_intervals():
    assert format_interval(Interval(1.16, 1.15, 1.17), 2) == "1.15–1.17"
    assert format_interval(Interval(2069.5e-6, 2060e-6, 2080e-6), 0, Scale("µs", -6)) == "2,060–2,080 µs"
    assert format_interval(around(-0.5, 2.5), 0) == "−3 to 2"


def test_bounds_in_the_wrong_order_are_refused():
    class Wrong:
        value, low, high = 1.0, 2.0, 0.0

    with pytest.raises(ValueError, match="wrong order"):
        table_decimals(Wrong())


def test_counts_are_whole():
    assert format_count(10304) == "10,304"
    assert format_count(-10304) == "−10,304"
    assert format_count(7) == "7"


def test_things_are_counted_in_words_that_fit():
    assert [counted(number, "log") for number in (0, 1, 2, 10304)] == ["0 logs", "1 log", "2 logs", "10304 logs"]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("69.8 µs", 69.8e-6, "s"),
        ("69.8us", 69.8e-6, "s"),
        ("−1,234.5 ms", -1.2345, "s"),
        ("4.27 TB/s", 4.27e12, "B/s"),
        ("742 tok/s", 742, "token/s"),
        ("12 /s", 12, "1/s"),
        ("0.93", 0.93, "1"),
        (f"69.8{FIGURE_SPACE} µs", 69.8e-6, "s"),
        (f"69{PUNCTUATION_SPACE}{FIGURE_SPACE} µs", 69e-6, "s"),
    ],
)
def test_shown_text_reads_back(text, value, unit):
    assert parse_quantity(text) == (value, unit)


@pytest.mark.parametrize("text", ["", "ms", "1.2.3", "1,23", "1234,567", "5 parsecs", "nan", "inf", "1" * 400])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match=r"number|unit"):
        parse_quantity(text)
    with pytest.raises(ValueError, match=r"number|unit"):
        parse_number(text)
