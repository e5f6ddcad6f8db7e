"""Synthetic streams for trying the join out; all take a seed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

START_US = 1_700_000_000_000_000


def uniform(
    side: str, *, rows: int, keys: int, seconds: int, seed: int, batches: int = 1
) -> list[pa.Table]:
    """Rows at random instants with random keys, in micro-batches of equal size."""
    rng = np.random.default_rng(seed)
    time = START_US + np.sort(rng.integers(0, seconds * 1_000_000, rows))
    table = pa.table(
        {
            "key": rng.integers(0, keys, rows),
            f"{side}_time": pa.array(time, pa.timestamp("us", "UTC")),
            f"{side}_value": rng.random(rows),
        }
    )
    cuts = [rows * part // batches for part in range(batches + 1)]
    return [table.slice(a, b - a) for a, b in pairwise(cuts)]


def clicks(
    *,
    impressions: int,
    batches: int,
    seed: int,
    click_rate: float = 0.1,
    seconds: int = 3600,
) -> list[tuple[pa.Table, pa.Table]]:
    """Ad impressions and the clicks that follow some of them within minutes."""
    rng = np.random.default_rng(seed)
    span_us = seconds * 1_000_000
    shown = START_US + np.sort(rng.integers(0, span_us, impressions))
    price = np.round(rng.gamma(2.0, 0.4, impressions), 4)
    clicked = np.flatnonzero(rng.random(impressions) < click_rate)
    delay = (rng.exponential(120.0, clicked.size) * 1_000_000).astype(np.int64)
    when = shown[clicked] + delay
    order = np.argsort(when)
    cuts = np.linspace(START_US, START_US + span_us, batches + 1)[1:-1]
    left = pa.table(
        {
            "ad_id": np.arange(impressions),
            "shown_at": pa.array(shown, pa.timestamp("us", "UTC")),
            "bid": price,
        }
    )
    right = pa.table(
        {
            "ad_id": clicked[order],
            "clicked_at": pa.array(when[order], pa.timestamp("us", "UTC")),
        }
    )
    bounds = [np.searchsorted(t, cuts) for t in (shown, when[order])]
    parts = [
        [t.slice(a, b - a) for a, b in zip([0, *cut], [*cut, t.num_rows], strict=True)]
        for t, cut in zip((left, right), bounds, strict=True)
    ]
    return list(zip(*parts, strict=True))
