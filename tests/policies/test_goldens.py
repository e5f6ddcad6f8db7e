"""The numbers of the papers and of SEMANTICS, from the operator itself."""

from __future__ import annotations

import pytest

from oracle.shedding import Arrival
from shedjoin.policies import Fifo, Greedy, IJoin, Policy, Size

from .streams import run

IMPORTANCE = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
STREAMS = ("abcddbac", "babbccda")
EXAMPLE = [
    [
        Arrival(t, side, ord(STREAMS[side][t - 1]), IMPORTANCE[STREAMS[side][t - 1]])
        for side in (0, 1)
    ]
    for t in range(1, 9)
]


def ijoin(maturity: int, *, foresight: bool) -> IJoin:
    return IJoin(
        maturity=f"{maturity} seconds", decay=0.0, foresight=foresight, penalty=1.0
    )


@pytest.mark.parametrize(
    ("policy", "expected", "by_instant"),
    [
        (Fifo(), (4, 6), [3, 2, 0, 0, 0, 0, 1]),
        (Greedy(), (5, 13), [3, 2, 0, 0, 0, 8, 0]),
        (Size(), (6, 11), [3, 2, 2, 0, 4, 0, 0]),
        (ijoin(0, foresight=False), (5, 9), [3, 2, 2, 0, 2, 0, 0]),
        (ijoin(1, foresight=False), (4, 6), None),
        (ijoin(2, foresight=False), (5, 10), None),
        (ijoin(3, foresight=False), (2, 3), None),
        (ijoin(0, foresight=True), (6, 10), None),
        (ijoin(1, foresight=True), (4, 6), None),
        (ijoin(2, foresight=True), (5, 10), None),
    ],
    ids=str,
)
@pytest.mark.parametrize("per_batch", [1, 3, 8])
def test_example_of_ijoin(
    policy: Policy,
    expected: tuple[int, float],
    by_instant: list[int] | None,
    per_batch: int,
) -> None:
    found = run(
        EXAMPLE,
        policy,
        (2, 2),
        window=7,
        discipline="shed_then_join",
        per_batch=per_batch,
    )
    totals = found.report.matched, found.report.importance
    assert totals == expected
    if by_instant is not None and per_batch == 1:
        assert [batch.report.importance for batch in found.batches[1:]] == by_instant


def test_example_of_ijoin_in_full() -> None:
    found = run(EXAMPLE, Fifo(), 16, window=7, discipline="shed_then_join", per_batch=1)
    assert (found.report.matched, found.report.importance) == (16, 36)
    gains = [batch.report.importance for batch in found.batches[1:]]
    assert gains == [3, 2, 2, 3, 9, 9, 8]
