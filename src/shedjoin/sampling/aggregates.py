"""Aggregates that can be estimated from a sample: COUNT, SUM and AVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import Column

Source: TypeAlias = "str | Column"
"""The name of a column, or an expression over columns."""


class Quantity(NamedTuple):
    """A number that every row has, or null where SQL would skip the row.

    A quantity of the kind ``rows`` is 1 for every row. ``present`` is 1 where the
    source is not null. ``value`` is the source itself.
    """

    kind: Literal["rows", "present", "value"]
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """COUNT(*), or COUNT(column): the rows in which ``column`` is not null.

    Parameters
    ----------
    column : str or Column, optional
        The column whose nulls do not count.
    """

    column: Source | None = None

    @property
    def numerator(self) -> Quantity:
        """What is added up."""
        if self.column is None:
            return Quantity("rows")
        return Quantity("present", self.column)

    @property
    def denominator(self) -> None:
        """A count is a total, not a ratio."""


@dataclass(frozen=True, slots=True)
class Sum:
    """SUM(column): null if all values are null.

    Parameters
    ----------
    column : str or Column
        The numbers to add up.
    """

    column: Source

    @property
    def numerator(self) -> Quantity:
        """What is added up."""
        return Quantity("value", self.column)

    @property
    def denominator(self) -> None:
        """A sum is a total, not a ratio."""


@dataclass(frozen=True, slots=True)
class Avg:
    """AVG(column): estimated sum over the estimated count of values that are not null.

    Parameters
    ----------
    column : str or Column
        The numbers to average.
    """

    column: Source

    @property
    def numerator(self) -> Quantity:
        """What is added up."""
        return Quantity("value", self.column)

    @property
    def denominator(self) -> Quantity:
        """What the sum is divided by."""
        return Quantity("present", self.column)


Aggregate: TypeAlias = Count | Sum | Avg
