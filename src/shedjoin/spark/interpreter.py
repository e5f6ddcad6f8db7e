"""Checks that Spark's Python workers have this package, before a query starts.

Without the check, the query fails in its first micro-batch, with the traceback of a
worker that does not name its interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.errors import MissingExtraError

_ASKED: set[str] = set()
"""Interpreters of workers that have passed the check."""


def check_workers(session: SparkSession) -> None:
    """Refuse a session whose workers cannot import this package.

    Each interpreter is checked once, by a worker. If workers certainly run the
    interpreter of the driver, there is no check.
    """
    context = getattr(session, "sparkContext", None)  # Spark Connect has none
    name = str(getattr(context, "pythonExec", "that of the server"))
    if name in _ASKED or _is_own(session, name):
        return
    asked = F.udf(_asking(), "string", useArrow=False)  # Arrow may be missing as well
    told = session.range(1).select(asked("id")).collect()[0][0]
    if told:
        raise MissingExtraError(
            f"Spark's Python workers run {told}, which has no package 'shedjoin'; the "
            f"driver runs {sys.executable}.",
            fix="set the environment variable PYSPARK_PYTHON to an interpreter that "
            "has it before the session is created, on executors as well; or install "
            "shedjoin where the workers find it.",
        )
    _ASKED.add(name)


def _is_own(session: SparkSession, name: str) -> bool:
    """Whether workers run on this machine with the interpreter of the driver."""
    is_local = str(session.conf.get("spark.master", "")).startswith("local")
    paths = [Path(name), Path(sys.executable)]
    # Links are not resolved, because two environments may link to the same binary.
    return is_local and len({path.absolute() for path in paths}) == 1


def _asking() -> Callable[[int], str]:
    """Make the function that checks. It is sent as code, so workers import nothing."""

    def missing(_: int) -> str:
        import importlib.util
        import sys

        has = importlib.util.find_spec("shedjoin") is not None
        return "" if has else sys.executable

    missing.__module__ = "__main__"  # otherwise workers would have to import its module
    return missing
