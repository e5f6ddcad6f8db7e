"""Measured recall against memory: a table, and the memory that a recall needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shedjoin.errors import MissingExtraError, ParameterError
from shedjoin.spec.budget import Budget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_DIGITS = 3
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Measured:
    """One run under a memory budget.

    Parameters
    ----------
    memory : int
        Bytes of the budget.
    rows : int
        Most rows that the join held.
    results : int
        Results that the join emitted.
    recall : float
        Share of the exact join's results, or of their importance, that was emitted.
    """

    memory: int
    rows: int
    results: int
    recall: float


@dataclass(frozen=True, slots=True)
class Sizing:
    """Recall against memory, as measured by :func:`shedjoin.size`.

    Parameters
    ----------
    seen : tuple of int
        Rows of the left and of the right stream that took part.
    micro_batches : int
        Micro-batches that had rows.
    micro_batch : timedelta
        Length of a micro-batch in event time.
    results : int
        Results of the exact join.
    peak_rows, mean_rows : int
        Peak and mean of the rows that the exact join held after its micro-batches.
    peak_bytes, mean_bytes : int
        Peak and mean of the bytes of its state. A join with a budget stores rows in
        another form, so ``Budget(memory=...)`` counts other bytes.
    sizes : tuple of Measured
        A run for each budget, the smallest first. The last run lost no result.
    of_importance : bool
        Whether recall is a share of importance, not of the number of results.

    Examples
    --------
    >>> runs = (Measured(1000, 9, 80, 0.8), Measured(2000, 19, 100, 1.0))
    >>> sizing = Sizing((70, 30), 12, timedelta(0, 5), 100, 19, 15, 1500, 1200, runs)
    >>> sizing.memory_for(0.9), sizing.rows_for(0.9), sizing.budget_for(0.9)
    (1500, 14, Budget(memory='1.5 kB'))
    """

    seen: tuple[int, ...]
    micro_batches: int
    micro_batch: timedelta
    results: int
    peak_rows: int
    mean_rows: int
    peak_bytes: int
    mean_bytes: int
    sizes: tuple[Measured, ...]
    of_importance: bool = False

    def memory_for(self, recall: float) -> int:
        """Least memory for a recall, in bytes, as ``Budget(memory=...)`` counts them.

        The memory is interpolated between the two nearest sizes. It is never below the
        smallest size, since no smaller size was measured.
        """
        return self._least(recall, [size.memory for size in self.sizes])

    def budget_for(self, recall: float) -> Budget:
        """Least budget for a recall, rounded up to three digits."""
        return Budget(memory=readable(self.memory_for(recall)))

    def rows_for(self, recall: float) -> int:
        """Most rows that the join holds with the memory for a recall."""
        return self._least(recall, [size.rows for size in self.sizes])

    def _least(self, recall: float, held: Sequence[int]) -> int:
        if not 0 < recall <= 1:
            raise ParameterError(
                f"recall={recall!r} is not a share of the results.",
                fix="pass a number above 0 and up to 1, such as 0.95.",
            )
        # Recall is made to rise with memory, so that no single lucky run decides.
        found = np.minimum.accumulate([size.recall for size in self.sizes][::-1])[::-1]
        enough = int(np.argmax(found >= recall))
        near = slice(max(0, enough - 1), enough + 1)
        return ceil(np.interp(recall, found[near], held[near]))

    def plot(self, to: str | Path | Axes) -> Axes:
        """Draw recall against memory, into a picture file or into axes of matplotlib.

        Parameters
        ----------
        to : path or matplotlib.axes.Axes
            A file, such as ``"recall.png"``, or the axes to draw into.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the curve.
        """
        try:
            from shedjoin.local.sizing_chart import draw
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"Sizing.plot needs {error.name!r}, which is not installed.",
                fix='run pip install "shedjoin[plot]".',
            ) from error
        return draw(self, to)

    def __str__(self) -> str:
        left, right = self.seen
        worth = "importance" if self.of_importance else "results"
        head = ("Budget(memory=...)", "rows at most", "results", f"recall ({worth})")
        seconds = self.micro_batch / _SECOND
        lines = [
            f"{left:,} left and {right:,} right rows.",
            f"Cut into {self.micro_batches:,} micro-batches of {seconds:g} seconds.",
            f"The exact join has {self.results:,} results. Without a budget it holds",
            f"  at most    {self.peak_rows:>12,} rows, {readable(self.peak_bytes):>8}",
            f"  on average {self.mean_rows:>12,} rows, {readable(self.mean_bytes):>8}",
            "",
            _line(head),
        ]
        for size in self.sizes:
            text = f'"{readable(size.memory)}"'
            recall = floor(1000 * size.recall) / 1000  # 1.000 is every result
            shown = f"{size.rows:,}", f"{size.results:,}", f"{recall:.3f}"
            lines.append(_line((text, *shown)))
        return "\n".join(lines)


def readable(size: int) -> str:
    """A size as text for ``Budget(memory=...)``, rounded up to three digits.

    >>> readable(999), readable(1_234_567), readable(20_000_000_000)
    ('999 B', '1.24 MB', '20 GB')
    """
    step = 10 ** max(0, len(str(size)) - _DIGITS)
    rounded = -(-size // step) * step
    power = min((len(str(rounded)) - 1) // 3, len(_UNITS) - 1)
    return f"{rounded / 1000**power:g} {_UNITS[power]}"


def _line(cells: Sequence[str]) -> str:
    return "  ".join(f"{cell:>18}" for cell in cells)
