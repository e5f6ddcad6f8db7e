"""Whatever attempts, nodes, kills and full disks there are: never a wrong row."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .drawn import schedules
from .joins import KINDS, Kind
from .world import play

MANY = int(os.environ.get("FAULT_SEQUENCES", settings().max_examples // 2))
each_kind = pytest.mark.parametrize("kind", KINDS)


def sequences(count: int) -> settings:
    """So many; which lines a failure ran is of no use here."""
    phases = set(Phase) - {Phase.explain}
    health = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=count, phases=phases, suppress_health_check=health)


@each_kind
@sequences(MANY)
@given(data=st.data())
def test_attempts(kind: Kind, data: st.DataObject) -> None:
    play(kind, data.draw(schedules(kind)))


@each_kind
@sequences(MANY // 5)
@given(data=st.data())
def test_two_joins_in_one_query(kind: Kind, data: st.DataObject) -> None:
    play(kind, data.draw(schedules(kind, beside=("twin", "other"))))


@each_kind
@sequences(MANY // 5)
@given(data=st.data())
def test_damaged_copies(kind: Kind, data: st.DataObject) -> None:
    play(kind, data.draw(schedules(kind, harm=True)))
