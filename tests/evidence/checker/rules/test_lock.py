"""Tests of the rules on the lock: whatever is hand-edited, missing, or newer than it is named at its line, once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from evidence import lock
from evidence.diagnostics import Diagnostic
from evidence.schema import Crashed, PackageSource, Record, Superseded
from tests import factories
from tests.evidence import splitkv
from tests.evidence.checker.sites import Site, codes
from tests.evidence.splitkv import FIRST, SECOND, SERIES

LOCK = "docs/claims/evidence.lock"
RULES = ("EV607", "EV609", "EV610", "EV611", "EV616", "EV617")


def session(
    site: Site, log: str = FIRST, gains: dict[tuple[int, int], float] | None = None, **changes: object
) -> Record:
    """A session of the series on this site's own source."""
    return splitkv.splitkv(log, gains, sources=(site.source, factories.package_source()), **changes)


def claimed(site: Site, *later: Record, claims: str = splitkv.CLAIMS, page: str = splitkv.PAGE) -> Site:
    """A site on its first session, locked; then more sessions land."""
    site.add(session(site))
    site.write("docs/claims/features.yml", claims)
    site.write("docs/features.md", page)
    site.report()  # writes the lock
    site.keeps_lock = True
    for one in later:
        site.add(one)
    return site


def found(site: Site) -> list[Diagnostic]:
    return site.check(*RULES)


def edit(site: Site, change: Callable[[str], str], path: str = LOCK) -> None:
    text = (site.root / path).read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text, "the edit changes nothing"
    site.write(path, changed)


def test_a_site_that_stands_on_its_lock_has_no_finding(site: Site) -> None:
    made = claimed(site)
    assert found(made) == []
    assert (made.root / LOCK).is_file()


def line_of(site: Site, start: str) -> int:
    lines = (site.root / LOCK).read_text(encoding="utf-8").split("\n")
    return next(number for number, line in enumerate(lines, start=1) if line.startswith(start))


@dataclass(frozen=True)
class Edit:
    """One edit of the lock: where it is found and what is said."""

    name: str
    change: Callable[[str], str]
    start: str
    message: str


def without(start: str) -> Callable[[str], str]:
    return lambda text: "".join(line for line in text.splitlines(keepends=True) if not line.startswith(start))


EDITS = (
    Edit(
        "a ratio",
        lambda t: t.replace("1.091× FASTER", "1.191× FASTER"),
        'tables.splitkv-l4."1 / 8192"',
        "1.191× FASTER",
    ),
    Edit(
        "a verdict",
        lambda t: t.replace("0.900× SLOWER", "0.900× FASTER"),
        'tables.splitkv-l4."8 / 8192"',
        "0.900× FASTER",
    ),
    Edit("a unit", lambda t: t.replace("118.62 µs", "118.62 ms"), 'tables.splitkv-l4."1 / 8192"', "118.62 ms"),
    Edit("a sentence", lambda t: t.replace("cache gives 1.14×", "cache gives 1.41×"), "claims.splitkv.says", "1.41×"),
    Edit("a note", lambda t: t.replace("1 slower, 3", "0 slower, 3", 1), "claims.splitkv.note", "0 slower"),
    Edit("a digest", lambda t: re.sub(r"sha256 = \"....", 'sha256 = "0000', t), f'series."{SERIES}".sha256', "0000"),
    Edit("a device", lambda t: t.replace("NVIDIA L4 ·", "NVIDIA L40 ·"), f'series."{SERIES}".stance', "NVIDIA L40"),
    Edit(
        "no row", without('tables.splitkv-l4."1 / 8192"'), 'tables.splitkv-l4."64 / 2048"', "is missing: the logs say"
    ),
    Edit("no sentence", without("claims.splitkv.says"), "series.", "claims.splitkv.says is missing"),
    Edit("no claim", without("claims.splitkv."), "series.", "claims.splitkv is not in the lock"),
    Edit("no table", without("tables."), "", "tables.splitkv-l4 is not in the lock"),
    Edit("no series", without("series."), "tables.", f"series '{SERIES}' is not in the lock"),
    Edit("no digest", without(f'series."{SERIES}".sha'), f'series."{SERIES}".stance', "sha256 is missing"),
    Edit(
        "a row more",
        lambda t: t.replace('tables.splitkv-l4."64', 'tables.splitkv-l4."4 / 512" = "1 µs"\ntables.splitkv-l4."64', 1),
        'tables.splitkv-l4."4 / 512"',
        "is printed nowhere",
    ),
    Edit(
        "a claim more",
        lambda t: t.replace("claims.splitkv.note", 'claims.split.says = "x"\nclaims.splitkv.note'),
        "claims.split.says",
        "there is no claim 'split'",
    ),
    Edit(
        "a series more",
        lambda t: t.replace(f'series."{SERIES}".log', f'series."kernels/a".log = "20260101"\nseries."{SERIES}".log'),
        'series."kernels/a".log',
        "there is no claimed series 'kernels/a'",
    ),
    Edit(
        "another log",
        lambda t: t.replace('log = "20261105"', 'log = "20261104"'),
        f'series."{SERIES}".log',
        "not in the store",
    ),
    Edit(
        "an escape",
        lambda t: t.replace("Splitting", "Splitting\\u0020"),
        "claims.splitkv.says",
        "not as `evidence update`",
    ),
    Edit(
        "a comment", lambda t: t.replace("claims.splitkv.note", "# checked\nclaims.splitkv.note"), "# checked", "not as"
    ),
    Edit(
        "a merge", lambda t: t.replace("claims.splitkv.note", "<<<<<<< HEAD\nclaims.splitkv.note"), "<<<<<<<", "a merge"
    ),
)


@pytest.mark.parametrize("one", EDITS, ids=lambda one: one.name.replace(" ", "-"))
def test_each_hand_edit_is_one_finding_at_its_line(site: Site, one: Edit) -> None:
    made = claimed(site)
    edit(made, one.change)
    (diagnostic,) = found(made)
    assert diagnostic.code == "EV610"
    assert one.message in diagnostic.message
    assert "evidence update" in diagnostic.fix
    assert diagnostic.at.path.endswith(LOCK)
    if one.start:
        assert diagnostic.at.line == line_of(made, one.start)


def test_what_it_should_be_is_said(site: Site) -> None:
    made = claimed(site)
    edit(made, lambda text: text.replace("1.091× FASTER", "1.191× FASTER"))
    (diagnostic,) = found(made)
    assert diagnostic.message == (
        "tables.splitkv-l4.\"1 / 8192\" is '118.62 µs | 108.80 µs | 1.191× FASTER', "
        "and the logs say '118.62 µs | 108.80 µs | 1.091× FASTER'"
    )


def test_each_edited_line_is_a_finding_of_its_own(site: Site) -> None:
    made = claimed(site)
    edit(made, lambda text: text.replace("1.091× FASTER", "1.191× FASTER").replace("0.900× SLOWER", "0.950× SLOWER"))
    assert codes(found(made)) == ["EV610", "EV610"]


def test_no_lock_is_one_finding_with_what_to_do(site: Site) -> None:
    made = claimed(site)
    (made.root / LOCK).unlink()
    (diagnostic,) = found(made)
    assert (diagnostic.code, diagnostic.at.line) == ("EV610", 1)
    assert diagnostic.fix == "run `evidence update`, review the lines, and commit the file"


def test_a_site_without_claims_needs_none(site: Site) -> None:
    site.keeps_lock = True
    site.add(site.record())
    assert site.check() == []


def test_a_record_changed_in_its_place_is_told_once_by_the_lock(site: Site) -> None:
    """Whoever mends the ledger too is still found by the digest; what is printed from it is no second finding."""
    made = claimed(site)
    site.add(session(made, gains={(1, 8192): 1.9}))
    (diagnostic,) = found(made)
    assert "sha256" in diagnostic.message


CASCADES = (
    ("misspelt metric", lambda text: text.replace("metric: time", "metric: tiem"), ["EV601"]),
    ("misspelt key", lambda text: text.replace("    expect:", "    expcet:"), ["EV620"]),
    ("contradicted", lambda text: text.replace("{better: 5, worse: 1}", "better"), ["EV602"]),
    ("unreadable file", lambda text: "claims: [", ["EV620"]),
)


@pytest.mark.parametrize(("name", "change", "expected"), CASCADES, ids=[one[0].replace(" ", "-") for one in CASCADES])
def test_a_fault_of_the_claims_file_is_not_also_one_of_the_lock(
    site: Site, name: str, change: Callable[[str], str], expected: list[str]
) -> None:
    made = claimed(site)
    edit(made, change, "docs/claims/features.yml")
    assert [code for code in codes(made.check("EV6")) if code not in ("EV605", "EV606")] == expected


def test_an_edited_claim_is_a_finding_until_the_lock_is_updated(site: Site) -> None:
    made = claimed(site)
    edit(made, lambda text: text.replace("Splitting the cache", "A split cache"), "docs/claims/features.yml")
    (diagnostic,) = found(made)
    assert "claims.splitkv.says is 'Splitting the cache" in diagnostic.message


def test_a_new_claim_is_one_finding(site: Site) -> None:
    made = claimed(site)
    more = (
        f"  whole:\n    statement: It takes {{value.range}}.\n    series: {SERIES}\n    metric: time\n    arm: whole\n"
    )
    edit(made, lambda text: text + more, "docs/claims/features.yml")
    (diagnostic,) = found(made)
    assert diagnostic.message == "claims.whole is not in the lock"


def test_a_newer_log_waits_to_be_adopted(site: Site) -> None:
    made = claimed(site)
    made.add(session(made, SECOND))
    (diagnostic,) = found(made)
    assert (diagnostic.code, diagnostic.at.line) == ("EV609", line_of(made, f'series."{SERIES}".log'))
    assert diagnostic.message == "'kernels/splitkv_l4_20261128' is newer than the adopted '…_20261105'"
    assert diagnostic.fix == "run `evidence update`, and review what it prints"
    assert [place.path.rpartition("/")[2] for place in diagnostic.cited] == ["features.md", "features.md", "index.md"]


def test_a_refused_log_keeps_failing_until_somebody_decides(site: Site) -> None:
    made = claimed(site)
    second = session(made, SECOND)
    crash = Crashed(arm="split", workload="b1-t512", cause="oom", phase="warm-up", message="full")
    cells = tuple(crash if (one.arm, one.workload) == ("split", "b1-t512") else one for one in second.cells)
    made.add(second.model_copy(update={"cells": cells}))
    (diagnostic,) = found(made)
    assert diagnostic.code == "EV609"
    assert "splitkv claims split on b1-t512, which crashed in it: out of memory in warm-up: full" in diagnostic.message
    assert f"evidence update --adopt {SECOND}" in diagnostic.fix
    edit(made, lambda text: f"logs:\n  {SECOND}: {{do_not_cite: memory was short}}\n{text}", "docs/claims/features.yml")
    assert found(made) == []


def test_a_log_of_another_device_is_named_with_both(site: Site) -> None:
    made = claimed(site)
    made.add(session(made, SECOND, hosts=factories.on_device("NVIDIA RTX 4070 Laptop")))
    (diagnostic,) = found(made)
    assert diagnostic.code == "EV607"
    assert "ran on NVIDIA RTX 4070 Laptop, not NVIDIA L4" in diagnostic.message
    assert "give the new log a series of its own" in diagnostic.fix


def test_an_older_log_that_nobody_pinned_is_no_finding(site: Site) -> None:
    made = claimed(site)
    made.add(session(made, f"{SERIES}_20261001"))
    assert found(made) == []


def test_two_sessions_of_one_source_that_contradict_need_a_status(site: Site) -> None:
    made = claimed(site)
    made.add(session(made, f"{SERIES}_20261001", splitkv.SLOWER))
    (diagnostic,) = found(made)
    assert diagnostic.code == "EV616"
    assert diagnostic.message.endswith(
        "time of 'split' against 'whole' on b1-t8192 is SLOWER (0.97×), not FASTER (1.09×)"
    )
    edit(
        made,
        lambda text: f"logs:\n  {SERIES}_20261001: {{do_not_cite: the device was shared}}\n{text}",
        "docs/claims/features.yml",
    )
    assert found(made) == []


AGREEING: tuple[tuple[str, Callable[[Site], Record]], ...] = (
    ("agrees", lambda site: session(site, f"{SERIES}_20261001", {(1, 8192): 1.2})),
    ("undecided", lambda site: session(site, f"{SERIES}_20261001", {(1, 8192): 1.012})),
    (
        "another source",
        lambda site: session(site, f"{SERIES}_20261001", splitkv.SLOWER).model_copy(
            update={"sources": (site.source, _other_package())}
        ),
    ),
    (
        "another stack",
        lambda site: session(site, f"{SERIES}_20261001", splitkv.SLOWER, stacks=(factories.stack(python="3.13.0"),)),
    ),
)


def _other_package() -> PackageSource:
    return factories.package_source().model_copy(update={"record_sha256": "f" * 64})


@pytest.mark.parametrize(("name", "make"), AGREEING, ids=[one[0].replace(" ", "-") for one in AGREEING])
def test_what_does_not_contradict(site: Site, name: str, make: Callable[[Site], Record]) -> None:
    made = claimed(site)
    made.add(make(made))
    assert found(made) == []


CONFIRMED = splitkv.CLAIMS.replace("Splitting the cache gives", "Confirmed: splitting the cache gives")


def test_confirmed_needs_a_second_session(site: Site) -> None:
    made = claimed(site, claims=CONFIRMED)
    (diagnostic,) = found(made)
    assert (diagnostic.code, diagnostic.severity) == ("EV617", "warning")
    assert "'Confirmed' needs two sessions that agree" in diagnostic.message
    made.add(session(made, f"{SERIES}_20261001", {(1, 8192): 1.11}))
    assert found(made) == []


def test_a_second_session_that_says_otherwise_confirms_nothing(site: Site) -> None:
    made = claimed(site, claims=CONFIRMED)
    made.add(session(made, f"{SERIES}_20261001", splitkv.SLOWER, stacks=(factories.stack(python="3.13.0"),)))
    assert codes(found(made)) == ["EV617"]


def test_a_log_that_its_series_replaces_is_told_once(site: Site) -> None:
    made = claimed(site)
    made.add(
        session(
            made, SECOND, supersedes=(Superseded(log=FIRST, sha256=factories.DIGEST, reason="its clock was wrong"),)
        )
    )
    assert codes(found(made)) == ["EV609"]


def test_lock_is_sorted_and_ends_in_a_line_feed(site: Site) -> None:
    text = (claimed(site).root / LOCK).read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert text.split("\n")[0] == lock.HEADER
