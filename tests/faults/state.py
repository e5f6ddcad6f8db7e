"""A shard's state as the engine holds it, and the handle by which the operator asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .process import Process

Key = tuple[Any, ...]


class Stored:
    """All that the engine holds of one shard: its maps by name, and its timers."""

    def __init__(self) -> None:
        self.maps: dict[str, dict[Key, Key]] = {}
        self.timers: set[int] = set()

    def copied(self) -> Stored:
        """Give the private copy of an attempt."""
        copy = Stored()
        copy.maps = {name: dict(blobs) for name, blobs in self.maps.items()}
        copy.timers = set(self.timers)
        return copy

    @property
    def blobs(self) -> dict[int, bytes]:
        """The numbered blobs of the shard."""
        held = [pair for blobs in self.maps.values() for pair in blobs.items()]
        return {number: blob for (number,), (blob,) in held}


class StateMap:
    """One map of a shard; every call of it counts."""

    def __init__(self, process: Process, held: dict[Key, Key]) -> None:
        self._process = process
        self._held = held

    def getValue(self, key: Key) -> Key | None:  # noqa: N802  (PySpark's names)
        return self._process.call("getValue", lambda: self._held.get(key), key[0])

    def containsKey(self, key: Key) -> bool:  # noqa: N802
        return self._process.call("containsKey", lambda: key in self._held, key[0])

    def updateValue(self, key: Key, value: Key) -> None:  # noqa: N802
        assert isinstance(value[0], bytes)
        self._process.call(
            "updateValue", lambda: self._held.__setitem__(key, value), key[0]
        )

    def removeKey(self, key: Key) -> None:  # noqa: N802
        self._process.call("removeKey", lambda: self._held.pop(key, None), key[0])

    def exists(self) -> bool:
        return self._process.call("exists", lambda: bool(self._held))

    def iterator(self) -> Iterator[tuple[Key, Key]]:
        return self._process.call("iterator", lambda: iter([*self._held.items()]))

    def keys(self) -> Iterator[Key]:
        return self._process.call("keys", lambda: iter([*self._held]))

    def clear(self) -> None:
        self._process.call("clear", self._held.clear)


class Handle:
    """What the engine gives the operator of one attempt."""

    def __init__(self, process: Process, stored: Stored) -> None:
        self._process = process
        self._stored = stored

    def getMapState(  # noqa: N802
        self, name: str, *schemas: object, **options: object
    ) -> StateMap:
        del schemas, options
        return StateMap(self._process, self._stored.maps.setdefault(name, {}))

    def registerTimer(self, at_ms: int) -> None:  # noqa: N802
        timers = self._stored.timers
        self._process.call("registerTimer", lambda: timers.add(at_ms), at_ms)

    def deleteTimer(self, at_ms: int) -> None:  # noqa: N802
        timers = self._stored.timers
        self._process.call("deleteTimer", lambda: timers.discard(at_ms), at_ms)

    def listTimers(self) -> Iterator[int]:  # noqa: N802
        return self._process.call("listTimers", lambda: iter([*self._stored.timers]))
