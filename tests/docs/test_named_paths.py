"""Files, tests and names of code that pages mention exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SOURCES = ROOT / "src/shedjoin"
FOLDERS = [ROOT, SOURCES]
CODE = re.compile(r"`([^`\s]+)`")
FILE = re.compile(r"[\w./-]+\.py(::\w+)?")
MODULE = re.compile(r"shedjoin(\.[a-z_]+)*\.(?!lagUs)\w+")


def mentioned(page: Path, kind: re.Pattern[str]) -> Iterator[str]:
    """Code of one kind in a page, examples left out."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for found in CODE.findall(text):
        if kind.fullmatch(found):
            yield found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_exist(page: Path) -> None:
    for found in mentioned(page, FILE):
        path, _, test = found.partition("::")
        files = [folder / path for folder in FOLDERS if (folder / path).is_file()]
        if "/" not in path:  # of a package that the text names before
            files = [*SOURCES.rglob(path)]
        assert files, f"{page.name} names {path}, which does not exist"
        if test:
            assert any(f"def {test}(" in file.read_text() for file in files), found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_exist(page: Path) -> None:
    """A dotted name is a module or a package, or something that one defines."""
    for found in mentioned(page, MODULE):
        parts = found.split(".")
        base = ROOT / "src" / Path(*parts[:-1])
        whole = ROOT / "src" / Path(*parts)
        sources = [base.with_suffix(".py"), base / "__init__.py"]
        text = "".join(each.read_text() for each in sources if each.is_file())
        exists = whole.is_dir() or whole.with_suffix(".py").is_file()
        assert exists or re.search(rf"\b{parts[-1]}\b", text), f"{page.name}: {found}"
