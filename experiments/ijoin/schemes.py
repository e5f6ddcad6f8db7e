"""The schemes that the paper compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shedjoin.policies import Fifo, Greedy, IJoin, Policy, Prob, Residents, Size
from shedjoin.sampling.lots import lots
from shedjoin.types import FloatArray


@dataclass(frozen=True, slots=True)
class Redrawn(Policy):
    """RAND as in the paper: lots are drawn anew at each shed.

    ``shedjoin.policies.Rand`` draws once per row, which samples the window evenly but
    keeps a row with a good lot until it expires.
    """

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: a lot of this instant."""
        return lots(0, residents.key, residents.number + residents.now_us)


def ijoin(
    *,
    now: bool = True,
    decay: float = 0.1,
    penalty: float = 1.0,
    maturity: int = 2,
    patience: int = 3,
) -> IJoin:
    """IJOIN; ``now`` counts the matches of an instant before it sheds."""
    return IJoin(
        maturity=f"{maturity} seconds",
        patience=f"{patience} seconds",
        penalty=penalty,
        decay=decay,
        foresight=now,
    )


IJOIN, IJOIN_GLOBAL, IJOIN_PLAIN = "IJOIN", "IJOIN, global", "IJOIN, plain"
SCHEMES: dict[str, Policy] = {
    "FIFO": Fifo(),
    "RAND": Redrawn(),
    "SIZE": Size(),
    "GREEDY": Greedy(),
    IJOIN_PLAIN: ijoin(now=False),
    IJOIN_GLOBAL: ijoin(decay=0.0),
    IJOIN: ijoin(),
}
"""IJOIN counts matches of the same instant, decayed by 0.1 per second; "global" does
not decay them; "plain" counts them only after shedding."""

OTHERS: dict[str, Policy] = {
    "PROB": Prob(),
    "IJOIN, plain, global": ijoin(now=False, decay=0.0),
    "IJOIN, global, c=0.3": ijoin(decay=0.0, penalty=0.3),
}

STYLES: dict[str, dict[str, Any]] = {
    "PROB": {"color": "#d9a5b3"},
    "FIFO": {"color": "#7a7a7a", "linestyle": "--", "marker": "v"},
    "RAND": {"color": "#9b7fb8", "linestyle": "--", "marker": "^"},
    "SIZE": {"color": "#b99a3e", "linestyle": "-.", "marker": "D"},
    "GREEDY": {"color": "#c8553d", "linestyle": "-.", "marker": "s"},
    IJOIN_PLAIN: {"color": "#7db7cc", "linestyle": "-", "marker": "P"},
    IJOIN_GLOBAL: {"color": "#4c9a6a", "linestyle": "-", "marker": "X"},
    IJOIN: {"color": "#1f6f8b", "linestyle": "-", "marker": "o", "linewidth": 3.6},
}
