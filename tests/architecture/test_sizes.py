"""Sizes of modules and functions, and what ``__init__.py`` may hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = [path for path in MODULES if path.name == "__init__.py"]

MODULE_LINES = 400
FUNCTION_LINES = 40
KERNEL_LINES = 60

# "shedjoin/folder/module.py": "why this module may be longer"
LONG_MODULES: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def body_lines(function: Function) -> int:
    """Lines from the end of the signature or docstring to the end of the body."""
    body = function.body[1:] if is_docstring(function.body[0]) else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def too_long(tree: ast.Module, limit: int) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, Function) and body_lines(node) > limit:
            yield f"{node.name} at line {node.lineno}: {body_lines(node)} lines"


def is_plain(value: ast.expr | None) -> bool:
    """Whether a value is a literal, a name, or the version from the metadata."""
    match value:
        case None | ast.Constant() | ast.Name() | ast.Attribute():
            return True
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(is_plain(item) for item in items)
        case ast.Call(func=ast.Name(id="version"), args=[ast.Constant()], keywords=[]):
            return True
    return False


def is_declaration(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return is_plain(value)
    return is_docstring(node)


def test_the_source_is_found() -> None:
    assert MODULES


def test_allowed_modules_exist() -> None:
    assert set(LONG_MODULES) <= {name_of(path) for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_is_short(path: Path) -> None:
    if name_of(path) not in LONG_MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_short(path: Path) -> None:
    limit = KERNEL_LINES if path.parent.name == "kernels" else FUNCTION_LINES
    assert not list(too_long(ast.parse(path.read_text(encoding="utf-8")), limit))


@pytest.mark.parametrize("path", PACKAGES, ids=name_of)
def test_init_has_no_logic(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [node.lineno for node in tree.body if not is_declaration(node)] == []
