"""Keeps the models of one shard: the array that they use, and its stored form.

All that models have learned is in one array of 64-bit integers, called words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shedjoin.models.learned import Models
from shedjoin.operators.frame.join import Opening
from shedjoin.operators.frame.models_log import ModelsLog
from shedjoin.state.blobs import Commit
from shedjoin.types import IntArray

_MODELS = "models"


class KeptModels:
    """Opens, resets, enlarges and writes the models of a shard.

    Parameters
    ----------
    opening : Opening
        Spec, stored state and workspace from which the join is opened.
    own : dict
        What :meth:`write` returned when the models were stored; empty if nothing was
        learned yet.
    make : function
        Makes models that keep all they learn in a given array of words.
    words : int
        Number of words of new models.
    """

    def __init__(
        self,
        opening: Opening,
        own: dict[str, Any],
        make: Callable[[IntArray], Models],
        words: int,
    ) -> None:
        self._workspace = opening.workspace
        self._make = make
        self.forgotten = bool(own) and "learned_words" not in own
        """Whether the stored models are of an older format, which cannot be read."""
        if self.forgotten:
            found = self._workspace.new_array(_MODELS, words)
            self._log = ModelsLog(own["models"])
        elif own and opening.opened:
            found = self._workspace.array(_MODELS)
            self._log = ModelsLog(own["models"], found)
        else:
            found = self._workspace.new_array(_MODELS, own.get("learned_words", words))
            self._log = ModelsLog(own.get("models", ()))
            if own:
                self._log.restore(found, opening.blobs)
        self.models = make(found)

    def begin(self, first_us: int) -> None:
        """Drop all that was learned; ``first_us`` is the time of the first arrival."""
        self.models.words[:] = 0
        self.models = self._make(self.models.words)
        self.models.begin(first_us)

    def make_room(self) -> bool:
        """Enlarge the models if they have too many keys; return whether they did."""
        if not self.models.is_crowded:
            return False
        former = self.models
        words = self._workspace.new_array(_MODELS, former.roomier_words)
        former.copy_to(words)
        self.models = self._make(words)
        self.models.go_on(former)
        return True

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the changed words; return facts to store in the directory."""
        self._log.write(self.models.words, changes)
        return {"models": self._log.parts, "learned_words": self.models.words.size}
