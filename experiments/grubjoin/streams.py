"""The streams of section 6.2: values follow a moving point, some behind others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.streams import START_US

DOMAIN, PERIOD_S = 1000.0, 50.0
NAMES = "abcde"
KAPPA = (2.0, 2.0, 50.0, 50.0, 50.0)
LAGS = (0.0, 5.0, 15.0, 10.0, 2.5)
"""Of the fourth and fifth stream the paper gives neither lag nor deviation."""
ALIGNED = (0.0,) * 5


class Scene(NamedTuple):
    """Streams: how many, rows per second of each, lags, and deviations."""

    streams: int = 3
    rate: float = 200.0
    lags: tuple[float, ...] = LAGS
    kappa: tuple[float, ...] = KAPPA

    @property
    def names(self) -> str:
        return NAMES[: self.streams]

    def rows(
        self, rng: np.random.Generator, start: float, seconds: float
    ) -> dict[str, pa.Table]:
        """Arrivals of all streams from a second on."""
        return {
            name: self._table(rng, stream, start, seconds)
            for stream, name in enumerate(self.names)
        }

    def _table(
        self, rng: np.random.Generator, stream: int, start: float, seconds: float
    ) -> pa.Table:
        count = round(self.rate * seconds)
        when = np.sort(start + seconds * rng.random(count))
        point = DOMAIN / PERIOD_S * (when + self.lags[stream])
        x = (point + self.kappa[stream] * rng.standard_normal(count)) % DOMAIN
        time = START_US + (1e6 * when).astype(np.int64)
        return pa.table({"time": pa.array(time, pa.timestamp("us", "UTC")), "x": x})
