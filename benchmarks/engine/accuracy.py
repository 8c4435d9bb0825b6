"""Owns how wrong an arm is: its logits on fixed passages against those of the model before anything was done to it.

Errors are against that model in fp32, so what rounding alone does shows too. Where a model comes with text that it was
not trained on, one byte a token, what is judged is bits per byte; a model with random weights knows no text, so there
it is the share of positions at which the likeliest token is that of the model in fp32. Either is judged against the
same model in its own precision.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.engine.models import Directory, Model
from evidence.errors import EvidenceError
from evidence.schema.gates import AccuracyDetail, Failed, Gate, Passed, Reference, Tolerance, gate_holds

if TYPE_CHECKING:
    import torch

Measure = Literal["bits_per_byte", "argmax_agreement"]
Rows = tuple[tuple[int, ...], ...]

GATE = "accuracy"
REFERENCE = "benchmarks.engine.accuracy:assess"
HELD_OUT = "held_out.bin"
"""File of a model's folder with windows of text that it never saw."""
WINDOW = 512
"""Bytes of one window."""
LIMITS: Mapping[Measure, float] = {"bits_per_byte": 0.1, "argmax_agreement": 0.95}
"""How far a measure may be from the reference's: what loses a tenth of a bit, or agrees in one position of twenty at
most, computes something else, however fast."""
_WINDOWS = 8
_DRAWN_ROWS, _DRAWN_TOKENS, _SEED = 4, 128, 31


class NotFiniteError(EvidenceError):
    """Logits that are not numbers."""


@dataclass(frozen=True, slots=True)
class Passages:
    """What a model reads, and what is judged of it."""

    task: str
    measure: Measure
    rows: Rows
    seed: int

    @property
    def positions(self) -> int:
        """How many tokens are predicted: all but the first of each row."""
        return sum(len(row) - 1 for row in self.rows)


def windows_of(folder: Path, count: int = _WINDOWS) -> Rows:
    """Return the first windows of held-out text of a model's folder."""
    text = (folder / HELD_OUT).read_bytes()
    starts = range(0, min(len(text) - WINDOW + 1, count * WINDOW), WINDOW)
    return tuple(tuple(text[start : start + WINDOW]) for start in starts)


def passages(model: Model) -> Passages:
    """Return what a model is judged on."""
    if isinstance(model, Directory) and (model.path / HELD_OUT).is_file():
        return Passages("held-out-text", "bits_per_byte", windows_of(model.path), 0)
    source = random.Random(_SEED)
    drawn = (tuple(source.randrange(1, model.vocabulary) for _ in range(_DRAWN_TOKENS)) for _ in range(_DRAWN_ROWS))
    return Passages("uniform-random-tokens", "argmax_agreement", tuple(drawn), _SEED)


def definition(measure: Measure, dtype: str, *, source: str) -> Gate:
    """Return what is asked of every arm of this precision of a study that judges accuracy."""
    return Gate(
        name=GATE,
        kind="accuracy",
        command=(),
        scope="full",
        selection=None,
        reference=Reference(implementation=REFERENCE, source=source, stack=None, dtype=dtype),
        tolerances=(Tolerance(of="accuracy", limit=LIMITS[measure]),),
        frozen=(),
        variables=(),
        log=None,
        mutants=None,
        mutants_killed=None,
    )


def _read(model: Any, row: Sequence[int]) -> torch.Tensor:
    """Return the logits before each token of a row but the first, in fp32, on the model's device."""
    import torch

    tokens = torch.tensor([list(row)], device=model.device)
    with torch.no_grad():
        logits: torch.Tensor = model(tokens, use_cache=False).logits[0, :-1].float()
    if not bool(logits.isfinite().all()):
        raise NotFiniteError("logits on the passages are not finite")
    return logits


def read_in_fp32(model: Any, these: Passages) -> tuple[torch.Tensor, ...]:
    """Return the logits of a model computed in fp32, a row each, in the host's memory; the model is left as it was."""
    with _in_fp32(model):
        return tuple(_read(model, row).cpu() for row in these.rows)


@contextlib.contextmanager
def _in_fp32(model: Any) -> Iterator[None]:
    """Hold a model's weights in fp32 for a while: the way there and back is exact."""
    import torch

    weights = [(weight, weight.dtype) for weight in model.parameters()]
    buffers = [(module, name, kept) for module in model.modules() for name, kept in module._buffers.items()]
    model.to(torch.float32)
    try:
        yield
    finally:
        for weight, dtype in weights:
            weight.data = weight.data.to(dtype)
        for module, name, kept in buffers:
            module._buffers[name] = kept


@dataclass(frozen=True, slots=True)
class Assessment:
    """A model's logits beside those in fp32 of what it was made from, over all positions."""

    positions: int
    bits: float
    """What it takes to say the passages' own tokens, by the model's probabilities."""
    agreed: int
    """Positions at which the likeliest token is the one in fp32."""
    logit_error: float
    """Root mean square of the differences, relative to that of the logits in fp32."""
    largest_logit_error: float
    """The largest difference, in the same unit."""
    divergence_bits: float
    """Mean Kullback-Leibler divergence of the model's distribution from that in fp32."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """What a process says of itself beside its speed."""
        return {
            "logit_error": self.logit_error,
            "largest_logit_error": self.largest_logit_error,
            "divergence_bits": self.divergence_bits,
            "argmax_agreement": self.agreed / self.positions,
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """One model before anything was done to it, and after."""

    before: Assessment
    after: Assessment


def assess(model: Any, in_fp32: Sequence[torch.Tensor], these: Passages) -> Assessment:
    """Read the passages with a model as it is, and compare.

    Raises:
        NotFiniteError: some logits are no numbers.
    """
    bits = squares = scale = largest = divergence = 0.0
    agreed = 0
    for row, kept in zip(these.rows, in_fp32, strict=True):
        said, meant = _read(model, row), kept.to(model.device)
        apart = said - meant
        squares += float(apart.double().square().sum())
        scale += float(meant.double().square().sum())
        largest = max(largest, float(apart.abs().max()))
        agreed += int((said.argmax(dim=1) == meant.argmax(dim=1)).sum())
        log_said, log_meant = said.log_softmax(dim=1), meant.log_softmax(dim=1)
        bits += _bits(log_said, row)
        divergence += float((log_meant.exp() * (log_meant - log_said)).double().sum()) / math.log(2)
    elements = sum(kept.numel() for kept in in_fp32)
    return Assessment(
        positions=these.positions,
        bits=bits,
        agreed=agreed,
        logit_error=math.sqrt(squares / scale),
        largest_logit_error=largest / math.sqrt(scale / elements),
        divergence_bits=max(0.0, divergence / these.positions),
    )


def _bits(logarithms: torch.Tensor, row: Sequence[int]) -> float:
    import torch

    meant = torch.tensor(row[1:], device=logarithms.device)
    return -float(logarithms.gather(1, meant[:, None]).double().sum()) / math.log(2)


def bits_per_byte(model: Any, rows: Rows) -> float:
    """Return what a model needs to say each byte of some windows but their first."""
    total = sum(_bits(_read(model, row).log_softmax(dim=1), row) for row in rows)
    return total / sum(len(row) - 1 for row in rows)


def outcome(
    found: Compared,
    these: Passages,
    gate: Gate,
    *,
    source: str,
    phase: Literal["before", "timed-outputs"],
) -> Passed | Failed:
    """Judge what was done to a model by the gate's own limit."""
    before, after = found.before, found.after
    is_text = these.measure == "bits_per_byte"
    detail = AccuracyDetail(
        task=these.task,
        measure=these.measure,
        numerator=round(after.bits, 6) if is_text else after.agreed,
        denominator=after.positions,
        reference_numerator=round(before.bits, 6) if is_text else before.agreed,
        reference_denominator=before.positions,
    )
    passed = Passed(gate=gate.name, source=source, phase=phase, seeds=(these.seed,), detail=detail)
    if fault := gate_holds(gate, passed):
        return Failed(
            gate=gate.name, source=source, reason="mismatch", message=fault, seeds=(these.seed,), detail=detail
        )
    return passed
