"""Settings of a join for research and tuning. Few queries need them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import get_args

from shedjoin.errors import ParameterError
from shedjoin.spec.cells import Cells
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.shedding import Discipline


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of a join that few queries need.

    Parameters
    ----------
    shards : int, optional
        Number of shards, which are the units of state and parallelism. On Spark, the
        default is the number of shuffle partitions, and the number is fixed for the
        life of a checkpoint. In :mod:`shedjoin.local`, the default is 1.
    seed : int, default 0
        Seed of ``Sample()``, and of the random numbers of policies without a ``seed``
        of their own. A policy with a ``seed``, such as ``Rand`` or ``EqCluster``, uses
        its own.
    discipline : str, default "probe_then_insert"
        Order in which arrivals are joined and rows are shed. By default an arrival is
        joined with the other stream, and is then stored or not. The other orders take
        all arrivals of an instant together. With ``"shed_then_join"`` (iJoin), these
        arrivals are stored, rows are shed, and the arrivals that are left are joined.
        With ``"shed_then_probe"`` (star-streaming join), these arrivals are stored,
        rows are shed, and all of these arrivals are joined with the rows that are left
        and with each other. With ``"probe_then_shed"``, all arrivals are joined before
        rows are shed.
    recompute : Amortised, Successive, Every or Adaptive
        When scores are computed again. With the default the cost per arrival is
        constant.
    cells : Cells, optional
        How a join by Band without key columns is spread over shards, from
        :func:`shedjoin.cells_of`. By default, cells are eight times as wide as ``eps``.
        This suits values that are spread over many times this width. Cells are fixed
        for the life of a checkpoint.

    Examples
    --------
    >>> Options(shards=0)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Options(shards=0) is not a count.
    Fix: pass a number from 1 on, or leave it out: on Spark it is then \
spark.sql.shuffle.partitions.
    """

    shards: int | None = None
    seed: int = 0
    discipline: Discipline = "probe_then_insert"
    recompute: Recompute = DEFAULT
    cells: Cells | None = None

    def __post_init__(self) -> None:
        shards = self.shards
        if shards is not None and (type(shards) is not int or shards < 1):
            raise ParameterError(
                f"Options(shards={shards!r}) is not a count.",
                fix="pass a number from 1 on, or leave it out: on Spark it is then "
                "spark.sql.shuffle.partitions.",
            )
        if type(self.seed) is not int:
            raise ParameterError(
                f"Options(seed={self.seed!r}) is not an integer.",
                fix="pass an integer, such as seed=1.",
            )
        if self.discipline not in get_args(Discipline):
            raise ParameterError(
                f"Options(discipline={self.discipline!r}) is not known.",
                fix=f"write one of {', '.join(map(repr, get_args(Discipline)))}.",
            )
        if not isinstance(self.recompute, Recompute):
            raise ParameterError(
                f"Options(recompute={self.recompute!r}) is not a scheme.",
                fix="write recompute=Amortised(), Successive(), Every(10) or "
                "Adaptive().",
            )

    def others_than(self, *used: str) -> list[str]:
        """Names of the settings that differ from their default, except the ``used``."""
        return [
            field.name
            for field in fields(self)
            if field.name not in used and getattr(self, field.name) != field.default
        ]


DEFAULTS = Options()


def checked(given: object) -> Options:
    """Refuse a value that is not an ``Options``."""
    if isinstance(given, Options):
        return given
    written = (
        f"shedjoin.Options({', '.join(f'{k}={v!r}' for k, v in given.items())})"
        if isinstance(given, dict)
        else "shedjoin.Options(shards=8)"
    )
    raise ParameterError(
        f"options={given!r} are no options of a join.", fix=f"write options={written}."
    )
