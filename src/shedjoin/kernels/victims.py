"""Who leaves next: the lowest score, at a constant cost per shed.

Scores stand still between two *fills*. A fill sorts the few lowest residents of a pool
into a *queue* and remembers the highest of them as the *bar*. A newcomer below the bar
goes into a small heap; one above it cannot be the victim before the queue has run dry,
and then there is another fill. Newcomers that are not yet mature wait in the *nursery*.

Entries carry the arrival number of their resident: where it differs from the slot's,
the resident has left by another way and the entry is passed over.
"""

from __future__ import annotations

from typing import NamedTuple

from shedjoin.kernels.jit import kernel
from shedjoin.kernels.slots import ALIVE_BIT, NOBODY, NUMBER, WORDS, Slots
from shedjoin.types import FloatArray, IntArray

QUEUE_HEAD, QUEUE_END, HEAP_SIZE, NURSERY_HEAD, NURSERY_END, BARREN, FULL = range(7)
MARKS = 7
BAR_SCORE, BAR_TIE = range(2)


class Victims(NamedTuple):
    """Candidates of one pool. ``tie`` orders equal scores: lower leaves first."""

    queue_slot: IntArray
    queue_number: IntArray
    queue_score: FloatArray
    heap_slot: IntArray
    heap_number: IntArray
    heap_score: FloatArray
    nursery_slot: IntArray
    nursery_number: IntArray
    nursery_time: IntArray
    bar: FloatArray
    marks: IntArray


@kernel
def is_there(slot: int, number: int, slots: Slots) -> bool:
    """Whether the resident that an entry stands for is still in its slot."""
    alive = slots.meta[slot] & ALIVE_BIT
    return bool(alive != 0 and slots.records[WORDS * slot + NUMBER] == number)


@kernel
def comes_before(
    score: float, number: int, other: float, other_number: int, tie: int
) -> bool:
    """Whether the first leaves before the second; ``tie`` is 1 for oldest first."""
    if score != other:
        return score < other
    return tie * number < tie * other_number


@kernel
def offer(slot: int, number: int, score: float, tie: int, into: Victims) -> bool:
    """Make a resident a candidate; False if the heap has no room."""
    marks = into.marks
    bar_number = tie * int(into.bar[BAR_TIE])
    if not comes_before(score, number, into.bar[BAR_SCORE], bar_number, tie):
        return True
    place = marks[HEAP_SIZE]
    if place == into.heap_slot.size:
        return False
    marks[HEAP_SIZE] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if not comes_before(
            score, number, into.heap_score[parent], into.heap_number[parent], tie
        ):
            break
        into.heap_slot[place] = into.heap_slot[parent]
        into.heap_number[place] = into.heap_number[parent]
        into.heap_score[place] = into.heap_score[parent]
        place = parent
    into.heap_slot[place] = slot
    into.heap_number[place] = number
    into.heap_score[place] = score
    return True


@kernel
def drop_top(tie: int, into: Victims) -> None:
    """Remove the first candidate of the heap."""
    into.marks[HEAP_SIZE] -= 1
    size = into.marks[HEAP_SIZE]
    slot, number = into.heap_slot[size], into.heap_number[size]
    score = into.heap_score[size]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and comes_before(
            into.heap_score[child + 1],
            into.heap_number[child + 1],
            into.heap_score[child],
            into.heap_number[child],
            tie,
        ):
            child += 1
        if not comes_before(
            into.heap_score[child], into.heap_number[child], score, number, tie
        ):
            break
        into.heap_slot[place] = into.heap_slot[child]
        into.heap_number[place] = into.heap_number[child]
        into.heap_score[place] = into.heap_score[child]
        place = child
    into.heap_slot[place] = slot
    into.heap_number[place] = number
    into.heap_score[place] = score


@kernel
def grow_up(clock: int, maturity: int, tie: int, slots: Slots, into: Victims) -> bool:
    """Offer residents that have matured; False if the heap has no room."""
    marks = into.marks
    size = into.nursery_slot.size
    while marks[NURSERY_HEAD] < marks[NURSERY_END]:
        place = marks[NURSERY_HEAD] % size
        if clock - into.nursery_time[place] <= maturity:
            break
        slot, number = into.nursery_slot[place], into.nursery_number[place]
        if is_there(slot, number, slots) and not offer(
            slot, number, slots.score[slot], tie, into
        ):
            return False
        marks[NURSERY_HEAD] += 1
    return True


@kernel
def youngest(slots: Slots, into: Victims) -> int:
    """Take the newest resident of the nursery: nobody else may leave."""
    marks = into.marks
    while marks[NURSERY_HEAD] < marks[NURSERY_END]:
        marks[NURSERY_END] -= 1
        place = marks[NURSERY_END] % into.nursery_slot.size
        slot = int(into.nursery_slot[place])
        if is_there(slot, into.nursery_number[place], slots):
            return slot
    return NOBODY


@kernel
def next_victim(tie: int, slots: Slots, into: Victims) -> int:
    """Take the resident that leaves next; NOBODY if a fill has to find one."""
    marks = into.marks
    while marks[QUEUE_HEAD] < marks[QUEUE_END] and not is_there(
        into.queue_slot[marks[QUEUE_HEAD]], into.queue_number[marks[QUEUE_HEAD]], slots
    ):
        marks[QUEUE_HEAD] += 1
    while marks[HEAP_SIZE] > 0 and not is_there(
        into.heap_slot[0], into.heap_number[0], slots
    ):
        drop_top(tie, into)
    head = marks[QUEUE_HEAD]
    if marks[HEAP_SIZE] > 0 and (
        head == marks[QUEUE_END]
        or comes_before(
            into.heap_score[0],
            into.heap_number[0],
            into.queue_score[head],
            into.queue_number[head],
            tie,
        )
    ):
        slot = int(into.heap_slot[0])
        drop_top(tie, into)
        return slot
    if head < marks[QUEUE_END]:
        marks[QUEUE_HEAD] += 1
        return int(into.queue_slot[head])
    return youngest(slots, into) if marks[BARREN] else NOBODY
