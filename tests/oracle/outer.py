"""Outer, semi and anti joins over micro-batches, slow and obvious."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from .join import Row, is_late, is_match, next_watermark_ms, time_of

Result = tuple[Row | None, Row | None]
KINDS = ("left", "right", "full", "left_semi", "left_anti")


class Kind(NamedTuple):
    """What a kind of join emits: pairs, rows without a partner, left rows alone."""

    pairs: bool
    left: bool
    right: bool
    matched_left: bool


OF = {
    "left": Kind(pairs=True, left=True, right=False, matched_left=False),
    "right": Kind(pairs=True, left=False, right=True, matched_left=False),
    "full": Kind(pairs=True, left=True, right=True, matched_left=False),
    "left_semi": Kind(pairs=False, left=False, right=False, matched_left=True),
    "left_anti": Kind(pairs=False, left=True, right=False, matched_left=False),
}


def takes_part(row: Row, *, preserved: bool) -> bool:
    """A row without a time never counts; one without a key only if preserved."""
    return row.time_us is not None and (preserved or None not in row.key)


class Side:
    """One stream: its usable rows so far, those that count, and their partners."""

    def __init__(self, wait_us: int, *, preserved: bool) -> None:
        self.wait_us = wait_us
        self.preserved = preserved
        self.usable: list[Row] = []
        self.kept: list[Row] = []
        self.partners: list[int] = []
        self.done: list[bool] = []

    def punctual(self, rows: Sequence[Row], late_ms: int) -> list[Row]:
        """Take in the rows of a micro-batch; return those that are not late."""
        mine = [row for row in rows if takes_part(row, preserved=self.preserved)]
        self.usable += mine
        return [row for row in mine if not is_late(row, late_ms)]

    def keep(self, row: Row, partners: int) -> None:
        self.kept.append(row)
        self.partners.append(partners)
        self.done.append(False)

    def alone(self, now_ms: int) -> list[Row]:
        """Rows without a partner whose wait is over; each is given once."""
        found = []
        for number, row in enumerate(self.kept):
            over = time_of(row) + self.wait_us <= 1000 * now_ms or None in row.key
            if self.preserved and over and not self.done[number]:
                self.done[number] = True
                found += [] if self.partners[number] else [row]
        return found

    def matched(self) -> list[Row]:
        """Rows that have found a partner; each is given once."""
        found = []
        for number, row in enumerate(self.kept):
            if self.partners[number] and not self.done[number]:
                self.done[number] = True
                found.append(row)
        return found


def outer_join(
    batches: Sequence[tuple[Sequence[Row], Sequence[Row]]],
    how: str,
    *,
    before_us: int,
    after_us: int,
    delays_ms: tuple[int, int],
) -> list[list[Result]]:
    """Give the results of every micro-batch; all rows are kept for ever.

    A row without a partner comes with the first micro-batch whose watermark is at the
    end of its wait or later, and one without a key at once.
    """
    kind = OF[how]
    left = Side(after_us, preserved=kind.left)
    right = Side(before_us, preserved=kind.right)
    late_ms = now_ms = 0
    results: list[list[Result]] = []
    for of_left, of_right in batches:
        pairs: list[Result] = []
        for row in left.punctual(of_left, late_ms):
            met = _met(
                right, partial(is_pair, row, before_us=before_us, after_us=after_us)
            )
            left.keep(row, len(met))
            pairs += [(row, other) for other in met]
        for row in right.punctual(of_right, late_ms):
            met = _met(
                left, partial(_is_right_of, row, before_us=before_us, after_us=after_us)
            )
            right.keep(row, len(met))
            pairs += [(other, row) for other in met]
        given: list[Result] = pairs if kind.pairs else []
        if kind.matched_left:
            given += [(row, None) for row in left.matched()]
        given += [(row, None) for row in left.alone(now_ms)]
        given += [(None, row) for row in right.alone(now_ms)]
        results.append(given)
        late_ms = now_ms
        now_ms = next_watermark_ms(now_ms, left.usable, right.usable, delays_ms)
    return results


def is_pair(left: Row, right: Row, before_us: int, after_us: int) -> bool:
    """As in SQL, a null key equals no key."""
    nulls = None in left.key or None in right.key
    return not nulls and is_match(left, right, before_us, after_us)


def _is_right_of(right: Row, left: Row, before_us: int, after_us: int) -> bool:
    return is_pair(left, right, before_us, after_us)


def _met(side: Side, fits: Callable[[Row], bool]) -> list[Row]:
    """Rows of a side that fit; each gains a partner."""
    found = []
    for number, row in enumerate(side.kept):
        if fits(row):
            side.partners[number] += 1
            found.append(row)
    return found
