"""Plays one sequence again and prints what happens: see ``replay.py``."""

from __future__ import annotations

import sys

from .checks import WrongError
from .replay import read_sequence
from .world import play


def main(arguments: list[str]) -> int:
    """Play the sequence of the only argument; return 1 if something goes wrong."""
    (text,) = arguments
    try:
        told, failed = play(*read_sequence(text)), 0
    except WrongError as error:
        told, failed = str(error).split("\n"), 1
    sys.stdout.write("\n".join(told) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
