"""Joins that go on from their own kind of state alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NoReturn

from shedjoin.errors import StateMismatchError
from shedjoin.operators.frame.join import Opening, Residents
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class Unmixed:
    """Refuses the state of another kind of join, and to give its own to one."""

    told: ClassVar[str]
    """What the join is, in messages."""
    fix_other: ClassVar[str] = "start with a new checkpointLocation."
    fix_own: ClassVar[str] = "start with a new checkpointLocation."
    """What to do where this join finds the state of another kind; and where another
    kind finds the state of this one."""

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> NoReturn:
        """Refuse: there is no relation with it, or what was shed is not known."""
        del payload, residents
        kind = "" if opening.directory is None else opening.directory.kind
        raise StateMismatchError(
            f"the checkpoint is that of a join of the kind {kind!r}, and this is "
            f"{cls.told}.",
            fix=cls.fix_other,
        )

    @classmethod
    def residents(cls, blobs: Blobs, directory: Directory, spec: JoinSpec) -> NoReturn:
        """Refuse: no other kind of join goes on with these residents."""
        del blobs, directory, spec
        raise StateMismatchError(
            f"the checkpoint is that of {cls.told}.", fix=cls.fix_own
        )
