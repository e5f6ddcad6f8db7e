"""The words of a policy: headings, references, an example that runs."""

from __future__ import annotations

import doctest
import inspect
import sys
from collections.abc import Iterator
from itertools import pairwise

from shedjoin.policies import Policy

HEADINGS = ("Source", "Symbols", "Departures", "Guarantee", "Cost")
SECTIONS = ("Notes", "References", "Examples")


def undocumented(kind: type[Policy]) -> Iterator[str]:
    """Look for missing headings and sections, and for examples that fail."""
    text = inspect.cleandoc(kind.__doc__ or "")
    lines = text.splitlines()
    for heading in HEADINGS:
        if f"*{heading}.*" not in text:
            yield f"its docstring has no heading *{heading}.*"
    for section in SECTIONS:
        if (section, "-" * len(section)) not in pairwise(lines):
            yield f"its docstring has no section {section}"
    names = vars(sys.modules[kind.__module__])
    finder = doctest.DocTestFinder(recurse=False)
    cases = finder.find(kind, kind.__name__, globs={**names, kind.__name__: kind})
    if not any(case.examples for case in cases):
        yield "its docstring has no example"
    for case in cases:
        said: list[str] = []
        if doctest.DocTestRunner(verbose=False).run(case, out=said.append).failed:
            yield f"an example of its docstring fails:\n{''.join(said)}"
