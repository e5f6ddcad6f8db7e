"""Steps of a dynamic program over the rows that a small memory holds.

A state is a set of rows, stored as bits: row i is bit i modulo the number of bits. This
is unique, because the numbers of rows that can be held together differ by less than the
number of bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel
from shedjoin.types import BoolArray, FloatArray, IntArray

WORD_BITS = 62
"""Number of bits that are used of a word. With 62 bits, no word is negative."""

_STRIDE = 0x9E3779B97F4A7C15 >> 2


class States(NamedTuple):
    """Sets of rows, and the gain of each set; all sets have equally many words."""

    words: IntArray
    gained: FloatArray


class Gains(NamedTuple):
    """Gains of rows while they are held.

    The gains of row i begin at ``start[i]``, and are sorted by step.
    """

    start: IntArray
    step: IntArray
    weight: FloatArray


class Layer(NamedTuple):
    """States after a row has come, with their former states and dropped rows.

    ``victim`` is the row that was dropped, which may be the new row itself, or -1.
    """

    states: States
    previous: IntArray
    victim: IntArray


@inline_kernel
def has(words: IntArray, start: int, slot: int) -> bool:
    """Whether the state that begins at word ``start`` has the bit ``slot``."""
    return bool((words[start + slot // WORD_BITS] >> (slot % WORD_BITS)) & 1)


@inline_kernel
def flip(words: IntArray, start: int, slot: int) -> None:
    """Change the bit ``slot`` of a state: add the row, or remove it."""
    words[start + slot // WORD_BITS] ^= 1 << (slot % WORD_BITS)


@kernel
def find(layer: Layer, count: int, places: IntArray) -> int:
    """Place of state ``count`` in a hash table, or that of an equal state."""
    words = layer.states.words
    width = words.size // layer.states.gained.size
    mixed = 0
    for word in range(count * width, (count + 1) * width):
        mixed = (mixed ^ words[word]) * _STRIDE
        mixed ^= (mixed >> 31) & 0x1FFFFFFFF
    place = mixed & (places.size - 1)
    while places[place] >= 0:
        other, same = places[place] * width, True
        for word in range(width):
            same &= words[other + word] == words[count * width + word]
        if same:
            break
        place = (place + 1) & (places.size - 1)
    return place


@kernel
def hash_places(states: int) -> int:
    """Size of a hash table that ``states`` states fill by at most half."""
    places = 2
    while places < 2 * states:
        places *= 2
    return places


@inline_kernel
def at_least(one: int, other: int, step: int, gains: Gains) -> bool:
    """Whether a row gains at least as much as another from a step to any later one."""
    ahead = 0.0
    mine, its = gains.start[one], gains.start[other]
    while its < gains.start[other + 1]:
        until = gains.step[its]
        if until >= step:
            while mine < gains.start[one + 1] and gains.step[mine] <= until:
                if gains.step[mine] >= step:
                    ahead += gains.weight[mine]
                mine += 1
            ahead -= gains.weight[its]
            if ahead < 0.0:
                return False
        its += 1
    return True


@kernel
def compare(step: int, oldest: int, leave: IntArray, gains: Gains) -> BoolArray:
    """For each pair of rows from the oldest to the present, whether one is better.

    A row is better than another if, from now to any later step, it gains at least as
    much. Then it can replace the other row in every state. If both gain the same, the
    older row is better.
    """
    span = step - oldest + 1
    better = np.zeros(span * span, np.bool_)
    for one in range(oldest, step + 1):
        for other in range(oldest, step + 1):
            if one != other and leave[one] > step and leave[other] > step:
                better[(one - oldest) * span + other - oldest] = at_least(
                    one, other, step, gains
                ) and (one < other or not at_least(other, one, step, gains))
    return better


@inline_kernel
def is_better(row: int, others: IntArray, oldest: int, better: BoolArray) -> bool:
    """Whether a row is better than any of the others; False without comparisons."""
    if better.size:
        span = others[-1] - oldest + 1
        for other in others:
            if better[(row - oldest) * span + other - oldest]:
                return True
    return False


@kernel
def branch(
    states: States,
    leave: IntArray,
    step: int,
    oldest: int,
    capacity: int,
    better: BoolArray,
) -> Layer:
    """States after row ``step`` has come; if it does not fit, one row is dropped.

    Rows are dropped at their step in ``leave`` at the latest. All rows before
    ``oldest`` have been dropped. A row that is better than another held row is not
    dropped (see ``compare``). Of equal states, the one that gained most is kept, and of
    several such states the first.
    """
    width = states.words.size // states.gained.size
    slots = width * WORD_BITS
    most = states.gained.size * (capacity + 1) + 1  # one more is tried than there are
    layer = Layer(
        States(np.zeros(most * width, np.int64), np.full(most, -np.inf)),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    places = np.full(hash_places(most), -1, np.int64)
    words, gained = layer.states
    held, count = np.empty(step - oldest + 1, np.int64), 0
    for state in range(states.gained.size):
        rows = 0
        for row in range(oldest, step):
            if leave[row] > step and has(states.words, state * width, row % slots):
                held[rows] = row
                rows += 1
        held[rows] = step
        full = rows >= capacity
        for choice in range(-1, rows if full else 0):
            victim = held[choice if choice >= 0 else rows] if full else -1
            if full and is_better(victim, held[: rows + 1], oldest, better):
                continue
            words[count * width : (count + 1) * width] = 0
            for row in held[: rows + 1]:
                if row != victim:
                    flip(words, count * width, row % slots)
            place = find(layer, count, places)
            if places[place] < 0:
                places[place] = count
                count += 1
            same = places[place]
            if states.gained[state] > gained[same]:
                gained[same] = states.gained[state]
                layer.previous[same] = state
                layer.victim[same] = victim
    return Layer(
        States(words[: count * width].copy(), gained[:count].copy()),
        layer.previous[:count].copy(),
        layer.victim[:count].copy(),
    )


@kernel
def gain(row: IntArray, weight: FloatArray, into: States) -> None:
    """Add weights of rows to the gains of the states that hold them."""
    width = into.words.size // into.gained.size
    slots = width * WORD_BITS
    for state in range(into.gained.size):
        for each in range(row.size):
            if has(into.words, state * width, row[each] % slots):
                into.gained[state] += weight[each]
