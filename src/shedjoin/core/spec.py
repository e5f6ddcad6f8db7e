"""What a join is: the part of it that its stored state depends on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace

from shedjoin.core.keys import OutputColumn
from shedjoin.core.shedding import Shedding
from shedjoin.types import LEFT, Side

HASH_COLUMN = "__shedjoin_hash"
"""Added to packed rows whose key does not fit 64 bits."""
IMPORTANCE_COLUMN = "__shedjoin_importance"
"""Added to packed rows of a side that has importance."""


@dataclass(frozen=True, slots=True)
class SideSpec:
    """One stream: its columns as (name, type), its key columns and its event time."""

    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    time: str


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """One join.

    ``direct`` says that the key is a single column of at most 64 bits: the kernels
    then compare the key itself, and no hash is carried or checked.
    """

    left: SideSpec
    right: SideSpec
    before_us: int
    after_us: int
    shards: int
    direct: bool
    output: tuple[OutputColumn, ...]
    shedding: Shedding | None = None

    @property
    def sides(self) -> tuple[SideSpec, SideSpec]:
        """Both streams, left first."""
        return self.left, self.right

    def keep_us(self, side: Side) -> int:
        """How long a resident of that side can still be matched after its own time."""
        return self.after_us if side == LEFT else self.before_us

    @property
    def keeps_us(self) -> tuple[int, int]:
        """How long residents of the left and the right side can be matched."""
        return self.after_us, self.before_us

    def reach(self, side: Side) -> tuple[int, int]:
        """How far back and ahead an arrival of this side sees the *other* side."""
        if side == LEFT:
            return self.before_us, self.after_us
        return self.after_us, self.before_us

    def fingerprint(self) -> str:
        """Short digest of all that the stored state depends on.

        The names of the result's columns are left out: they may change freely. So may
        budget and policy, but not whether there is a budget.
        """
        facts = asdict(replace(self, output=(), shedding=None))
        del facts["output"], facts["shedding"]
        if self.shedding is not None:
            facts["budgeted"] = True
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
