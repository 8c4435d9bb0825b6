"""Owns three documentation sites with the same numbers: tables called by macros, typed in full, and typed bare.

Every page shows all cells of one synthetic log in its tables, each table another part of the sizes; tables are all
different, pages stand on a handful of logs.

`macros`: each table is a call, `{{ ev.table("…") }}`, and the site is checked while it is built. It also gets what the
plugin adds by itself: a page a log, a page a rule, and their indexes.

`typed`: the same pages, without the plugin, with Markdown in the place of each call, as somebody would type it who
wants to tell the reader the same. That is: title and tally; the nine facts of the stance on one line; the table, with
every value, interval, ratio and verdict word; footnotes; and under them a fold with the log's name, gates, limitations
and digest in its title and in it the command, the environment, each gate with its counts, a link to the record with
its size and digest, and the limitations. Not typed: the drawn intervals and marks beside the words, the pages of logs
and rules.

`typed-bare`: the same again with nothing but titles and tables.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase

from benchmarks.evidence.projects import CLAIMS, LOGS, commit, write, write_lock, write_log, write_source
from benchmarks.evidence.records import kernel_record
from evidence import ledger
from evidence.book import Book
from evidence.project import Project
from evidence.renderers import grid, markdown
from evidence.renderers.fold import gate_summary
from evidence.store import Store
from evidence.units import format_count
from evidence.views import Evidence, Table

MACROS, TYPED, BARE = "macros", "typed", "typed-bare"
KINDS = (MACROS, TYPED, BARE)

_NUMBERS = "numbers.json"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ROWS = 6
"""Rows of a table."""
_MKDOCS = """\
site_name: Synthetic
theme:
  name: material
  font: false
  features: [content.code.copy, navigation.indexes, navigation.top, toc.follow]
extra: {{generator: false}}
plugins:
  - search
{plugins}
markdown_extensions:
  - admonition
  - attr_list
  - footnotes
  - md_in_html
  - tables
  - toc: {{permalink: "#"}}
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.inlinehilite
  - pymdownx.superfences
  - pymdownx.tabbed: {{alternate_style: true}}
"""
_PLUGINS = """\
  - macros: {modules: [evidence.macros], on_undefined: strict}
  - evidence
"""
_TABLE = """\
  {id}:
    title: {title}
    series: {series}
    rows: [N]
    across: arm
    where: {{N: [{sizes}]}}
    columns: [time, {{ratio: time}}]
    baseline: plain
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the sites are."""

    pages: int
    tables: int
    """Of each page."""
    series: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes that each log measures: those of all tables of a page."""
        return tuple(1024 * number for number in range(1, _ROWS * self.tables + 1))


@dataclass(frozen=True, slots=True)
class _Spec:
    """One table: on which page it stands, of which log it is, and which sizes it shows."""

    id: str
    title: str
    series: str
    sizes: tuple[int, ...]


def write_sites(root: Path, shape: Shape, seed: int) -> None:
    """Write the three projects below `root`, each under the name of its kind."""
    specs = list(_specs(shape, seed))
    names = [f"kernels/site-{number}_synthetic" for number in range(shape.series)]
    for kind in KINDS:
        tree = write_source(root / kind, _MKDOCS.format(plugins=_PLUGINS if kind == MACROS else ""))
        lines: dict[str, str] = {}
        for name in names:
            lines |= write_log(root / kind, kernel_record(name, shape.sizes, tree, seed))
        write(root / kind / LOGS / ledger.FILE_NAME, ledger.dump(lines))
        commit(root / kind, f"{LOGS}/{ledger.FILE_NAME}")
    claims = "".join(
        _TABLE.format(id=one.id, title=one.title, series=one.series, sizes=", ".join(map(str, one.sizes)))
        for page in specs
        for one in page
    )
    write(root / MACROS / CLAIMS, f"tables:\n{claims}")
    write_lock(root / MACROS)
    project = Project.read(root / MACROS / "mkdocs.yml")
    book = Book(project, Store(project.logs))
    numbers: dict[str, Counter[str]] = {}
    for number, page in enumerate(specs):
        views = [book.table(one.id) for one in page]
        numbers[_built_path(number)] = sum((_numbers(view) for view in views), Counter())
        for kind in KINDS:
            blocks = [_block(kind, view, "../" if number else "") for view in views]
            text = "\n\n".join([f"# Page {number}", _PROSE, *blocks]) + "\n"
            write(root / kind / "docs" / page_path(number), text)
    write(root / _NUMBERS, json.dumps(numbers))


def page_path(number: int) -> str:
    """Return the path of a page below docs; the first one is the site's own index."""
    return "index.md" if number == 0 else f"part-{number // 20:02d}/page-{number:03d}.md"


def _built_path(number: int) -> str:
    """Return the path of a page in the site that is built."""
    return "index.html" if number == 0 else f"{page_path(number).removesuffix('.md')}/index.html"


_PROSE = (
    "What this page would say of its tables stands here, in a sentence or two, as it does on any page with numbers."
)


def _specs(shape: Shape, seed: int) -> Iterator[tuple[_Spec, ...]]:
    rng = random.Random(f"{seed}/tables")
    for page in range(shape.pages):
        sizes = list(shape.sizes)
        rng.shuffle(sizes)
        yield tuple(
            _Spec(
                f"page-{page:03d}-table-{table}",
                f"The op on some of its sizes, part {ascii_lowercase[table]}",
                f"kernels/site-{page % shape.series}_synthetic",
                tuple(sorted(sizes[_ROWS * table : _ROWS * (table + 1)])),
            )
            for table in range(shape.tables)
        )


def _block(kind: str, view: Table, root: str) -> str:
    if kind == MACROS:
        return f'{{{{ ev.table("{view.id}") }}}}'
    shown = markdown.table(view)
    if kind == BARE:
        rows = [line for line in shown.split("\n") if line.startswith("|")]
        return "\n".join([f"**{markdown.escape(view.title)}**", "", *rows])
    return "\n\n".join([shown.rstrip("\n"), *(_fold(log, root) for log in view.evidence)])


def _fold(log: Evidence, root: str) -> str:
    """What the macro folds under a table, typed: every text of it. `root` is the way from the page to docs."""
    count = f"{len(log.limitations)} limitations"
    title = " · ".join((log.log, gate_summary(log.gates), count, f"sha256 {log.sha256[:12]}"))
    facts = [f"- {markdown.escape(label)}: {markdown.escape(text)}" for label, text in log.environment]
    gates = [
        f"- {one.state}: **{markdown.escape(one.name)}** {markdown.escape(one.counts)}, {markdown.escape(one.text)}"
        for one in log.gates
    ]
    raw = f"[record.json]({root}{log.raw}) ({format_count(log.bytes)} bytes), `{log.sha256}`"
    limits = [f"- {markdown.escape(text)}" for text in log.limitations]
    parts = (("Command", ["```", log.command, "```"]), ("Environment", facts), ("Gate", gates), ("Raw", [raw]))
    lines: list[str] = []
    for label, content in (*parts, ("Limitations", limits)):
        lines += [f"**{label}**", "", *content, ""]
    return "\n".join([f'??? note "Evidence: {title}"', "", *(f"    {line}".rstrip() for line in lines)])


def _numbers(view: Table) -> Counter[str]:
    """Count the numbers in the cells of a table, as printed."""
    return sum((numbers_in(text) for row in view.rows for text in grid.cells(view, row)), Counter())


def numbers_in(text: str) -> Counter[str]:
    """Count the numbers in a text, each as it is printed."""
    return Counter(_NUMBER.findall(text))


def numbers_of(root: Path) -> Mapping[str, Mapping[str, int]]:
    """Return how often each number has to stand on each page, by the page's path in the site that is built."""
    found: dict[str, dict[str, int]] = json.loads((root / _NUMBERS).read_text(encoding="utf-8"))
    return found
