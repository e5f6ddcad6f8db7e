"""Who leaves next: the lowest score, at a constant cost per shed.

Scores stand still between two *fills*. A fill sorts the few lowest residents of a pool
into a *queue* and remembers the highest of them as the *bar*. A newcomer below the bar
goes into a small heap; one above it cannot be the victim before the queue has run dry,
and then there is another fill. Newcomers that are not yet mature wait in the *nursery*.
Residents that expire before the next fill stand in a list of their own, by the time at
which they do; from then on they leave before all others.

Entries carry the arrival number of their resident: where it differs from the slot's,
the resident has left by another way and the entry is passed over.

All lies in two arrays, ``cells`` of integers and ``worths`` of scores. Each of the two
pools has a head of some words in ``cells``, which says where its parts begin: entries
(slot, number) of queue and heap, (slot, number, time) of the others. Scores of queue
and heap lie in ``worths``; the bar is its first two words, per pool.
"""

from __future__ import annotations

from shedjoin.kernels.jit import step
from shedjoin.kernels.slots import NOBODY, NUMBER, record_of
from shedjoin.types import FloatArray, IntArray

(
    QUEUE_HEAD,
    QUEUE_END,
    HEAP_SIZE,
    NURSERY_HEAD,
    NURSERY_END,
    BARREN,
    FULL,
    QUEUE_AT,
    QUEUE_WORTH_AT,
    HEAP_AT,
    HEAP_WORTH_AT,
    HEAP_ROOM,
    NURSERY_AT,
    NURSERY_ROOM,
    EXPIRING_HEAD,
    EXPIRING_END,
    EXPIRING_AT,
    EXPIRING_ROOM,
) = range(18)
HEAD = 24
BARS = 2


@step
def is_there(slot: int, number: int, words: IntArray) -> bool:
    """Whether the resident that an entry stands for is still in its slot."""
    return bool(words[record_of(slot, words) + NUMBER] == number)


@step
def comes_before(
    score: float, number: int, other: float, other_number: int, tie: int
) -> bool:
    """Whether the first leaves before the second; ``tie`` is 1 for oldest first."""
    if score != other:
        return score < other
    return tie * number < tie * other_number


@step
def offer(
    slot: int,
    number: int,
    score: float,
    tie: int,
    head: int,
    cells: IntArray,
    worths: FloatArray,
) -> bool:
    """Make a resident of the pool at ``head`` a candidate; False if it has no room."""
    bar = BARS * (head // HEAD)
    bar_number = int(worths[bar + 1])
    if not comes_before(score, number, worths[bar], bar_number, tie):
        return True
    place = cells[head + HEAP_SIZE]
    if place == cells[head + HEAP_ROOM]:
        return False
    entries, scores = cells[head + HEAP_AT], cells[head + HEAP_WORTH_AT]
    cells[head + HEAP_SIZE] += 1
    while place > 0:
        parent = (place - 1) >> 1
        above = entries + 2 * parent
        if not comes_before(
            score, number, worths[scores + parent], cells[above + 1], tie
        ):
            break
        cells[entries + 2 * place] = cells[above]
        cells[entries + 2 * place + 1] = cells[above + 1]
        worths[scores + place] = worths[scores + parent]
        place = parent
    cells[entries + 2 * place] = slot
    cells[entries + 2 * place + 1] = number
    worths[scores + place] = score
    return True


@step
def drop_top(tie: int, head: int, cells: IntArray, worths: FloatArray) -> None:
    """Remove the first candidate of the heap."""
    cells[head + HEAP_SIZE] -= 1
    size = cells[head + HEAP_SIZE]
    entries, scores = cells[head + HEAP_AT], cells[head + HEAP_WORTH_AT]
    slot, number = cells[entries + 2 * size], cells[entries + 2 * size + 1]
    score = worths[scores + size]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        low = entries + 2 * child
        if child + 1 < size and comes_before(
            worths[scores + child + 1],
            cells[low + 3],
            worths[scores + child],
            cells[low + 1],
            tie,
        ):
            child += 1
            low += 2
        if not comes_before(worths[scores + child], cells[low + 1], score, number, tie):
            break
        cells[entries + 2 * place] = cells[low]
        cells[entries + 2 * place + 1] = cells[low + 1]
        worths[scores + place] = worths[scores + child]
        place = child
    cells[entries + 2 * place] = slot
    cells[entries + 2 * place + 1] = number
    worths[scores + place] = score


@step
def rear(slot: int, number: int, time: int, head: int, cells: IntArray) -> bool:
    """Put a newcomer into the nursery; False if there is no room."""
    end, room = cells[head + NURSERY_END], cells[head + NURSERY_ROOM]
    if end - cells[head + NURSERY_HEAD] == room:
        return False
    place = cells[head + NURSERY_AT] + 3 * (end % room)
    cells[place] = slot
    cells[place + 1] = number
    cells[place + 2] = time
    cells[head + NURSERY_END] = end + 1
    return True


@step
def grow_up(
    before: int,
    tie: int,
    head: int,
    words: IntArray,
    score: FloatArray,
    cells: IntArray,
    worths: FloatArray,
) -> bool:
    """Offer residents from ``before`` a time: they are mature; False without room."""
    room = cells[head + NURSERY_ROOM]
    while cells[head + NURSERY_HEAD] < cells[head + NURSERY_END]:
        place = cells[head + NURSERY_AT] + 3 * (cells[head + NURSERY_HEAD] % room)
        if cells[place + 2] >= before:
            break
        slot, number = cells[place], cells[place + 1]
        if is_there(slot, number, words) and not offer(
            slot, number, score[slot], tie, head, cells, worths
        ):
            return False
        cells[head + NURSERY_HEAD] += 1
    return True


@step
def youngest(head: int, words: IntArray, cells: IntArray) -> int:
    """Take the newest resident of the nursery: nobody else may leave."""
    while cells[head + NURSERY_HEAD] < cells[head + NURSERY_END]:
        cells[head + NURSERY_END] -= 1
        end = cells[head + NURSERY_END] % cells[head + NURSERY_ROOM]
        place = cells[head + NURSERY_AT] + 3 * end
        if is_there(cells[place], cells[place + 1], words):
            return int(cells[place])
    return NOBODY


@step
def expect(slot: int, number: int, expiry: int, head: int, cells: IntArray) -> bool:
    """List a newcomer that expires before the next fill; False if there is no room."""
    end = cells[head + EXPIRING_END]
    if end == cells[head + EXPIRING_ROOM]:
        return False
    at = cells[head + EXPIRING_AT]
    place = end
    while place > cells[head + EXPIRING_HEAD] and cells[at + 3 * place - 1] > expiry:
        for word in range(3):
            cells[at + 3 * place + word] = cells[at + 3 * place - 3 + word]
        place -= 1
    cells[at + 3 * place] = slot
    cells[at + 3 * place + 1] = number
    cells[at + 3 * place + 2] = expiry
    cells[head + EXPIRING_END] = end + 1
    return True


@step
def expired(clock: int, head: int, words: IntArray, cells: IntArray) -> int:
    """Take a resident whose time is over, or NOBODY."""
    first, end = cells[head + EXPIRING_HEAD], cells[head + EXPIRING_END]
    found = NOBODY
    while first < end and found == NOBODY:
        place = cells[head + EXPIRING_AT] + 3 * first
        if cells[place + 2] >= clock:
            break
        if is_there(cells[place], cells[place + 1], words):
            found = int(cells[place])
        first += 1
    cells[head + EXPIRING_HEAD] = first
    return found


@step
def next_victim(
    tie: int, head: int, words: IntArray, cells: IntArray, worths: FloatArray
) -> int:
    """Take the resident that leaves next; NOBODY if a fill has to find one."""
    first, end = cells[head + QUEUE_HEAD], cells[head + QUEUE_END]
    queue, heap = cells[head + QUEUE_AT], cells[head + HEAP_AT]
    while first < end and not is_there(
        cells[queue + 2 * first], cells[queue + 2 * first + 1], words
    ):
        first += 1
    cells[head + QUEUE_HEAD] = first
    while cells[head + HEAP_SIZE] > 0 and not is_there(
        cells[heap], cells[heap + 1], words
    ):
        drop_top(tie, head, cells, worths)
    if cells[head + HEAP_SIZE] > 0 and (
        first == end
        or comes_before(
            worths[cells[head + HEAP_WORTH_AT]],
            cells[heap + 1],
            worths[cells[head + QUEUE_WORTH_AT] + first],
            cells[queue + 2 * first + 1],
            tie,
        )
    ):
        slot = int(cells[heap])
        drop_top(tie, head, cells, worths)
        return slot
    if first < end:
        cells[head + QUEUE_HEAD] = first + 1
        return int(cells[queue + 2 * first])
    return youngest(head, words, cells) if cells[head + BARREN] else NOBODY
