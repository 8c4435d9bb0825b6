"""Owns what answers for a device while modules are imported in a process that must not touch one.

Packages of kernels ask at import which device there is: `fla.utils.hardware` of fla-core 0.6 asks Triton's driver for
its target and torch for capability and name, and ops choose block sizes by the shared memory. Asking makes a context,
and a process with a context cannot be forked. So another process reads `Facts`, `standing_in` answers with them for
the length of an import, and a forked process, which may make a context, checks them with `difference`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Facts:
    """What this machine's devices say of themselves, in torch's order."""

    torch: tuple[Mapping[str, Value], ...]
    """By device: the numbers and texts of torch's properties."""
    target: tuple[str, int | str, int] | None
    """Backend, architecture and warp size of Triton's target; None without Triton."""
    triton: tuple[Mapping[str, Value], ...]
    """By device: the properties that Triton's driver gives."""


def read() -> Facts | None:
    """Ask the devices, which makes a context; None if torch sees none."""
    import torch

    devices = range(torch.cuda.device_count())
    if not devices:
        return None
    properties = tuple(_values(torch.cuda.get_device_properties(index)) for index in devices)
    if importlib.util.find_spec("triton") is None:
        return Facts(properties, None, ())
    from triton.runtime import driver

    target = driver.active.get_current_target()
    given = tuple(dict(driver.active.utils.get_device_properties(index)) for index in devices)
    return Facts(properties, (target.backend, target.arch, target.warp_size), given)


def _values(properties: object) -> dict[str, Value]:
    named = ((name, getattr(properties, name)) for name in dir(properties) if not name.startswith("_"))
    return {name: value for name, value in named if isinstance(value, Value)}


def difference(facts: Facts) -> str | None:
    """Use the device and return what it says otherwise than `facts`, or None."""
    import torch

    torch.zeros(1, device="cuda").add_(1).item()
    found = read()
    if found is None or len(found.torch) != len(facts.torch):
        return f"torch sees {0 if found is None else len(found.torch)} devices, not {len(facts.torch)}"
    if found.target != facts.target:
        return f"Triton's target is {found.target}, not {facts.target}"
    for told, asked in zip(found.torch + found.triton, facts.torch + facts.triton, strict=True):
        for name in sorted(told.keys() | asked.keys()):
            if told.get(name) != asked.get(name):
                return f"{name} is {told.get(name)}, not {asked.get(name)}"
    return None


@contextmanager
def standing_in(facts: Facts) -> Iterator[list[str]]:
    """Answer with `facts` inside the block; yields the questions that they do not answer, as these come.

    Whoever keeps one of the functions replaced here asks the device itself after the block.
    """
    import torch

    unanswered: list[str] = []
    answers = _torch_answers(facts, unanswered)
    real = {name: getattr(torch.cuda, name) for name in answers}
    is_over: list[bool] = []
    for name, answer in answers.items():
        setattr(torch.cuda, name, _until(is_over, answer, real[name]))
    try:
        with _triton_stand_in(facts, unanswered):
            yield unanswered
    finally:
        is_over.append(True)
        for name, function in real.items():
            setattr(torch.cuda, name, function)


def _until(is_over: list[bool], answer: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given, **named: (real if is_over else answer)(*given, **named)


def _torch_answers(facts: Facts, unanswered: list[str]) -> dict[str, Callable[..., Any]]:
    """Return the functions of torch.cuda that ask the device; capability and name come from its properties."""
    import torch

    def properties(device: Any = None) -> SimpleNamespace:
        index = torch.device(device).index if isinstance(device, str) else getattr(device, "index", device)
        return SimpleNamespace(**facts.torch[index or 0])

    def initialise() -> None:
        asker = sys._getframe(2).f_code
        unanswered.append(f"{asker.co_name} in {asker.co_filename.rpartition('/')[2]}")
        raise RuntimeError("a device is asked for while none may be used")

    return {
        "is_available": lambda: True,
        "device_count": lambda: len(facts.torch),
        "current_device": lambda: 0,
        "get_device_properties": properties,
        "_lazy_init": initialise,
    }


@contextmanager
def _triton_stand_in(facts: Facts, unanswered: list[str]) -> Iterator[None]:
    if facts.target is None:
        yield
        return
    from triton.runtime import driver

    # Asking for the active driver would create it, so what the object holds is put back instead.
    held = dict(vars(driver))
    driver.set_active(_Driver(facts, unanswered))
    try:
        yield
    finally:
        vars(driver).clear()
        vars(driver).update(held)


class _Driver:
    """Answers for Triton's driver."""

    def __init__(self, facts: Facts, unanswered: list[str]) -> None:
        self._facts, self._unanswered = facts, unanswered
        self.utils = SimpleNamespace(get_device_properties=lambda index: dict(facts.triton[index]))

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return None if self._facts.target is None else GPUTarget(*self._facts.target)

    def get_current_device(self) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[Value, Value]:
        return self._facts.torch[device]["major"], self._facts.torch[device]["minor"]

    def get_benchmarker(self) -> Any:
        from triton.testing import do_bench

        return do_bench

    def __getattr__(self, name: str) -> Any:
        self._unanswered.append(f"{name} of Triton's driver")
        raise AttributeError(name)
