"""Owns the command `python -m benchmarks.profile`: read a profiler's files, or print what hands a profile on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.options import LOGS
from benchmarks.profile import ascend, handoff, ncu, torch_trace
from benchmarks.profile.summaries import ProfileError, Summary
from evidence.errors import EvidenceError
from evidence.store import Store

OK, USAGE = 0, 2


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.profile", description="Profiles, read and handed on.")
    commands = made.add_subparsers(dest="command", required=True)
    read = commands.add_parser("read", help="say what a profiler's file holds: ncu, a torch trace, kernel details")
    read.add_argument("file", type=Path)
    read.add_argument("--cores", type=int, help="cores of an Ascend device, to judge the grid")
    todo = commands.add_parser("command", help="print the commands that profile a program; nothing is run")
    todo.add_argument("--vendor", choices=("nvidia", "ascend"), default="nvidia")
    todo.add_argument("--output", default="profile", help="folder of the profiler's files")
    todo.add_argument("target", nargs=argparse.REMAINDER, help="-- program and its arguments")
    block = commands.add_parser("handoff", help="print the block of one comparison of a log")
    block.add_argument("log")
    block.add_argument("--logs", default=LOGS, metavar="DIR")
    for name in ("baseline", "candidate", "workload"):
        block.add_argument(f"--{name}", required=True)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, or 2 for what cannot be read."""
    options = parser().parse_args(argv)
    try:
        sys.stdout.write(_said(options) + "\n")
    except EvidenceError as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"  fix: {error.fix}\n" if error.fix else ""))
        return USAGE
    except KeyError as error:
        sys.stderr.write(f"error: {error.args[0]}\n")
        return USAGE
    return OK


def _said(options: argparse.Namespace) -> str:
    if options.command == "read":
        return _text(_read(options.file, options.cores))
    if options.command == "command":
        target = [word for index, word in enumerate(options.target) if index or word != "--"]
        if not target:
            raise ProfileError("no program is named", fix="write it behind --")
        return handoff.to_do(options.vendor, target, options.output)
    loaded = Store(Path(options.logs)).load(options.log)
    return handoff.of_record(loaded, options.baseline, options.candidate, options.workload)


def _read(path: Path, cores: int | None) -> Summary:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror}") from None
    if path.suffix in (".json", ".gz"):
        return torch_trace.read(data, path.name)
    head = data[:4096].decode("utf-8-sig", errors="replace").partition("\n")[0]
    if "Accelerator Core" in head or "Task Type" in head:
        return ascend.summary({path.name: data}, cores=cores)[0]
    return ncu.read(data, path.name)


def _text(summary: Summary) -> str:
    lines = [f"tool        {summary.tool}", f"bottleneck  {summary.bottleneck}: {summary.why}"]
    lines += [f"metric      {one.name} {one.value:.6g} {one.unit}".removesuffix(" 1") for one in summary.metrics]
    lines += [f"kernel      {one.launches} × {one.name}: {one.duration_s:.4g} s" for one in summary.kernels[:10]]
    lines += [f"read        {one.name} (sha256 {one.sha256}, {one.bytes:,} bytes)" for one in summary.raw]
    return "\n".join([*lines, "note        profiled times are not timings"])


if __name__ == "__main__":
    raise SystemExit(main())
