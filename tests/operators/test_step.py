"""The step on hand-computed streams."""

from collections import Counter

import pytest

from oracle.stories import STORIES, Story
from shedjoin.local.shard import MemoryBlobs
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame import results
from shedjoin.operators.frame.join import BEGINNING_MS, Opening, Outcome
from shedjoin.state.workspace import MemoryWorkspace
from support.shards import Arrival, Shard, blob_of, make_spec, pairs_of
from support.sides import LEFT, RIGHT

from .beats import CASES, At, Beat


def play(shard: Shard, beat: Beat, ids: dict[str, int]) -> None:
    """Run a micro-batch and compare it with what is written beside its rows."""
    rows: dict[str, list[Arrival]] = {"l": [], "r": []}
    for at in beat.arrivals:
        ids[at.name] = len(ids)
        rows[at.name[0]].append(Arrival(at.key, at.time_us, ids[at.name]))
    outcome = shard.run((rows["l"], rows["r"]), beat.watermark_ms)
    named = [sorted((a.name, b)) for a in beat.arrivals for b in a.matches.split()]
    assert pairs_of(outcome) == Counter((ids[a], ids[b]) for a, b in named)
    late = Counter(at.name[0] for at in beat.arrivals if at.late)
    report = outcome.report
    assert (report.seen[0], report.seen[1]) == (len(rows["l"]), len(rows["r"]))
    assert (report.late[0], report.late[1]) == (late["l"], late["r"])
    assert (report.resident[0], report.resident[1]) == beat.residents
    assert report.matched == len(named)


@pytest.mark.parametrize("restored", [False, True], ids=["live", "restored"])
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "colliding"])
@pytest.mark.parametrize("room", [1, results.ROOM])
@pytest.mark.parametrize("case", CASES)
def test_case(
    case: str, room: int, direct: bool, restored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ROOM", room)
    window, beats = CASES[case]
    shard = Shard(make_spec(*window, direct=direct))
    ids: dict[str, int] = {}
    for beat in beats:
        play(shard, beat, ids)
        if restored:
            shard.restore()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.about)
def test_story(story: Story) -> None:
    keys = {key: place for place, key in enumerate({at.key for at in story.arrivals})}
    shard, ids = Shard(make_spec(*story.window_us)), dict[str, int]()
    for batch, watermark_ms in enumerate(story.watermarks_ms):
        arrivals = [
            At(at.name, at.time_us, at.matches, at.late, keys[at.key])
            for at in story.arrivals
            if at.batch == batch and at.time_us is not None and None not in at.key
        ]
        play(shard, Beat(watermark_ms, arrivals, story.alive[batch]), ids)


@pytest.mark.parametrize("room", [1, 7, 99, 100])
def test_more_matches_than_room(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOM", room)
    shard = Shard(make_spec(0, 0))
    rows = [Arrival(1, 50, number) for number in range(10)]
    outcome = shard.run((rows, rows), 0)
    assert pairs_of(outcome) == Counter((a, b) for a in range(10) for b in range(10))
    assert outcome.report.matched == 100


def test_results_come_in_bounded_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOM", 1000)
    left = [Arrival(1, 50, number) for number in range(400)]
    right = [Arrival(1, 50, number) for number in range(70)]
    outcome = Shard(make_spec(0, 0)).run((left, right), 0)
    assert outcome.report.matched == 28_000
    assert max(batch.num_rows for batch in outcome.results) <= 1000


def test_the_report_of_a_step_is_there_after_its_results() -> None:
    shard = Opening(make_spec(10, 10), 0, MemoryBlobs(), None, MemoryWorkspace())
    arrived = [blob_of(side, [Arrival(1, 5, 0)]) for side in (LEFT, RIGHT)]
    step = open_join(shard).step(arrived, 0)
    next(step)
    with pytest.raises(RuntimeError, match="before the last of its results was taken"):
        _ = step.report
    assert list(step) == []
    assert step.report.matched == 1
    assert next(step, None) is None
    assert step.report.matched == 1


def once(left: list[Arrival], right: list[Arrival]) -> Outcome:
    """Join everything there is, as for archived streams."""
    spec = make_spec(10, 10)
    join = open_join(Opening(spec, 0, MemoryBlobs(), None, MemoryWorkspace()))
    join.store.watermark_ms = BEGINNING_MS
    blobs = [blob_of(LEFT, left), blob_of(RIGHT, right)]
    return Outcome.of(join.step(blobs, BEGINNING_MS))


def test_nothing_is_late_before_the_beginning() -> None:
    ancient_us = -62_135_596_800_000_000  # year 1
    left = [Arrival(1, ancient_us, 0), Arrival(1, 0, 1)]
    right = [Arrival(1, ancient_us + 10, 0), Arrival(1, ancient_us - 11, 1)]
    outcome = once(left, right)
    assert pairs_of(outcome) == Counter([(0, 0)])
    assert (outcome.report.late[0], outcome.report.expired[1]) == (0, 0)


def test_columns_are_named_as_the_spec_says() -> None:
    (batch,) = once([Arrival(1, 5, 40)], [Arrival(1, 5, 50)]).results
    assert batch.to_pylist() == [{"left": 40, "right": 50}]


def test_no_arrivals() -> None:
    outcome = Shard(make_spec(0, 0)).run(([], []), 17)
    assert outcome.results == []
    assert (outcome.report.seen[0], outcome.report.watermark_ms) == (0, 17)


def test_wide_rows_are_gathered_in_small_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "ROOM_BYTES", 4800)
    rows = [Arrival(1, 50, number) for number in range(60)]
    outcome = Shard(make_spec(0, 0)).run((rows, rows), 0)
    assert outcome.report.matched == 3600
    assert max(batch.num_rows for batch in outcome.results) <= 100
