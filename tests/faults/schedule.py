"""What may happen to a stream's micro-batches: attempts, nodes, kills, full disks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, Protocol

NODES = 3
WORKERS = 2

Ending = Literal["finishes", "dies", "closes"]
Damage = Literal["missing", "truncated", "zeroed"]
Beside = Literal["nobody", "twin", "other"]


class _Printer(Protocol):
    def text(self, said: str) -> None: ...


class _Short:
    """Shows only what differs from the defaults, as a call that makes it again.

    Text is in double quotes, so that a shell takes all of it in single ones.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        said = []
        for field in fields(self):  # type: ignore[arg-type]  # all below are
            value = getattr(self, field.name)
            if value != field.default:
                shown = f'"{value}"' if isinstance(value, str) else repr(value)
                said.append(f"{field.name}={shown}")
        return f"{type(self).__name__}({', '.join(said)})"

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        """Show it like that in the reports of hypothesis, too."""
        del cycle
        printer.text(repr(self))


@dataclass(frozen=True, slots=True, repr=False)
class Attempt(_Short):
    """One task attempt.

    Attributes
    ----------
    node, worker
        Where it runs. A worker that is busy is replaced by the next free one.
    kill
        It is killed right after so many calls.
    pause, wakes, ending
        It stands still after so many calls, until so many further attempts are over;
        then it runs to its end, is killed, or its results are no longer asked for.
    full
        This file-writing operation and all later ones find the disk full.
    astray
        It is given the rows of the next micro-batch: a plan that was never committed.
    former
        If the query is started again with this micro-batch, the attempt belongs to the
        start before, which was stopped.
    sweeps
        It removes all copies that nobody works on.
    """

    node: int = 0
    worker: int = 0
    kill: int | None = None
    pause: int | None = None
    wakes: int = 0
    ending: Ending = "finishes"
    full: int | None = None
    astray: bool = False
    former: bool = False
    sweeps: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Harm(_Short):
    """A file of a copy on a node is damaged while nobody works there."""

    node: int = 0
    damage: Damage = "missing"
    pick: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Turn(_Short):
    """One micro-batch.

    Attributes
    ----------
    before
        Attempts whose state is lost, one after the other.
    winner
        The attempt that is committed.
    during
        Attempts whose state is lost, while the winner stands still.
    harm
        Damage before all of them.
    beside, beside_first
        Where the other join of the query runs, and whether it runs first.
    """

    before: tuple[Attempt, ...] = ()
    winner: Attempt = Attempt()
    during: tuple[Attempt, ...] = ()
    harm: Harm | None = None
    beside: Attempt = Attempt()
    beside_first: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Schedule(_Short):
    """A stream, another join in the same query, and a turn for each micro-batch."""

    stream: int = 0
    beside: Beside = "nobody"
    turns: tuple[Turn, ...] = ()

    @property
    def harmful(self) -> bool:
        """Whether copies are damaged, which may end a process that trusts them."""
        return any(turn.harm is not None for turn in self.turns)

    @property
    def leaves_copies(self) -> bool:
        """Whether no attempt finds that its copy was damaged or removed."""
        attempts = [
            attempt
            for turn in self.turns
            for attempt in (*turn.before, turn.winner, *turn.during)
        ]
        return not self.harmful and not any(one.sweeps for one in attempts)
