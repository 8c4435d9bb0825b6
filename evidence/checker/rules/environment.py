"""Owns EV1: where a run took place, how it was started, which code it measured, and what its devices suffered."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator

from evidence.checker.corpus import Corpus, Fault
from evidence.checker.facts import IDLE, Facts, Window
from evidence.checker.memory import Tree
from evidence.checker.private import kinds_in, private_text
from evidence.checker.registry import corpus_rule, mark, record_rule
from evidence.diagnostics import Finding, Location, Severity
from evidence.readings import Condition, conditions_of
from evidence.schema import Arm, DeviceConditions, GitSource, Host, Record, Stack
from evidence.store import Loaded, Problem

_DIGIT = re.compile(r"[0-9]")
_REQUIRED = re.compile(r"'(\w+)' is a required property")
_PLACEHOLDERS = frozenset({"", "unknown", "none", "null", "na", "n/a", "todo", "tbd", "undefined", "default"})
_PYTHON = re.compile(r"[23]\.[0-9]+(\.[0-9]+)?([a-z+][\w.+-]*)?")
_INTERPRETER = re.compile(r"(?:python|pypy)([0-9]+(?:\.[0-9]+)?)?t?(?:\.exe)?")
_FRAMEWORKS = frozenset(
    {
        "cupy",
        "jax",
        "jaxlib",
        "mindspore",
        "mlx",
        "numba",
        "onnxruntime",
        "onnxruntime-gpu",
        "paddlepaddle",
        "paddlepaddle-gpu",
        "pycuda",
        "sglang",
        "tensorflow",
        "tensorrt",
        "tensorrt-llm",
        "tinygrad",
        "torch",
        "torch-npu",
        "triton",
        "triton-ascend",
        "vllm",
    }
)

SLOWDOWNS = 0x8 | 0x20 | 0x40 | 0x80
"""NVML's bits for hardware slowdown, software thermal, hardware thermal and power brake slowdown."""
POWER_CAP = 0x4
_CLOCK_DRIFT = 0.05
_TEXT_ROLES = ("gate-log", "texts", "prompts", "raw", "log")


def field_at_fault(problem: Problem) -> str:
    """Return the JSON pointer of the field that keeps a record from loading, a missing one included."""
    required = _REQUIRED.search(problem.message)
    return f"{problem.pointer}/{required[1]}" if required else problem.pointer


def _owns(*fields: str) -> Callable[[Problem], bool]:
    return lambda problem: field_at_fault(problem) in fields


def _owns_below(*fields: str) -> Callable[[Problem], bool]:
    return lambda problem: field_at_fault(problem).startswith(fields)


@record_rule("EV101", "missing-environment", owns=_owns("/hosts", "/stacks"))
def missing_environment(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A record does not say where it ran.

    ## What it checks
    The record names at least one host and one software stack, and each arm the ones it ran on. A measured record
    without them does not load; an import often lacks them, because the foreign file does.

    ## Why it matters
    A number without its device and software is no measurement of anything a reader could rebuild.

    ## How to fix it
    Measure again with a runner that captures the environment, or mark the log `do_not_cite` in a claims file.
    """
    record = loaded.record
    lacking = [field for field in ("hosts", "stacks") if not getattr(record, field)]
    if lacking:
        yield from corpus.fault(loaded, [Fault(f"the record has no {' and no '.join(lacking)}", (lacking[0],))])
        return
    yield from corpus.fault(
        loaded,
        (
            Fault(f"arm {arm.name!r} says nowhere that it ran", ("arms", index, "ranks"))
            for index, arm in enumerate(record.arms)
            if not arm.ranks
        ),
    )


@record_rule("EV102", "incomplete-environment", owns=_owns_below("/hosts/", "/stacks/"))
def incomplete_environment(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """An environment lacks something that decides how fast it is.

    ## What it checks
    Of every host and stack that an arm used: the device's model (the processor's, for arms without an accelerator), the
    operating system and the Python version, and for accelerators the driver, the runtime and a framework, are present,
    not empty, not a stand-in such as "unknown", and of the form they should have.

    ## Why it matters
    A driver or framework release moves kernels by more than most changes under test.

    ## How to fix it
    Let the runner read the machine again; a field it cannot read on this machine needs mending there first.
    """
    facts = corpus.facts(loaded)
    return corpus.fault(loaded, _gaps(facts))


def _gaps(facts: Facts) -> Iterator[Fault]:
    hosts = {host.name: index for index, host in enumerate(facts.record.hosts)}
    stacks = {stack.name: index for index, stack in enumerate(facts.record.stacks)}
    ranks = {(rank.host, rank.device, rank.stack) for arm in facts.record.arms for rank in arm.ranks}
    for name in sorted({host for host, _, _ in ranks}):
        devices = sorted({device for host, device, _ in ranks if host == name and device is not None})
        yield from _host_gaps(facts.hosts[name], ("hosts", hosts[name]), devices)
    for name in sorted({stack for _, _, stack in ranks}):
        is_accelerated = any(device is not None for _, device, stack in ranks if stack == name)
        yield from _stack_gaps(facts.stacks[name], ("stacks", stacks[name]), is_accelerated)


def _host_gaps(host: Host, at: tuple[str | int, ...], devices: list[int]) -> Iterator[Fault]:
    if _is_vague(host.os):
        yield Fault(f"host {host.name!r} does not say its operating system", (*at, "os"))
    for device in devices:
        if _is_vague(host.accelerators[device].model):
            yield Fault(f"device {device} of {host.name!r} has no model", (*at, "accelerators", device, "model"))
    if devices and (_is_vague(host.driver) or _DIGIT.search(host.driver or "") is None):
        yield Fault(f"host {host.name!r} does not say its driver", (*at, "driver"))
    if not devices and _is_vague(host.cpu_model):
        yield Fault(f"host {host.name!r} does not say its processor", (*at, "cpu_model"))


def _stack_gaps(stack: Stack, at: tuple[str | int, ...], is_accelerated: bool) -> Iterator[Fault]:
    if _PYTHON.fullmatch(stack.python) is None:
        yield Fault(f"stack {stack.name!r} has {stack.python!r} for a Python version", (*at, "python"))
    has_framework = any(map(_is_framework, stack.packages)) if is_accelerated else bool(stack.packages)
    if is_accelerated and _is_vague(stack.runtime):
        yield Fault(f"stack {stack.name!r} does not say its accelerator runtime", (*at, "runtime"))
    if not has_framework:
        yield Fault(f"stack {stack.name!r} pins no framework", (*at, "packages"))


@functools.lru_cache(maxsize=4096)
def _is_framework(package: str) -> bool:
    return package.partition("==")[0].lower().replace("_", "-") in _FRAMEWORKS


@functools.lru_cache(maxsize=1024)
def _is_vague(text: str | None) -> bool:
    return text is None or text.strip(" -?._*").lower() in _PLACEHOLDERS


@record_rule("EV103", "missing-command", owns=lambda problem: field_at_fault(problem).startswith("/provenance"))
def missing_command(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A record does not say how its run was started.

    ## What it checks
    The record has a provenance with the command as run. A measured record without one does not load; an import has
    none by its nature.

    ## Why it matters
    Without the command nobody can run it again, and a reader cannot see which switches were on.

    ## How to fix it
    Measure again with a runner that records its command, or mark the log `do_not_cite` in a claims file.
    """
    if loaded.record.provenance is None:
        yield from corpus.fault(loaded, [Fault("the record has no command", ("provenance",))])


@record_rule("EV104", "missing-source", owns=_owns_below("/sources"))
def missing_source(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A record does not say which code it measured.

    ## What it checks
    The record names at least one source, a git tree or an installed package, and every arm's source is one of them.

    ## Why it matters
    A speed belongs to a version of some code; without the version it belongs to nothing.

    ## How to fix it
    Measure again with a runner that records its sources, or mark the log `do_not_cite` in a claims file.
    """
    if not loaded.record.sources:
        yield from corpus.fault(loaded, [Fault("the record names no source", ("sources",))])


@record_rule("EV105", "dirty-source")
def dirty_source(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The measured work tree was not what its commit holds.

    ## What it checks
    The digest of the work tree equals that of its commit, both without docs/, so that writing a log dirties nothing.

    ## Why it matters
    Code that was never committed cannot be looked at, let alone run again.

    ## How to fix it
    Commit the change, then measure again.
    """
    return corpus.fault(
        loaded,
        (
            Fault(f"source {source.name!r} had changes that are in no commit", ("sources", index, "tree_sha256"))
            for index, source in enumerate(loaded.record.sources)
            if isinstance(source, GitSource) and source.is_dirty
        ),
    )


@record_rule("EV106", "unknown-commit")
def unknown_commit(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """The measured commit is not in the repository's history.

    ## What it checks
    A source that is this repository (it has no address, it has this repository's, or the runner itself came from it)
    names a commit that some branch or tag reaches. If git or the history is not there, that is a finding, not a pass.
    Sources from other repositories have to name a commit, which is not looked up.

    ## Why it matters
    A commit that a rebase or a deleted branch took away leaves numbers of code that nobody can find.

    ## How to fix it
    Push the branch that holds the commit, or measure a commit that will stay.
    """
    faults = []
    for index, source in enumerate(loaded.record.sources):
        if not isinstance(source, GitSource):
            continue
        if source.commit is None:
            faults.append(Fault(f"source {source.name!r} has no commit", ("sources", index, "commit")))
        elif not corpus.is_here(loaded.record, source):
            continue
        elif corpus.repository is None:
            yield from corpus.tell_once("could not check commits: git cannot be asked here", "run the check in a clone")
        elif source.commit not in corpus.history:
            if corpus.repository.is_shallow():
                yield from corpus.tell_once("could not check commits: the clone is shallow", "fetch the whole history")
            else:
                message = f"commit {source.commit[:12]} of source {source.name!r} is not in the history"
                faults.append(Fault(message, ("sources", index, "commit")))
    yield from corpus.fault(loaded, faults)


@corpus_rule("EV107", "source-mismatch")
def source_mismatch(corpus: Corpus) -> Iterator[Finding]:
    """The recorded commit holds other files than the record says.

    ## What it checks
    The digest over the commit's files, computed again from the history, equals the recorded one. A record that could
    not digest its trees cannot be held to them, which is a finding too.

    ## Why it matters
    It shows a commit id that was typed or edited, and a history that was rewritten under the same record.

    ## How to fix it
    Measure again from a checkout of the commit.
    """
    held = {log: trees for log, trees in corpus.memory.trees.items() if not corpus.is_set_aside(log)}
    told = {tree.commit for trees in held.values() for tree in trees} & corpus.history
    digests = corpus.committed(told)
    for log, trees in held.items():
        faults = [_mismatch(tree, digests.get(tree.commit)) for tree in trees if tree.commit in told]
        if any(faults):
            yield from corpus.fault(corpus.store.load(log), filter(None, faults))


def _mismatch(tree: Tree, digest: str | None) -> Fault | None:
    if tree.sha256 is None:
        return Fault(f"source {tree.source!r} has no digest to check its commit by", ("sources", tree.number))
    if tree.sha256 == digest:
        return None
    message = f"commit {tree.commit[:12]} of source {tree.source!r} holds other files than were recorded"
    return Fault(message, ("sources", tree.number, "commit_tree_sha256"))


@record_rule("EV108", "stale-source", Severity.WARNING)
def stale_source(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """The measured files have changed since they were measured.

    ## What it checks
    Each of the measured paths has the recorded digest in the work tree. Only the newest log of a series is held to it:
    older ones measured older code by intent. For a release it is an error. Where the project limits how many commits a
    log may be behind (`maximum_age`), EV116 holds it to that instead.

    ## Why it matters
    The page speaks of code that is no longer there.

    ## How to fix it
    Run the benchmark again; the new log joins the same series.
    """
    if loaded.entry.log not in corpus.newest or corpus.limits_commits(loaded):
        return
    root = corpus.repository.root if corpus.repository else corpus.project.root
    faults = []
    for index, source in corpus.trees_here(loaded.record):
        for at, path in enumerate(source.paths):
            digest = corpus.digest(f"{root}/{path.path}")
            if digest != path.sha256:
                how = "is gone" if digest is None else "has changed"
                faults.append(Fault(f"{path.path} {how} since it was measured", ("sources", index, "paths", at)))
    severity = Severity.ERROR if corpus.options.is_release else None
    yield from corpus.fault(loaded, faults, severity=severity)


@record_rule("EV109", "shared-device")
def shared_device(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """Somebody else's processes ran on the device.

    ## What it checks
    No reading round the window of a timed process shows processes on its devices that were not the run's own.

    ## Why it matters
    They take clock, cache and memory bandwidth at moments that nobody can reconstruct.

    ## How to fix it
    Measure again on a device of your own.
    """

    def suspect(columns: DeviceConditions) -> bool:
        return columns.foreign_processes is not None and any(columns.foreign_processes)

    return corpus.fault(loaded, _suffered(corpus.facts(loaded), "shared", "was shared with other processes", suspect))


@record_rule("EV110", "throttled")
def throttled(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A device was slowed down while it was measured.

    ## What it checks
    Round the window of each timed process the thermal violation counter stands still and no reading gives thermal or
    hardware slowdown as the reason for its clocks. An accelerator that was measured and never read is a finding too. A
    power cap is none: it is how the device is run, and EV111 writes it into the stance line.

    ## Why it matters
    A slowdown hits the arm that happens to run, and reads as a difference between arms.

    ## How to fix it
    Let the device cool, or lower its clocks for all arms alike, and measure again.
    """
    facts = corpus.facts(loaded)
    unread = {
        (host, device): cell.arm
        for _, cell in facts.timed
        for host, device, _ in facts.devices[cell.arm]
        if (host, device) not in facts.readings
    }
    if unread:
        (host, device), arm = next(iter(unread.items()))
        message = f"device {device} of {host!r}, which ran {arm!r}, was never read: a slowdown cannot be excluded"
        yield from corpus.fault(loaded, [Fault(message, ("conditions",))])
        return
    yield from corpus.fault(loaded, _suffered(facts, "throttled", "was slowed down", _slowed))


def _slowed(columns: DeviceConditions) -> bool:
    counter, reasons = columns.thermal_violation_ns, columns.event_reasons
    return bool(counter and counter[-1] > counter[0]) or bool(reasons and any(one & SLOWDOWNS for one in reasons))


@mark("EV111", "power-capped")
def power_capped(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """The device ran against its power limit: said in the stance line, and no fault.

    ## What it checks
    The power violation counter grew, or a reading gives the power cap as the reason for its clocks, round the window of
    a timed process. This is no finding of a check: it is written beside the date and the device.

    ## Why it matters
    Large products run at the power limit on every device of their kind; a reader with another limit sees other numbers.

    ## How to fix it
    Nothing is wrong. State the power limit when you compare with another machine.
    """

    def suspect(columns: DeviceConditions) -> bool:
        counter, reasons = columns.power_violation_ns, columns.event_reasons
        return bool(counter and counter[-1] > counter[0]) or bool(reasons and any(one & POWER_CAP for one in reasons))

    return corpus.fault(
        loaded, _suffered(corpus.facts(loaded), "power-capped", "ran at its power limit", suspect, POWER_CAP)
    )


def _suffered(
    facts: Facts,
    condition: Condition,
    how: str,
    suspect: Callable[[DeviceConditions], bool],
    reasons: int = SLOWDOWNS,
) -> Iterator[Fault]:
    """Yield the processes whose devices suffered something; devices without any sign of it are passed over at once."""
    suspects = {key for key, columns in facts.readings.items() if suspect(columns)}
    if not suspects:
        return
    for window, index, at in facts.windows:
        arm = facts.record.cells[index].arm
        for host, device, _ in facts.devices[arm]:
            columns = facts.readings[host, device] if (host, device) in suspects else None
            if columns is None:
                continue
            by_reason = condition != "shared" and _gives(columns, window, reasons)
            if by_reason or condition in conditions_of(facts.record, host, device, window):
                message = f"device {device} of {host!r} {how} while process {at} of {arm!r} ran"
                yield Fault(message, ("cells", index, "processes", at))
                break


def _gives(columns: DeviceConditions, window: Window, reasons: int) -> bool:
    """Whether a reading inside a window, or the nearest on either side, gives one of the reasons."""
    if columns.event_reasons is None:
        return False
    before = max((time for time in columns.at_s if time <= window[0]), default=window[0])
    after = min((time for time in columns.at_s if time >= window[1]), default=window[1])
    pairs = zip(columns.at_s, columns.event_reasons, strict=True)
    return any(reason & reasons for time, reason in pairs if before <= time <= after)


@record_rule("EV112", "ecc-errors")
def ecc_errors(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A device's memory had errors that could not be corrected during the run.

    ## What it checks
    The counter of uncorrected errors does not grow over the readings of the run.

    ## Why it matters
    The results may be wrong, and so may the time it took to get them.

    ## How to fix it
    Replace or reset the device, then measure again.
    """
    faults = []
    for index, columns in enumerate(loaded.record.conditions):
        if isinstance(columns, DeviceConditions) and columns.ecc_uncorrected:
            grown = max(columns.ecc_uncorrected) - columns.ecc_uncorrected[0]
            if grown > 0:
                message = f"device {columns.device} of {columns.host!r} had {grown} uncorrected memory errors"
                faults.append(Fault(message, ("conditions", index, "ecc_uncorrected")))
    return corpus.fault(loaded, faults)


@record_rule("EV113", "private-data", stands=True)
def private_data(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A log holds something that says where or whose the machine is.

    ## What it checks
    Every string of the record, and every file of the log that is text, is looked through for home directories, e-mail
    addresses, names and addresses of machines, serial numbers of devices, addresses with a password in them, access
    tokens and keys. Variables that hold a user or host name are refused by name. What was found is never printed.

    ## Why it matters
    Logs are published and never taken back.

    ## How to fix it
    Revoke a leaked key first. Then remove the log from the history and run the benchmark with paths relative to the
    repository.
    """
    if found := private_text(loaded.texts, corpus.clean):
        kind, text = found
        yield Finding(corpus.line_with(loaded, text), f"holds {kind}")
    for artifact in loaded.record.artifacts:
        path = loaded.entry.path.parent / artifact.path
        if artifact.role in _TEXT_ROLES:
            for kind, line in kinds_in(corpus.content(str(path)) or b""):
                yield Finding(Location(corpus.name(path), line), f"holds {kind}")
                break
    yield from corpus.fault(loaded, _personal_variables(loaded.record))


def _personal_variables(record: Record) -> Iterator[Fault]:
    provenance = record.provenance
    for index, setting in enumerate(provenance.variables if provenance else ()):
        if setting.name in ("USER", "USERNAME", "LOGNAME", "HOSTNAME", "HOST", "HOME"):
            yield Fault(f"records the variable {setting.name}", ("provenance", "variables", index))


@record_rule("EV114", "clock-drift", Severity.WARNING)
def clock_drift(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A device's clock moved while arms were compared on it.

    ## What it checks
    The SM clocks read at the boundaries of processes lie within 5 % of each other. Readings of an idle device are left
    out, because it clocks down between processes.

    ## Why it matters
    Arms that are measured in turn share a slow drift; one that is measured last takes all of it.

    ## How to fix it
    Warm the device up longer, lock its clocks, or measure more processes in turn.
    """
    faults = []
    for index, columns in enumerate(loaded.record.conditions):
        if isinstance(columns, DeviceConditions) and columns.sm_clock_hz:
            reasons = columns.event_reasons or (0,) * len(columns.at_s)
            clocks = [
                clock for clock, why in zip(columns.sm_clock_hz, reasons, strict=True) if not why & IDLE and clock
            ]
            if clocks and max(clocks) > min(clocks) * (1 + _CLOCK_DRIFT):
                span = f"{min(clocks) / 1e6:.0f} to {max(clocks) / 1e6:.0f} MHz"
                message = f"the clock of device {columns.device} of {columns.host!r} went from {span}"
                faults.append(Fault(message, ("conditions", index, "sm_clock_hz")))
    return corpus.fault(loaded, faults)


@record_rule("EV115", "arm-environment-missing")
def arm_environment_missing(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """An arm ran under an interpreter that the record does not describe.

    ## What it checks
    The interpreter that an arm's command starts lies where the arm's stack says its interpreter lies, and is of the
    version the stack states. A command without a directory takes the interpreter of its stack.

    ## Why it matters
    Two interpreters are two sets of packages: the printed versions would be another arm's.

    ## How to fix it
    Record a stack of its own for each interpreter, and let the arm's ranks name it.
    """
    facts = corpus.facts(loaded)
    return corpus.fault(
        loaded,
        (
            Fault(message, ("arms", index, "command"))
            for index, arm in enumerate(loaded.record.arms)
            if (message := _foreign_interpreter(facts, arm))
        ),
    )


def _foreign_interpreter(facts: Facts, arm: Arm) -> str:
    program = arm.command[0].replace("\\", "/") if arm.command else ""
    folder, is_placed, name_of_program = program.rpartition("/")
    match = _INTERPRETER.fullmatch(name_of_program)
    if match is None:
        return ""
    for name in dict.fromkeys(rank.stack for rank in arm.ranks):
        stack = facts.stacks[name]
        known = stack.executable
        if known is not None and is_placed and folder.removeprefix("./") != known.rpartition("/")[0]:
            return f"arm {arm.name!r} ran under {program}, its stack {name!r} describes {known}"
        version = match[1]
        if version and not f"{stack.python}.".startswith(f"{version}."):
            return f"arm {arm.name!r} ran under {name_of_program}, its stack {name!r} describes Python {stack.python}"
    return ""
