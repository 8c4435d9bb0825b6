"""Owns tier B: real Triton kernels run by Triton's interpreter on a processor, to be gated, never timed.

`python -m benchmarks.ops.interpreter` reads a trial a line from stdin and answers a line each on stdout; `Interpreter`
is the other end. A process of its own, because triton reads the variable that chooses the interpreter when it is
imported. The interpreter needs help with kernels that were written for the compiler, see `install`; that help knows
the insides of the Triton versions it was tried with, and on others the tier is unavailable, which is not a pass.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.metadata
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from benchmarks.ops import gates
from benchmarks.ops.calls import load
from benchmarks.ops.origins import package_of, proof, redirect
from benchmarks.ops.registry import find
from benchmarks.ops.trials import Trial, prepared
from evidence.errors import EvidenceError
from evidence.schema.gates import Passed

VARIABLE = "TRITON_INTERPRET"
TRIED = ("3.9",)
"""Versions of Triton, to the minor, that `install` was tried with."""
_ROOT = Path(__file__).resolve().parents[2]
_COMPILED_PRECISIONS = ("bf16x3", "bf16x6")
_ARITHMETIC = ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod")


class UnavailableError(EvidenceError):
    """Kernels cannot be interpreted here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a trial: `message` is empty where the gate passed, `code` proves which files it judged."""

    message: str
    code: str = ""


def missing() -> str | None:
    """Return why tier B is unavailable here, or None; nothing is imported."""
    for package in ("torch", "triton"):
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed"
    if ".".join(version.split(".")[:2]) not in TRIED:
        return f"the interpreter's help is written for Triton {', '.join(TRIED)}; this is {version}"
    return None


class _LoopInteger(int):
    """An integer of a loop: kernels call `.to` of it, as the compiler makes it a tensor."""

    def to(self, *_: object) -> _LoopInteger:
        return self


def _arithmetic(name: str) -> Any:
    plain = getattr(int, name)

    def operation(self: _LoopInteger, other: object) -> object:
        result = plain(self, other)
        return _LoopInteger(result) if type(result) is int else result

    return operation


for _name in _ARITHMETIC:
    setattr(_LoopInteger, f"__{_name}__", _arithmetic(f"__{_name}__"))


def _range(*bounds: Any) -> Iterator[_LoopInteger]:
    return (_LoopInteger(number) for number in range(*(int(bound) for bound in bounds)))


def install() -> None:
    """Help the interpreter with what the compiler does, in this process; call it before a kernel package is imported.

    Autotuners take the first configuration that survives pruning: there is nothing to time. Products may ask for the
    compiler's precisions; the interpreter computes all of them in the accumulator's dtype.

    Raises:
        UnavailableError: Triton is another version, is imported already, or is not built as expected.
    """
    if (reason := missing()) is not None:
        raise UnavailableError(reason)
    if os.environ.get(VARIABLE) != "1" or any(name.partition(".")[0] == "triton" for name in sys.modules):
        raise UnavailableError(f"{VARIABLE}=1 was not set before triton was imported")
    from triton.runtime import autotuner, interpreter

    try:
        _take_first_configuration(autotuner)
        builder = interpreter.interpreter_builder
        allowed = (*builder.options.allowed_dot_input_precisions, *_COMPILED_PRECISIONS)
        builder.options = dataclasses.replace(builder.options, allowed_dot_input_precisions=allowed)
    except (AttributeError, TypeError) as error:
        raise UnavailableError(f"Triton is not built as expected: {error}") from None


def _take_first_configuration(autotuner: ModuleType) -> None:
    for name in ("run", "prune_configs"):
        getattr(autotuner.Autotuner, name)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        self.best_config = config = self.prune_configs(kwargs)[0]
        chosen = config.all_kwargs()
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **chosen})
        try:
            return self.fn.run(*args, **kwargs, **chosen)
        finally:
            self.nargs = None

    autotuner.Autotuner.run = run


def adapt(package: str) -> None:
    """Give the kernels imported of `package` loop integers with `.to`, and triton's gather as it is when called.

    A kernel that took `gather` from `triton.language` when it was defined would call the compiler's.
    """
    import triton.language as tl

    def gather(source: Any, index: Any, axis: int) -> Any:
        return tl.gather(source, index, axis)

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package and hasattr(module, "triton"):
            module.range = _range  # type: ignore[attr-defined]
            if hasattr(module, "gather"):
                module.gather = gather  # type: ignore[attr-defined]


class Interpreter:
    """A process that judges trials, one after the other; one that dies is a failed trial and is not started again."""

    def __init__(self, package: str = "", origin: Path | None = None, timeout_s: float = 600.0) -> None:
        """Start it. `package` is imported from `origin`, or from where it is installed.

        Raises:
            UnavailableError: see `missing`.
        """
        if (reason := missing()) is not None:
            raise UnavailableError(reason)
        words = ["--package", package, *(("--origin", str(origin)) if origin is not None else ())] if package else []
        self._timeout_s = timeout_s
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.ops.interpreter", *words],
            cwd=_ROOT,
            env={**os.environ, VARIABLE: "1", "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def judge(self, trial: Trial) -> Answer:
        """Return what came of a trial."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(dataclasses.asdict(trial)) + "\n")
            stdin.flush()
        except OSError:
            return Answer(f"the interpreter has ended with code {self._process.wait()}")
        ready, _, _ = select.select([stdout], [], [], self._timeout_s)
        if not ready:
            self._process.kill()
            return Answer(f"the interpreter was silent for {self._timeout_s:g} s")
        line = stdout.readline()
        return Answer(**json.loads(line)) if line else Answer(f"the interpreter ended with code {self._process.wait()}")

    def close(self) -> None:
        """Let it end."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._process.wait(timeout=60)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def judge(trial: Trial, device: str) -> str:
    """Judge a trial in this process and return what is wrong, or nothing."""
    try:
        case, implementation = prepared(trial)
        outcome = gates.verify(case, implementation, device)
    except EvidenceError as error:
        return f"{type(error).__name__}: {error.message}"
    return "" if isinstance(outcome, Passed) else f"{outcome.reason}: {outcome.message}"


def _interpreted(trial: Trial, package: str, origin: Path | None) -> Answer:
    target = find(trial.op).implementation(trial.implementation).target
    try:
        load(target)
        adapt(package_of(target))
    except (ImportError, EvidenceError) as error:
        return Answer(f"{type(error).__name__}: {error}")
    message = judge(trial, "cpu")
    if message or package != package_of(target):
        return Answer(message)
    try:
        return Answer(message, proof(package, origin).value)
    except EvidenceError as error:
        return Answer(error.message)


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the trials that come on stdin."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops.interpreter", description="Judge trials in tier B.")
    parser.add_argument("--package", default="", help="say which files of this package were loaded")
    parser.add_argument("--origin", type=Path, default=None, help="import that package from here")
    asked = parser.parse_args(argv)
    # Libraries print; what answers goes out where they cannot reach it.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    install()
    if asked.origin is not None:
        redirect(asked.package, asked.origin)
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        answer = _interpreted(Trial(**json.loads(line)), asked.package, asked.origin)
        answers.write(json.dumps(dataclasses.asdict(answer)) + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
