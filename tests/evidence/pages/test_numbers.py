from __future__ import annotations

import pytest

from evidence.pages.numbers import typed_numbers, typed_results, typed_tables


@pytest.mark.parametrize(
    "text",
    [
        "runs 1.8x faster",
        "a 1.8× win",
        "it is 2 times faster",
        "three times the throughput",
        "twice as fast",
        "half the memory",
        "doubles throughput",
        "a tenfold gain",
        "10x",
        "+3.6 % TPOT",
        "−0.6 % TTFT",
        "13.9 % faster than before",
        "a geometric mean of 5.4 %",
        "within 1.5 points of the higher one",
        "618 -> 6162 tok/s",
        "1,000 requests per second",
        "4.4 TB/s",
        "300 TFLOP/s",
        "300 TFLOPS",
        "takes 12.5 µs",
        "4,411 us for every payload",
        "in 35 ms",
        "after 5 seconds",
    ],
)
def test_measurements_are_found(text: str) -> None:
    assert list(typed_numbers(text)), text


@pytest.mark.parametrize(
    "text",
    [
        "shape 64 × 4,096",
        "2 x 8",
        "8× H200",
        "8x GPUs",
        "4× NVIDIA A100",
        "torch 2.13.0 and Python 3.11",
        "80 GB of memory",
        "H100, fp8, int4, x86_64",
        "p99 in 3 steps of 9 processes",
        "in the 1990s",
        "5 % of processes are discarded",
        "run it twice",
        "**No universal speedup.** Ratios carry 95 % intervals",
        "with a 95 % confidence interval it is better",
        "EV101, section 3.2",
        "1024 tokens",
    ],
)
def test_shapes_counts_and_versions_are_not(text: str) -> None:
    assert list(typed_numbers(text)) == []


def test_one_number_a_line_is_reported_at_its_line() -> None:
    found = list(typed_numbers("first 1.2x then 1.3x\n\nand 5 ms"))
    assert [(one.line, one.text) for one in found] == [(1, "1.2x"), (3, "5 ms")]


def test_a_table_of_results_is_found_by_its_head() -> None:
    table = "| arm | time, ms |\n|---|--:|\n| eager | 1.5 |\n"
    assert [one.line for one in typed_tables(f"text\n\n{table}")] == [3]
    assert list(typed_tables(table.replace("time, ms", "rows"))) == []
    assert list(typed_tables(table.replace("1.5", "text"))) == []


def test_pasted_output_is_found_and_code_is_not() -> None:
    assert [one.line for one in typed_results("```text\nthroughput: 550 tok/s\n```")] == [1]
    assert list(typed_results("```python\nx = '550 tok/s'\n```")) == []
