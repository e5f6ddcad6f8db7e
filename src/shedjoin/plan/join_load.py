"""Results and work of a window join, from its rates."""

from __future__ import annotations

from dataclasses import dataclass

from shedjoin.errors import ParameterError
from shedjoin.plan.costs import Costs
from shedjoin.plan.model import FloatArray, Numbers, as_share, not_negative, numbers


@dataclass(frozen=True, slots=True)
class JoinLoad:
    """A window join in which any two rows match with the same probability [1]_.

    Parameters
    ----------
    selectivity : float
        Probability that two rows, one of each stream, have the same key.
    left_rate, right_rate : float
        Arrivals per time unit.
    left_window, right_window : float
        How long rows of each stream are kept, in time units. With
        ``Within(before=..., after=...)``, ``left_window`` is ``after``.

    Notes
    -----
    *Source.* Equations 2 and 9 of [1]_.

    *Symbols.* ``selectivity`` f, ``left_rate`` lambda_L, ``right_rate`` lambda_R,
    ``left_window`` T_L and T_1, ``right_window`` T_R and T_2, ``results``
    lambda_o/p, ``Costs.update`` C_u, ``Costs.match`` C_p.

    *Departures.* C_p is the work to find and to produce one result, as in equation 2.
    In equation 1 and the first lines of Table 1, C_p is the name of another cost.

    *Guarantee.* Results and work are expectations in the steady state. A probe that
    finds nothing is free, and the cost of storing a row includes that of its expiry.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = JoinLoad(0.01, left_rate=100, right_rate=100,
    ...                 left_window=10, right_window=10)
    >>> load.results, round(load.work(Costs(update=0.001, match=0.0005)), 9)
    (2000.0, 1.2)
    """

    selectivity: float
    left_rate: float
    right_rate: float
    left_window: float
    right_window: float

    def __post_init__(self) -> None:
        for name in ("left_rate", "right_rate", "left_window", "right_window"):
            not_negative(name, getattr(self, name))
        as_share("selectivity", self.selectivity)

    @property
    def meetings(self) -> float:
        """Matching pairs between the arrivals of one time unit of each stream."""
        return self.selectivity * self.left_rate * self.right_rate

    @property
    def results(self) -> float:
        """Results per time unit, with nothing shed: equation 9."""
        return self.meetings * (self.left_window + self.right_window)

    def work(self, costs: Costs) -> float:
        """Work per time unit, with nothing shed: equation 2."""
        updates = self.left_rate + self.right_rate
        return updates * costs.update + self.results * costs.match


@dataclass(frozen=True, slots=True, eq=False)
class ValueLoad:
    """A window join whose rates are given for each value of the key [1]_.

    Rows match only rows of the same value, so each value is a component of its own.

    Parameters
    ----------
    left, right : sequence of float
        Arrivals of each value per time unit.
    left_window, right_window : float
        How long rows of each stream are kept, in time units.

    Notes
    -----
    *Source.* Definition 7 and equations 5 to 8 of [1]_.

    *Symbols.* ``left`` f_L(v) lambda_L, ``right`` f_R(v) lambda_R, ``left_window`` T_L,
    ``right_window`` T_R, ``results`` lambda_o/p(v), ``work`` C(v).

    *Guarantee.* As for ``JoinLoad``.

    *Cost.* O(n) for n values.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = ValueLoad([6, 3, 1], [1, 3, 6], left_window=5, right_window=5)
    >>> load.results.tolist()
    [60.0, 90.0, 60.0]
    >>> load.work(Costs(update=0.05, match=0.01)).round(9).tolist()
    [0.95, 1.2, 0.95]
    """

    left: Numbers
    right: Numbers
    left_window: float
    right_window: float

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            rates = numbers(name, getattr(self, name))
            rates.flags.writeable = False
            object.__setattr__(self, name, rates)
        if len(self.left) != len(self.right):
            raise ParameterError(
                f"left has {len(self.left)} values and right has {len(self.right)}.",
                fix="pass one rate of each stream for each value, 0 where it has none.",
            )
        for name in ("left_window", "right_window"):
            not_negative(name, getattr(self, name))

    @property
    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Arrivals of each value per time unit, as arrays: left, right."""
        return self.left, self.right  # type: ignore[return-value]

    @property
    def results(self) -> FloatArray:
        """Results of each value per time unit, with nothing shed: equation 5."""
        left, right = self.rates
        return left * right * (self.left_window + self.right_window)

    def work(self, costs: Costs) -> FloatArray:
        """Work of each value per time unit, with nothing shed: equation 7."""
        left, right = self.rates
        return (left + right) * costs.update + self.results * costs.match

    def component(self, value: int) -> JoinLoad:
        """The join of one value alone, in which all rows match."""
        left, right = (float(rates[value]) for rates in self.rates)
        return JoinLoad(1.0, left, right, self.left_window, self.right_window)
