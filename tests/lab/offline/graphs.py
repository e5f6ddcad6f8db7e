"""Graphs of matches: small random ones, and plain-Python ways to choose from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from shedjoin.lab.offline import Archive, MatchGraph, archived_matches
from shedjoin.lab.plan import Costs

Edge = tuple[int, int]

TINY = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 2), (4, 2)]
TINY_COSTS = Costs(update=1, match=0.5)


def graph_of(edges: Iterable[Edge]) -> MatchGraph:
    pairs = list(edges)
    return MatchGraph([left for left, _ in pairs], [right for _, right in pairs])


def edges_of(graph: MatchGraph) -> list[Edge]:
    return list(zip(*(rows.tolist() for rows in graph.ends), strict=True))


def window_graph(rng: np.random.Generator, rows: int = 6) -> MatchGraph:
    """Two streams of a row per time unit, three keys, a window of two time units.

    The reference names the size of its graphs alone; keys and window are chosen here.
    """
    left, right = (Archive(rng.integers(0, 3, rows), np.arange(rows)) for _ in "LR")
    return archived_matches(left, right, before=2, after=2)


def work_of(edges: Iterable[Edge], costs: Costs) -> float:
    pairs = list(edges)
    rows = {("left", left) for left, _ in pairs} | {("right", row) for _, row in pairs}
    return len(rows) * costs.update + len(pairs) * costs.match


def subsets(edges: list[Edge]) -> Iterator[tuple[Edge, ...]]:
    for size in range(len(edges) + 1):
        yield from combinations(edges, size)


def best_of_all(edges: list[Edge], work: float, costs: Costs) -> int:
    """Most edges of a subgraph: every set of edges is tried."""
    return max(
        len(kept) for kept in subsets(edges) if work_of(kept, costs) <= work + 1e-9
    )


def best_induced(edges: list[Edge], work: float, costs: Costs) -> int:
    """Most edges of an induced subgraph: every set of edges is tried."""
    return max(
        len(kept)
        for kept in subsets(edges)
        if is_induced(kept, edges) and work_of(kept, costs) <= work + 1e-9
    )


def is_induced(kept: Iterable[Edge], edges: Iterable[Edge]) -> bool:
    """Whether all edges between the rows of those that are kept are kept."""
    pairs = set(kept)
    lefts, rights = {left for left, _ in pairs}, {right for _, right in pairs}
    return pairs == {edge for edge in edges if edge[0] in lefts and edge[1] in rights}


def greedy(
    edges: list[Edge], work: float, costs: Costs, *, descending: bool = False
) -> int:
    """Edges that figure 1 keeps, step by step; descending is step 5 as printed."""
    found = 0
    parts = sorted(
        parts_of(edges), key=lambda part: (-len(part) / work_of(part, costs), part)
    )
    for part in parts:
        if work_of(part, costs) <= work + 1e-9:
            work -= work_of(part, costs)
            found += len(part)
            continue
        kept: list[Edge] = []
        for edge in sorted(part, key=lambda edge: cost_of(edge, part, descending)):
            if work_of([*kept, edge], costs) > work + 1e-9:
                break
            kept.append(edge)
        return found + len(kept)
    return found


def cost_of(edge: Edge, part: list[Edge], descending: bool) -> tuple[float, Edge]:
    """What an edge costs beside its production, for one insertion of 1."""
    cost = sum(1 / sum(other[side] == edge[side] for other in part) for side in (0, 1))
    return round(-cost if descending else cost, 9), edge


def parts_of(edges: list[Edge]) -> list[list[Edge]]:
    """Connected components, by growing each until nothing is added."""
    left_over, parts = sorted(edges), []
    while left_over:
        part = [left_over.pop(0)]
        while joined := [
            edge
            for edge in left_over
            if any(edge[0] == other[0] or edge[1] == other[1] for other in part)
        ]:
            part += joined
            left_over = [edge for edge in left_over if edge not in joined]
        parts.append(sorted(part))
    return parts
