"""Waits until a table was read recently."""

from __future__ import annotations

import time

from shedjoin.errors import VersionLogError
from shedjoin.versions.folder import Observation, VersionFolder

_PAUSE_S = 0.05


class Watch:
    """Gives the newest version of a table, when the table was read recently.

    Parameters
    ----------
    folder : VersionFolder
        Where the versions are.
    stale_after_s : float
        How old the newest reading may be.
    timeout_s : float
        How long to wait for a newer reading.
    """

    def __init__(
        self, folder: VersionFolder, stale_after_s: float, timeout_s: float
    ) -> None:
        self.folder = folder
        self.stale_after_s = stale_after_s
        self.timeout_s = timeout_s

    def version(self) -> int:
        """The newest version; raise if the table was not read until the timeout."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            observed = self.folder.observed()
            if observed is not None and self.is_fresh(observed):
                return observed.version
            if time.monotonic() >= deadline:
                raise self._error(observed)
            time.sleep(_PAUSE_S)

    def is_fresh(self, observed: Observation) -> bool:
        """Whether a reading is recent, and not far ahead of the clock."""
        age_s = time.time() - observed.clock_us / 1e6
        return abs(age_s) <= self.stale_after_s

    def _error(self, observed: Observation | None) -> VersionLogError:
        if observed is None:
            since = "has never been read"
        else:
            age_s = time.time() - observed.clock_us / 1e6
            since = f"was last read {age_s:.0f} s ago"
        why = self.folder.failure() or "its poller has ended"
        return VersionLogError(
            f"the table of {self.folder.path} {since} ({why}), and nothing has "
            f"changed that for {self.timeout_s:g} s.",
            fix="bring the database back and start the query again from its "
            "checkpoint; or allow more with stale_after= and timeout=.",
        )
