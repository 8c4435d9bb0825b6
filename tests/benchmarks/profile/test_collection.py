"""Profiles taken for real: torch's profiler on this processor, and a program that stands where ncu would."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.profile.collection import Request, collect
from benchmarks.profile.summaries import Taken
from evidence.schema import Unavailable
from tests.benchmarks.profile import files

ROOT = Path(__file__).resolve().parents[3]
CALL = ("--op", "linear_attn", "--implementation", "chunk", "--workload", "b1-t64-h2-d16-fwd", "--dtype", "fp32")


def request(target: tuple[str, ...], **environment: str) -> Request:
    return Request("chunk", "b1-t64-h2-d16-fwd", target, ("python", *target[1:]), environment, ROOT, timeout_s=120)


def test_a_real_call_is_profiled_on_a_processor():
    pytest.importorskip("torch")
    found = collect(request((sys.executable, "-m", "benchmarks.ops.profiled", *CALL, "--device", "cpu")), "torch")
    assert isinstance(found, Taken), found
    assert found.profile.tool == "torch.profiler"
    assert any(name.startswith("aten::") for name in found.profile.top_kernels)
    assert str(ROOT).encode() not in found.content


def tool(folder: Path, program: str) -> str:
    """Put a program named ncu on a path of its own."""
    path = folder / "ncu"
    path.write_text(f"#!{sys.executable}\n{program}")
    path.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_what_ncu_writes_is_read(tmp_path, monkeypatch):
    csv = files.ncu_wide([("toy_kernel", files.counters())])
    monkeypatch.setenv("PATH", tool(tmp_path, f"import sys; sys.stdout.buffer.write({csv!r})"))
    found = collect(request(("python", "-m", "toy")), "ncu")
    assert isinstance(found, Taken)
    assert found.profile.bottleneck == "memory"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; print('==ERROR== ERR_NVGPUCTRPERM'); sys.exit(1)", "may not read the counters"),
        ("import sys; sys.exit('no device')", "profiling ended with 1: no device"),
        ("print('nothing')", "holds no profiled kernel"),
    ],
)
def test_what_ncu_cannot_do_is_unavailable_with_its_reason(tmp_path, monkeypatch, program, reason):
    monkeypatch.setenv("PATH", tool(tmp_path, program))
    found = collect(request(("python", "-m", "toy")), "ncu")
    assert isinstance(found, Unavailable)
    assert found.what == "ncu profile of chunk on b1-t64-h2-d16-fwd"
    assert reason in found.reason


def test_without_ncu_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = collect(request(("python",)), "ncu")
    assert isinstance(found, Unavailable)
    assert found.reason == "ncu is not installed here"


def test_a_target_that_takes_too_long_or_crashes_is_unavailable():
    slow = Request("a", "w", (sys.executable, "-c", "import time; time.sleep(9)"), ("python",), {}, ROOT, timeout_s=0.3)
    found = collect(slow, "torch")
    assert isinstance(found, Unavailable)
    assert "took longer" in found.reason
    broken = collect(request((sys.executable, "-c", "raise SystemExit('boom')")), "torch")
    assert isinstance(broken, Unavailable)
    assert "boom" in broken.reason
