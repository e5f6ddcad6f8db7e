"""Under a budget every result is one of the exact join, as often at most.

For every policy, both disciplines, rows and bytes, pooled and split, three kinds of
keys, on streams of realistic size whose exact join is computed another way. With a
budget that suffices all results are there; the weights of a sample are at least one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, count, product
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, Options, local
from shedjoin.errors import ParameterError
from shedjoin.policies import POLICIES, SamplingPolicy
from shedjoin.spec.shedding import Discipline

from .long_streams import (
    KEYS,
    LATENESS,
    NAMES,
    SHAPES,
    TIMES,
    WITHIN,
    Keys,
    Shape,
    Stream,
    long_stream,
    paired,
)

SEEDS = range(20)
DISCIPLINES: tuple[Discipline, ...] = ("probe_then_insert", "shed_then_join")
SHARES = (0.02, 0.05, 0.15)
FEW = 60
ROW_BYTES = 250
BY_NAME = {kind.__name__: kind for kind in POLICIES}
Meeting: TypeAlias = tuple[tuple[int, object], tuple[int, object]]
"""Two factors by number, each with a value."""


class Cell(NamedTuple):
    """One run: a policy, a stream, and how it is joined."""

    policy: str
    seed: int
    shape: Shape
    keys: Keys
    discipline: Discipline
    in_bytes: int
    split: int
    ample: int
    valued: int
    tiny: int = 0


def budget(cell: Cell, rows: int) -> Budget:
    """Room for all rows, whatever the split, for a small part of them, or for a few."""
    most = 4 * rows if cell.ample else int(SHARES[cell.seed % 3] * rows)
    most = FEW if cell.tiny else most
    split = 0.5 if cell.split else None
    if cell.in_bytes:
        return Budget(memory=most * ROW_BYTES, split=split)
    return Budget(rows=most, split=split)


def run(cell: Cell, stream: Stream) -> local.Run:
    policy = BY_NAME[cell.policy]()
    weighed = MostImportant(("left_importance", "right_importance"), by=policy)
    return local.join(
        stream.batches,
        on=stream.on,
        within=WITHIN,
        time=TIMES,
        lateness=LATENESS,
        options=Options(
            shards=1 + (cell.seed % 4 == 1), discipline=cell.discipline, seed=cell.seed
        ),
        restart_every=3 * (cell.seed % 4 == 0),
        budget=budget(cell, sum(table.num_rows for table in stream.rows)),
        keep=weighed if cell.valued else policy,
    )


def amiss(cell: Cell) -> Iterator[str]:
    """What is wrong with the results of a run."""
    stream = long_stream(cell.shape, cell.keys, cell.seed)
    if cell.tiny:  # takes long: the first part will do
        stream = stream._replace(batches=stream.batches[:2])
    done = run(cell, stream)
    results = done.results
    if results.num_rows != done.report.matched:
        yield f"{results.num_rows} results, {done.report.matched} reported"
    numbers = [results[name].to_numpy() for name in NAMES]
    for number, rows in zip(numbers, stream.rows, strict=True):
        yield from mixtures(results, number, rows)
    pairs = np.sort(paired(*numbers))
    twice = np.count_nonzero(pairs[1:] == pairs[:-1])
    invented = np.count_nonzero(~np.isin(pairs, stream.pairs, kind="sort"))
    if twice or invented:
        yield f"{twice} results too often, {invented} not in the exact join"
    if cell.ample and not np.array_equal(pairs, stream.pairs):
        yield f"{pairs.size} of {stream.pairs.size} results though there is room"
    if samples(cell.policy):
        yield from weights(cell, results)


def mixtures(results: pa.Table, number: np.ndarray, rows: pa.Table) -> Iterator[str]:
    """Look for columns that are not those of the row that a result is said to have."""
    if number.size and not 0 <= number.min() <= number.max() < rows.num_rows:
        yield f"row {number.max()} of {rows.num_rows}"
        return
    own = rows.take(pa.array(number))
    for name in rows.column_names:
        if not results[name].combine_chunks().equals(own[name].combine_chunks()):
            yield f"{name} of another row than {number[:3]}..."


def weights(cell: Cell, results: pa.Table) -> Iterator[str]:
    weight = results["_weight"].to_numpy()
    least, most = (1.0, 1.0) if cell.ample else (1.0, np.finfo(float).max)
    if not ((least <= weight) & (weight <= most)).all():
        yield f"weights from {weight.min()} to {weight.max()}"
    if results["_cluster"].null_count:
        yield "results without a cluster"


def samples(policy: str) -> bool:
    return issubclass(BY_NAME[policy], SamplingPolicy)


def disciplines(policy: str) -> tuple[Discipline, ...]:
    """A sample may not shed first: its weights could not say how likely that was."""
    return DISCIPLINES[:1] if samples(policy) else DISCIPLINES


def covering(policy: str) -> list[Cell]:
    """One cell per seed, such that any two values of two factors meet in some cell.

    Shapes and keys go by the seed, so that policies share streams. Whatever has two
    values has both of them on every shape, in an order that is drawn until all meet.
    """
    number = list(BY_NAME).index(policy)
    for attempt in count():
        rng = np.random.default_rng([number, attempt])
        orders = rng.integers(1, 7, (len(SHAPES), 5))
        cells = []
        for seed in SEEDS:
            turn, shape = divmod(seed, len(SHAPES))
            first, *rest = (int(order) >> turn & 1 for order in orders[shape])
            way = disciplines(policy)[first % len(disciplines(policy))]
            keys = KEYS[turn % len(KEYS)]
            cells.append(Cell(policy, seed, SHAPES[shape], keys, way, *rest))
        if not missing(cells):
            return cells
    raise AssertionError


def missing(cells: list[Cell]) -> set[Meeting]:
    """Pairs of values of two factors that meet in no cell."""
    columns = [set(column) for column in list(zip(*cells, strict=True))[2:]]
    wanted: set[Meeting] = {
        (one, other)
        for left, right in combinations(enumerate(columns), 2)
        for one, other in product(*([(n, v) for v in col] for n, col in (left, right)))
    }
    return wanted - {
        pair for cell in cells for pair in combinations(enumerate(cell[2:]), 2)
    }


def every(seed: int, keys: Keys) -> Iterator[Cell]:
    """All policies, disciplines and kinds of budget; the rest goes by turns."""
    ways = [(name, way) for name in BY_NAME for way in disciplines(name)]
    kinds = product(ways, (0, 1), (0, 1))
    for number, ((name, way), in_bytes, split) in enumerate(kinds):
        shape = SHAPES[(seed + number) % len(SHAPES)]
        ample = (seed // len(SHAPES) + number // 3) % 2
        valued = (seed // (2 * len(SHAPES)) + number) % 2
        yield Cell(name, seed, shape, keys, way, in_bytes, split, ample, valued)


def cells() -> Iterator[object]:
    """All cells; CI takes every fourth, of each policy others."""
    for number, (policy, seed) in enumerate(product(BY_NAME, SEEDS)):
        turn = number // len(SEEDS) + seed
        marks = pytest.mark.slow if turn % 4 == 0 else pytest.mark.long
        yield pytest.param(policy, seed, marks=marks)


@pytest.mark.parametrize(("policy", "seed"), list(cells()))
def test_results_are_those_of_the_exact_join(policy: str, seed: int) -> None:
    cell = covering(policy)[seed]
    assert list(amiss(cell)) == [], cell


@pytest.mark.slow
@pytest.mark.parametrize("policy", BY_NAME)
def test_residents_that_move_between_two_parts(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A micro-batch is joined in parts; what is held is tidied up between them."""
    monkeypatch.setattr(
        "shedjoin.operators.frame.ordered.PART_ROWS", 900, raising=False
    )
    cell = Cell(policy, 0, "many", "integer", DISCIPLINES[0], 1, 0, 0, 0, tiny=1)
    assert list(amiss(cell)) == []


@pytest.mark.slow
@pytest.mark.parametrize("policy", BY_NAME)
def test_more_matches_than_there_is_room_for(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room is used again and again, and an arrival may need more than there is."""
    monkeypatch.setattr("shedjoin.operators.budgeted.rounds.ROOM_FOR", 100)
    cell = covering(policy)[4]
    assert cell.shape == "mixed"
    assert list(amiss(cell._replace(ample=1))) == []


@pytest.mark.long
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_all_combinations(seed: int, keys: Keys) -> None:
    wrong = {cell: found for cell in every(seed, keys) if (found := list(amiss(cell)))}
    assert not wrong


@pytest.mark.parametrize("policy", BY_NAME)
def test_the_cells_cover_all_pairs_of_values(policy: str) -> None:
    cells = covering(policy)
    assert not missing(cells)
    assert [cell.seed for cell in cells] == list(SEEDS)
    values = [len(set(column)) for column in list(zip(*cells, strict=True))[2:-1]]
    assert values == [len(SHAPES), len(KEYS), len(disciplines(policy)), 2, 2, 2, 2]


@pytest.mark.parametrize("policy", [name for name in BY_NAME if samples(name)])
def test_a_sample_that_sheds_first_is_refused(policy: str) -> None:
    cell = covering(policy)[0]._replace(discipline="shed_then_join")
    with pytest.raises(ParameterError, match="Fix:"):
        run(cell, long_stream("single", "integer", 0))
