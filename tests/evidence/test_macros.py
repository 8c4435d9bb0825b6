from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
import pytest
from mkdocs.exceptions import PluginError

from evidence import pictures
from evidence.diagnostics import Location
from evidence.macros import Build, Macros, define_env
from evidence.pages.signatures import SIGNATURES
from evidence.schema.figures import FigureFile
from tests.evidence.test_pictures import png
from tests.factories import book, record
from tests.projects import CLAIMS

EXAMPLES = {
    "table": '"toy"',
    "chart": '"toy", kind="bars"',
    "diagnostic": '"toy-fused", "candidate:us"',
    "figure": '"toy-drawn"',
    "history": '"toy-fused"',
    "roofline": '"toy"',
    "claim": '"toy-fused"',
    "says": '"toy-fused"',
    "value": '"toy-fused", "ratio"',
    "environment": '"kernels/toy"',
    "reproduce": '"toy-fused"',
    "status": "",
    "external": '"2×", source="a page"',
    "spec": '"2 TB/s", device="a GPU"',
    "target": '"2×"',
}


@pytest.fixture
def build(tmp_path: Path) -> Build:
    shown = book(tmp_path, CLAIMS, record())
    image = tmp_path / "docs/figures/toy-drawn.png"
    image.parent.mkdir(parents=True)
    image.write_bytes(png(3, 2))
    described = pictures.describe(shown, "toy-fused", image, "Fusing runs {ratio} faster.")
    made = Build(shown, {"toy-fused": "features/"}, {"kernels/toy_20260901": "logs/x/"})
    file = FigureFile.model_validate_json(described.read_bytes())
    made.pictures = pictures.Pictures({"toy-drawn": pictures.Picture("toy-drawn", described, file)})
    made.docs = tmp_path / "docs"
    made.place = lambda line: Location("docs/page.md", line + 10)
    return made


def render(build: Build, template: str) -> str:
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(template).render(ev=Macros(lambda: build))


@pytest.mark.parametrize("macro", SIGNATURES)
def test_every_macro_returns_a_token_for_what_its_signature_says(build: Build, macro: str) -> None:
    text = render(build, f"a {{{{ ev.{macro}({EXAMPLES[macro]}) }}}} b")
    (index,) = build.mint.indices(text)
    assert build.mint.replace(text, lambda _: "T") == "a T b"
    piece = build.piece(index, "../")
    assert not build.problems, build.problems
    assert "ev-" in piece.html
    assert "\n" not in piece.html
    assert piece.is_block is SIGNATURES[macro].is_block
    assert piece.text


def test_a_call_knows_its_line_also_in_a_loop(build: Build) -> None:
    render(build, 'x\n\n{{ ev.table("a") }}\n{% for n in [1] %}\n{{ ev.table("b") }}\n{% endfor %}')
    assert [str(call.at) for call in build.calls.values()] == ["docs/page.md:13", "docs/page.md:15"]


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        ('ev.tabel("toy")', "EV702", "no macro 'ev.tabel'"),
        ('ev.table("toys")', "EV702", "no table 'toys'"),
        ('ev.claim("toy")', "EV702", "no claim 'toy'"),
        ('ev.value("toy-fused", "rat")', "EV702", "{rat}"),
        ('ev.environment("kernels/toyy")', "EV702", "kernels/toyy"),
        ('ev.chart("toy", kind="pie")', "EV702", "pie"),
        ('ev.diagnostic("toy-fused", "rat")', "EV702", "{rat}"),
        ('ev.figure("toy-draw")', "EV702", "no figure 'toy-draw'"),
        ("ev.table()", "EV703", "needs 'id'"),
        ('ev.table("toy", "x")', "EV703", "1 arguments at most"),
        ('ev.table(name="toy")', "EV703", "no 'name'"),
        ('ev.external("2×")', "EV703", "needs 'source'"),
        ('ev.spec("2×")', "EV703", "needs 'device'"),
    ],
)
def test_a_call_that_fails_is_a_problem_and_a_box_and_no_exception(
    build: Build, call: str, code: str, said: str
) -> None:
    (index,) = build.mint.indices(render(build, f"{{{{ {call} }}}}"))
    piece = build.piece(index, "")
    ((found, finding),) = build.problems
    assert found == code
    assert said in finding.message
    assert finding.fix
    assert finding.at == Location("docs/page.md", 11)
    assert "ev-error" in piece.html


def test_an_item_whose_log_contradicts_it_reports_what_the_check_reports(tmp_path: Path) -> None:
    claims = CLAIMS.replace("expect: better", "expect: worse")
    build = Build(book(tmp_path, claims, record()), {}, {})
    (index,) = build.mint.indices(render(build, '{{ ev.claim("toy-fused") }}'))
    assert "EV602" in build.piece(index, "").html
    assert tuple(build.problems) == build.book.findings


def test_a_malformed_item_is_an_echo_of_its_own_finding(tmp_path: Path) -> None:
    build = Build(book(tmp_path, CLAIMS.replace("expect: better", "expect: fine"), record()), {}, {})
    (index,) = build.mint.indices(render(build, '{{ ev.claim("toy-fused") }}'))
    assert "not shown" in build.piece(index, "").html.lower()
    assert not build.problems
    assert build.echoes


def test_a_view_is_rendered_once_for_all_pages_of_one_depth(build: Build) -> None:
    first, second = build.mint.indices(render(build, '{{ ev.table("toy") }}{{ ev.table("toy") }}'))
    assert build.piece(first, "../") is build.piece(second, "../")
    assert 'href="../benchmark_logs/' in build.piece(first, "../").html
    assert 'href="./benchmark_logs/' in build.piece(first, "").html


def test_claims_lead_to_their_callout_or_to_their_log(build: Build) -> None:
    assert build.page_of("toy-fused") == "features/"
    build.pages = {}
    assert build.page_of("toy-fused") == "logs/x/"
    assert build.page_of("unknown") is None


def test_a_diagnostic_is_shown_with_its_label_where_a_sentence_is_refused(tmp_path: Path) -> None:
    """Evidence not to be cited: the number is there, with the reason beside it, and leads to the page of its log."""
    log = "kernels/toy_20260901"
    claims = f"{CLAIMS}logs:\n  {log}: {{do_not_cite: the <fan> was off}}\n"
    build = Build(book(tmp_path, claims, record()), {}, {log: "logs/x/"})
    calls = 'a {{ ev.diagnostic("toy-fused", "ratio") }}{{ ev.value("toy-fused", "ratio") }}'
    labelled, refused = (build.piece(index, "../") for index in build.mint.indices(render(build, calls)))
    assert (
        "1.25× [1.247–1.253] <small>(diagnostic: not to be cited: the &lt;fan&gt; was off; one session)"
        in labelled.html
    )
    assert 'href="../logs/x/"' in labelled.html
    assert labelled.text == "1.25× (diagnostic: not to be cited: the <fan> was off; one session)"
    assert "not shown" in refused.html
    assert [code for code, _ in build.problems] == ["EV612"]


def test_the_status_lists_claims_that_cannot_be_shown(tmp_path: Path) -> None:
    build = Build(book(tmp_path, CLAIMS.replace("expect: better", "expect: worse"), record()), {}, {})
    (index,) = build.mint.indices(render(build, "{{ ev.status() }}"))
    assert "toy-fused" in build.piece(index, "").html
    assert not build.problems


def test_names_of_python_are_no_macros(build: Build) -> None:
    with pytest.raises(AttributeError):
        getattr(Macros(lambda: build), "__html__")  # noqa: B009
    with pytest.raises(jinja2.UndefinedError):
        render(build, "{{ ev.__wrapped__() }}")


def test_the_module_refuses_to_load_without_the_plugin() -> None:
    class Environment:
        def __init__(self, plugins: dict[str, Any]) -> None:
            self.conf = {"plugins": plugins}
            self.variables: dict[str, Any] = {}

    with pytest.raises(PluginError, match="without the evidence plugin"):
        define_env(Environment({}))
