"""Plays a schedule: nodes, the joins of one query, and attempts that stand still."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from .attempt import leave, silent
from .checks import (
    WrongError,
    check_copies,
    check_given,
    check_state,
    check_timers,
)
from .damage import damage, in_child
from .engine import Running, Shard
from .files import watched
from .joins import Kind, make_join
from .node import Node
from .replay import replay_line
from .schedule import NODES, Attempt, Schedule, Turn
from .sizes import small_sizes
from .streams import BATCHES

_MEMORY = Path("/dev/shm")  # noqa: S108  (a disk in memory, where there is one)
_ATTEMPTS = 4
"""How often Spark tries a task before it gives up."""
Tell = Callable[[str], None]


class World:
    """What happens to the micro-batches of one stream.

    Parameters
    ----------
    kind, schedule
        The join and all that is to happen.
    root
        Folder of the nodes.
    tell
        Is told what happens, line by line.
    """

    def __init__(self, kind: Kind, schedule: Schedule, root: Path, tell: Tell) -> None:
        self._schedule = schedule
        self._tell = tell
        self._nodes = [Node(number, root / f"node{number}") for number in range(NODES)]
        self._serial = 0
        self._asleep: list[Running] = []
        self._paused: list[Running] = []
        self._shards = [Shard(make_join(kind, schedule.stream))]
        if schedule.beside != "nobody":
            other = schedule.beside == "other"
            join = make_join(kind, schedule.stream, other=other)
            self._shards.append(Shard(join, f" of the {schedule.beside} join"))

    def play(self) -> None:
        """Play the turns and two that go well; raise what first goes wrong."""
        try:
            for turn in (*self._schedule.turns, Turn(), Turn())[:BATCHES]:
                self._play(turn)
                for shard in self._shards:
                    check_timers(shard)
                    check_state(shard)
        finally:
            for running in self._paused:
                if not running.process.over:
                    running.process.resume("dies")

    def _play(self, turn: Turn) -> None:
        if turn.harm is not None:
            self._tell(damage(self._nodes[turn.harm.node], turn.harm))
        shard, *beside = self._shards
        for other in beside if turn.beside_first else ():
            self._win(other, turn.beside)
        for attempt in turn.before:
            self._lose(attempt)
        self._win(shard, turn.winner, turn.during)
        for other in () if turn.beside_first else beside:
            self._win(other, turn.beside)

    def _win(
        self, shard: Shard, attempt: Attempt, during: tuple[Attempt, ...] = ()
    ) -> None:
        """Run the attempt that is committed; Spark tries a failed one again."""
        for _ in range(_ATTEMPTS):
            running = self._start(shard, attempt)
            if not running.process.over:
                self._tell(running.told)
                for other in during:
                    self._lose(other)
                running.process.resume("finishes")
            if running.ended:
                self._tell(f"{running.told}, committed")
                self._check_given(running)
                shard.commit(running)
                self._tick()
                return
            self._check(running)
        raise WrongError(f"fails {_ATTEMPTS} times")

    def _lose(self, attempt: Attempt) -> None:
        """Run an attempt whose state is lost."""
        running = self._start(self._shards[0], attempt)
        self._tick()
        if running.process.over:
            self._check(running)
        else:
            self._tell(running.told)
            self._asleep.append(running)

    def _start(self, shard: Shard, attempt: Attempt) -> Running:
        running = shard.start(self._nodes[attempt.node], attempt, self._serial)
        self._serial += 1
        self._paused += [] if running.process.over else [running]
        return running

    def _tick(self) -> None:
        """Another attempt is over or stands still: some have slept long enough."""
        for running in list(self._asleep):
            running.sleeps -= 1
            if running.sleeps < 0:
                self._asleep.remove(running)
                running.process.resume(running.process.plan.ending)
                self._check(running)

    def _check(self, running: Running) -> None:
        """Check an attempt whose state is lost.

        If it ended before another was committed, it could have been that one.
        """
        self._tell(f"{running.told}{', its state is lost' if running.ended else ''}")
        if running.number < running.shard.done:
            return
        if running.process.error is not None and not self._schedule.harmful:
            raise WrongError("an attempt fails") from running.process.error
        if running.ended:
            self._check_given(running)

    def _check_given(self, running: Running) -> None:
        given = running.given
        check_given(given, running.shard.join, running.number)
        if not running.process.crowded and self._schedule.leaves_copies:
            check_copies(given)


def play(kind: Kind, schedule: Schedule) -> list[str]:
    """Play a schedule; tell all that happened, also if something goes wrong."""
    for other in {False, schedule.beside == "other"}:
        make_join(kind, schedule.stream, other=other)  # compiles outside of the world
    told: list[str] = []
    replay = f"replay: {replay_line(kind, schedule)}"
    try:
        if schedule.harmful:
            wrong = in_child(lambda tell: _play(kind, schedule, tell), told)
        else:
            wrong = _play(kind, schedule, told.append)
    except Exception as error:
        error.add_note(replay)
        raise
    if wrong:
        raise WrongError("\n".join([wrong, replay, *told]))
    return told


def _play(kind: Kind, schedule: Schedule, tell: Tell) -> str:
    memory = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="shedjoin-") as root:
        try:
            with watched(), silent(), small_sizes():
                World(kind, schedule, Path(root), tell).play()
        except WrongError as wrong:
            return str(wrong)
        finally:
            leave()
    return ""
