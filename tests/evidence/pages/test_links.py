from __future__ import annotations

from evidence.pages.links import links, named_logs


def test_links_into_the_site_are_resolved() -> None:
    body = "[a](../benchmark_logs/k/x/record.json) [b](#ev-toy)\n\n[c]: other.md#part\n\n<a href='x.md'>d</a>\n"
    found = [(one.line, one.path, one.fragment) for one in links(body, "guides/page.md")]
    assert found == [
        (1, "benchmark_logs/k/x/record.json", ""),
        (1, "", "ev-toy"),
        (3, "guides/other.md", "part"),
        (5, "guides/x.md", ""),
    ]


def test_other_sites_and_code_are_left_alone() -> None:
    assert list(links("[a](https://example.org/x) `[b](c.md)` [d](/absolute)", "page.md")) == []


def test_logs_named_in_text_are_found() -> None:
    body = "see `docs/benchmark_logs/k/x_20260101` and benchmark_logs/k/x_*.\n\n```\nbenchmark_logs/in/code\n```\n"
    assert [one.path for one in named_logs(body)] == ["benchmark_logs/k/x_20260101", "benchmark_logs/k/x_*"]
