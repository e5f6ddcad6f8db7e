"""The capability table: what each kind of join can be combined with.

All calls and all control messages are checked against this table, locally and on Spark.
A cell names what implements the combination, or says why it cannot work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shedjoin.errors import ParameterError
from shedjoin.spec.capabilities import reasons
from shedjoin.spec.capabilities.kinds import By, Cell, Feature, JoinKind, Unsupported


def _row(*cells: Cell) -> Mapping[JoinKind, Cell]:
    """Cells by kind of join, in the order of the kinds; a single cell is for all."""
    each = cells * len(JoinKind) if len(cells) == 1 else cells
    return dict(zip(JoinKind, each, strict=True))


_BUDGETED, _BOUNDED, _STAR = By("budgeted"), By("multiway.bounded"), By("star.budgeted")
_MULTIWAY, _HARVESTING = By("multiway"), By("multiway.harvesting")
_CELLS, _CONTROL, _EVENT_TIME = By("columns.cells"), By("control"), By("event_time")
_NONE = reasons.NOTHING_HELD


def _in_memory(pairs: Cell, several: Cell, through: Cell) -> Mapping[JoinKind, Cell]:
    """Cells of a feature of memory budgets: by key, other joins, with a relation."""
    return _row(pairs, several, several, several, through, _NONE)


def _in_time(pairs: Cell, predicates: Cell) -> Mapping[JoinKind, Cell]:
    """Cells of a feature of budgets that limit time alone: by key, by predicates."""
    several, through = reasons.TIMED_SEVERAL, reasons.TIMED_RELATION
    return _row(pairs, predicates, several, predicates, through, _NONE)


TABLE: Mapping[Feature, Mapping[JoinKind, Cell]] = {
    Feature.EXACT: _row(
        *(By("exact"), _MULTIWAY, _MULTIWAY, _MULTIWAY, By("star"), By("star.alone"))
    ),
    Feature.OUTER: _row(
        *(By("exact.outer"), reasons.OUTER_PREDICATES),
        *[reasons.OUTER_SEVERAL] * 2,
        *[reasons.OUTER_RELATION] * 2,
    ),
    Feature.OUTER_KEPT: _row(
        *(reasons.OUTER_BUDGET, reasons.OUTER_PREDICATES),
        *[reasons.OUTER_SEVERAL] * 2,
        *[reasons.OUTER_RELATION] * 2,
    ),
    Feature.RELATION_COLUMNS: _row(
        *[reasons.NO_RELATION] * 4, By("star"), By("star.alone")
    ),
    Feature.RELATION_COLUMNS_KEPT: _row(
        *[reasons.NO_RELATION] * 4, reasons.COLUMNS_WITH_BUDGET, _NONE
    ),
    Feature.EVENT_TIME: _row(*[_EVENT_TIME] * 5, reasons.OWN_TIME),
    Feature.CELLS: _row(
        *(reasons.CELLS_OF_KEYS, _CELLS, reasons.CELLS_OF_KEYS, _CELLS),
        *(reasons.CELLS_OF_KEYS, reasons.CELLS_OF_KEYS),
    ),
    Feature.CONTROL: _row(*[_CONTROL] * 4, *[reasons.STEERED_RELATION] * 2),
    Feature.CONTROL_OF_TABLES: _row(reasons.STEERED_TABLES),
    Feature.MEMORY: _in_memory(_BUDGETED, _BOUNDED, _STAR),
    Feature.TIME: _in_time(_BUDGETED, _HARVESTING),
    Feature.TIME_OF_TABLES: _row(reasons.TIMED_TABLES),
    Feature.MEMORY_AND_TIME: _in_memory(
        _BUDGETED, reasons.ONE_LIMIT, reasons.TIMED_RELATION
    ),
    Feature.RECALL: _in_memory(
        _BUDGETED, reasons.UNFORESEEN_JOIN, reasons.UNFORESEEN_JOIN
    ),
    Feature.RECALL_UNFORESEEN: _in_memory(
        reasons.UNFORESEEN_POLICY, reasons.UNFORESEEN_JOIN, reasons.UNFORESEEN_JOIN
    ),
    Feature.KEEP_SCORES: _in_memory(_BUDGETED, _BOUNDED, _STAR),
    Feature.KEEP_VALUED: _in_memory(_BUDGETED, reasons.BY_PAIRS, _STAR),
    Feature.KEEP_PAIRS: _in_memory(_BUDGETED, reasons.BY_PAIRS, _STAR),
    Feature.KEEP_SAMPLE: _in_memory(_BUDGETED, reasons.SAMPLED, reasons.SAMPLED),
    Feature.KEEP_SAVING: _in_memory(_BUDGETED, reasons.SAVING, reasons.SAVING),
    Feature.KEEP_HARVESTING: _row(
        *(reasons.HARVESTING_KEYS, reasons.HARVESTING_MEMORY),
        *(reasons.HARVESTING_KEYS, reasons.HARVESTING_MEMORY),
        *(reasons.HARVESTING_KEYS, _NONE),
    ),
    Feature.SPEND_SCORES: _in_time(_BUDGETED, reasons.ROWS_FOR_TIME),
    Feature.SPEND_VALUED: _in_time(_BUDGETED, reasons.ROWS_FOR_TIME),
    Feature.SPEND_PAIRS: _in_time(_BUDGETED, reasons.ROWS_FOR_TIME),
    Feature.SPEND_SAMPLE: _in_time(_BUDGETED, reasons.ROWS_FOR_TIME),
    Feature.SPEND_SAVING: _in_time(_BUDGETED, reasons.SAVING),
    Feature.SPEND_HARVESTING: _in_time(reasons.HARVESTING_KEYS, _HARVESTING),
    Feature.DISCIPLINE: _in_memory(_BUDGETED, reasons.ONE_DISCIPLINE, _STAR),
    Feature.DISCIPLINE_OF_SAMPLE: _in_memory(
        reasons.SAMPLE_AT_ONCE, reasons.SAMPLED, reasons.SAMPLED
    ),
    Feature.RECOMPUTE: _in_memory(_BUDGETED, reasons.ALWAYS_ANEW, _STAR),
    Feature.NEW_IMPORTANCE: _in_memory(
        *(_BUDGETED, reasons.IMPORTANCE_AT_START, reasons.STEERED_RELATION)
    ),
}


def check_combination(kind: JoinKind, asked: Iterable[tuple[Feature, str]]) -> None:
    """Refuse what a kind of join cannot be combined with.

    Parameters
    ----------
    kind : JoinKind
        The kind of join.
    asked : iterable of (Feature, str)
        The features that are asked of it, each with the argument that the user wrote.

    Examples
    --------
    >>> from shedjoin.spec.capabilities.kinds import Feature, JoinKind
    >>> check_combination(JoinKind.LOOKUP, [(Feature.MEMORY, "Budget(rows=5)")])
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Budget(rows=5) limits a join that holds rows, but \
a join of one stream with a relation holds no rows of the stream.
    Fix: leave out budget= and keep=.
    """
    for feature, given in asked:
        cell = TABLE[feature][kind]
        if isinstance(cell, Unsupported):
            raise ParameterError(f"{given} {cell.reason}", fix=cell.fix)
