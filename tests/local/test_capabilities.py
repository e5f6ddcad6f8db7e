"""Every cell of the capability table: it runs, or the call says why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shedjoin import Band, Sample, Where, local
from shedjoin.errors import ParameterError
from shedjoin.local.run import Run
from shedjoin.spec.capabilities.kinds import By, Feature, JoinKind, Unsupported
from shedjoin.spec.capabilities.table import TABLE, check_combination
from support.asked import asked as gathered
from support.features import CALLED, MEMORY, ON_SPARK, PAIR, RELATION, stream
from support.related import relation_join, star_join


def by_key(asked: dict[str, Any]) -> Run:
    return local.join(
        zip(stream(1), stream(2, value="w"), strict=True),
        on="k",
        **gathered({**PAIR, **asked}),
    )


def by_predicates(asked: dict[str, Any]) -> Run:
    on = Band("v", 0.1) if "cells" in asked else ["k", Band("v", 0.3)]
    return local.join(
        zip(stream(1), stream(2), strict=True), on=on, **gathered({**PAIR, **asked})
    )


def several(on: object) -> Callable[..., Run]:
    def run(asked: dict[str, Any]) -> Run:
        parts = zip(*map(stream, (1, 2, 3)), strict=True)
        batches = [dict(zip("abc", tables, strict=True)) for tables in parts]
        predicate = Band("v", 0.1) if "cells" in asked else on
        chosen: Any = on if on == "k" else predicate
        time = dict.fromkeys("abc", "at")
        return local.multijoin(
            batches, on=chosen, within="5 seconds", time=time, **gathered(asked)
        )

    return run


def through(asked: dict[str, Any]) -> Run:
    batches = zip(stream(1), stream(2, key="r", value="w"), strict=True)
    on = (("k", "k"), ("r", "r"))
    return star_join(batches, RELATION, on=on, **gathered({**PAIR, **asked}))


def lookup(asked: dict[str, Any]) -> Run:
    return relation_join(
        [(each,) for each in stream(1)], RELATION, on="k", time="at", **gathered(asked)
    )


CALLS: dict[JoinKind, Callable[..., Run]] = {
    JoinKind.KEYS: by_key,
    JoinKind.PREDICATES: by_predicates,
    JoinKind.SEVERAL_KEYS: several("k"),
    JoinKind.SEVERAL_PREDICATES: several(["k", Where("a.v", "<", "b.v")]),
    JoinKind.THROUGH: through,
    JoinKind.LOOKUP: lookup,
}
ALL = [(kind, feature) for feature in CALLED for kind in JoinKind]


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(Feature) == set(CALLED) | ON_SPARK
    assert all(set(row) == set(JoinKind) for row in TABLE.values())


@pytest.mark.parametrize(("kind", "feature"), ALL, ids=lambda each: each.name)
def test_a_cell(kind: JoinKind, feature: Feature) -> None:
    cell, call, asked = TABLE[feature][kind], CALLS[kind], CALLED[feature]
    if isinstance(cell, By):
        run = call(asked)
        assert run.report.matched > 0
        return
    with pytest.raises((ParameterError, TypeError)) as refused:
        call(asked)
    if isinstance(refused.value, ParameterError):
        reasons = [each[kind] for each in TABLE.values()]
        assert any(
            refused.value.problem.endswith(each.reason)
            and refused.value.fix == each.fix
            for each in reasons
            if isinstance(each, Unsupported)
        )
    else:  # the call has no such argument
        assert "unexpected keyword argument" in str(refused.value)
    with pytest.raises(ParameterError) as checked:
        check_combination(kind, [(feature, "what was given")])
    assert checked.value.problem == f"what was given {cell.reason}"


def test_the_message_has_what_was_given() -> None:
    with pytest.raises(ParameterError, match=r"^keep=Sample\(.*\) draws a sample"):
        several("k")({"budget": MEMORY, "keep": Sample()})
    with pytest.raises(ParameterError, match=r"^how='left' asks for rows without"):
        by_key({"how": "leftouter", "budget": MEMORY})
    with pytest.raises(ParameterError, match=r"^discipline='shed_then_probe' leaves"):
        by_key({**CALLED[Feature.DISCIPLINE_OF_SAMPLE]})
