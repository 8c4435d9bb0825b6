from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import standin
from benchmarks.standin import Facts
from tests.benchmarks.toys import PINNED

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]
FACTS = Facts(
    torch=({"name": "NVIDIA Toy", "major": 9, "minor": 0, "warp_size": 32},),
    target=("cuda", 90, 32),
    triton=({"max_shared_mem": 232448, "multiprocessor_count": 100},),
)
"""Invented, but for the shared memory by which a package tells one generation of devices from another."""

PACKAGE = """
import json, sys
from benchmarks import nursery, standin
from tests.benchmarks.test_standin import FACTS
with standin.standing_in(FACTS) as unanswered:
    import fla.ops.gla, fla.utils
from triton.runtime import driver
print(json.dumps({
    "unanswered": unanswered,
    "hopper": fla.utils.IS_NVIDIA_HOPPER,
    "memory": fla.utils.check_shared_mem("hopper"),
    "driver": driver._active is None,
    "obstacle": nursery.obstacle(),
}))
"""


def test_a_package_that_asks_the_device_at_import_is_answered_without_one():
    pytest.importorskip("fla")
    done = subprocess.run([sys.executable, "-c", PACKAGE], cwd=ROOT, env=PINNED, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "unanswered": [],
        "hopper": True,
        "memory": True,
        "driver": True,
        "obstacle": None,
    }


def test_answers_end_with_the_block_even_for_who_kept_a_function():
    real = torch.cuda.get_device_properties, torch.cuda.is_available, torch.cuda._lazy_init
    with standin.standing_in(FACTS) as unanswered:
        kept = torch.cuda.is_available
        assert kept()
        assert torch.cuda.get_device_capability("cuda:0") == (9, 0)
        assert torch.cuda.get_device_name(torch.device("cuda")) == "NVIDIA Toy"
        assert (torch.cuda.device_count(), torch.cuda.current_device()) == (1, 0)
    assert (torch.cuda.get_device_properties, torch.cuda.is_available, torch.cuda._lazy_init) == real
    assert kept() == torch.cuda.is_available()
    assert unanswered == []


def test_what_has_no_answer_is_named_and_touches_no_device():
    with standin.standing_in(FACTS) as unanswered:
        with pytest.raises(RuntimeError):
            torch.cuda.synchronize()
        assert not hasattr(triton.runtime.driver.active, "get_current_stream")
    assert unanswered == ["synchronize in __init__.py", "get_current_stream of Triton's driver"]
    assert not torch.cuda.is_initialized()


def test_without_triton_only_torch_is_answered_for():
    with standin.standing_in(replace(FACTS, target=None, triton=())):
        assert torch.cuda.is_available()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_a_machine_without_a_device_has_no_facts():
    assert standin.read() is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no accelerator")
def test_facts_hold_in_the_process_that_read_them():
    facts = standin.read()
    assert facts is not None
    assert standin.difference(facts) is None
    assert standin.difference(replace(facts, target=("cuda", 1, 32)))
