"""What a harvest has learned and chosen, as a record can hold it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from shedjoin.operators.multiway.harvesting import Harvesting
from shedjoin.spec.report import Report

_SECOND = 1e6


@contextmanager
def watched() -> Iterator[list[Harvesting]]:
    """Give what the last joins of this process have learned and chosen."""
    found: list[Harvesting] = []
    end = Harvesting.end

    def watching(self: Harvesting, report: Report) -> Report:
        found[:] = [self]
        return end(self, report)

    with patch.object(Harvesting, "end", watching):
        yield found


def configuration(harvesting: Harvesting, names: str) -> list[dict[str, Any]]:
    """Directions with their hops, in seconds, as a record can hold them."""
    looks, learned = harvesting.configuration.looks, harvesting.learned
    return [
        {
            "arrivals": names[stream],
            "hops": [
                {
                    "met": names[other],
                    "edges": (harvesting.edges[stream, other] / _SECOND).tolist(),
                    "matches": learned.matches[stream, other].tolist(),
                    "looked": []
                    if (own := looks[stream]) is None
                    else [(a / _SECOND, b / _SECOND) for a, b in own.lags[other]],
                }
                for other in learned.orders[stream]
            ],
        }
        for stream in range(len(names))
    ]
