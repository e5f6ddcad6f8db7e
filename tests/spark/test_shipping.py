"""What the driver sends says which version of the package it is of."""

from __future__ import annotations

import pickle

import pytest

from shedjoin.errors import VersionMismatchError
from shedjoin.spark import shipping
from shedjoin.spark.operator import JoinProcessor
from shedjoin.spark.wire import Packer, Packing
from shedjoin.version import VERSION
from support.streams import make_case

from .operators import spec_of

SPEC = spec_of(make_case(554))
SENT = [
    JoinProcessor(SPEC, [0], durable=True),
    Packer(SPEC, 0, Packing("shedjoin", [0], beat=True, weighed=False)),
]


@pytest.mark.parametrize("sent", SENT, ids=lambda sent: type(sent).__name__)
def test_the_same_version_takes_it(sent: shipping.Shipped) -> None:
    received = pickle.loads(pickle.dumps(sent))
    assert type(received) is type(sent)
    assert vars(received) == vars(sent)


@pytest.mark.parametrize("sent", SENT, ids=lambda sent: type(sent).__name__)
def test_another_version_says_so(
    sent: shipping.Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = pickle.dumps(sent)
    monkeypatch.setattr(shipping, "VERSION", "9.9.9")
    with pytest.raises(VersionMismatchError) as caught:
        pickle.loads(blob)
    problem, fix = str(caught.value).split("\n")
    assert problem == f"the driver runs shedjoin {VERSION}, this executor has 9.9.9."
    assert f"pip install shedjoin=={VERSION} on the executors" in fix
