"""The share of the work from what a join kept up with."""

from __future__ import annotations

import math

import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import throttle_share


def test_the_reference_sequence() -> None:
    rates = [(300, 600), (540, 600), (600, 600), (600, 600), (210, 300)]
    rates += [(900, 300)] * 4
    share, shares = 1.0, []
    for consumed, arrived in rates:
        share = throttle_share(share, consumed=consumed, arrived=arrived, boost=1.2)
        shares.append(share)
    assert shares == pytest.approx(
        [0.5, 0.45, 0.54, 0.648, 0.4536, 0.54432, 0.653184, 0.783821, 0.940585],
        abs=5e-7,
    )
    assert throttle_share(share, consumed=900, arrived=300) == 1.0


def test_it_recovers_from_a_standstill() -> None:
    share = throttle_share(0.5, consumed=0, arrived=100)
    assert 0 < share < 0.01
    assert throttle_share(share, consumed=100, arrived=100) > share


def test_nothing_arrived() -> None:
    assert throttle_share(0.5, consumed=0, arrived=0) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("share", 0.0),
        ("share", 1.1),
        ("share", math.nan),
        ("consumed", -1.0),
        ("consumed", math.inf),
        ("arrived", math.nan),
        ("boost", 1.0),
        ("boost", math.inf),
        ("boost", math.nan),
    ],
)
def test_what_is_refused(name: str, value: float) -> None:
    arguments = {"share": 0.5, "consumed": 1.0, "arrived": 1.0, "boost": 1.2}
    with pytest.raises(ParameterError, match=f"{name}="):
        throttle_share(**arguments | {name: value})
