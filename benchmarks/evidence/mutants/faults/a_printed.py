"""Owns mutations of what is printed outside macros: lines of the lock, synced blocks, and bound sentences."""

from __future__ import annotations

import re

from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant

LOCK = "docs/claims/evidence.lock"
_RATIO = re.compile(r"\d\.\d+×")


def _other_ratio(mutant: Mutant, text: str, after: str) -> str:
    """Put another ratio in the place of the first one after a text."""
    start = text.index(after)
    return text[:start] + _RATIO.sub(f"{mutant.drawn(3, 9)}×", text[start:], count=1)


@mutation("A", "EV610", fault=4)
def number_in_the_lock(mutant: Mutant) -> None:
    """A ratio is edited in the lock."""
    mutant.edit(LOCK, lambda text: _other_ratio(mutant, text, f"tables.{mutant.rng.choice(('fuse-first', 'norm'))}"))


@mutation("A", "EV610")
def sentence_in_the_lock(mutant: Mutant) -> None:
    """A sentence is edited in the lock."""
    mutant.edit(LOCK, lambda text: _other_ratio(mutant, text, "claims.fuse-gains.says"))


@mutation("A", "EV610")
def row_taken_out_of_the_lock(mutant: Mutant) -> None:
    """A row that loses is taken out of the lock."""
    mutant.edit(LOCK, lambda text: re.sub(r"tables\.fuse-second.*\n", "", text, count=1))


@mutation("A", "EV610")
def row_added_to_the_lock(mutant: Mutant) -> None:
    """A row that nothing prints is added to the lock."""
    line = f'tables.fuse-second."{2 ** mutant.rng.randint(5, 15)}" = "{mutant.drawn(1, 9)} ms"'
    mutant.edit(LOCK, lambda text: text.replace("tables.fuse-second", f"{line}\ntables.fuse-second", 1))


@mutation("B", "EV610")
def lock_taken_away(mutant: Mutant) -> None:
    """The lock is deleted."""
    mutant.remove(LOCK)


@mutation("B", "EV610")
def lock_of_a_merge(mutant: Mutant) -> None:
    """The lock holds both sides of a merge."""
    mutant.edit(LOCK, lambda text: text.replace("\nclaims.", "\n<<<<<<< HEAD\nclaims.", 1) + "=======\n>>>>>>> other\n")


@mutation("B", "EV609", "EV610")
def lock_moved_back_to_an_older_run(mutant: Mutant) -> None:
    """The lock says that a series stands on its older run."""
    old = mutant.log("kernels/fuse", is_oldest=True)
    pin = re.compile(rf'(series\."kernels/fuse_{mutant.first}"\.log = ")\d+')
    mutant.edit(LOCK, lambda text: pin.sub(rf"\g<1>{old[-8:]}", text))


@mutation("G", "EV610")
def digest_in_the_lock(mutant: Mutant) -> None:
    """The digest of a record is edited in the lock."""
    digest = f"{mutant.rng.getrandbits(256):064x}"
    mutant.edit(LOCK, lambda text: re.sub(r'(\.sha256 = ")[0-9a-f]{64}', rf"\g<1>{digest}", text, count=1))


@mutation("C", "EV610", fault=7)
def stance_in_the_lock(mutant: Mutant) -> None:
    """The framework's version is edited in the lock."""
    mutant.edit(LOCK, lambda text: text.replace("torch 2.11.0", f"torch 2.{mutant.rng.randint(12, 20)}.0", 1))


@mutation("J", "EV709", fault=4)
def number_in_a_block(mutant: Mutant) -> None:
    """A ratio is edited inside a synced block of README.md."""
    mutant.edit("README.md", lambda text: _other_ratio(mutant, text, "says fuse-gains"))


@mutation("J", "EV709")
def value_in_a_block(mutant: Mutant) -> None:
    """A value is edited inside a synced block among words."""
    mutant.edit("README.md", lambda text: _other_ratio(mutant, text, "value quantised-trade"))


@mutation("J", "EV709")
def row_in_a_block(mutant: Mutant) -> None:
    """A row is taken out of a synced table."""
    mutant.edit("README.md", lambda text: re.sub(r"\| uncached .*\n", "", text))


@mutation("J", "EV709")
def words_in_a_block(mutant: Mutant) -> None:
    """A loss that a synced sentence tells is taken out of it."""
    mutant.edit("README.md", lambda text: re.sub(r"; other: [^<;)]*", "", text, count=1))


@mutation("J", "EV709", fault=26)
def number_in_a_bound_sentence(mutant: Mutant) -> None:
    """A ratio is edited in a sentence that is bound to its claim."""
    mutant.edit("README.md", lambda text: _other_ratio(mutant, text, "With the cache"))


@mutation("J", "EV709", "EV701")
def bound_sentence_reworded(mutant: Mutant) -> None:
    """A bound sentence is worded anew, so that nothing holds its number."""
    ratio = f"{mutant.drawn(3, 9)}×"
    mutant.edit("README.md", lambda text: re.sub(r"With the cache.*", f"The cache answers {ratio} sooner.", text))


@mutation("J", "EV709", "EV701")
def block_without_its_comments(mutant: Mutant) -> None:
    """The comments round a synced block are taken away, and its number stays."""
    mutant.edit("README.md", lambda text: re.sub(r"<!-- evidence: value[^>]*-->([^<]*)<!-- /evidence -->", r"\1", text))


@mutation("J", "EV709", fault=4)
def block_left_behind(mutant: Mutant) -> None:
    """A claim is narrowed, and the block that prints it keeps the old number."""
    mutant.swap("docs/claims/kernels.yml", "(geometric mean {ratio.geomean});", "(mean {ratio.geomean}, {tally});")


@mutation("G", "EV709")
def released_text_edited(mutant: Mutant) -> None:
    """What a release said is edited."""
    mutant.edit("CHANGELOG.md", lambda text: _other_ratio(mutant, text, "says norm-joint"))


@mutation("G", "EV709")
def released_text_sealed_anew(mutant: Mutant) -> None:
    """What a release said is edited, and its seal is computed anew."""
    import hashlib

    def change(text: str) -> str:
        text = _other_ratio(mutant, text, "says norm-joint")
        match = re.search(r"<!-- evidence: (says norm-joint) (log=(\S+)) seal=\w+ -->(.*?)<!-- /evidence -->", text)
        assert match is not None
        seal = hashlib.sha256("\n".join((match[1], match[3], match[4])).encode()).hexdigest()[:12]
        return re.sub(r"seal=\w+", f"seal={seal}", text)

    mutant.edit("CHANGELOG.md", change)


@mutation("G", "EV709", "EV701")
def seal_taken_away(mutant: Mutant) -> None:
    """The seal of what a release said is taken away, so that the text follows the newest log."""
    mutant.edit("CHANGELOG.md", lambda text: re.sub(r" log=\S+ seal=\w+", "", text))
    mutant.edit("CHANGELOG.md", lambda text: _other_ratio(mutant, text, "says norm-joint"))


@mutation("B", "EV709", "EV711")
def released_log_deleted(mutant: Mutant) -> None:
    """The log that a release names is renamed in its seal to one that there is not."""
    mutant.edit("CHANGELOG.md", lambda text: re.sub(r"log=(\S+)_\d{8}", r"log=\1_20260101", text))


@mutation("A", "EV709", "EV702")
def block_of_no_claim(mutant: Mutant) -> None:
    """A block names a claim that there is not."""
    mutant.swap("README.md", "says fuse-gains", "says fuse-gain")


@mutation("S", "EV709")
def block_that_is_not_closed(mutant: Mutant) -> None:
    """A block is not closed, so that nothing tells what it holds."""
    mutant.edit(
        "README.md", lambda text: re.sub(r"<!-- /evidence -->\Z|<!-- /evidence -->(?! sooner)", "", text, count=1)
    )
