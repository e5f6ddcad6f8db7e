"""What the stored state of a join depends on, and how two such states differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from shedjoin.spec.streams import JoinSpec

_FREE = ("output", "shedding", "terms", "cells", "lateness_us")
"""Fields that may change between two starts, or that are treated separately."""


class Identity(NamedTuple):
    """Digest of a join that is stored with its state, and its facts as JSON."""

    digest: str
    facts: str = "{}"


@lru_cache(maxsize=100)
def identity_of(spec: JoinSpec, terms: tuple[tuple[object, ...], ...]) -> Identity:
    """Digest of a join, with the facts that it is made of.

    The result is cached, since every shard needs it several times in every micro-batch.
    The code of functions in predicates is not part of the digest, because every task
    gets new copies of these functions.
    """
    facts = asdict(spec)
    for name in _FREE:
        del facts[name]
    if spec.how == "inner":  # digests of inner joins stay equal to those of before
        del facts["how"]
    if terms:  # without predicates, digests stay equal to those of older versions
        facts["terms"] = terms
    if spec.relation is None:
        del facts["relation"]
    else:
        del facts["relation"]["delay_us"]
        if not spec.relation.told:  # older versions had no such columns
            del facts["relation"]["told"]
    if spec.cells is not None:
        facts["cells"] = asdict(spec.cells)
    text = json.dumps(facts, sort_keys=True)
    return Identity(hashlib.sha256(text.encode()).hexdigest()[:16], text)


def differences(stored: str, current: str) -> list[str]:
    """List how a stored join differs from the join of the query, in words.

    Examples
    --------
    >>> differences('{"shards": 8}', '{"shards": 4}')
    ['it has 8 shards, the query has 4']
    """
    old, new = json.loads(stored), json.loads(current)
    found = []
    if old.get("shards") != new.get("shards"):
        found.append(
            f"it has {old.get('shards')} shards, the query has {new.get('shards')}"
        )
    kinds = [join.get("how", "inner") for join in (old, new)]
    if kinds[0] != kinds[1]:
        found.append(f"it has how={kinds[0]!r}, the query has how={kinds[1]!r}")
    streams = [join.get("streams", []) for join in (old, new)]
    names = [[each["name"] for each in own] for own in streams]
    if names[0] != names[1]:
        found.append(f"its streams are {names[0]}, those of the query {names[1]}")
    else:
        for one, other in zip(*streams, strict=True):
            found += _of_stream(one, other)
    told = [(join.get("relation") or {}).get("told", []) for join in (old, new)]
    if told[0] != told[1]:
        found.append(f"Relation(columns={told[0]!r}) is {told[1]!r} in the query")
        for join in (old, new):
            if join.get("relation"):
                join["relation"] = {**join["relation"], "told": [], "columns": []}
    for part, what in _PARTS.items():
        if old.get(part) != new.get(part):
            found.append(f"{what} is another one")
    return found or ["the kind of its keys is another one"]


_PARTS = {
    "relation": "the relation, or what it is joined by,",
    "terms": "a Band or Where",
    "cells": "Options(cells=...)",
}


def _of_stream(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """List the differences of one stream, in words."""
    stream = f"the {old['name']} stream"
    if old["keep_us"] != new["keep_us"]:
        waits = [own["keep_us"] / 1_000_000 for own in (old, new)]
        yield f"rows of {stream} wait {waits[0]:g} s in it, and {waits[1]:g} s now"
    for part, what in (("keys", "key columns"), ("time", "event time")):
        if old[part] != new[part]:
            yield f"{stream} has the {what} {old[part]!r} in it and {new[part]!r} now"
    if old["lag_us"] != new["lag_us"]:
        yield f"{stream} comes from another join than before"
    was, now = dict(old["columns"]), dict(new["columns"])
    for name in sorted(was.keys() - now.keys()):
        yield f"{stream} has no column {name!r} any more"
    for name in sorted(now.keys() - was.keys()):
        yield f"{stream} has a new column {name!r}"
    for name in sorted(was.keys() & now.keys()):
        if was[name] != now[name]:
            yield f"{name!r} of {stream} was of type {was[name]} and is {now[name]}"
    if old["columns"] != new["columns"] and was == now:
        yield f"the columns of {stream} come in another order"
