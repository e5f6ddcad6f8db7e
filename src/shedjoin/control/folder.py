"""The folder that control messages are put into, one file each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from shedjoin.control.message import decode_message, encode_message
from shedjoin.control.record import Entry
from shedjoin.control.settings import AS_STARTED
from shedjoin.errors import ShedjoinError

SUFFIX = ".json"
_RECORDS, _LOADS, _COSTS = "_records", "_loads", "_costs.json"
"""Spark does not read files and folders whose names begin with _ or a dot."""


class Control:
    """Steer running joins by messages in a folder.

    Every shard applies a message at the start of the same micro-batch. The state of the
    join keeps the settings in force, so that a restart continues with them.

    Parameters
    ----------
    path : str or Path
        The folder. The driver and all executors must be able to read it. If it does not
        exist, it is created. One folder may steer several joins.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     control = Control(folder)
    ...     name = control.send(budget={"rows": 1000})
    ...     control.sent() == [name]
    True
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self.path.mkdir(parents=True, exist_ok=True)

    def send(self, **settings: Any) -> str:  # noqa: ANN401  (any JSON; it is checked)
        """Send a message; return its name.

        Messages come into force in the order of their names, which begin with the time
        at which they were sent. Settings that no join would accept are refused here.
        """
        text = encode_message(**settings)
        name = f"{time.time_ns():020d}-{token_hex(4)}{SUFFIX}"
        _put(self.path / name, text)
        return name

    def sent(self) -> list[str]:
        """Names of all messages, the oldest first."""
        return sorted(path.name for path in self.path.glob(f"[!._]*{SUFFIX}"))

    def standing(self, join: str) -> dict[str, tuple[str, Any]]:
        """Settings of messages that replace arguments of a join, with message names.

        A message is left out if it cannot be read, or if every query with a join of
        this name has refused it.
        """
        found: dict[str, tuple[str, Any]] = {}
        refused = self._refused(join)
        for name in self.sent():
            if name in refused:
                continue
            with suppress(ShedjoinError, OSError):
                settings = decode_message((self.path / name).read_bytes())
                found |= {key: (name, value) for key, value in settings.items()}
        return {
            key: (name, value)
            for key, (name, value) in found.items()
            if value != AS_STARTED
        }

    def _refused(self, join: str) -> set[str]:
        """Names of the messages that every query with a join of this name refused."""
        asked = [each for each in self.joins() if each.endswith(f"-{join}")]
        entries = [entry for each in asked for entry in self.applied(each)]
        taken = {entry.name for entry in entries if not entry.refused}
        return {entry.name for entry in entries if entry.refused} - taken

    def note(self, join: str, entries: list[Entry]) -> None:
        """Record what became of messages in a join; older entries are kept."""
        known = {entry.name: entry for entry in self.applied(join)}
        known |= {entry.name: entry for entry in entries}
        rows = sorted(known.values())
        _put(self._record(join), json.dumps(rows).encode())

    def applied(self, join: str) -> list[Entry]:
        """What became of the messages that a join has read, the oldest first."""
        return [Entry(*row) for row in _read(self._record(join), [])]

    def note_load(self, join: str, load: Mapping[str, Any]) -> None:
        """Record time and throttle of a join's last micro-batch."""
        _put(self._load(join), json.dumps(load).encode())

    def load(self, join: str) -> dict[str, Any]:
        """Time and throttle of a join's last micro-batch; empty without a CPU budget.

        The micro-batch took ``seconds``, and may take ``target``. Shedding cannot save
        the ``floor``, which is also in seconds. ``share`` is the part of the work that
        was done. ``costs`` are the learned seconds of a micro-batch, a row, a stored
        row and a result.
        """
        found: dict[str, Any] = _read(self._load(join), {})
        return found

    def set_costs(self, costs: Mapping[str, float]) -> None:
        """Store the costs of work that ``shedjoin calibrate`` has measured."""
        _put(self.path / _COSTS, json.dumps(costs).encode())

    def costs(self) -> dict[str, float]:
        """The stored costs of work; empty if they were not measured."""
        found: dict[str, float] = _read(self.path / _COSTS, {})
        return found

    def joins(self) -> list[str]:
        """Query and name of each join that was steered or timed by this folder."""
        return sorted(
            {
                path.stem
                for notes in (_RECORDS, _LOADS)
                for path in (self.path / notes).glob(f"*{SUFFIX}")
            }
        )

    def _record(self, join: str) -> Path:
        return self.path / _RECORDS / f"{join}{SUFFIX}"

    def _load(self, join: str) -> Path:
        return self.path / _LOADS / f"{join}{SUFFIX}"


def _read(path: Path, otherwise: object) -> Any:  # noqa: ANN401  (any JSON)
    """Read a file of JSON; return ``otherwise`` if the file does not exist."""
    return json.loads(path.read_text()) if path.exists() else otherwise


def _put(path: Path, text: bytes) -> None:
    """Write a file under another name first, so that it is never read in part."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f".{token_hex(4)}-{path.name}")
    with part.open("xb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
