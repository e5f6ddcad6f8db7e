"""Parameters and lines of kernels, signature and docstring included.

The linter asks for seven parameters, but a comment can silence it, and it does not
count lines. Sources are read, not imported: a compiled kernel and one that is compiled
into others look alike there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "src" / "shedjoin" / "kernels"
MODULES = sorted(KERNELS.glob("*.py"))

PARAMETERS = 8
LINES = 80

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: str) -> Iterator[Function]:
    """All functions of a module, also those inside others."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            yield node


def parameters(function: Function) -> int:
    """Parameters of any kind; ``*rest`` and ``**options`` are one each."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len(named) + sum(rest is not None for rest in (given.vararg, given.kwarg))


def lines(function: Function) -> int:
    """Lines from the first decorator to the end of the body."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return (function.end_lineno or 0) - first + 1


def test_the_counts_take_everything_in() -> None:
    source = "@kernel\ndef f(a, /, b, *c, d, **e):\n    '''Text.'''\n    return a\n"
    (function,) = functions(source)
    assert parameters(function) == 5
    assert lines(function) == 4


def test_kernels_are_found() -> None:
    found = {each.name for path in MODULES for each in functions(path.read_text())}
    assert {"probe_then_insert", "meet", "mixed"} <= found  # three ways of compiling


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_kernels_take_few_parameters(path: Path) -> None:
    counts = {each.name: parameters(each) for each in functions(path.read_text())}
    assert {name: n for name, n in counts.items() if n > PARAMETERS} == {}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_kernels_are_short(path: Path) -> None:
    counts = {each.name: lines(each) for each in functions(path.read_text())}
    assert {name: n for name, n in counts.items() if n > LINES} == {}
