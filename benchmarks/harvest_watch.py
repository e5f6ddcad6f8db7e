"""What a harvest has learned and chosen, as a record can hold it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any
from unittest.mock import patch

from shedjoin.operators.multiway.harvesting import Harvesting
from shedjoin.spec.report import Report
from shedjoin.spec.throttle import Throttle

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


def replan_ms(harvesting: Harvesting, throttle: Throttle) -> float:
    """Time to choose orders and lags anew."""
    times = []
    for _ in range(9):
        start = perf_counter()
        harvesting.learned.reorder(throttle)
        harvesting.configured()
        times.append(perf_counter() - start)
    return 1e3 * median(times)


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
