"""Evidence that is none for a sentence: an error wherever a sentence stands on it, and else shown with its label."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.project import Project
from evidence.schema import Record
from tests.factories import gate
from tests.projects import CLAIMS, write_project

LABELLED = 'Still {{ ev.diagnostic("toy-fused", "ratio") }}.\n\n{{ ev.table("toy") }}\n'
SENTENCES = ('{{ ev.claim("toy-fused") }}', 'x {{ ev.says("toy-fused") }}', 'x {{ ev.value("toy-fused", "ratio") }}')
SET_ASIDE = "logs:\n  kernels/toy_20260901: {do_not_cite: the fan was off}\n"


def partly_gated(record: Record) -> Record:
    return record.model_copy(update={"gates": (gate(scope="partial", selection="one shape of nine"),)})


def found(root: Path, page: str) -> set[str]:
    (root / "docs/features.md").write_text(page)
    return {one.code for one in run(RULES, Corpus(Project.find(root))).diagnostics}


@pytest.mark.parametrize(
    ("claims", "change", "code"),
    [
        (CLAIMS + SET_ASIDE, lambda record: record, "EV612"),
        (CLAIMS, partly_gated, "EV303"),
    ],
    ids=["not to be cited", "partial gate"],
)
def test_a_sentence_is_refused_and_a_labelled_number_is_not(
    tmp_path: Path, claims: str, change: object, code: str
) -> None:
    root = write_project(tmp_path, claims=claims, change=change)  # type: ignore[arg-type]
    for sentence in SENTENCES:
        assert code in found(root, f"{sentence}\n\n{LABELLED}")
    assert found(root, LABELLED) == set()


def test_a_claim_that_is_called_nowhere_is_not_excused(tmp_path: Path) -> None:
    root = write_project(tmp_path, claims=CLAIMS + SET_ASIDE)
    assert "EV612" in found(root, '{{ ev.table("toy") }}\n')


def test_a_claim_may_say_itself_that_it_is_not_to_be_cited(tmp_path: Path) -> None:
    claims = CLAIMS.replace("expect: better\n", "expect: better\n    status: {do_not_cite: the fan was off}\n")
    root = write_project(tmp_path, claims=claims)
    assert "EV612" in found(root, '{{ ev.claim("toy-fused") }}\n\n{{ ev.table("toy") }}\n')
    assert found(root, LABELLED) == set()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ('{{ ev.diagnostic("toy-fuse", "ratio") }}', "EV702"),
        ('{{ ev.diagnostic("toy-fused", "ratios") }}', "EV702"),
        ('{{ ev.diagnostic("toy-fused") }}', "EV703"),
    ],
)
def test_a_mistake_in_the_call_is_found(tmp_path: Path, call: str, code: str) -> None:
    assert code in found(write_project(tmp_path), f'x {call}\n\n{{{{ ev.claim("toy-fused") }}}}\n\n{LABELLED}')
