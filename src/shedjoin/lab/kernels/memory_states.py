"""Steps of a dynamic program over the rows that a small memory holds.

A state is a set of rows as bits: row i is bit i modulo the number of bits. Rows that
can be held together differ by less than that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel
from shedjoin.types import BoolArray, FloatArray, IntArray

WORD_BITS = 62
"""Bits of a word that are used, so that no state is negative."""

_STRIDE = 0x9E3779B97F4A7C15 >> 2


class States(NamedTuple):
    """Sets of rows, each of the same number of words, and the gain of each set."""

    words: IntArray
    gained: FloatArray


class Gains(NamedTuple):
    """Gains of rows while they are held; those of one row are in order of step."""

    start: IntArray
    step: IntArray
    weight: FloatArray


class Layer(NamedTuple):
    """States after a row has come, the state that each is from, and the row that left.

    ``victim`` is the row that left, the newcomer itself if it was refused, or -1.
    """

    states: States
    previous: IntArray
    victim: IntArray


@inline_kernel
def has(words: IntArray, start: int, slot: int) -> bool:
    """Whether the state that starts at a word holds the row of a slot."""
    return bool((words[start + slot // WORD_BITS] >> (slot % WORD_BITS)) & 1)


@inline_kernel
def flip(words: IntArray, start: int, slot: int) -> None:
    """Add the row of a slot to a state, or remove it."""
    words[start + slot // WORD_BITS] ^= 1 << (slot % WORD_BITS)


@kernel
def find(layer: Layer, count: int, places: IntArray) -> int:
    """Place in a hash table of the state after the last one, or of an equal state."""
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
    """Size of a hash table of which so many states fill at most half."""
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
    """Compare the rows from the oldest to the step in pairs: whether one is better.

    A row is better than another if it gains at least as much from now to any step. Then
    every state that holds the other can hold it instead. If both are equal, the older
    one is better.
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
    """Whether a row is better than one of the others; False if none were compared."""
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
    """States that follow when a row comes: with it if it fits, else without one row.

    A row leaves at its own step at the latest, and all rows before the oldest have
    left. A row that is better than another one does not leave, see ``compare``. Of
    equal states the one that gained most is kept, and of these the first.
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
