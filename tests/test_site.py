"""Real builds of small synthetic sites: what is sound is published, and what is not is not, with every reason."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from evidence import pictures
from evidence.book import Book
from evidence.cli import cli
from evidence.project import Project
from evidence.schema import Record
from evidence.store import Store
from tests.evidence.test_pictures import png
from tests.projects import CLAIMS, MKDOCS, write_project

PLACES = """\
# Cost {{ ev.value("toy-fused", "ratio") }}

In text: {{ ev.says("toy-fused") }} A value: {{ ev.value("toy-fused", "ratio") }}. See [the claim](#ev-toy-fused).

{{ ev.claim("toy-fused") }}

!!! note "A box"

    {{ ev.table("toy") }}

- {{ ev.value("toy-fused", "candidate") }}
- a list

    {{ ev.chart("toy", kind="bars") }}

=== "A tab"

    {{ ev.reproduce("toy-fused") }}

| head | other |
|---|---|
| {{ ev.value("toy-fused", "ratio") }} | text |

> {{ ev.environment("kernels/toy_20260901") }}

A vendor says {{ ev.external("2.0×", source="its sheet of 2024") }}; {{ ev.spec("4.8 TB/s", device="a GPU") }}; we want
{{ ev.target("3×") }}.

The log: [raw](benchmark_logs/kernels/toy_20260901/record.json), [page](logs/kernels/toy_20260901.md).

{% raw %}`{{ ev.table("toy") }}`{% endraw %} is how to call it.

<!-- evidence: allow EV701 because="from a keynote" owner="@docs" until=2999-12-31 -->
Somebody said 9.9× faster.
"""


@dataclass(frozen=True)
class Built:
    """One build: its exit status, all it said, and where it wrote."""

    status: int
    said: str
    site: Path

    def text(self, path: str) -> str:
        return (self.site / path).read_text(encoding="utf-8")

    @property
    def pages(self) -> list[Path]:
        return list(self.site.rglob("*.html"))


def build(root: Path, *options: str) -> Built:
    command = [sys.executable, "-m", "mkdocs", "build", *options]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return Built(done.returncode, done.stdout + done.stderr, root / "site")


def article(html: str) -> str:
    return html[html.index("<article") : html.index("</article>")]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = write_project(
        tmp_path_factory.mktemp("good"), {"features.md": PLACES, "index.md": "# Home\n\n{{ ev.status() }}\n"}
    )
    notes = root / "docs/benchmark_logs/kernels/toy_20260901"
    assert notes.is_dir()
    built = build(root, "--strict")
    assert built.status == 0, built.said
    return built


def test_every_call_is_placed_as_its_block(good: Built) -> None:
    html = article(good.text("features/index.html"))
    assert html.count('class="ev-claim ') == 1
    assert re.search(r'<div class="admonition note">\s*<p[^>]*>A box</p>\s*<section class="ev-block"', html)
    assert re.search(r"<li>\s*<p>a list</p>\s*<section class=\"ev-chart\"", html)
    assert re.search(r'<div class="tabbed-block">\s*<(?:section|div)[^>]*>', html)
    assert re.search(r"<td><a class=\"ev-value", html)
    assert re.search(r"<blockquote>\s*<section class=\"ev-card\"", html)
    assert html.count('class="ev-borrowed"') == 3
    assert '<code>{{ ev.table("toy") }}</code>' in html


def test_a_waiver_is_printed_where_it_stands_and_listed(good: Built) -> None:
    html = article(good.text("features/index.html"))
    assert re.search(r'<p class="ev-waiver">[^\n]*from a keynote[^\n]*</p><p>\s*Somebody said', html)
    assert "from a keynote" in article(good.text("index.html"))


def test_headings_have_the_value_in_their_anchor_title_and_contents(good: Built) -> None:
    html = good.text("features/index.html")
    assert '<h1 id="cost-125">' in html
    assert "<title>Cost 1.25× - Toy</title>" in html
    assert 'href="#cost-125"' in html


def test_html_is_well_formed_and_anchors_are_unique(good: Built) -> None:
    for path in good.pages:
        html = article(path.read_text(encoding="utf-8"))
        _Balanced(html)
        ids = re.findall(r'\sid="([^"]+)"', html)
        assert len(ids) == len(set(ids)), (path, ids)


def test_links_to_evidence_lead_to_files(good: Built) -> None:
    for path in good.pages:
        for target in re.findall(r'href="([^"#]+)(?:#[^"]*)?"', article(path.read_text(encoding="utf-8"))):
            if not target.startswith(("http", "mailto:")):
                found = (path.parent / target).resolve()
                assert (found / "index.html").is_file() or found.is_file(), (path, target)


def test_a_log_and_a_rule_have_their_page(good: Built) -> None:
    log = article(good.text("logs/kernels/toy_20260901/index.html"))
    for part in (
        "Synthetic GPU A",
        "python -m benchmarks.ops.run",
        "kernels/toy_20260901",
        "eager-again",
        "ev-toy-fused",
    ):
        assert part in log
    rule = article(good.text("rules/EV702/index.html"))
    assert "How to fix it" in rule
    assert "EV702" in good.text("rules/index.html")


def test_raw_evidence_is_published_as_it_is(good: Built) -> None:
    source = good.site.parent / "docs"
    for path in ("benchmark_logs/kernels/toy_20260901/record.json", "benchmark_logs/SHA256SUMS", "claims/features.yml"):
        assert (good.site / path).read_bytes() == (source / path).read_bytes()


def test_search_finds_sentences_but_not_tables(good: Built) -> None:
    index = json.loads(good.text("search/search_index.json"))
    texts = " ".join(entry["text"] for entry in index["docs"] if entry["location"].startswith("features"))
    assert "fusing runs 1.25× faster" in texts
    log = " ".join(entry["text"] for entry in index["docs"] if entry["location"].startswith("logs/kernels"))
    assert "python -m benchmarks.ops.run" in log
    assert "1,001.0" in good.text("logs/kernels/toy_20260901/index.html")
    assert "1,001.0" not in log
    assert any(entry["title"].startswith("Cost 1.25×") for entry in index["docs"])


def test_no_token_is_left_and_nothing_is_fetched(good: Built) -> None:
    for path in good.site.rglob("*"):
        if path.suffix in (".html", ".json", ".xml"):
            assert not re.search(r"ev[0-9a-f]{32}", path.read_text(encoding="utf-8")), path
    assert not re.search(r'(?:src|href)="https?://(?!squidfunk)', good.text("features/index.html"))


BROKEN = {
    "unknown.md": '---\ntitle: x\n---\n\n# A\n\n{{ ev.claim("toy-fuse") }}\n\n{{ ev.tabel("a") }}\n\n{{ ev.table() }}',
    "field.md": '# A\n\n{{ ev.claim("toy-fused") }} \n\nIt is {{ ev.value("toy-fused", "nothing") }}.\n',
    "undefined.md": "# A\n\n{{ nothing_defines_this.at_all }}\n",
    "syntax.md": "# A\n\n{{ ev.table( }}\n",
    "filter.md": '# A\n\n{{ ev.says("toy-fused") | upper }}\n',
    "code.md": '# A\n\n```\n{{ ev.table("toy") }}\n```\n',
    "comment.md": '# A\n\n<!-- {{ ev.table("toy") }} -->\n',
    "words.md": '# A\n\nBeside words {{ ev.table("toy") }} is a table.\n',
    "never.md": '# A\n\n{% if false %}{{ ev.table("toy") }}{% endif %}\n',
    "twice.md": '# A\n\n{% for n in [1, 2] %}{{ ev.says("toy-fused") }}{% endfor %}\n',
    "disabled.md": '---\nrender_macros: false\n---\n\n# A\n\n{{ ev.table("toy") }}\n',
    "shadow.md": "---\nev: x\n---\n\n# A\n\ntext\n",
    "typed.md": '# A\n\n{{ ev.says("toy-fused") }} That is 1.8× faster.\n',
}
EXPECTED = [
    ("unknown.md", 7, "EV702"),
    ("unknown.md", 9, "EV702"),
    ("unknown.md", 11, "EV703"),
    ("field.md", 5, "EV702"),
    ("undefined.md", 3, "EV702"),
    ("syntax.md", 3, "EV704"),
    ("filter.md", 3, "EV906"),
    ("code.md", 4, "EV704"),
    ("comment.md", 3, "EV704"),
    ("words.md", 3, "EV705"),
    ("never.md", 3, "EV906"),
    ("twice.md", 3, "EV906"),
    ("disabled.md", 7, "EV904"),
    ("shadow.md", 2, "EV904"),
    ("typed.md", 3, "EV701"),
]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("broken"), BROKEN)


@pytest.mark.parametrize("options", [("--strict",), ("--strict", "-q"), ("-q",)], ids=" ".join)
def test_a_broken_site_is_not_published_and_says_everything_once(broken: Path, options: tuple[str, ...]) -> None:
    mkdocs = broken / "mkdocs.yml"
    mkdocs.write_text(MKDOCS if "--strict" in options else MKDOCS.replace("strict: true\n", ""))
    built = build(broken, *options)
    assert built.status == 1, built.said
    assert built.pages == []
    for page, line, code in EXPECTED:
        assert built.said.count(f"docs/{page}:{line}: {code} ") == 1, (page, line, code, built.said)
    assert "did you mean 'toy-fused'?" in built.said
    assert "Traceback" not in built.said.partition("so nothing was published")[2]
    reported = re.findall(r"^(?:ERROR.* )?docs/(\w+\.md):(\d+): (EV\d+) ", built.said, re.MULTILINE)
    assert sorted(reported) == sorted((page, str(line), code) for page, line, code in EXPECTED)


def hostile(made: Record) -> Record:
    text = "</code><script>alert(1)</script> | {{ 7 * 7 }} ]]> `x` \u202e <!-- --> \"' \u0007"
    return made.model_copy(update={"limitations": (text, "{% for x in y %}", "{#", "ev" + "0" * 32 + "x0x")})


def test_hostile_text_of_a_record_neither_runs_nor_breaks_the_page(tmp_path: Path) -> None:
    root = write_project(tmp_path, change=hostile)
    built = build(root, "--strict")
    assert built.status == 0, built.said
    for path in ("features/index.html", "logs/kernels/toy_20260901/index.html"):
        html = article(built.text(path))
        _Balanced(html)
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html
        assert "7 * 7" in html
        assert "49" not in re.sub(r"[0-9a-f]{12,}|[\d.]+%", "", html.split("Limitations")[1].split("</ul>")[0])
        assert "\u202e" not in html
        assert "\u0007" not in html


def test_a_file_of_a_log_is_never_rendered_or_run(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    folder = root / "docs/benchmark_logs/kernels/toy_20260901"
    (folder / "notes.md").write_text("# {{ 7 * 7 }}\n")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    (folder / ".hidden").write_text("x")
    built = build(root)
    assert built.status == 1
    assert "EV0" in built.said, "a file that no record lists is a finding"
    assert "notes.md" in built.said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  - evidence\n", "", "without the evidence plugin"),
        (
            "  - macros: {modules: [evidence.macros], on_undefined: strict}\n  - evidence\n",
            "  - evidence\n",
            "needs mkdocs-macros before it",
        ),
        ("on_undefined: strict", "on_undefined: keep", "on_undefined: strict"),
        ("modules: [evidence.macros], ", "", "modules: [evidence.macros]"),
        (
            "on_undefined: strict}\n  - evidence",
            "on_undefined: strict}\n  - evidence: {x: 1}",
            "Unrecognised configuration name",
        ),
    ],
    ids=["no plugin", "no macros", "braces kept", "no module", "an option"],
)
def test_a_site_that_could_publish_unchecked_numbers_does_not_start(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in MKDOCS
    root = write_project(tmp_path, mkdocs=MKDOCS.replace(old, new))
    built = build(root, "--strict")
    assert built.status != 0
    assert said in built.said
    assert "Traceback" not in built.said
    assert built.pages == []


def test_a_macro_that_fails_inside_is_a_problem_of_its_line(tmp_path: Path) -> None:
    root = write_project(tmp_path, mkdocs=MKDOCS + "hooks: [hook.py]\n")
    fail = "def fail(*_):\n    raise ZeroDivisionError('inside')\n"
    (root / "hook.py").write_text(f"import evidence.macros\n\n{fail}\nevidence.macros._PARTS['table'] = fail\n")
    built = build(root, "-q")
    assert built.status == 1
    assert "docs/features.md:5: EV901 rule-crashed: ev.table failed: ZeroDivisionError: inside" in built.said
    assert built.pages == []


def test_a_claim_that_its_log_contradicts_is_not_published(tmp_path: Path) -> None:
    root = write_project(tmp_path, claims=CLAIMS.replace("expect: better", "expect: worse"))
    built = build(root, "-q")
    assert built.status == 1
    assert "docs/claims/features.yml:" in built.said
    assert "EV602 contradicted-claim" in built.said
    assert "EV901" not in built.said
    assert built.pages == []


class _Balanced(HTMLParser):
    """Fails where elements do not nest, or a block stands in a paragraph."""

    VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
    BLOCKS = frozenset({"section", "div", "table", "dl", "ul", "ol", "figure", "details", "p"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == ["article"], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not (tag in self.BLOCKS and "p" in self.open), f"<{tag}> in a paragraph, line {self.getpos()}"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"


def test_a_figure_a_diagnostic_and_a_synced_block_are_published(tmp_path: Path) -> None:
    log = "kernels/toy_20260901"
    page = (
        '{{ ev.figure("drawn") }}\n\nStill {{ ev.diagnostic("toy-apart", "ratio") }}.\n\n{{ ev.table("toy") }}\n\n'
        "<!-- evidence: says toy-fused --><!-- /evidence -->\n"
    )
    apart = CLAIMS.partition("tables:")[0].partition("claims:\n")[2].replace("toy-fused", "toy-apart")
    apart += "    status: {do_not_cite: the fan was off}\n"
    claims = CLAIMS.replace("tables:\n", f"{apart}tables:\n")
    root = write_project(tmp_path, {"features.md": page}, claims=claims)
    project = Project.find(root)
    image = root / "docs/figures/drawn.png"
    image.parent.mkdir()
    image.write_bytes(png(8, 4))
    pictures.describe(Book(project, Store(project.logs)), "toy-fused", image, "Fusing is {ratio} better.")
    refused = build(root, "--strict")
    assert refused.status == 1
    assert "docs/features.md:7: EV709 stale-synced-block" in refused.said
    assert CliRunner().invoke(cli, ["sync", "--root", str(root)]).exit_code == 0
    built = build(root, "--strict")
    assert built.status == 0, built.said
    html = article(built.text("features/index.html"))
    assert '<img src="../figures/drawn.png" alt="On Synthetic GPU A, fusing runs 1.25× faster."' in html
    assert "<figcaption>Fusing is 1.25× better.</figcaption>" in html
    assert (built.site / "figures/drawn.png").read_bytes() == image.read_bytes()
    labelled = r"1.25× \[1.247–1.253\] <small>\(diagnostic: not to be cited: the fan was off; one session\)"
    assert re.search(rf'<a class="ev-borrowed" href="../logs/{log}/">{labelled}', html)
    assert "On Synthetic GPU A, fusing runs 1.25× faster (FASTER, 1.25× (95 % 1.247–1.253), n 9)." in html
    _Balanced(html)
