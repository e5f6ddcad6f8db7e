"""Objects that the driver sends to executors, with the version of this package.

Executors have their own installation of this package. If its version differs from that
of the driver, the objects may not fit. The executor then raises an error that names
both versions, before it does anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark import cloudpickle

from shedjoin.errors import VersionMismatchError
from shedjoin.version import VERSION


class Shipped:
    """Base class of objects that are sent; pickles begin with the package version."""

    def __reduce__(self) -> tuple[Any, ...]:
        dumps: Callable[[object], bytes] = cloudpickle.dumps
        content = dumps((type(self), self.__dict__))
        return unpacked, (VERSION, content)


def unpacked(version: str, content: bytes) -> object:
    """Rebuild an object of the driver; refuse an object of another version."""
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
