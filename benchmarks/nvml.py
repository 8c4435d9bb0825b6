"""Owns what NVIDIA's management library says of accelerators: what they are, and how they are at one moment.

Every field is read by itself: one that this driver, card or permission does not give is null with its reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from benchmarks.reading import UnreadableError, read_fields
from evidence.importers.session_stream import DeviceReading
from evidence.schema import Accelerator


class Nvml:
    """An open connection to the library. Opening it makes no context on any device.

    Raises:
        UnreadableError: the library, its driver or the permission is not there.
    """

    def __init__(self) -> None:
        """Connect."""
        try:
            import pynvml
        except ImportError:
            raise UnreadableError("nvidia-ml-py is not installed") from None
        self._nvml = pynvml
        try:
            pynvml.nvmlInit()
            self._handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        except pynvml.NVMLError as error:
            raise UnreadableError(f"NVML: {error}") from None

    @property
    def count(self) -> int:
        """How many accelerators there are."""
        return len(self._handles)

    def driver(self) -> str:
        """Return the driver's version."""
        return _text(self._nvml.nvmlSystemGetDriverVersion())

    def uuid(self, index: int) -> str | None:
        """Return a device's UUID, to match it with another library's; it never goes into a record as it is."""
        try:
            return _text(self._nvml.nvmlDeviceGetUUID(self._handles[index]))
        except self._nvml.NVMLError:
            return None

    def accelerator(self, index: int, l2_bytes: Callable[[], int]) -> Accelerator:
        """Describe a device; its cache size is not NVML's to tell."""
        nvml, handle = self._nvml, self._handles[index]
        fields, missing = read_fields(
            {
                "uuid_sha256": lambda: hashlib.sha256(_text(nvml.nvmlDeviceGetUUID(handle)).encode()).hexdigest(),
                "memory_bytes": lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
                "l2_bytes": l2_bytes,
                "compute_capability": lambda: ".".join(map(str, nvml.nvmlDeviceGetCudaComputeCapability(handle))),
                "vbios": lambda: _text(nvml.nvmlDeviceGetVbiosVersion(handle)),
                "ecc_enabled": lambda: bool(nvml.nvmlDeviceGetEccMode(handle)[0]),
                "mig_enabled": lambda: bool(nvml.nvmlDeviceGetMigMode(handle)[0]),
                "persistence_enabled": lambda: bool(nvml.nvmlDeviceGetPersistenceMode(handle)),
                "power_limit_w": lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3,
                "max_sm_clock_hz": lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM) * 1e6,
                "max_memory_clock_hz": lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM) * 1e6,
            },
            nvml.NVMLError,
        )
        model = _text(nvml.nvmlDeviceGetName(handle))
        return Accelerator.model_validate({"model": model, **fields, "missing": missing})

    def reading(self, index: int, own: Collection[int]) -> DeviceReading:
        """Read a device's state now; `own` are the process ids of this run."""
        nvml, handle = self._nvml, self._handles[index]
        fields, missing = read_fields(
            {
                "sm_clock_hz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) * 1e6,
                "memory_clock_hz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM) * 1e6,
                "temperature_c": lambda: float(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
                "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1e3,
                "energy_j": lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3,
                "thermal_violation_ns": lambda: self._violation_ns(index, nvml.NVML_PERF_POLICY_THERMAL),
                "power_violation_ns": lambda: self._violation_ns(index, nvml.NVML_PERF_POLICY_POWER),
                "event_reasons": lambda: self._event_reasons(index),
                "ecc_uncorrected": lambda: int(
                    nvml.nvmlDeviceGetTotalEccErrors(
                        handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
                    )
                ),
                "foreign_processes": lambda: self._foreign(index, own),
            },
            nvml.NVMLError,
        )
        return DeviceReading.model_validate({"device": index, **fields, "missing": missing})

    def interconnect(self) -> str:
        """Return how several accelerators are joined: by NVLink, with the number of links of the first, or by PCIe.

        Raises:
            UnreadableError: there are not several.
        """
        if self.count < 2:
            raise UnreadableError("one accelerator" if self.count else "no accelerator")
        links = sum(self._is_link_up(link) for link in range(self._nvml.NVML_NVLINK_MAX_LINKS))
        return f"NVLink, {links} links" if links else "PCIe"

    def _is_link_up(self, link: int) -> bool:
        try:
            return bool(self._nvml.nvmlDeviceGetNvLinkState(self._handles[0], link))
        except self._nvml.NVMLError:
            return False

    def _violation_ns(self, index: int, policy: int) -> int:
        return int(self._nvml.nvmlDeviceGetViolationStatus(self._handles[index], policy).violationTime)

    def _event_reasons(self, index: int) -> int:
        nvml = self._nvml
        newer = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
        return int((newer or nvml.nvmlDeviceGetCurrentClocksThrottleReasons)(self._handles[index]))

    def _foreign(self, index: int, own: Collection[int]) -> int:
        """Count the processes on a device that are not this run's.

        Raises:
            UnreadableError: the driver's process ids are not this machine's, as in a container, so none can be told.
        """
        import psutil

        foreign = {entry.pid for entry in self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handles[index])} - {
            *own
        }
        if any(not psutil.pid_exists(pid) for pid in foreign):
            raise UnreadableError("the driver's process ids are not those of this process namespace")
        return len(foreign)


def _text(value: str | bytes) -> str:
    """Return what older versions of the binding give as bytes."""
    return value.decode() if isinstance(value, bytes) else value


def from_torch(described: Mapping[str, Any], why: str) -> Accelerator:
    """Describe a device that torch sees and NVML does not tell of, for the reason `why`."""

    def untold() -> Any:
        raise UnreadableError(why)

    told = {"memory_bytes", "l2_bytes", "compute_capability"}
    names = [name for name in Accelerator.model_fields if name not in {"model", "missing"}]
    fields, missing = read_fields(
        {name: (lambda name=name: described[name]) if name in told else untold for name in names},  # type: ignore[misc]
        KeyError,
    )
    return Accelerator.model_validate({"model": described["model"], **fields, "missing": missing})
