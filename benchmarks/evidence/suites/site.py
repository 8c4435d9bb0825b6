"""Owns the suite `site`: what building pages whose tables are called by macros costs beside typing the tables."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import ROOT
from benchmarks.evidence.projects import digest_of_files, files_of
from benchmarks.evidence.sites import BARE, MACROS, TYPED, Shape, numbers_in, numbers_of, write_sites
from benchmarks.evidence.suite import (
    CPU_TIME,
    WALL_TIME,
    Check,
    Command,
    GateChecks,
    Ran,
    Side,
    Sizes,
    Suite,
    exits_clean,
    metric,
    run_untimed,
)
from evidence.schema import Setting
from evidence.schema.arms import Role

_TAG = re.compile(r"<[^>]*>")


def _prepare(folder: Path, sizes: Sizes) -> Path:
    root = folder / "sites"
    root.mkdir()
    write_sites(root, _shape(sizes), sizes["seed"])
    return root


def _shape(sizes: Sizes) -> Shape:
    return Shape(pages=sizes["pages"], tables=sizes["tables"], series=sizes["series"])


def _settings(inputs: Path, sizes: Sizes) -> Mapping[str, str]:
    return {
        "pages": str(sizes["pages"]),
        "tables": str(sizes["pages"] * sizes["tables"]),
        "series": str(sizes["series"]),
        "seed": str(sizes["seed"]),
        "inputs sha256": digest_of_files(inputs),
    }


def _command(kind: str) -> Command:
    def command(inputs: Path, written: Path) -> tuple[str, ...]:
        return "-m", "mkdocs", "build", "--quiet", "--config-file", f"{inputs / kind}/mkdocs.yml", "-d", str(written)

    return command


def _held(ran: Ran, sizes: Sizes) -> Iterator[Check]:
    """Every number of every table stands on its page, as often as its tables hold it."""
    yield exits_clean(ran)
    for page, expected in numbers_of(ran.inputs).items():
        found = _numbers_in(ran.written / page)
        for number, times in expected.items():
            for time in range(times):
                yield Check(
                    f"{number} in {page}", "" if time < found[number] else f"stands there {found[number]} times"
                )


def _gate(kind: str) -> GateChecks:
    def gate(inputs: Path, scratch: Path, sizes: Sizes) -> Iterator[Check]:
        done = run_untimed(_command(kind)(inputs, scratch), ROOT)
        return _held(Ran(inputs, scratch, done.stdout + done.stderr, done.returncode), sizes)

    return gate


def _numbers_in(path: Path) -> Counter[str]:
    """Count the numbers of a page that a reader sees: those outside of tags."""
    if not path.is_file():
        return Counter()
    text = html.unescape(_TAG.sub(" ", path.read_text(encoding="utf-8")))
    return numbers_in(text)


def _side(kind: str, role: Role) -> Side:
    switch = (Setting(name="tables", value=kind),)
    return Side(kind, role, "mkdocs.__main__:cli", _command(kind), "numbers-shown", _gate(kind), _held, switch)


SUITE = Suite(
    name="site",
    module=__name__,
    summary="building pages whose tables are called by macros, beside the same tables typed",
    sizes={"pages": 200, "tables": 5, "series": 8, "seed": 1},
    prepare=_prepare,
    warmed=files_of,
    settings=_settings,
    sides=(_side(TYPED, "baseline"), _side(MACROS, "candidate"), _side(BARE, "alternative")),
    axes=("tables",),
    metrics=(metric(CPU_TIME, "target"), metric(WALL_TIME, "context")),
    measured=(
        "evidence/plugin.py",
        "evidence/macros.py",
        "evidence/generated.py",
        "evidence/book.py",
        "evidence/tables/*.py",
        "evidence/renderers/*.py",
    ),
    gates=("benchmarks/evidence/sites.py", "benchmarks/evidence/suites/site.py"),
    limitations=(
        "typed: title, tally, the nine facts of the stance, every value, interval, ratio and verdict word, footnotes, "
        "and in a fold the command, environment, gates, record link with digest, and limitations, all as Markdown",
        "typed has no drawn intervals, no pages of logs and rules, and no check; macros bring all three",
        "typed-bare: titles and tables only, without stance, footnotes and evidence",
        "the tables are distinct, but stand on a handful of synthetic logs: every page shows all rows of one, so that "
        "each row recurs on many pages, and macros compute it once; each further log takes time of its own",
        "the search reads every word of typed, the tables' numbers among them; of macros every word but those numbers",
        "whole builds into an empty folder; the page cache is warm",
    ),
)
