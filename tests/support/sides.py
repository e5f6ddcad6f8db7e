"""The numbers of the two streams of a join."""

from typing import Literal, TypeAlias

Side: TypeAlias = Literal[0, 1]
LEFT: Side = 0
RIGHT: Side = 1
SIDES: tuple[Side, Side] = (LEFT, RIGHT)
