"""The page of what goes with what is the one that the command prints."""

from __future__ import annotations

from pathlib import Path

from shedjoin.cli.capabilities import page

PAGE = Path(__file__).parents[2] / "docs" / "what-goes-with-what.md"


def test_the_page_is_as_printed() -> None:
    fix = "shedjoin capabilities > docs/what-goes-with-what.md"
    assert PAGE.read_text(encoding="utf-8") == f"{page()}\n", fix
