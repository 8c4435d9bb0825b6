"""Tests of ops run on real torch and fla-core, single-threaded; without them they are skipped, not passed."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def torch():
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module


@pytest.fixture(scope="session")
def fla(torch):
    # fla-core warns about the missing GPU and about Triton's version when it is first imported.
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("fla.ops")
