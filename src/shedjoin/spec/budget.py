"""Limits on what a join may hold, and on the time that a micro-batch may take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose
from numbers import Real

from shedjoin.errors import ParameterError
from shedjoin.models.division import equal_share
from shedjoin.spec.window import parse_duration

_UNITS = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_MOST = 1 << 60
_NO_LIMIT = 1 << 50
"""Rows that a join without a memory budget may hold: more than any can hold."""
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on the memory and the time of a join, over all shards and streams.

    The join stays exact until the budget is used up. If keys decide which shard a row
    goes to, the shards share the budget, and shards with frequent keys get more of it.
    At the end of every micro-batch, all shards together hold no more than the budget.
    For two streams joined by key columns, memory and time can be limited together.

    Parameters
    ----------
    rows : int, optional
        Most rows that the join may hold.
    memory : str or int, optional
        Most bytes that the join may hold, such as ``"512 MB"`` or ``"2 GiB"``. They
        include the payload of rows, the columns that are searched, and the index.
        ``MostResults`` and ``MostImportant`` then keep the rows that bring most per
        byte. What the join learns takes additional memory: 1 to 3 MB for each shard
        with two streams, depending on the keys, and up to 6 MB with five.
    cpu : float or str, optional
        Time that a micro-batch may take: a part of the trigger interval, such as 0.7,
        or a duration, such as ``"3 seconds"``. A query without a trigger interval needs
        a duration.
    split : float or sequence of float, optional
        Part of the budget for the left stream, from 0 to 1, or the part of each stream.
        By default the streams share one pool: the row that is worth least is dropped,
        whichever stream it belongs to.
    recall : float, optional
        Recall of the results to keep, with ``rows`` or ``memory`` as the upper limit.
        The join then holds about the least memory that keeps this recall, but at least
        a 64th of the upper limit. After the first two windows, it estimates this memory
        again for every micro-batch. Every shard keeps the recall by itself, so several
        shards need more memory than one: in a measurement, 8 shards held 1.02 to
        1.66 times the least memory.
    by_shard : sequence of float, optional
        Part of the budget for each shard, if the division is to be fixed. The parts add
        up to 1. By default, shards share the budget by the rows that arrive, or equally
        if no key decides to which shard rows go.

    Examples
    --------
    >>> from shedjoin import Budget
    >>> Budget(memory="512 MB").share(0, 4)
    128000000
    >>> [Budget(rows=5).share(shard, 2) for shard in range(2)]
    [3, 2]
    >>> [Budget(rows=5, by_shard=(0.2, 0.8)).share(shard, 2) for shard in range(2)]
    [1, 4]
    """

    rows: int | None = None
    memory: str | int | None = None
    split: float | Sequence[float] | None = None
    cpu: float | str | None = None
    by_shard: Sequence[float] | None = None
    recall: float | None = None

    def __repr__(self) -> str:
        """Show the arguments that were given, as they were written."""
        said = {name: getattr(self, name) for name in self.__slots__}
        told = (f"{name}={is_!r}" for name, is_ in said.items() if is_ is not None)
        return f"Budget({', '.join(told)})"

    def __post_init__(self) -> None:
        if self.rows is not None and self.memory is not None:
            raise ParameterError(
                f"{self!r} must say one of rows and memory.",
                fix='write Budget(rows=1_000_000) or Budget(memory="512 MB").',
            )
        if self.rows is not None and (type(self.rows) is not int or self.rows < 0):
            raise _no_rows(self.rows)
        if not self.limits_memory and self.cpu is None and self.recall is None:
            raise ParameterError(
                f"{self!r} limits nothing.",
                fix='write Budget(rows=1_000_000), Budget(memory="512 MB") or '
                "Budget(cpu=0.7).",
            )
        if self.cpu is not None:
            _check_cpu(self.cpu)
        if self.recall is not None:
            self._check_recall(self.recall)
        if self.by_shard is not None and not _are_parts(_each(self.by_shard)):
            raise ParameterError(
                f"by_shard={self.by_shard!r} are not parts of the whole.",
                fix="write the part of each shard, such as by_shard=(0.3, 0.7), or "
                "leave it out: the shards then share by the rows that come.",
            )
        if self.split is not None and not _are_parts(_parts(self.split)):
            raise ParameterError(
                f"split={self.split!r} is not a part of the whole.",
                fix="write split=0.5 for halves, or parts that add up to 1, such as "
                "split=(0.3, 0.7), or leave it out for one pool.",
            )
        limit = parse_bytes(self.memory) if self.memory is not None else self.rows
        if limit is not None and limit > _MOST:
            raise ParameterError(
                f"{self!r} is more than can be counted.",
                fix="leave budget= out: no budget is no limit.",
            )

    def _check_recall(self, recall: object) -> None:
        is_real = isinstance(recall, Real) and not isinstance(recall, bool)
        if not is_real or not 0.0 < float(recall) < 1.0:  # type: ignore[arg-type]
            raise ParameterError(
                f"recall={recall!r} is not a part of the results.",
                fix="write recall=0.95; for all results leave the budget out.",
            )
        if not self.limits_memory:
            raise ParameterError(
                f"{self!r} does not say what may be held at most.",
                fix=f'write Budget(recall={recall!r}, memory="8 GB").',
            )

    def seconds(self, interval: float | None) -> float | None:
        """Seconds that a micro-batch may take; None if they are not limited or known.

        >>> Budget(cpu=0.7).seconds(5.0), Budget(cpu="3 seconds").seconds(None)
        (3.5, 3.0)
        """
        if isinstance(self.cpu, str):
            return parse_duration(self.cpu) / 1e6
        return None if self.cpu is None or interval is None else self.cpu * interval

    @property
    def limits_memory(self) -> bool:
        """Whether rows or bytes are limited."""
        return self.rows is not None or self.memory is not None

    @property
    def in_bytes(self) -> bool:
        """Whether bytes are limited, not rows."""
        return self.memory is not None

    def by_pool(self, usable: int, streams: int) -> tuple[int, ...]:
        """Divide a shard's budget among pools; without ``split``, the first has all.

        >>> Budget(rows=9, split=0.3).by_pool(9, 2), Budget(rows=9).by_pool(9, 2)
        ((3, 6), (9, 0))
        >>> Budget(rows=3, split=[0.2] * 5).by_pool(3, 5)
        (1, 0, 1, 0, 1)
        """
        parts = (1.0,) if self.split is None else _parts(self.split)
        if self.split is not None and len(parts) != streams:
            raise ParameterError(
                f"split={self.split!r} has {len(parts)} parts for {streams} streams.",
                fix=f"give {streams} parts that add up to 1, or leave split out.",
            )
        return _cut(usable, parts) + (0,) * (streams - len(parts))

    def share(self, shard: int, shards: int) -> int:
        """Rows or bytes of one shard; the shares add up to the budget."""
        memory = _NO_LIMIT if self.memory is None else parse_bytes(self.memory)
        total = self.rows if self.rows is not None else memory
        if self.by_shard is None:
            return equal_share(total, shard, shards)
        return _cut(total, self.by_shard)[shard]

    def check(self, streams: int, shards: int) -> None:
        """Refuse a budget with more or fewer parts than streams or shards."""
        self.by_pool(0, streams)
        if self.by_shard is not None and len(self.by_shard) != shards:
            raise ParameterError(
                f"by_shard={self.by_shard!r} has {len(self.by_shard)} parts for "
                f"{shards} shards.",
                fix=f"give {shards} parts that add up to 1, or leave by_shard out.",
            )


def _cut(total: int, parts: Sequence[float]) -> tuple[int, ...]:
    """Divide by parts. Running sums are rounded, so that the shares add up exactly."""
    ends = [round(total * sum(parts[:n])) for n in range(len(parts))]
    return tuple(end - start for start, end in pairwise([*ends, total]))


def _parts(split: object) -> tuple[float, ...]:
    """Part of each stream. A single number is the part of the first of two streams."""
    parts = _each(split if isinstance(split, Sequence) else (split,))
    return parts if isinstance(split, Sequence) or not parts else (*parts, 1 - parts[0])


def _each(parts: object) -> tuple[float, ...]:
    """The numbers of a sequence, or no numbers if any element is something else."""
    found = tuple(parts) if isinstance(parts, Sequence) else ()
    if any(isinstance(part, bool) or not isinstance(part, Real) for part in found):
        return ()
    return found


def _are_parts(parts: tuple[float, ...]) -> bool:
    return all(0.0 <= part <= 1.0 for part in parts) and isclose(sum(parts), 1.0)


def _check_cpu(cpu: object) -> None:
    if isinstance(cpu, str):
        try:
            time_us = parse_duration(cpu)
        except ParameterError:
            raise _no_cpu(cpu) from None
        if time_us <= 0:
            raise ParameterError(
                f"cpu={cpu!r} leaves no time.", fix='write cpu="3 seconds".'
            )
        return
    is_number = isinstance(cpu, int | float) and not isinstance(cpu, bool)
    if not is_number or not 0 < float(cpu) <= 1:  # type: ignore[arg-type]
        raise _no_cpu(cpu)


def _no_cpu(cpu: object) -> ParameterError:
    return ParameterError(
        f"cpu={cpu!r} is neither a part of the trigger interval nor a time.",
        fix='write cpu=0.7 for 70 % of the trigger interval, or cpu="3 seconds".',
    )


def parse_bytes(size: str | int) -> int:
    """Read a size such as ``"512 MB"``.

    >>> parse_bytes("1.5 KiB")
    1536
    """
    if type(size) is int and size >= 0:
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        if isinstance(size, str) and size.strip().endswith("%"):
            raise ParameterError(
                f"memory={size!r} is a part of an amount that is not known.",
                fix='write memory="512 MB". needed_bytes in the progress says what the '
                "exact join would hold, and shedjoin.size which memory keeps how much.",
            )
        raise ParameterError(
            f"memory={size!r} is not a size.",
            fix='write memory="512 MB" or "2 GiB", or a number of bytes.',
        )
    return int(float(match[1]) * unit)


def _no_rows(given: object) -> ParameterError:
    """Error that guesses what a text in place of a number of rows means."""
    meant = ""
    if isinstance(given, str):
        size = f"rows={given}" if given.isdigit() else f"memory={given!r}"
        meant = f"Budget({size}) or "
    return ParameterError(
        f"rows={given!r} is not a number of rows.",
        fix=f"write {meant}Budget(rows=1_000_000); 0 keeps nothing.",
    )
