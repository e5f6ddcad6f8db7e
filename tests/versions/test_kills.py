"""A writer that is killed before or after any of its steps; the next one goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shedjoin.versions import log as log_module
from shedjoin.versions.folder import VersionFolder
from shedjoin.versions.log import VersionLog

from .tables import described, random_table, replay, row_set, writer

STEPS = {"fsync", "link", "replace", "unlink", "rename"}


class Killed(BaseException):
    """Nothing may catch it."""


class Death:
    """Counts steps on files, and kills before or after one of them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.after = False
        for name in STEPS:
            patch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
            self.left -= 1
            if self.left == 0 and not self.after:
                raise Killed
            done = step(*arguments, **more)
            if self.left == 0:
                raise Killed
            return done

        return counted

    def within(self, steps: int, *, after: bool) -> None:
        self.left, self.after = steps, after


def survive(
    folder: VersionFolder,
    death: Death,
    rng: np.random.Generator,
    again: Callable[[VersionLog], VersionLog],
) -> int:
    """Kill before and after each step in turn; return how often that hit."""
    expected: list[set[Any]] = []
    kills = 0
    log = writer(folder)
    for after in (False, True):
        for steps in range(1, 16):
            table = random_table(rng, 12)
            death.within(steps, after=after)
            try:
                log.observe(table, steps)
            except Killed:
                death.left = -1
                kills += 1
                log = again(log)
                log.observe(table, steps)
            death.left = -1
            if not expected or expected[-1] != row_set(table):
                expected.append(row_set(table))
            assert replay(folder) == expected
            observed = folder.observed()
            assert observed is not None
            assert observed.version == len(expected)
    log.close()
    return kills


def another(log: VersionLog) -> VersionLog:
    log.close()  # as the system does it for a process that died
    return writer(log.folder)


@pytest.mark.parametrize("again", [another, lambda log: log], ids=["other", "same"])
def test_any_step_may_be_the_last(
    again: Callable[[VersionLog], VersionLog],
    tmp_path: Path,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By another writer, or by the same one after an error such as a full disk."""
    monkeypatch.setattr(log_module, "_SNAPSHOT_ROWS", 1)
    folder = described(tmp_path)
    assert survive(folder, Death(monkeypatch), rng, again) >= 20
    writer(folder)
    assert not list(tmp_path.rglob(".part-*"))
    assert len(folder.snapshots()) <= 1


def test_cut_off_notes_are_none(tmp_path: Path) -> None:
    folder = described(tmp_path)
    (tmp_path / "_observed.json").write_bytes(b'{"version": 1')
    assert folder.observed() is None
    assert folder.failure() == ""
