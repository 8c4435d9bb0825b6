from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.nurseries import Nurseries, Nursery
from benchmarks.nursery import ORDER, Order
from benchmarks.workers import WorkerError
from tests.benchmarks import toys
from tests.benchmarks.test_standin import FACTS


def made(folder: Path, *behaviour: str, facts=None, module: str = "tests.benchmarks.toy_worker") -> Nursery:
    command = (sys.executable, "-m", module, str(folder), "0", *behaviour)
    return Nursery(command, facts, root=toys.ROOT, environment=toys.PINNED, timeout_s=60.0)


def start(one: Nursery):
    """Fork a worker that hears no job, so that it waits, and return it with what ends it when closed."""
    stdin, ours = os.pipe()
    with Path(os.devnull).open("r+b") as nowhere:
        child = one.start(stdin, nowhere.fileno(), nowhere.fileno())
    os.close(stdin)
    return child, ours


def test_an_order_survives_its_way():
    order = Order("module", ("--op", "x"), FACTS)
    assert ORDER.validate_json(ORDER.dump_json(order)) == order


def test_a_fork_leads_its_own_group_and_ends_when_its_session_does(tmp_path):
    with Nurseries({"a": [made(tmp_path)]}) as nurseries:
        (one,) = nurseries._all()
        child, ours = start(one)
        assert os.getpgid(child.pid) == child.pid
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.1)
        os.close(ours)
        assert (child.wait(10), child.wait()) == (0, 0)


def test_a_fork_dies_with_its_nursery_and_the_nursery_is_started_again(tmp_path):
    with Nurseries({"a": [made(tmp_path)]}) as nurseries:
        (one,) = nurseries._all()
        child, ours = start(one)
        process = psutil.Process(child.pid)
        os.kill(process.ppid(), signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL
        wait_until_gone(process)
        os.close(ours)
        again, ours = start(one)
        os.close(ours)
        assert again.wait(10) == 0
    assert len(list(tmp_path.glob("nursery-*"))) == 2


def test_a_nursery_whose_child_does_not_end_is_started_again(tmp_path):
    with Nurseries({"a": [made(tmp_path)]}) as nurseries:
        (one,) = nurseries._all()
        child, ours = start(one)
        process = psutil.Process(child.pid)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.1)
        again, theirs = start(one)
        assert again.pid != child.pid
        wait_until_gone(process)
        for stdin in (ours, theirs):
            os.close(stdin)
        assert again.wait(10) == 0
    assert len(list(tmp_path.glob("nursery-*"))) == 2


def test_nothing_is_left_when_nurseries_end_while_a_fork_runs(tmp_path):
    with Nurseries({"a": [made(tmp_path)], "b": [made(tmp_path)]}) as nurseries:
        child, ours = start(nurseries._all()[0])
        process = psutil.Process(child.pid)
    wait_until_gone(process)
    os.close(ours)
    assert not any(psutil.pid_exists(int(mark.name.rpartition("-")[2])) for mark in tmp_path.glob("nursery-*"))


def wait_until_gone(process: psutil.Process) -> None:
    deadline = time.monotonic() + 10
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "a fork outlived its nursery"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("behaviour", "facts", "module", "said"),
    [
        (("n=import-thread",), None, "tests.benchmarks.toy_worker", "importing started threads: py"),
        (("n=import-device",), FACTS, "tests.benchmarks.toy_worker", "importing asks a device for current_stream"),
        ((), FACTS, "tests.benchmarks.toy_worker", "a trial fork that used the device: "),
        ((), None, "tests.benchmarks.no_worker", "importing raised ModuleNotFoundError: No module named"),
    ],
)
def test_a_nursery_that_must_not_be_forked_says_why(tmp_path, behaviour, facts, module, said):
    if facts is not None:
        pytest.importorskip("triton")
    with Nurseries({"a": [made(tmp_path, *behaviour, facts=facts, module=module)], "b": []}) as nurseries:
        assert nurseries.refusals["a"].startswith(said)
        assert nurseries.forked() == ()
        assert nurseries.start("a", 0) is None


def test_a_nursery_that_does_not_start_again_is_an_error(tmp_path):
    one = made(tmp_path, module="tests.benchmarks.no_worker")
    with pytest.raises(WorkerError, match="did not start again: importing raised"):
        one.start(0, 1, 2)


def obstacle_after(statement: str) -> str:
    program = f"import torch; from benchmarks import nursery; {statement}; print(nursery.obstacle())"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=toys.ROOT, env=toys.PINNED, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_torch_is_no_obstacle():
    pytest.importorskip("torch")
    assert obstacle_after("import torch.utils.benchmark") == "None"


@pytest.mark.gpu
def test_a_process_that_touched_a_device_is_not_forked():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no accelerator")
    assert obstacle_after("torch.cuda.init()") != "None"
    # Torch counts devices through the driver here and does not call itself initialised after it.
    assert obstacle_after("torch.cuda.is_available()") == "importing initialised CUDA's driver"
