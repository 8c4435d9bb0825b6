from __future__ import annotations

import struct

import pytest

from benchmarks.calibration import nvbench
from benchmarks.timing import TimingError


def test_samples_are_read_from_the_file_nvbench_writes(tmp_path):
    folder = tmp_path / "nvbench.json-bin"
    folder.mkdir()
    (folder / "0.bin").write_bytes(struct.pack("<3f", 1e-4, 2e-4, 4e-4))
    assert nvbench.read(folder / "0.bin") == pytest.approx([1e-4, 2e-4, 4e-4])


def test_files_come_in_the_order_they_were_written_and_clocks_are_no_samples(tmp_path):
    for folder in ("nvbench.json-bin", "nvbench.json-freqs-bin"):
        (tmp_path / folder).mkdir()
    for number in (10, 2, 0):
        (tmp_path / "nvbench.json-bin" / f"{number}.bin").write_bytes(b"1234")
    (tmp_path / "nvbench.json-freqs-bin" / "0.bin").write_bytes(b"1234")
    assert [path.name for path in nvbench.written(tmp_path)] == ["0.bin", "2.bin", "10.bin"]


def test_nothing_was_written_before_the_first_measurement(tmp_path):
    assert nvbench.written(tmp_path) == ()


@pytest.mark.parametrize("content", [b"", b"123"])
def test_a_file_that_holds_no_samples_is_refused(tmp_path, content):
    path = tmp_path / "0.bin"
    path.write_bytes(content)
    with pytest.raises(TimingError, match="no samples"):
        nvbench.read(path)


@pytest.mark.gpu
def test_nvbench_times_a_copy_as_the_harness_does():
    torch = pytest.importorskip("torch")
    pytest.importorskip("cuda.bench")
    if not torch.cuda.is_available():
        pytest.skip("no accelerator")
    from statistics import median

    from benchmarks.timing import DoBench, warm_up

    given = torch.randn(1 << 26, device="cuda")
    own = DoBench()
    call_s = warm_up(given.clone, own, 0.5).call_s
    expected = median(own.samples(given.clone, 30, call_s).samples_s)
    found: list[float] = []
    nvbench.attended(1, 30, lambda state, timer: found.extend(timer.samples(given.clone, 30, call_s).samples_s))
    assert len(found) == 30
    assert median(found) == pytest.approx(expected, rel=0.05)
