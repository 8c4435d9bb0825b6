from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker.catalogue import find
from evidence.checker.corpus import Corpus
from evidence.project import Project
from tests.factories import loaded, record
from tests.projects import CLAIMS, MKDOCS

LOG = "kernels/toy_20260901"
SHOWN = '{{ ev.claim("toy-fused") }}\n\n'
RULES = ["EV702", "EV703", "EV704", "EV705", "EV711", "EV904", "EV906"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "docs/claims").mkdir(parents=True)
    (folder / "docs/claims/page.yml").write_text(CLAIMS)
    loaded(record(), folder / "docs/benchmark_logs")
    return folder


def found(root: Path, code: str, page: str, *, mkdocs: str = MKDOCS) -> list[tuple[str, int]]:
    (root / "mkdocs.yml").write_text(mkdocs)
    (root / "docs/page.md").write_text(page)
    return [(one.at.path, one.at.line) for one in find(code).check(Corpus(Project.find(root)))]


FAILING = [
    ("EV702", '{{ ev.claim("toy-fuse") }}', 1),
    ("EV702", '{{ ev.table("toy-fused") }}', 1),
    ("EV702", '{{ ev.claims("toy-fused") }}', 1),
    ("EV702", 'x {{ ev.value("toy-fused", "nothing") }}', 1),
    ("EV702", '{{ ev.environment("kernels/other_20260901") }}', 1),
    ("EV702", "\n{{ whatever }}", 2),
    ("EV703", "{{ ev.table(page.title) }}", 1),
    ("EV703", "{{ ev.table() }}", 1),
    ("EV703", '{{ ev.table("toy", "more") }}', 1),
    ("EV703", '{{ ev.external("2×") }}', 1),
    ("EV703", '{% set t = ev.table %}{{ t("toy") }}', 1),
    ("EV704", '```\n{{ ev.table("toy") }}\n```', 2),
    ("EV704", '<!-- {{ ev.table("toy") }} -->', 1),
    ("EV704", '<div hidden markdown>\n\n<div>x</div>\n\n{{ ev.table("toy") }}\n\n</div>', 5),
    ("EV704", '<section style="color: red; display:none" markdown>\n\n{{ ev.table("toy") }}\n\n</section>', 3),
    ("EV704", '{% raw %}{{ ev.table("toy") }}{% endraw %}', 1),
    ("EV704", "# Title {#anchor}", 1),
    ("EV705", 'words {{ ev.table("toy") }}', 1),
    ("EV705", '# {{ ev.table("toy") }}', 1),
    ("EV705", '{{ ev.claim("toy-fused") }}\n\n{{ ev.claim("toy-fused") }}', 3),
    ("EV705", '!!! note\n\n{{ ev.table("toy") }}', 1),
    ("EV705", SHOWN + "```\nnot closed", 3),
    ("EV711", "[raw](benchmark_logs/kernels/toy_20200101/record.json)", 1),
    ("EV711", "see `docs/benchmark_logs/kernels/gone_20260901`", 1),
    ("EV711", "see `benchmark_logs/kernels/none_*`", 1),
    ("EV711", "[log](logs/kernels/toy_20200101.md)", 1),
    ("EV711", "[claim](#ev-toy-fused)", 1),
    ("EV711", 'only {{ ev.value("toy-fused", "ratio") }}', 1),
    ("EV904", '---\nrender_macros: false\n---\n{{ ev.table("toy") }}', 4),
    ("EV904", "---\nev: x\n---\ntext", 2),
    ("EV904", "---\na: [\n---\ntext", 1),
    ("EV904", '{% set ev = "x" %}', 1),
    ("EV906", '{% if page %}{{ ev.table("toy") }}{% endif %}', 1),
    ("EV906", 'x {{ ev.says("toy-fused") | upper }}', 1),
    ("EV906", '{% include "other.md" %}', 1),
    ("EV906", 'text\n\n--8<-- "other.md"', 3),
]
PASSING = [
    ("EV702", SHOWN + 'It is {{ ev.value("toy-fused", "ratio") }}. {{ page.title }}\n\n{{ ev.table("toy") }}'),
    ("EV702", f'{{{{ ev.environment("{LOG}") }}}}\n\n{{{{ ev.reproduce("toy") }}}}'),
    ("EV703", '{{ ev.chart("toy", kind="bars") }}'),
    ("EV704", "<div hidden>\n\nx\n\n</div>\n\n" + SHOWN),
    ("EV704", SHOWN + '{% raw %}`{{ ev.table("toy") }}`{% endraw %}'),
    ("EV705", '!!! note\n\n    {{ ev.table("toy") }}\n\n- {{ ev.claim("toy-fused") }}'),
    ("EV711", SHOWN + f"[raw](benchmark_logs/{LOG}/record.json) `docs/benchmark_logs/{LOG}/` [c](#ev-toy-fused)"),
    ("EV711", f"[log](logs/{LOG}.md) `benchmark_logs/kernels/toy_*` [out](https://example.org/benchmark_logs/x)"),
    ("EV904", "---\nrender_macros: false\n---\n`{{ ev.table('toy') }}` in code"),
    ("EV906", SHOWN),
]


@pytest.mark.parametrize(("code", "page", "line"), FAILING)
def test_a_fault_is_found_at_its_line(root: Path, code: str, page: str, line: int) -> None:
    assert found(root, code, page) == [("docs/page.md", line)]


@pytest.mark.parametrize(("code", "page"), PASSING)
def test_a_sound_page_has_no_finding(root: Path, code: str, page: str) -> None:
    assert found(root, code, page) == []


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_a_failing_and_a_passing_page(code: str) -> None:
    assert code in {case[0] for case in FAILING}
    assert code in {case[0] for case in PASSING}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  - evidence\n", ""),
        ("on_undefined: strict", "on_undefined: keep"),
        ("extra: {generator: false}", "extra: {ev: 1}"),
        ("modules: [evidence.macros], ", ""),
        ("modules: [evidence.macros], ", "modules: [evidence.macros], render_by_default: false, "),
    ],
    ids=["no plugin", "braces kept", "a key named ev", "no module", "not opted in"],
)
def test_a_configuration_under_which_calls_would_not_run_is_found(root: Path, old: str, new: str) -> None:
    assert old in MKDOCS
    assert found(root, "EV904", SHOWN, mkdocs=MKDOCS) == []
    assert len(found(root, "EV904", SHOWN, mkdocs=MKDOCS.replace(old, new))) == 1
