"""Whatever attempts, nodes, kills and full disks there are: never a wrong row."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .drawn import schedules
from .effort import FEWEST, SEQUENCES
from .joins import KINDS, Kind
from .world import play

each_kind = pytest.mark.parametrize("kind", KINDS)


def sequences(count: int) -> settings:
    """So many; which lines a failure ran is of no use here."""
    phases = set(Phase) - {Phase.explain}
    health = [HealthCheck.too_slow, HealthCheck.data_too_large]
    many = max(count, FEWEST)
    return settings(max_examples=many, phases=phases, suppress_health_check=health)


@each_kind
@sequences(SEQUENCES)
@given(data=st.data())
def test_attempts(kind: Kind, data: st.DataObject) -> None:
    play(kind, data.draw(schedules(kind)))


@each_kind
@sequences(SEQUENCES // 5)
@given(data=st.data())
def test_two_joins_in_one_query(kind: Kind, data: st.DataObject) -> None:
    play(kind, data.draw(schedules(kind, beside=("twin", "other"))))


@each_kind
@sequences(SEQUENCES // 5)
@given(data=st.data())
def test_damaged_copies(kind: Kind, data: st.DataObject) -> None:
    play(kind, data.draw(schedules(kind, harm=True)))
