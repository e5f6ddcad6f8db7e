"""``shedjoin capabilities``: which joins can be combined with which features."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from shedjoin.spec.capabilities.kinds import By, Feature, JoinKind
from shedjoin.spec.capabilities.table import TABLE


def print_page() -> None:
    """Print what goes with what, as a page in Markdown."""
    typer.echo(page())


def page() -> str:
    """Return the table of joins against features, and the reasons below it."""
    reasons: dict[tuple[str, str], int] = {}
    rows = [*_header()]
    for feature in Feature:
        cells = []
        for kind in JoinKind:
            cell = TABLE[feature][kind]
            if isinstance(cell, By):
                cells.append("yes")
            else:
                number = reasons.setdefault((cell.reason, cell.fix), len(reasons) + 1)
                cells.append(f"[{number}](#reasons)")
        rows.append(f"| {feature.value} | {' | '.join(cells)} |")
    return "\n".join([_INTRODUCTION, *rows, *_listed(reasons)])


_REASONS = "In these sentences, *it* is the feature in the first column of the table."

_INTRODUCTION = """# What goes with what

Every call and every control message is checked against this table, locally and on
Spark. A number leads to the reason why a combination is refused.
`shedjoin capabilities` prints this page.

`memory:` stands for a policy under a budget that limits memory, alone or together with
`cpu=`; `time alone:` for a policy under `Budget(cpu=...)`.
`MostImportant(..., by=policies.Greedy())` counts as `Greedy()`.
"""


def _header() -> Iterator[str]:
    yield f"| | {' | '.join(kind.value for kind in JoinKind)} |"
    yield f"| --- |{' --- |' * len(JoinKind)}"


def _listed(reasons: dict[tuple[str, str], int]) -> Iterator[str]:
    """List the reasons by number, each with what to write instead."""
    yield from ("", "## Reasons", "", _REASONS, "")
    for (reason, fix), number in reasons.items():
        yield f"{number}. It {reason}<br>{fix[0].upper()}{fix[1:]}"
