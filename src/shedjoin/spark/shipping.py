"""Objects on their way from the driver to the executors, with the version they are of.

Executors have their own installation of this package. If it is of another version, what
the driver sends may not fit; the executor then says that, before anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark import cloudpickle

from shedjoin.errors import VersionMismatchError
from shedjoin.version import VERSION


class Shipped:
    """Base of what is sent: its pickle begins with the version of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        dumps: Callable[[object], bytes] = cloudpickle.dumps
        content = dumps((type(self), self.__dict__))
        return unpacked, (VERSION, content)


def unpacked(version: str, content: bytes) -> object:
    """Rebuild what the driver sent, if it was of the same version."""
    if version != VERSION:
        raise VersionMismatchError(
            f"the driver runs shedjoin {version}, this executor has {VERSION}.",
            fix=f"pip install shedjoin=={version} on the executors, or in the "
            "environment that is shipped to them.",
        )
    kind, attributes = cloudpickle.loads(content)
    made: object = kind.__new__(kind)
    made.__dict__.update(attributes)
    return made
