"""EV116 on logs of different age, by days and by commits on the measured paths; EV108 gives way to it."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tests.evidence.checker.cases import Case, bad, good
from tests.evidence.checker.sites import KERNEL, LOG, Site, codes, commit, repository

TODAY = datetime.date(2026, 9, 30)
"""29 days after the synthetic run."""

CASES = (
    bad("EV116", "days", {"days": "days = 28"}),
    bad("EV116", "class", {"class": 'days = 100\nclasses = [{series = "kernels/", days = 7}]'}),
    bad("EV116", "inherited", {"class": 'days = 7\nclasses = [{series = "kernels/", commits = 3}]'}),
    good("EV116", "no-policy", {}),
    good("EV116", "young", {"days": "days = 29"}),
    good("EV116", "unlimited", {"class": 'days = 7\nclasses = [{series = "kernels/", days = "unlimited"}]'}),
    good("EV116", "first-class", {"class": 'classes = [{series = "kernels/"}, {series = "kernels/toy", days = 1}]'}),
    good("EV116", "no-commits", {"commits": "commits = 0"}),
)


def policy(site: Site, text: str) -> None:
    site.write("evidence.toml", f"[maximum_age]\n{text}\n" if text else "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(site: Site, case: Case) -> None:
    site.add(site.record())
    policy(site, "\n".join(case.edits.values()))
    found = site.check(today=TODAY)
    assert codes(found) == [case.rule] * case.fires
    for one in found:
        assert one.at.path.endswith(f"{LOG}/record.json")
        assert "29 days ago, and the policy allows" in one.message
        assert [str(place) for place in one.cited] == ["docs/index.md:3"]


def test_a_log_that_no_page_prints_from_has_no_age(site: Site) -> None:
    site.add(site.record())
    site.write("docs/index.md", "# Synthetic\n")
    policy(site, "days = 1")
    assert site.check("EV116", today=TODAY) == []


def test_what_is_kept_for_its_history_has_no_age(site: Site) -> None:
    site.add(site.record())
    site.write("docs/claims/page.yml", f"logs:\n  {LOG}: {{historical: before the rewrite}}\n")
    policy(site, "days = 1")
    assert site.check("EV116", today=TODAY) == []
    policy(site, 'days = 1\nclasses = [{status = "historical", days = 7}]')
    assert codes(site.check("EV116", today=TODAY)) == ["EV116"]


@pytest.fixture
def moved(tmp_path: Path) -> Site:
    """A site of a repository whose measured file two commits have changed since the run; a third changed another."""
    site = Site(repository(tmp_path))
    site.add(site.record())
    for number in range(2):
        (tmp_path / KERNEL).write_text(f"def toy(): return {number}\n")
        commit(tmp_path)
    (tmp_path / "other.py").write_text("x = 1\n")
    commit(tmp_path)
    return site


@pytest.mark.parametrize(
    ("limit", "found"), [("commits = 1", ["EV116"]), ("commits = 2", []), ("days = 100", ["EV108"])]
)
def test_commits_on_the_measured_paths_are_counted(moved: Site, limit: str, found: list[str]) -> None:
    policy(moved, limit)
    said = moved.check("EV1", today=TODAY)
    assert codes(said) == found
    assert all("2 commits have touched what" in one.message for one in said if one.code == "EV116")


def test_a_release_is_held_to_the_files_themselves(moved: Site) -> None:
    policy(moved, "commits = 2")
    assert codes(moved.check("EV1", today=TODAY, is_release=True)) == ["EV108"]
