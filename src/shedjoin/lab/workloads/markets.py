"""Synthetic streams of two kinds: auctions with bids, and impressions with clicks.

Both functions return micro-batches of (left, right) tables whose rows have about 100
bytes. Both take a seed. Rows after the last second are left out.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shedjoin.lab.workloads.rows import (
    Batches,
    instants_column,
    micro_batches,
    text_column,
)
from shedjoin.local.streams import START_US
from shedjoin.types import FloatArray, IntArray


def auctions(  # noqa: PLR0913  (what shapes the streams; all by keyword)
    *,
    auctions: int,
    seconds: int,
    batches: int,
    seed: int,
    open_s: int = 600,
    bids: float = 5.0,
    spread: float = 1.0,
    rush: float = 3.0,
    into_truth: dict[str, FloatArray] | None = None,
) -> Batches:
    """Auctions, and their bids, whose rate rises until the auction closes.

    Join them on ``auction_id``, within ``open_s`` after ``opened_at``. Every bid is for
    one auction.

    Parameters
    ----------
    auctions, seconds, batches, seed : int
        Number of auctions, which open at random instants; length of the streams; number
        of micro-batches; seed.
    open_s : int, default 600
        How long an auction is open.
    bids : float, default 5.0
        Mean number of bids of an auction.
    spread : float, default 1.0
        How much auctions differ in popularity. The expected number of bids of an
        auction is log-normal, with this standard deviation of the logarithm. With 0,
        all auctions are equal.
    rush : float, default 3.0
        The rate of bids at an age is proportional to ``age ** (rush - 1)``. With 1, the
        rate is steady.
    into_truth : dict, optional
        Receives ``popularity``, by auction id: the expected number of bids of each
        auction, divided by ``bids``.
    """
    rng = np.random.default_rng(seed)
    opened_us = np.sort(rng.integers(0, seconds * 1_000_000, auctions))
    reserve = np.round(rng.lognormal(3.0, 0.8, auctions), 2)
    popularity = rng.lognormal(-(spread**2) / 2, spread, auctions)
    if into_truth is not None:
        into_truth["popularity"] = popularity
    auction = np.repeat(np.arange(auctions), rng.poisson(bids * popularity))
    age = rng.random(auction.size) ** (1 / rush)
    bid_us = opened_us[auction] + (age * open_s * 1_000_000).astype(np.int64)
    auction, bid_us, age = _by_time(bid_us, seconds, auction, bid_us, age)
    amount = reserve[auction] * (0.5 + age) * rng.lognormal(0, 0.1, auction.size)
    left = pa.table(
        {
            "auction_id": np.arange(auctions),
            "opened_at": instants_column(START_US + opened_us),
            "reserve": reserve,
            "title": text_column(rng, auctions, 72),
        }
    )
    right = pa.table(
        {
            "auction_id": auction,
            "bid_at": instants_column(START_US + bid_us),
            "amount": np.round(amount, 2),
            "bidder": text_column(rng, auction.size, 72),
        }
    )
    return micro_batches([left, right], ("opened_at", "bid_at"), seconds, batches)


def impressions(  # noqa: PLR0913  (what shapes the streams; all by keyword)
    *,
    impressions: int,
    users: int,
    seconds: int,
    batches: int,
    seed: int,
    ads: int = 500,
    click_rate: float = 0.1,
    delay_s: float = 120.0,
    into_truth: dict[str, FloatArray] | None = None,
) -> Batches:
    """Ad impressions and the clicks that follow some of them.

    Join them on ``user_id``, within some minutes after ``shown_at``. Then a click is
    credited to all impressions that were shown to its user shortly before. ``price`` is
    the importance of an impression.

    Parameters
    ----------
    impressions, users, seconds, batches, seed : int
        Number of impressions, which are shown at random instants; number of users;
        length of the streams; number of micro-batches; seed. Users are active in
        proportion to ``rank ** -0.6``.
    ads : int, default 500
        Number of ads. Each ad has a price level, and the prices of its impressions vary
        about this level. Both are log-normal, so that a tenth of the impressions has
        more than half of the total price.
    click_rate : float, default 0.1
        Mean part of a user's impressions that are clicked. This part varies between
        users, and is very small for most of them.
    delay_s : float, default 120.0
        Mean time from the impression to the click. Delays are exponential.
    into_truth : dict, optional
        Receives ``clicks``, by user id: the expected number of clicks per second.
    """
    rng = np.random.default_rng(seed)
    shown_us = np.sort(rng.integers(0, seconds * 1_000_000, impressions))
    activity = np.arange(1, users + 1) ** -0.6
    drawn = rng.choice(users, impressions, p=activity / activity.sum())
    place = rng.permutation(users)
    user = place[drawn]
    ad = rng.integers(0, ads, impressions)
    price = rng.lognormal(-3.0, 1.4, ads)[ad] * rng.lognormal(0.0, 0.6, impressions)
    inclined = np.minimum(rng.gamma(0.5, 2 * click_rate, users), 1.0)
    if into_truth is not None:
        active = np.empty(users)
        active[place] = activity / activity.sum()
        into_truth["clicks"] = active * inclined * impressions / seconds
    clicked = np.flatnonzero(rng.random(impressions) < inclined[user])
    wait_us = (rng.exponential(delay_s, clicked.size) * 1_000_000).astype(np.int64)
    when_us = shown_us[clicked] + wait_us
    clicked, when_us = _by_time(when_us, seconds, clicked, when_us)
    left = pa.table(
        {
            "user_id": user,
            "shown_at": instants_column(START_US + shown_us),
            "ad_id": ad,
            "price": np.round(price, 6),
            "page": text_column(rng, impressions, 64),
        }
    )
    right = pa.table(
        {
            "user_id": user[clicked],
            "clicked_at": instants_column(START_US + when_us),
            "clicked_ad": ad[clicked],
            "referrer": text_column(rng, clicked.size, 72),
        }
    )
    return micro_batches([left, right], ("shown_at", "clicked_at"), seconds, batches)


def _by_time(time_us: IntArray, seconds: int, *columns: np.ndarray) -> list[np.ndarray]:
    """Sort columns by time, and leave out rows after the last second."""
    order = np.argsort(time_us, kind="stable")
    order = order[: np.searchsorted(time_us[order], seconds * 1_000_000)]
    return [column[order] for column in columns]
