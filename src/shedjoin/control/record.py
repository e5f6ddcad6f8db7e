"""What control messages have changed in a join: a part of the state of every shard.

Every shard gets every message in the same micro-batch. So all shards have the same
record. If a micro-batch is repeated, it makes the same record again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from shedjoin.control.message import decode_message
from shedjoin.control.steered import steered
from shedjoin.errors import ParameterError, ShedjoinError
from shedjoin.spec.streams import JoinSpec

_REASON = 400
"""Longest reason that is kept, in characters. It may show long values."""
KEPT = 50
"""Entries that a record keeps. Older entries are dropped, but their settings stay."""


class Sent(NamedTuple):
    """A file of the control folder, as it was read."""

    name: str
    text: bytes


class Messages(NamedTuple):
    """Files that a micro-batch has read, and the number of the micro-batch."""

    sent: Sequence[Sent]
    micro_batch: int


class Entry(NamedTuple):
    """What became of a message: in force from a micro-batch on, or refused, and why."""

    micro_batch: int
    name: str
    refused: str


class Record(NamedTuple):
    """The settings in force, and the latest entries, oldest first."""

    in_force: dict[str, Any]
    entries: tuple[Entry, ...] = ()

    @staticmethod
    def of(facts: dict[str, Any]) -> Record:
        """Read a record from its stored facts."""
        entries = tuple(Entry(*entry) for entry in facts.get("entries", ()))
        return Record(facts.get("in_force", {}), entries)

    def facts(self) -> dict[str, Any]:
        """The facts to store; there are none until a message has been read."""
        if not self.entries:
            return {}
        return {"in_force": self.in_force, "entries": [list(e) for e in self.entries]}

    def after(self, sent: Iterable[Sent], spec: JoinSpec, micro_batch: int) -> Record:
        """The record after some messages, applied in the order of their names."""
        record = self
        for one in sorted(sent):
            record = record._after_one(one, spec, micro_batch)
        return record._replace(entries=record.entries[-KEPT:])

    def _after_one(self, sent: Sent, spec: JoinSpec, micro_batch: int) -> Record:
        in_force, refused = self.in_force, ""
        try:
            settings = decode_message(sent.text)
            in_force = self.in_force | settings
            changed = steered(spec, in_force, before=self.in_force)
            if changed.shedding is None and settings.keys() - {"budget"}:
                raise ParameterError(
                    f"{' and '.join(settings)} without a budget: nothing would be "
                    "shed.",
                    fix="set a budget with it.",
                )
        except ShedjoinError as error:
            in_force, refused = self.in_force, error.problem[:_REASON]
        entry = Entry(micro_batch, sent.name, refused)
        return Record(in_force, (*self.entries, entry))
