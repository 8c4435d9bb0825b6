"""SHA256SUMS: one text for one mapping, and what `sha256sum -c` accepts."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import ledger
from evidence.errors import LedgerError

DIGEST = "0123456789abcdef" * 4
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)
PATHS = st.text(st.characters(codec="utf-8", exclude_characters="\\\x7f", exclude_categories=["Cc"]), min_size=1)


@given(st.dictionaries(PATHS, DIGESTS, max_size=8))
def test_what_is_written_reads_back(entries: dict[str, str]) -> None:
    text = ledger.dump(entries)
    assert ledger.parse(text) == entries
    assert ledger.dump(ledger.parse(text)) == text
    assert text.split("\n")[:-1] == sorted(text.split("\n")[:-1], key=lambda line: line[66:])


@given(st.text(max_size=200))
def test_any_text_is_entries_or_an_error_with_its_line(text: str) -> None:
    try:
        entries = ledger.parse(text)
    except LedgerError as error:
        found = error
    else:
        assert ledger.parse(ledger.dump(entries)) == entries
        return
    assert 1 <= found.line <= text.count("\n") + 1
    assert found.fix


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{DIGEST}  a\n{DIGEST} b\n", 2),
        (f"{DIGEST.upper()}  a\n", 1),
        (f"{DIGEST[1:]}  a\n", 1),
        (f"{DIGEST}  \n", 1),
        (f"{DIGEST}  a\r\n", 1),
        (f"\\{DIGEST}  a\\nb\n", 1),
        (f"{DIGEST}  a\n\n{DIGEST}  a\n", 3),
        ("<<<<<<< HEAD\n", 1),
    ],
)
def test_lines_that_are_none(text: str, line: int) -> None:
    with pytest.raises(LedgerError) as caught:
        ledger.parse(text)
    assert caught.value.line == line


def test_an_empty_ledger_is_empty(tmp_path: Path) -> None:
    assert ledger.parse("") == {}
    assert ledger.dump({}) == ""
    assert ledger.read(tmp_path) == {}


@pytest.mark.parametrize(
    ("data", "line"), [(f"{DIGEST}  a\n".encode() + b"\xff\n", 2), (f"{DIGEST}  a\r\n".encode(), 1)]
)
def test_a_file_is_read_as_bytes(tmp_path: Path, data: bytes, line: int) -> None:
    (tmp_path / ledger.FILE_NAME).write_bytes(data)
    with pytest.raises(LedgerError) as caught:
        ledger.read(tmp_path)
    assert caught.value.line == line


def test_pending_lines_count_if_their_file_is_there_and_never_over_a_line_that_stands(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    (tmp_path / ledger.FILE_NAME).write_text(ledger.dump({"a": DIGEST}))
    pending = {"a": "f" * 64, "b": "e" * 64, "never/landed": "d" * 64}
    (tmp_path / ledger.PENDING_NAME).write_text(ledger.dump(pending))
    assert ledger.read(tmp_path) == {"a": DIGEST, "b": "e" * 64}


def test_the_line_of_a_path() -> None:
    text = ledger.dump({"b": DIGEST, "a": DIGEST, "c d": DIGEST})
    assert [ledger.line_of(text, path) for path in ("a", "b", "c d", "z")] == [1, 2, 3, 1]


def test_a_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x\r\n\x00" * 100_000)
    assert ledger.digest_of(tmp_path / "x") == hashlib.sha256(b"x\r\n\x00" * 100_000).hexdigest()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum here")
def test_sha256sum_reads_it(tmp_path: Path) -> None:
    names = ["plain", "with space", " leading", "ünicode", "a*b", "quote'\"", "-dash", "#hash"]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / ledger.FILE_NAME).write_text(ledger.dump({name: ledger.digest_of(tmp_path / name) for name in names}))
    command = ["sha256sum", "--check", "--strict", "--quiet", ledger.FILE_NAME]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "plain").write_bytes(b"other")
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 1
