"""When scores are computed again."""

from __future__ import annotations

from dataclasses import dataclass

from shedjoin.errors import ParameterError
from shedjoin.spec.window import Duration, parse_duration


@dataclass(frozen=True, slots=True)
class Amortised:
    """After as many sheds as a part of the residents: constant cost per arrival.

    Parameters
    ----------
    part : float, default 0.25
        With 0.25, every score is computed again four times while the window turns
        over once.
    """

    part: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 < self.part <= 1.0:
            raise ParameterError(
                f"Amortised(part={self.part!r}) is not a part of the residents.",
                fix="write Amortised(part=0.25).",
            )

    def sheds(self, residents: int) -> int:
        """Sheds until the next time."""
        return max(1, int(self.part * residents))


@dataclass(frozen=True, slots=True)
class Successive:
    """At every shed, as in the papers. Costs as much as there are residents."""

    def sheds(self, residents: int) -> int:
        """Sheds until the next time."""
        del residents
        return 1


@dataclass(frozen=True, slots=True)
class Every:
    """At every ``count``-th shed (k-successive); scores are stale in between."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ParameterError(
                f"Every(count={self.count!r}) is not a number of sheds.",
                fix="write Every(10), or Successive() for every shed.",
            )

    def sheds(self, residents: int) -> int:
        """Sheds until the next time."""
        del residents
        return self.count


@dataclass(frozen=True, slots=True)
class Adaptive:
    """When results get worse: less importance lately than before.

    Scores are due when the importance gained in the last ``span`` instants is below
    ``1 - tolerance`` times that of the ``span`` instants before.

    Parameters
    ----------
    tolerance : float, default 0.1
        How much worse it may get.
    instant : duration, default "1 second"
        Length of an instant.
    span : int, default 5
        Instants that are compared.
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
        """Sheds until the next time: as many as it takes until results get worse."""
        del residents
        return 1 << 62


Recompute = Amortised | Successive | Every | Adaptive
DEFAULT: Recompute = Amortised()
