"""Reports add up: over shards, over micro-batches and within one."""

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from shedjoin import Options, Within, local
from shedjoin.local import LocalBatch
from shedjoin.spec.report import Report, combine, count_types

STREAMS = ("a", "b", "c")
EACH = ("seen", "late", "stored", "expired", "resident", "shed")
FIELDS = [field.name for field in fields(Report)]
COUNTS = list(count_types(STREAMS))
counts = st.integers(0, 2**50)
reports = st.builds(
    Report,
    **dict.fromkeys(FIELDS, counts)
    | dict.fromkeys(EACH, st.tuples(counts, counts, counts)),
)
GREATEST = ("recall_code", "expected_from", "longest_chain", "watermark_ms")
SUMMED = [name for name in COUNTS if name not in GREATEST]


def test_counts_are_named_in_order() -> None:
    assert COUNTS[:4] == ["seen_a", "seen_b", "seen_c", "late_a"]
    assert len(COUNTS) == len(FIELDS) + 2 * len(EACH)
    assert [n for n in COUNTS if combine(n) == "sum"] == SUMMED
    assert [n for n in COUNTS if combine(n) == "max"] == list(GREATEST)
    real = [name for name, kind in count_types(STREAMS).items() if kind is float]
    assert "importance" in real
    assert "matched" not in real


@given(reports, reports)
def test_counts_are_summed_and_the_watermark_is_the_latest(
    a: Report, b: Report
) -> None:
    total, of_a, of_b = (one.counts(STREAMS) for one in (a + b, a, b))
    for name in SUMMED:
        assert total[name] == of_a[name] + of_b[name]
    for name in GREATEST:
        assert total[name] == max(of_a[name], of_b[name])


@given(reports, reports, reports)
def test_order_does_not_matter(a: Report, b: Report, c: Report) -> None:
    assert (a + b) + c == a + (c + b)
    assert sum([a, b], Report()) == b + a


def run(shards: int) -> list[LocalBatch]:
    left = local.uniform("l", rows=3000, keys=40, seconds=600, seed=1, batches=12)
    right = local.uniform("r", rows=2000, keys=40, seconds=700, seed=2, batches=12)
    order = [3, 0, 1, 2, 5, 4, 6, 7, 9, 8, 10, 11]  # so that rows come late
    return local.join(
        [(left[n], right[n]) for n in order],
        on="key",
        within=Within(before="20 seconds", after="30 seconds"),
        time=("l_time", "r_time"),
        lateness=("1 second", "2 seconds"),
        options=Options(shards=shards),
    ).batches


def test_a_micro_batch_adds_up() -> None:
    before = Report(resident=(0, 0))
    late = expired = 0
    for batch in run(shards=1):
        now = batch.report
        for stream in (0, 1):
            stored, gone = now.stored[stream], now.expired[stream]
            assert now.seen[stream] == now.late[stream] + stored
            assert now.resident[stream] == before.resident[stream] + stored - gone
            late, expired = late + now.late[stream], expired + gone
        assert now.matched == batch.results.num_rows
        assert now.watermark_ms >= before.watermark_ms
        assert now.written_bytes > 0
        before = now
    assert late > 0
    assert expired > 0


def test_shards_add_up() -> None:
    own = ("segments", "longest_chain", "ahead")  # each shard knows its own rows
    same = [n for n in FIELDS if not n.endswith("bytes") and n not in own]
    for one, three in zip(run(shards=1), run(shards=3), strict=True):
        for name in same:
            assert getattr(one.report, name) == getattr(three.report, name), name
