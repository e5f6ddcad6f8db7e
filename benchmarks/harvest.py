"""Window harvesting against random dropping, on the streams of the GrubJoin paper.

The value of a row follows a moving point, with a deviation of its stream, and streams
may run behind each other. Rows match within a distance of 1. The work of a join without
shedding at 100 rows per second is what all runs may do, and what they do: each is run
twice, the second time with its share corrected. Work is counted in comparisons of a
nested loop, so the index is off here. ``gain_*`` are results of a learned harvest
over those of random dropping, at 200 rows per second: ``aligned`` and ``nonaligned`` by
whether streams run behind, ``costed`` (nonaligned) where a result costs as much as 250
comparisons, ``uncorrelated`` where values are random, ``m4`` and ``m5`` of four streams
at 100 and five at 70 rows per second, as results grow with a power of the rate. A
number is another rate, in times of the one at which nothing is shed.
``recall_*`` is of the results of the whole join, ``work_*`` the work that was done over
what was allowed, ``replan_ms_*`` the time to choose orders and lags anew, of which
there are 40 by hop. The last third counts, long after windows are full. The picture,
with ``--plot``, shows what was learned and chosen for ``nonaligned``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.harvest_watch import configuration, replan_ms, watched
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin import Band, Budget, local
from shedjoin.operators.multiway.layout import Layout
from shedjoin.operators.multiway.tally import Tally
from shedjoin.policies import Harvest, RandomDrop
from shedjoin.spec.throttle import Throttle

SEED = 11
DOMAIN, PERIOD_S, EPS = 1000.0, 50.0, 1.0
WINDOW_S = 20
BATCH_S = 1
KAPPA = (2.0, 2.0, 50.0, 50.0, 50.0)
LAGS = (0.0, 5.0, 15.0, 10.0, 2.5)
NAMES = "abcde"
DRAWN = "nonaligned"


class Setting(NamedTuple):
    """Streams and costs; rows come at ``rate`` times the ``base`` per second."""

    streams: int = 3
    base: int = 100
    rate: float = 2.0
    aligned: bool = False
    correlated: bool = True
    result_cost: float = 0.0


SETTINGS = {
    "aligned": Setting(aligned=True),
    "nonaligned": Setting(),
    "costed": Setting(result_cost=250.0),
    "uncorrelated": Setting(correlated=False),
    "nonaligned_1.5": Setting(rate=1.5),
    "nonaligned_3": Setting(base=50, rate=3.0),
    "nonaligned_5": Setting(base=40, rate=5.0),
    "m4": Setting(streams=4, base=50),
    "m5": Setting(streams=5, base=35),
}


def run(*, quick: bool) -> Record:
    seconds = 12 if quick else 120
    figures: dict[str, float] = {}
    pictures = {}
    with progress() as display, nested_loop():
        task = display.add_task("joining", total=len(SETTINGS))
        for name, setting in SETTINGS.items():
            if quick:
                setting = setting._replace(base=10)  # noqa: PLW2901
            found, pictures[name] = _compared(name, setting, seconds)
            figures |= found
            display.advance(task)
    sizes = {"seconds": seconds, "seed": SEED}
    return Record("harvest", sizes, figures, {"configuration": pictures[DRAWN]})


def _compared(
    name: str, setting: Setting, seconds: int
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Results of the last third, when windows are full and both have learned."""
    allowed = _joined(setting._replace(rate=1.0), seconds, None, 1.0)
    whole = _joined(setting, seconds, None, 1.0)
    cost = setting.result_cost
    most = _work(allowed, cost)
    share = most / _work(whole, cost)
    with watched() as joins:
        harvest = _within(most, setting, seconds, Harvest(), share)
    learned = configuration(joins[-1], NAMES[: setting.streams])
    dropped = _within(most, setting, seconds, RandomDrop(), share)
    figures = {
        f"share_{name}": share,
        f"gain_{name}": _late(harvest, "matched") / _late(dropped, "matched"),
        f"recall_{name}": _late(harvest, "matched") / _late(whole, "matched"),
        f"work_{name}": _work(harvest, cost) / most,
        f"work_dropped_{name}": _work(dropped, cost) / most,
        f"replan_ms_{name}": replan_ms(joins[-1], Throttle(share, 1.0, cost)),
    }
    return figures, learned


def _within(
    most: float,
    setting: Setting,
    seconds: int,
    keep: Harvest | RandomDrop,
    share: float,
) -> local.Run:
    """Join twice: with the share, and with one that makes up for how far work was off.

    What whole work would be is learned from few arrivals, so both keep to a share of it
    within some percent only. They are to be compared at the same work.
    """
    first = _joined(setting, seconds, keep, share)
    far = _work(first, setting.result_cost) / most
    return _joined(setting, seconds, keep, min(1.0, share / far))


def _work(found: local.Run, result_cost: float) -> float:
    return _late(found, "looked") + result_cost * _late(found, "matched")


def _late(found: local.Run, count: str) -> float:
    later = found.batches[-max(1, len(found.batches) // 3) :]
    return max(1e-9, sum(float(getattr(batch.report, count)) for batch in later))


def _joined(
    setting: Setting, seconds: int, keep: Harvest | RandomDrop | None, share: float
) -> local.Run:
    names = NAMES[: setting.streams]
    throttle = {"share": share, "update": 1.0, "match": setting.result_cost}
    return local.multijoin(
        _batches(setting, seconds),
        on=Band("x", EPS),
        within=f"{WINDOW_S} seconds",
        time=dict.fromkeys(names, "time"),
        budget=Budget(cpu=0.9),
        keep=keep,
        control={0: [{"throttle": throttle}]},
    )


def _batches(setting: Setting, seconds: int) -> Iterator[dict[str, pa.Table]]:
    rng = np.random.default_rng(SEED)
    for number in range(seconds // BATCH_S):
        yield {
            NAMES[stream]: _table(rng, setting, stream, number * BATCH_S)
            for stream in range(setting.streams)
        }


def _table(
    rng: np.random.Generator, setting: Setting, stream: int, start: int
) -> pa.Table:
    rows = int(setting.rate * setting.base * BATCH_S)
    when = np.sort(start + BATCH_S * rng.random(rows))
    lag = 0.0 if setting.aligned else LAGS[stream]
    x = DOMAIN / PERIOD_S * (when + lag) + KAPPA[stream] * rng.standard_normal(rows)
    if not setting.correlated:
        x = DOMAIN * rng.random(rows)
    time = START_US + (1e6 * when).astype(np.int64)
    return pa.table(
        {"time": pa.array(time, pa.timestamp("us", "UTC")), "x": x % DOMAIN}
    )


@contextmanager
def nested_loop() -> Iterator[None]:
    """Compare with every resident, and count nothing else, as in the paper."""
    bare = staticmethod(lambda *_, **__: Layout(None, ("x",)))
    with patch.object(Layout, "of", bare), patch.object(Tally, "opening", 0):
        yield
