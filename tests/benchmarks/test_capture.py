from __future__ import annotations

import hashlib
import os
import platform
import socket
import subprocess
import sys
import types
from pathlib import Path

import pytest

from benchmarks import capture, nvml
from benchmarks.capture import Probed
from benchmarks.reading import UnreadableError, read_fields
from evidence.schema import GitSource

NOTHING = Probed(None, "torch is built for no accelerator", ())
UUID = "00000000-1111-2222-3333-444444444444"
SEEN = {"model": "Synthetic GPU", "uuid": UUID, "memory_bytes": 10**9, "l2_bytes": 2**20, "compute_capability": "9.0"}


class SyntheticError(Exception):
    """What the library below raises."""


def library(*, broken: tuple[str, ...] = (), devices: int = 1, foreign: tuple[int, ...] = ()) -> types.ModuleType:
    """A management library with invented devices; functions named in `broken` fail as without permission."""
    made = types.ModuleType("pynvml")
    values = {
        "nvmlInit": None,
        "nvmlDeviceGetCount": devices,
        "nvmlSystemGetDriverVersion": "580.00",
        "nvmlDeviceGetName": b"NVIDIA Synthetic 200",
        "nvmlDeviceGetUUID": f"GPU-{UUID}",
        "nvmlDeviceGetMemoryInfo": types.SimpleNamespace(total=80 * 10**9),
        "nvmlDeviceGetCudaComputeCapability": (9, 0),
        "nvmlDeviceGetVbiosVersion": "96.00",
        "nvmlDeviceGetEccMode": (1, 1),
        "nvmlDeviceGetMigMode": (0, 0),
        "nvmlDeviceGetPersistenceMode": 1,
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        "nvmlDeviceGetMaxClockInfo": 1980,
        "nvmlDeviceGetClockInfo": 1900,
        "nvmlDeviceGetTemperature": 40,
        "nvmlDeviceGetPowerUsage": 300_000,
        "nvmlDeviceGetTotalEnergyConsumption": 5_000,
        "nvmlDeviceGetViolationStatus": types.SimpleNamespace(violationTime=7),
        "nvmlDeviceGetCurrentClocksEventReasons": 4,
        "nvmlDeviceGetTotalEccErrors": 0,
        "nvmlDeviceGetComputeRunningProcesses": [types.SimpleNamespace(pid=pid) for pid in foreign],
        "nvmlDeviceGetNvLinkState": 1,
    }

    def function(name: str):
        def call(*arguments: object) -> object:
            if name in broken:
                raise SyntheticError("Insufficient Permissions")
            return values[name]

        return call

    for name in values:
        setattr(made, name, function(name))
    made.nvmlDeviceGetHandleByIndex = lambda index: index
    made.NVMLError = SyntheticError
    made.NVML_NVLINK_MAX_LINKS = 18
    for name in ("NVML_CLOCK_SM", "NVML_CLOCK_MEM", "NVML_TEMPERATURE_GPU", "NVML_VOLATILE_ECC"):
        setattr(made, name, 0)
    for name in ("NVML_PERF_POLICY_THERMAL", "NVML_PERF_POLICY_POWER", "NVML_MEMORY_ERROR_TYPE_UNCORRECTED"):
        setattr(made, name, 0)
    return made


@pytest.fixture
def installed(monkeypatch):
    return lambda **changes: monkeypatch.setitem(sys.modules, "pynvml", library(**changes))


def reasons(captured) -> dict[str, str]:
    return {entry.field: entry.reason for entry in captured.missing}


def test_a_machine_without_accelerators_says_why_it_tells_nothing_of_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    host = capture.machine(NOTHING).host
    assert host.accelerators == ()
    assert reasons(host)["driver"] == reasons(host)["interconnect"] == "nvidia-ml-py is not installed"
    assert host.cpu_affinity == tuple(sorted(os.sched_getaffinity(0)))
    assert host.kernel == platform.release()
    assert host.name == "h0"


def test_a_device_is_described_and_its_uuid_only_digested(installed):
    installed()
    machine = capture.machine(Probed("CUDA 13.0", "", (SEEN,)))
    (device,) = machine.host.accelerators
    assert (device.model, device.l2_bytes, device.power_limit_w) == ("NVIDIA Synthetic 200", 2**20, 700.0)
    assert (device.max_sm_clock_hz, device.ecc_enabled, device.mig_enabled) == (1.98e9, True, False)
    assert device.uuid_sha256 == hashlib.sha256(f"GPU-{UUID}".encode()).hexdigest()
    assert machine.devices == (0,)
    assert UUID not in machine.host.model_dump_json()
    assert capture.device_slug(machine.host, 0) == "synthetic-200"


@pytest.mark.parametrize(
    ("function", "field"),
    [
        ("nvmlDeviceGetVbiosVersion", "vbios"),
        ("nvmlDeviceGetEccMode", "ecc_enabled"),
        ("nvmlDeviceGetMigMode", "mig_enabled"),
        ("nvmlDeviceGetEnforcedPowerLimit", "power_limit_w"),
    ],
)
def test_one_failing_call_costs_one_field(installed, function, field):
    installed(broken=(function,))
    (device,) = capture.machine(Probed("CUDA 13.0", "", (SEEN,))).host.accelerators
    assert reasons(device) == {field: "Insufficient Permissions"}


def test_a_device_that_only_torch_sees_is_described_from_what_torch_says(installed):
    installed(broken=("nvmlInit",))
    machine = capture.machine(Probed("CUDA 13.0", "", (SEEN,)))
    (device,) = machine.host.accelerators
    assert (device.model, device.l2_bytes, device.memory_bytes) == ("Synthetic GPU", 2**20, 10**9)
    assert reasons(device)["vbios"] == "NVML: Insufficient Permissions"
    assert machine.devices == (0,)


def test_several_devices_say_how_they_are_joined(installed):
    installed(devices=2)
    assert nvml.Nvml().interconnect() == "NVLink, 18 links"
    installed(devices=2, broken=("nvmlDeviceGetNvLinkState",))
    assert nvml.Nvml().interconnect() == "PCIe"


def test_conditions_are_read_field_by_field(installed):
    installed(broken=("nvmlDeviceGetTotalEnergyConsumption",))
    reading = capture.Watch({0}).read(1.5, {os.getpid()})
    (device,) = reading.devices
    assert (device.sm_clock_hz, device.temperature_c, device.power_w) == (1.9e9, 40.0, 300.0)
    assert (device.thermal_violation_ns, device.event_reasons, device.foreign_processes) == (7, 4, 0)
    assert reasons(device) == {"energy_j": "Insufficient Permissions"}


def test_processes_of_others_are_counted_where_process_ids_can_be_told(installed):
    installed(foreign=(os.getpid(), os.getppid()))
    watch = capture.Watch({0})
    assert watch.read(0.0, {os.getpid()}).devices[0].foreign_processes == 1
    installed(foreign=(2**22 + 1,))
    (device,) = capture.Watch({0}).read(0.0, {os.getpid()}).devices
    assert "namespace" in reasons(device)["foreign_processes"]


def test_a_host_is_watched_without_a_management_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    reading = capture.Watch({0}).read(0.0, ())
    assert reading.devices == ()
    assert reading.load is not None


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Someone", "-c", "user.email=someone@example.invalid")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "kernel.py").write_text("x = 1\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    git(tmp_path, "remote", "add", "origin", "https://user:secret@example.com/owner/name.git")
    return tmp_path


def test_a_source_is_dirty_from_its_first_changed_byte_on(checkout):
    clean = capture.git_source(checkout, ["kernel.py"])
    assert clean.is_dirty is False
    assert clean.repository == "https://example.com/owner/name.git"
    assert clean.paths[0].sha256 == hashlib.sha256(b"x = 1\n").hexdigest()
    (checkout / "docs" / "log.json").write_text("{}")
    assert capture.git_source(checkout, []).is_dirty is False
    (checkout / "new.py").write_text("")
    assert capture.git_source(checkout, []).is_dirty is True


def test_without_git_the_source_is_unknown_and_says_why(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout / "nowhere"))
    source = capture.git_source(checkout, ["kernel.py"])
    assert isinstance(source, GitSource)
    assert source.is_dirty is None
    assert set(reasons(source)) == {"repository", "commit", "commit_tree_sha256", "tree_sha256"}
    assert "git is not installed" in reasons(source)["commit"]


def test_outside_a_work_tree_and_before_a_first_commit(tmp_path):
    assert "no remote" not in reasons(capture.git_source(tmp_path, [])).get("commit", "")
    git(tmp_path, "init", "--quiet")
    source = capture.git_source(tmp_path, [])
    assert reasons(source)["commit"] == reasons(source)["commit_tree_sha256"] == "nothing is committed yet"
    assert source.tree_sha256 is not None


def test_an_installed_package_is_pinned_by_the_digest_of_its_record():
    source = capture.package_source("pydantic")
    assert source.package.startswith("pydantic==")
    assert len(source.record_sha256 or "") == 64
    with pytest.raises(UnreadableError, match="no-such-package is not installed"):
        capture.package_source("no-such-package")


def test_a_stack_pins_every_package_once():
    stack = capture.stack(NOTHING, Path.cwd())
    names = [pin.partition("==")[0] for pin in stack.packages]
    assert list(stack.packages) == sorted(stack.packages)
    assert len(names) == len(set(names))
    assert "pydantic" in names
    assert stack.python == platform.python_version()
    assert reasons(stack)["runtime"] == "torch is built for no accelerator"
    assert "/" not in (stack.executable or "") or not Path(stack.executable or "").is_absolute()


def test_what_is_captured_names_neither_machine_nor_person(checkout, installed):
    installed()
    captured = [
        capture.machine(Probed("CUDA 13.0", "", (SEEN,))).host,
        capture.stack(NOTHING, checkout),
        capture.git_source(checkout, ["kernel.py"]),
        capture.Watch({0}).read(0.0, ()),
    ]
    text = "".join(model.model_dump_json() for model in captured)
    for secret in (socket.gethostname(), str(Path.home()) + "/", str(checkout), "secret", UUID):
        assert secret not in text


def test_a_processor_has_a_slug_without_a_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    host = capture.machine(NOTHING).host
    assert capture.device_slug(host, None) == f"{platform.machine().lower()}-{len(os.sched_getaffinity(0))}c"


def test_provenance_is_the_command_as_another_would_type_it(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    environment = {"OMP_NUM_THREADS": "1", "TRITON_CACHE_DIR": "/tmp/cache", "SECRET_TOKEN": "x"}
    told, withheld = capture.provenance(
        ["--op", "toy", "--log", "--logs", "/somewhere/else"],
        runner="benchmarks.ops.run",
        seed=7,
        root=checkout,
        environment=environment,
        destinations=("--logs",),
    )
    assert told.argv[1:] == ("-m", "benchmarks.ops.run", "--op", "toy", "--log")
    assert not Path(told.argv[0]).is_absolute()
    assert told.directory == "."
    assert [(setting.name, setting.value) for setting in told.variables] == [("OMP_NUM_THREADS", "1")]
    assert [entry.what for entry in withheld] == ["variable TRITON_CACHE_DIR"]


def test_a_reader_that_returns_nothing_or_raises_leaves_a_reason():
    def gone() -> object:
        raise FileNotFoundError(2, "No such file or directory", "/home/someone/secret")

    values, missing = read_fields({"a": lambda: None, "b": gone, "c": lambda: 1})
    assert values == {"a": None, "b": None, "c": 1}
    assert [(entry.field, entry.reason) for entry in missing] == [
        ("a", "not reported"),
        ("b", "No such file or directory"),
    ]
