"""Owns claims as shown: a claim and its logs in, a Statement out, or the one thing its logs do not bear out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from evidence import sentences, statistics, units
from evidence.claims import Placed
from evidence.errors import ItemError
from evidence.evaluation import CONTRADICTED, Loader, Reading, readings_of, require_expected, tally
from evidence.mechanisms import mechanism_text, require_mechanism
from evidence.readings import device_of
from evidence.schema import Cell
from evidence.schema.claims import CONTROL, Claim, Status
from evidence.stance import computed_limitations, evidence_of, stance_of
from evidence.statistics import Verdict
from evidence.store import Loaded
from evidence.views import Banner, Ratio, Shown, Statement

CONTROL_MOVED, MISSING_LIMITATIONS = "EV309", "EV614"
DO_NOT_CITE = "EV612"


def build(placed: Placed[Claim], load: Loader, log_status: Mapping[str, Status]) -> Statement:
    """Evaluate a claim and render it.

    Raises:
        ItemError: the first thing that is wrong with it; `parts` is the key at fault.
        RecordError: a log it stands on does not load.
    """
    claim = placed.item
    readings = readings_of(claim, load)
    main = readings[""]
    _require_citable(claim, readings.values(), log_status)
    _require_still_control(readings)
    for reading in readings.values():
        require_expected(reading)
    require_mechanism(claim.mechanism, main, readings)
    _require_limitations(claim, main.loaded)
    devices = tuple(dict.fromkeys(device_of(reading.loaded.record) for reading in readings.values()))
    for place, text in _free_texts(claim):
        sentences.lint(text, devices, *place)
        if place[0] == "waive":
            sentences.require_plain(text, *place)
    _require_named_arms_read(claim.statement, readings)
    limitations = [
        sentences.plain(text, readings, "limitations", index) for index, text in enumerate(claim.limitations)
    ]
    status = spoken(claim.status, lambda text: sentences.plain(text, readings, "status"))
    logs = {reading.loaded.entry.log: reading.loaded for reading in readings.values()}
    return Statement(
        id=placed.id,
        sentence=sentences.render(claim.statement, readings, "statement"),
        verdict=main.verdict if main.is_comparison else Verdict.SAME,
        word=main.word if main.is_comparison else "MEASURED",
        headline=_headline(main),
        note=note_of(readings),
        short_note=note_of({name: r for name, r in readings.items() if not name or _is_worse(r)}),
        stance=stance_of(tuple(logs.values()), cells_of(readings.values())),
        mechanism=mechanism_text(claim.mechanism, readings),
        kind=main.loaded.entry.log.split("/", 1)[0],
        device=", ".join(devices),
        date=main.loaded.record.started_at.date().isoformat(),
        evidence=tuple(evidence_of(one, limitations) for one in logs.values()),
        banner=banner_of(worst_of([status, *(log_status.get(log) for log in logs)])),
    )


def cell_keys(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Yield log, arm and workload of every cell that a reading stands on, each once."""
    for arm in dict.fromkeys(filter(None, (reading.baseline, reading.candidate))):
        for workload in reading.workloads:
            yield (reading.loaded.entry.log, arm, workload.name)


def cells_of(readings: Iterable[Reading]) -> tuple[tuple[Loaded, Cell], ...]:
    """Return every cell the readings stand on, each once, with its record."""
    found: dict[tuple[str, str, str], tuple[Loaded, Cell]] = {}
    for reading in readings:
        for key in cell_keys(reading):
            found[key] = (reading.loaded, reading.loaded.cell(*key[1:]))
    return tuple(found.values())


def worst_of(statuses: Iterable[Status | None]) -> Status | None:
    """Return the status that weighs most, of a thing and of its logs: do-not-cite, superseded, historical."""

    def weight(status: Status) -> int:
        return 2 if status.do_not_cite is not None else 1 if status.superseded_by is not None else 0

    return max((one for one in statuses if one is not None), key=weight, default=None)


def spoken(status: Status | None, fill: Callable[[str], str]) -> Status | None:
    """Return a status with the fields of its reason filled."""
    if status is None or not status.why:
        return status
    key = "historical" if status.historical is not None else "do_not_cite"
    return status.model_copy(update={key: fill(status.why)})


def banner_of(status: Status | None) -> Banner | None:
    """Return what must be seen before a thing with this status."""
    if status is None:
        return None
    if status.historical is not None:
        return Banner("historical", status.historical)
    if status.do_not_cite is not None:
        return Banner("do_not_cite", status.do_not_cite)
    return Banner("superseded", f"replaced by {status.superseded_by}")


def _require_citable(claim: Claim, readings: Iterable[Reading], log_status: Mapping[str, Status]) -> None:
    if claim.status is not None and claim.status.do_not_cite is not None:
        raise ItemError(
            DO_NOT_CITE,
            f"marked do not cite: {claim.status.do_not_cite}",
            "status",
            fix="drop the sentence, or show its table",
        )
    for reading in readings:
        log = reading.loaded.entry.log
        status = log_status.get(log)
        if status is not None and status.do_not_cite is not None:
            key = ("also", reading.name) if reading.name else ("series",)
            message = f"{log} is marked do not cite: {status.do_not_cite}"
            raise ItemError(DO_NOT_CITE, message, *key, fix="measure again, and claim the new log")


def _require_named_arms_read(statement: str, readings: Mapping[str, Reading]) -> None:
    """Refuse a statement about an arm that no reading reads: whatever it says of that arm, nothing holds it to."""
    read = {arm for reading in readings.values() for arm in (reading.baseline, reading.candidate)}
    for arm in dict.fromkeys(arm.name for reading in readings.values() for arm in reading.loaded.record.arms):
        if arm not in read and re.search(rf"(?<![\w-]){re.escape(arm)}(?![\w-])", statement):
            message = f"the statement names {arm!r}, which no reading reads"
            raise ItemError(CONTRADICTED, message, "statement", fix="read it under 'also', or leave it out")


def _free_texts(claim: Claim) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text that an author writes in words, with its place."""
    yield ("statement",), claim.statement
    if claim.mechanism is not None:
        for field in ("text", "unknown"):
            text = getattr(claim.mechanism, field)
            if text is not None:
                yield ("mechanism", field), text
    for index, text in enumerate(claim.limitations):
        yield ("limitations", index), text
    if claim.status is not None and claim.status.why:
        yield ("status",), claim.status.why
    for index, waiver in enumerate(claim.waive):
        yield ("waive", index, "why"), waiver.why


def _require_still_control(readings: Mapping[str, Reading]) -> None:
    """Hold the reading called `control` still: if it moved, the main effect cannot be attributed."""
    control, main = readings.get(CONTROL), readings[""]
    if control is None or not control.is_comparison or not main.is_comparison:
        return
    asked = main.expect if isinstance(main.expect, Mapping) else {main.expect}
    if control.moved and not {"better", "worse"}.isdisjoint(asked):
        message = f"the control moved ({reading_note(control)}), so the effect cannot be attributed"
        raise ItemError(CONTROL_MOVED, message, "also", CONTROL, fix="say expect: inconclusive, or measure again")


def _require_limitations(claim: Claim, loaded: Loaded) -> None:
    if not (claim.limitations or loaded.record.limitations or computed_limitations(loaded.record)):
        raise ItemError(
            MISSING_LIMITATIONS, "no limitation is stated", "limitations", fix="write what was not measured"
        )


def _headline(main: Reading) -> Ratio | None:
    if not main.is_comparison:
        return None
    interval = None
    if len(main.ratios) == 1:
        interval = main.ratios[0]
    elif main.ratios:
        interval = statistics.geometric_mean(main.ratios).interval
    shown = None
    if interval is not None:
        decimals = units.sentence_ratio_decimals(interval)
        low, high = (units.format_number(end, decimals) for end in (interval.low, interval.high))
        shown = Shown(units.format_ratio(interval.value, decimals), low, high)
    note = "" if len(main.ratios) < 2 else f"geometric mean of {len(main.ratios)} cells: {tally(main)}"
    reason = next((one.reason for one in main.comparisons if one.reason), "")
    return Ratio(main.verdict, main.word, interval, shown, main.effect, note or reason)


def _is_worse(reading: Reading) -> bool:
    return reading.is_comparison and Verdict.WORSE in reading.counts


def note_of(readings: Mapping[str, Reading]) -> str:
    """Return what stands under a claim: its main reading, then each other after its name."""
    notes = [
        f"{name}: {reading_note(reading)}" if name else reading_note(reading) for name, reading in readings.items()
    ]
    return "; ".join(notes)


def reading_note(reading: Reading) -> str:
    """Return verdict, interval, n, scope and the minimum effect where the noise raised it."""
    total = len(reading.loaded.record.workloads)
    scope = f"{len(reading.workloads)} of {total} cells" if total > 1 else ""
    if not reading.is_comparison:
        figures = [sentences.value_figure(value, reading) for value in reading.values(reading.candidate)]
        words = [f"{figure.text} ({figure.interval})" for figure in figures[:3]] + (["…"] if len(figures) > 3 else [])
        return ", ".join(filter(None, [*words, f"n {reading.processes}", scope]))
    words = [reading.word]
    if len(reading.ratios) == 1:
        words.append(f"{sentences.ratio_text(reading.ratios[0])} (95 % {sentences.ratio_interval(reading.ratios[0])})")
    elif reading.ratios:
        mean = statistics.geometric_mean(reading.ratios).interval
        words[0] = tally(reading)
        words.append(f"geometric mean {sentences.ratio_text(mean)} (95 % {sentences.ratio_interval(mean)})")
    words += [f"n {reading.processes}", scope]
    if reading.effect > statistics.BASE_EFFECT:
        by = "the control" if reading.control is not None else "the A/A arm"
        words.append(f"minimum effect raised to {units.format_number(100 * reading.effect, 1)} % by {by}")
    reasons = dict.fromkeys(one.reason for one in reading.comparisons if one.reason)
    return ", ".join(filter(None, [*words, *list(reasons)[:2]]))
