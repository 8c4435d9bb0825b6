"""Owns tables as shown: a specification and its logs in, a Table out. Rows are cells of logs; nobody types one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evidence.claims import Placed
from evidence.evaluation import Loader
from evidence.schema.claims import DerivedColumn, Status, TableSpec
from evidence.stance import evidence_of, stance_of
from evidence.statements import banner_of, worst_of
from evidence.tables.headings import axis_columns, column_of, footnotes_of, tally_of
from evidence.tables.layout import (
    CellKey,
    arms_shown,
    cells_of,
    keys_of,
    load_log,
    omitted_cells,
    places_of,
    slots_of,
)
from evidence.tables.numbers import Grid, Origin, cell_of, origins_of, row_of, scales_of, uncovered
from evidence.tables.requirements import (
    require_layout,
    require_names,
    require_not_covered,
    require_notes,
    require_one_device,
)
from evidence.tables.texts import with_texts
from evidence.views import Table


class Built(NamedTuple):
    """A table with what it covers, for the rules on completeness: cells, and the quantities it shows of each series."""

    view: Table
    shown: frozenset[CellKey]
    omitted: frozenset[CellKey]
    quantities: frozenset[tuple[str, str]]
    """(log, metric) of every column."""
    pairs: frozenset[tuple[str, str, str]]
    """(log, baseline, candidate) of every ratio or change column."""
    origins: tuple[tuple[Origin | None, ...], ...]
    """By row, what each column that is no axis is read from; rows that no log has are left out at the end."""


def build(placed: Placed[TableSpec], load: Loader, log_status: Mapping[str, Status]) -> Built:
    """Evaluate a table and lay it out.

    Raises:
        ItemError: a name that is not there, an axis that no row or column tells apart, devices that do not mix.
        RecordError: a log it stands on does not load.
    """
    logs = tuple(load_log(load, series, index) for index, series in enumerate(placed.item.series))
    spec = with_texts(placed.item, logs)
    columns = [one if isinstance(one, DerivedColumn) else DerivedColumn(value=one) for one in spec.columns]
    require_names(spec, columns, logs)
    require_layout(spec, columns, logs)
    require_not_covered(spec, logs)
    require_one_device(spec, columns, logs)
    omitted = omitted_cells(spec, logs)
    arms = arms_shown(spec, logs, omitted)
    places = places_of(spec, logs, arms, omitted)
    slots = list(slots_of(spec, columns, arms, places))
    require_notes(spec, places)
    grid = Grid(places, slots, omitted)
    for row, place in enumerate(places):
        for index, slot in enumerate(slots):
            grid.cells[row, index] = cell_of(spec, place, slot, arms, grid)
    scales = scales_of(spec, grid)
    rows = [row_of(spec, grid, row, scales) for row in range(len(places))]
    rows += [uncovered(spec, one, len(slots)) for one in spec.not_covered]
    shown = frozenset(keys_of(places, arms)) - omitted.keys()
    cells = [(place.loaded, cell) for place in places for cell in cells_of(place, arms)]
    view = Table(
        id=placed.id,
        title=spec.title,
        tally=tally_of(grid),
        stance=stance_of(logs, cells, (*spec.rows, *filter(None, [spec.across]))),
        columns=(*axis_columns(spec), *(column_of(spec, grid, index, scales) for index in range(len(slots)))),
        rows=tuple(rows),
        footnotes=tuple(footnotes_of(spec, columns, logs, grid)),
        evidence=tuple(evidence_of(one) for one in logs),
        banner=banner_of(worst_of([spec.status, *(log_status.get(one.entry.log) for one in logs)])),
    )
    quantities = frozenset((one.entry.log, slot.quantity.metric) for one in logs for slot in slots if slot.quantity)
    pairs = frozenset((loaded.entry.log, one.baseline.arm, one.candidate.arm) for loaded, one in grid.comparisons)
    origins = tuple(tuple(origins_of(spec, place, slots, arms)) for place in places)
    return Built(view, shown, frozenset(omitted), quantities, pairs, origins)
