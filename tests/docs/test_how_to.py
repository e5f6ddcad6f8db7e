"""The code of the how-to pages runs as written, from the first block to the last."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from shedjoin.spec.budget import parse_bytes

from .pages import ROOT, blocks, run


def test_write_a_policy(tmp_path: Path) -> None:
    policy, *rest = blocks("docs/how-to/write-a-policy.md")
    assert len(policy.splitlines()) <= 22
    printed = run(sys.executable, "".join([policy, *rest]), tmp_path)
    few, many = map(int, re.findall(r"(\d+) keys", printed))
    assert many > 1.5 * few


def test_keep_what_is_worth_most(tmp_path: Path) -> None:
    """It prints what the page shows under it."""
    page = "docs/how-to/keep-what-is-worth-most.md"
    (budget,) = blocks(page)
    shown = (ROOT / page).read_text().partition(budget)[2].split("```")[2]
    assert run(sys.executable, budget, tmp_path).split() == shown.split()


def test_sample(tmp_path: Path) -> None:
    (sample,) = blocks("docs/how-to/sample.md")
    printed = run(sys.executable, sample, tmp_path)
    plain, by_value = (
        [int(number) for number in re.findall(r"\d+", line)]
        for line in printed.splitlines()
    )
    for low, high, exact in (plain, by_value):
        assert low < exact < high
    assert by_value[1] - by_value[0] < 0.9 * (plain[1] - plain[0])


def test_size_a_budget(tmp_path: Path) -> None:
    measured, tried = blocks("docs/how-to/size-a-budget.md")
    printed, report = run(
        sys.executable, f"{measured}\nprint('----')\n{tried}", tmp_path
    ).split("----\n")
    *sizes, answer = re.findall(r"""["']([\d.]+ [kM]B)["']""", printed)
    assert len(sizes) == 5
    assert parse_bytes(sizes[0]) < parse_bytes(answer) < parse_bytes(sizes[-1])
    assert "1.000" in printed.splitlines()[-2]
    (recall,) = re.findall(r"^recall +(0.\d+)", report, re.MULTILINE)
    assert 0.93 < float(recall) < 0.99


def test_alert_on_what_did_not_happen(tmp_path: Path) -> None:
    page = "docs/how-to/alert-on-what-did-not-happen.md"
    (missing,) = blocks(page)
    shown = (ROOT / page).read_text().partition(missing)[2].split("```")[2]
    assert run(sys.executable, missing, tmp_path).split() == shown.split()
