"""The search for private data finds the same with its signs as without them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.checker import private

_FRAGMENTS = (
    *("ghp_", "github_pat_", "glpat-", "hf_", "sk-", "AKIA", "AIza", "xoxb-", "npm_", "pypi-", "eyJ", ".eyJ"),
    *("-----BEGIN ", "PRIVATE KEY", "api_key", "API-KEY", "access", "token", "Auth_Token", "password", "PASSWD", "="),
    *(": ", "://", "https", ":", "@", "/home/", "/Users/", "/root", "C:", "\\", "users", "USERS", "/", "~", "..", "."),
    *("10.", "192.168.", "172.16.", "169.254", "8.8.8.8", "127.0.0.1", ":8080", "aa:bb:cc:dd:ee:ff", "00:", "node"),
    *("gpu-1", "node7", ".local", ".com", ".internal", ".corp", "GPU-", "MIG-", "0a1b2c3d-", "e4f5-", "serial"),
    *("Serial No", " number", "seri\u0131al", "pa\u017fsword", "to\u212aen", "x", "abcdefghij", "0123456789", " "),
    *("\n", '"', "'", "-", "_", "A", "\u00e9"),
)


@given(st.lists(st.sampled_from(_FRAGMENTS), max_size=14).map("".join))
def test_signs_hide_nothing(text: str) -> None:
    every = private._pattern(tuple(range(len(private._KINDS))))
    expected = [(private._KINDS[int(str(one.lastgroup)[1:])][0], one.start()) for one in every.finditer(text)]
    assert list(private.search(text)) == expected
