"""The rows, columns and cells of the capability table."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias


class JoinKind(Enum):
    """Kinds of joins: the columns of the table."""

    KEYS = "two streams by key"
    PREDICATES = "two streams by predicates"
    SEVERAL_KEYS = "three to five streams by key"
    SEVERAL_PREDICATES = "three to five streams by predicates"
    THROUGH = "two streams through a relation"
    LOOKUP = "one stream and a relation"


class Feature(Enum):
    """What a user can ask of a join: the rows of the table.

    A budget limits memory, the time of micro-batches, or both. ``KEEP_...`` are the
    families of policies under a budget that limits memory, ``SPEND_...`` those under a
    budget that limits time alone.
    """

    EXACT = "no budget"
    OUTER = '`how=` other than `"inner"`'
    OUTER_KEPT = '`how=` other than `"inner"`, and a budget'
    RELATION_COLUMNS = "`Relation(columns=)`"
    RELATION_COLUMNS_KEPT = "`Relation(columns=)` and a budget"
    EVENT_TIME = "`event_time=`"
    CELLS = "`cells=`"
    CONTROL = "`control=`"
    CONTROL_OF_TABLES = "`control=` in a batch query"
    MEMORY = "`Budget(rows=)`, `Budget(memory=)`"
    TIME = "`Budget(cpu=)`"
    TIME_OF_TABLES = "`Budget(cpu=)` in a batch query"
    MEMORY_AND_TIME = "memory and `cpu=` in one budget"
    RECALL = "`Budget(recall=)`"
    RECALL_UNFORESEEN = "`Budget(recall=)` if scores depend on what is held"
    KEEP_SCORES = "memory: `MostResults()`, `Fifo()`, `Prob()`, `Greedy()`"
    KEEP_VALUED = "memory: `MostImportant(...)`"
    KEEP_PAIRS = "memory: `IJoin()`, `Size()`, `Dgl()`"
    KEEP_SAMPLE = "memory: `Sample()`"
    KEEP_SAVING = "memory: `ProbeNoInsert()`"
    KEEP_HARVESTING = "memory: `Harvest()`, `RandomDrop()`"
    SPEND_SCORES = "time alone: `Fifo()`, `Prob()`, `Greedy()`"
    SPEND_VALUED = "time alone: `MostImportant(...)`"
    SPEND_PAIRS = "time alone: `IJoin()`, `Size()`, `Dgl()`"
    SPEND_SAMPLE = "time alone: `Sample()`"
    SPEND_SAVING = "time alone: `ProbeNoInsert()`"
    SPEND_HARVESTING = "time alone: `Harvest()`, `RandomDrop()`"
    DISCIPLINE = "another `discipline=`"
    DISCIPLINE_OF_SAMPLE = "another `discipline=` of a sample"
    RECOMPUTE = "another `recompute=`"
    NEW_IMPORTANCE = "importance in a control message"


class By(NamedTuple):
    """The package or module that implements the combination."""

    operator: str


class Unsupported(NamedTuple):
    """Why a combination cannot work, and what to write instead.

    In the error message, the reason follows the argument that was given.
    """

    reason: str
    fix: str


Cell: TypeAlias = By | Unsupported
