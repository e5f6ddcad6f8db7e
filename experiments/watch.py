"""Policies that are watched: whom they see, they write down."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from shedjoin.policies import Policy, Residents
from shedjoin.types import FloatArray


@dataclass(slots=True)
class Log:
    """What a watched policy saw while it was awake."""

    awake: bool = True
    seen: list[Residents] = field(default_factory=list)


def watched(policy: Policy, log: Log) -> Policy:
    """The same policy; whenever it judges the residents, they are written down.

    While the log is awake, even a policy that scores once is asked at every shed.
    """
    kind: Any = type(policy)

    def score(self: Policy, residents: Residents) -> FloatArray:
        if log.awake:
            log.seen.append(residents)
        found: FloatArray = kind.score(self, residents)
        return found

    def first_score(self: Policy, arrivals: Residents) -> FloatArray:
        first: FloatArray = (
            kind.score(self, arrivals)
            if kind.first_score is Policy.first_score
            else kind.first_score(self, arrivals)
        )
        return first

    verbs = {
        "score": score,
        "first_score": first_score,
        "dynamic": property(lambda _: kind.dynamic or log.awake),
    }
    same = {one.name: getattr(policy, one.name) for one in fields(kind)}
    made: Policy = type(kind.__name__, (kind,), {"__slots__": (), **verbs})(**same)
    return made
