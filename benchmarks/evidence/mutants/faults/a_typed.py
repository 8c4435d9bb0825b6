"""Owns mutations of class A on pages: numbers that nobody can hold to a log, typed where a reader sees them."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.evidence.mutants.mutation import Family, Mutation, mutation
from benchmarks.evidence.mutants.workbench import Mutant

PAGES = ("docs/kernels.md", "docs/serving.md", "docs/scaling.md")
_PLACES = {
    "a-paragraph": "Fusing made it {}.",
    "a-heading": "## Now {}\n\nSee above.",
    "a-list": "- batching, {}\n- fusing",
    "a-quotation": "> It is {}, said a user.",
    "bold": "It is **{}** now.",
    "link-text": "It is [{}](kernels.md) now.",
    "a-footnote": "It is quick.[^quick]\n\n[^quick]: By our own count it is {}.",
    "an-admonition": '!!! tip "Result"\n\n    It is {}.',
    "an-admonition-title": '!!! tip "It is {}"\n\n    See above.',
    "a-tab-title": '=== "It is {}"\n\n    See above.',
    "alternative-text": "![It is {}](chart.png)",
    "an-html-paragraph": "<p>It is {}.</p>",
    "an-html-attribute": '<span title="It is {}">Look</span> here.',
    "an-html-summary": "<details><summary>It is {}</summary>\nSee above.\n</details>",
    "a-definition": "Speed\n:   It is {}.",
    "a-cell": "| case | what we saw |\n|---|---|\n| long prompts | {} |",
    "code-in-a-sentence": "On long prompts it is `{}`.",
    "html-code": "On long prompts it is <code>{}</code>.",
}
_FORMS: tuple[Callable[[Mutant], str], ...] = (
    lambda mutant: f"{mutant.drawn(1.1, 9)}x faster",
    lambda mutant: f"{mutant.drawn(1.1, 9)}× faster",
    lambda mutant: f"{mutant.rng.randint(11, 90)} % faster",
    lambda mutant: f"{mutant.rng.randint(1, 9)},{mutant.rng.randint(100, 999)} tok/s",
    lambda mutant: f"down to {mutant.drawn(1, 90, 1)} ms",
)
_WORDS = {
    "twice": "Batching is twice as fast.",
    "half": "Batching takes half the time.",
    "doubles": "Batching doubles throughput.",
    "fold": "Batching is a tenfold improvement.",
    "times": "Batching is {} times faster.",
    "two-times": "Batching is three times as fast.",
    "a-third": "Batching takes a third less time.",
    "per-cent": "Batching is eighteen per cent faster.",
    "percent-spelt": "Batching is {} percent faster.",
    "bytes-less": "Batching needs {} GB less memory.",
    "times-sign-first": "Batching is ×{} quicker.",
    "speed-up-of": "Batching has a speedup of {}.",
    "milliseconds": "A token takes {} milliseconds.",
    "per-second": "It answers {} requests per second.",
    "bandwidth": "The kernel reaches {} TB/s.",
    "flops": "The kernel reaches {} TFLOP/s.",
    "from-to": "Latency goes from {} to {} ms.",
    "points": "Accuracy is within {} points of the reference.",
    "accuracy": "Accuracy is {} % on the task.",
    "hidden-in-mathematics": "Batching is $ {} \\times $ faster.",
    "comma-for-a-point": "Batching is 1,{}x faster.",
    "split-by-markup": "Batching is {}<b>x</b> faster.",
    "entity": "Batching is {}&times; faster.",
}
_BLOCKS = {
    "a-table": "| N | plain (ms) | fused (ms) |\n|---|---|---|\n| 64 | {} | {} |\n| 128 | {} | {} |",
    "a-table-of-rows": "| metric | plain | fused |\n|---|---|---|\n| latency (ms) | {} | {} |",
    "an-html-table": "<table><tr><th>N</th><th>latency (ms)</th></tr><tr><td>64</td><td>{}</td></tr></table>",
    "a-text-fence": "```text\nthroughput: {} tok/s\nlatency: {} ms\n```",
    "a-bare-fence": "```\nfused {} ms\nplain {} ms\n```",
    "a-json-fence": '```json\n{{"throughput_tok_s": {}, "latency_ms": {}}}\n```',
    "a-csv-fence": "```csv\nN,plain_ms,fused_ms\n64,{},{}\n```",
    "an-indented-block": "It printed:\n\n    fused {} ms\n    plain {} ms",
    "a-pre-element": "<pre>\nfused {} ms\n</pre>",
    "a-mermaid-chart": '```mermaid\nxychart-beta\n  bar [{}, {}]\n  y-axis "ms"\n```',
}


def _in_a_place(name: str, template: str) -> Mutation:
    def act(mutant: Mutant) -> None:
        page = mutant.rng.choice(PAGES)
        mutant.append(page, template.format(mutant.rng.choice(_FORMS)(mutant)))

    act.__name__ = f"typed_in_{name}"
    act.__doc__ = f"A number that looks measured is typed in {name.replace('-', ' ')} of a page."
    return mutation("A", "EV701", fault=2)(act)


def _worded(name: str, template: str) -> Mutation:
    def act(mutant: Mutant) -> None:
        page = mutant.rng.choice(PAGES)
        mutant.append(page, template.format(mutant.drawn(1.2, 8.9), mutant.drawn(1.2, 8.9)))

    act.__name__ = f"worded_as_{name}"
    act.__doc__ = f"A result is worded as: {template}"
    return mutation("A", "EV701")(act)


def _pasted(name: str, template: str) -> Mutation:
    def act(mutant: Mutant) -> None:
        page = mutant.rng.choice(PAGES)
        mutant.append(page, template.format(*(mutant.drawn(2, 90) for _ in range(4))))

    act.__name__ = f"pasted_as_{name}"
    act.__doc__ = f"Results are pasted as {name.replace('-', ' ')}."
    return mutation("A", "EV701", fault=2)(act)


PLACES = Family(tuple(_in_a_place(*one) for one in _PLACES.items()))
WORDS = Family(tuple(_worded(*one) for one in _WORDS.items()))
BLOCKS = Family(tuple(_pasted(*one) for one in _BLOCKS.items()))


@mutation("A", "EV701", fault=1)
def typed_ends_and_ratio(mutant: Mutant) -> None:
    """Two rates of two baselines, and a ratio that is not theirs, typed on a page."""
    low, high = mutant.rng.randint(300, 900), mutant.rng.randint(4000, 9000)
    mutant.append("docs/serving.md", f"Batching took it from {low} to {high} tok/s ({high / low / 2:.1f}x).")


@mutation("A", "EV701")
def typed_in_the_readme(mutant: Mutant) -> None:
    """A ratio is typed into README.md."""
    mutant.append("README.md", f"Fusing is {mutant.drawn(1.1, 9)}x faster.")


@mutation("A", "EV701")
def typed_in_the_changelog(mutant: Mutant) -> None:
    """A percentage is typed into CHANGELOG.md."""
    mutant.append("CHANGELOG.md", f"- Latency is {mutant.rng.randint(11, 60)} % lower.")


@mutation("A", "EV701")
def typed_in_release_notes(mutant: Mutant) -> None:
    """A ratio is typed into a page of release notes."""
    mutant.write("docs/releases.md", f"# Releases\n\n## 1.2\n\n- Fusing is {mutant.drawn(1.1, 9)}x faster.\n")


@mutation("A", "EV701")
def typed_on_a_page_without_claims(mutant: Mutant) -> None:
    """A rate is typed on a page that renders nothing."""
    mutant.append("docs/guide.md", f"You should see {mutant.rng.randint(1000, 9000)} tok/s.")


@mutation("A", "EV701", "EV904")
def typed_in_front_matter(mutant: Mutant) -> None:
    """A ratio is typed into the description of a page, which search engines show."""
    page = mutant.rng.choice(PAGES)
    mutant.edit(page, lambda text: f"---\ndescription: {mutant.drawn(1.1, 9)}x faster kernels\n---\n\n{text}")


@mutation("A", "EV701", "EV702", "EV703", "EV904", "EV906")
def typed_into_the_configuration(mutant: Mutant) -> None:
    """A ratio is kept in mkdocs.yml, and a page prints it from there."""
    mutant.append("mkdocs.yml", f"extra: {{gain: {mutant.drawn(1.1, 9)}x}}")
    mutant.append("docs/kernels.md", "Fusing is {{ gain }} faster.")


@mutation("A", "EV701", "EV702", "EV703", "EV906")
def typed_into_an_expression(mutant: Mutant) -> None:
    """A ratio is typed inside the braces of a template."""
    mutant.append("docs/kernels.md", f'Fusing is {{{{ "{mutant.drawn(1.1, 9)}x" }}}} faster.')


@mutation("A", "EV701", "EV906", "EV704")
def typed_into_an_included_file(mutant: Mutant) -> None:
    """A ratio is typed into a file that a page includes."""
    mutant.write("docs/result.txt", f"Fusing is {mutant.drawn(1.1, 9)}x faster.\n")
    mutant.append("docs/kernels.md", "{% include 'result.txt' %}")


@mutation("A", "EV701", "EV714")
def typed_into_the_site_description(mutant: Mutant) -> None:
    """A ratio is typed into the description of the site."""
    mutant.append("mkdocs.yml", f"site_description: kernels that are {mutant.drawn(1.1, 9)}x faster")


@mutation("A", "EV701")
def typed_into_the_navigation(mutant: Mutant) -> None:
    """A ratio is typed into a title of the navigation."""
    mutant.append("mkdocs.yml", f'nav:\n  - index.md\n  - "Kernels, {mutant.drawn(1.1, 9)}x faster": kernels.md')
