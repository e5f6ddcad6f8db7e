"""When the scores of residents are computed again."""

from __future__ import annotations

from dataclasses import dataclass

from shedjoin.errors import ParameterError
from shedjoin.spec.window import Duration, parse_duration


@dataclass(frozen=True, slots=True)
class Amortised:
    """Compute scores again when a part of the residents has been shed.

    The cost per arrival is then constant.

    Parameters
    ----------
    part : float, default 0.25
        With 0.25, all scores are computed again four times while as many rows are shed
        as there are residents.
    """

    part: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 < self.part <= 1.0:
            raise ParameterError(
                f"Amortised(part={self.part!r}) is not a part of the residents.",
                fix="write Amortised(part=0.25).",
            )

    def sheds(self, residents: int) -> int:
        """Number of sheds until scores are computed again."""
        return max(1, int(self.part * residents))


@dataclass(frozen=True, slots=True)
class Successive:
    """Compute scores again at every shed, as in the papers: O(residents) each time."""

    def sheds(self, residents: int) -> int:
        """Number of sheds until scores are computed again."""
        del residents
        return 1


@dataclass(frozen=True, slots=True)
class Every:
    """Compute scores again at every ``count``-th shed (k-successive)."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ParameterError(
                f"Every(count={self.count!r}) is not a number of sheds.",
                fix="write Every(10), or Successive() for every shed.",
            )

    def sheds(self, residents: int) -> int:
        """Number of sheds until scores are computed again."""
        del residents
        return self.count


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Compute scores again when the importance of results falls.

    The importance has fallen if the sum over the last ``span`` instants is below
    ``1 - tolerance`` times the sum over the ``span`` instants before.

    Parameters
    ----------
    tolerance : float, default 0.1
        Part by which the importance may fall.
    instant : duration, default "1 second"
        Length of an instant.
    span : int, default 5
        Number of instants that are compared with as many before them.
    """

    tolerance: float = 0.1
    instant: Duration = "1 second"
    span: int = 5

    def __post_init__(self) -> None:
        parse_duration(self.instant)
        if not 0.0 <= self.tolerance < 1.0 or self.span < 1:
            raise ParameterError(
                f"{self!r} compares nothing.",
                fix="write Adaptive(tolerance=0.1, span=5).",
            )

    def sheds(self, residents: int) -> int:
        """A number that is never reached: the importance of results decides instead."""
        del residents
        return 1 << 62


Recompute = Amortised | Successive | Every | Adaptive
DEFAULT: Recompute = Amortised()
