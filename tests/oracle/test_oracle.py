"""The oracle itself, checked by hand-computed stories."""

from collections import Counter

import pytest

from .join import Row, exact_join
from .stories import STORIES, Story


def rows_of(story: Story, batch: int, side: str) -> list[Row]:
    """Return the rows of one side of a batch, their names as payload."""
    return [
        Row(at.key, at.time_us, at.name)
        for at in story.arrivals
        if at.batch == batch and at.name.startswith(side)
    ]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.about)
def test_story(story: Story) -> None:
    batches = [
        (rows_of(story, batch, "l"), rows_of(story, batch, "r"))
        for batch in range(len(story.watermarks_ms))
    ]
    before_us, after_us = story.window_us
    found = exact_join(
        batches, before_us=before_us, after_us=after_us, delays_ms=story.delays_ms
    )
    for number, result in enumerate(found):
        here = [at for at in story.arrivals if at.batch == number]
        expected = [sorted((at.name, m)) for at in here for m in at.matches.split()]
        pairs = Counter((left.payload, right.payload) for left, right in result.pairs)
        assert pairs == Counter((left, right) for left, right in expected)
        late = [at.name[0] for at in here if at.late]
        assert (result.late_left, result.late_right) == (
            late.count("l"),
            late.count("r"),
        )
        usable = [
            at.name[0] for at in here if at.time_us is not None and None not in at.key
        ]
        assert (result.seen_left, result.seen_right) == (
            usable.count("l"),
            usable.count("r"),
        )
    assert [result.watermark_ms for result in found] == story.watermarks_ms
    assert [(r.alive_left, r.alive_right) for r in found] == story.alive


def test_duplicate_rows_multiply() -> None:
    left, right = Row((1,), 7, "l"), Row((1,), 7, "r")
    batches = [([left, left], [right]), ([], [right])]
    first, second = exact_join(batches, before_us=0, after_us=0, delays_ms=(0, 0))
    assert first.pairs == [(left, right)] * 2
    assert second.pairs == [(left, right)] * 2


def test_no_batches() -> None:
    assert exact_join([], before_us=0, after_us=0, delays_ms=(0, 0)) == []
