"""Stream joins inside a fixed budget, on Spark Structured Streaming."""

from importlib.metadata import version

from shedjoin.api import join
from shedjoin.core.window import Within

__all__ = ["Within", "join"]
__version__ = version("shedjoin")
