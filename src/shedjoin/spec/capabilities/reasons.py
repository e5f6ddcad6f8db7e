"""Why some features cannot be combined with some joins, and what to write instead.

Each reason is the rest of a sentence that begins with what the user has written.
"""

from shedjoin.spec.capabilities.kinds import Unsupported

_LEAVE_BUDGET = 'write Budget(rows=1_000_000) or Budget(memory="512 MB").'
_SCORING = (
    "leave out keep=, or write one of policies.Fifo(), Recent(), UntilExpiry(), "
    "Rand(), Prob(), Age(), Expected(), Greedy(), or "
    'MostImportant("column", by=policies.Greedy()).'
)
_BY_DEFAULT = "leave out keep=: the default policy fits the join."

OUTER_PREDICATES = Unsupported(
    "asks for rows without a partner, but a join by Band or Where is an inner join so "
    "far.",
    'write how="inner", or join by key columns alone.',
)
OUTER_SEVERAL = Unsupported(
    "asks for rows without a partner, but a join of three or more streams is an inner "
    "join: without a partner in one stream, a row may still have one in another.",
    'write how="inner", or chain joins of two streams.',
)
OUTER_RELATION = Unsupported(
    "asks for rows without a partner, but a join with a relation is an inner join so "
    "far.",
    'write how="inner".',
)
OUTER_BUDGET = Unsupported(
    "asks for rows without a partner, but under a budget the partner may have been "
    "shed.",
    'leave out budget= and keep=, or write how="inner".',
)
OWN_TIME = Unsupported(
    "names a new event time, but results of a join of one stream keep the event time "
    "of the stream, with its watermark.",
    "leave out event_time=.",
)
NO_RELATION = Unsupported(
    "names columns of a relation, but this join has none.",
    "write through=shedjoin.Relation(...), or leave it out.",
)
COLUMNS_WITH_BUDGET = Unsupported(
    "asks for columns of the relation, but a join under a budget does not keep which "
    "of its rows has brought a result.",
    "leave out columns=, and join the results with the relation by its keys.",
)
CELLS_OF_KEYS = Unsupported(
    "says how values of a Band are spread over shards, but the rows of this join are "
    "spread by their keys.",
    "leave out cells=; it is for a join by Band without key columns.",
)
STEERED_RELATION = Unsupported(
    "steers a join by messages, but a join with a relation does not read any.",
    "leave out control=; budget= and keep= may change when the query is restarted.",
)
STEERED_TABLES = Unsupported(
    "steers a running query, but a batch query does not read messages.",
    "leave out control=, and pass budget= and keep=.",
)
NOTHING_HELD = Unsupported(
    "limits a join that holds rows, but a join of one stream with a relation holds no "
    "rows of the stream.",
    "leave out budget= and keep=.",
)
TIMED_SEVERAL = Unsupported(
    "limits time, but a join of three or more streams by key columns can be limited in "
    "memory only.",
    "write budget=Budget(rows=1_000_000), or join by a Band or Where.",
)
TIMED_RELATION = Unsupported(
    "limits time, but a join through a relation can be limited in memory only.",
    _LEAVE_BUDGET,
)
TIMED_TABLES = Unsupported(
    "limits the time of micro-batches, but a batch query has none.",
    "leave out cpu=.",
)
ONE_LIMIT = Unsupported(
    "limits memory and time, but only joins of two streams by key columns can be "
    "limited in both.",
    "write Budget(rows=1_000_000), or for a join by Band or Where Budget(cpu=0.7).",
)
UNFORESEEN_JOIN = Unsupported(
    "names a recall, but the memory that a recall takes can be foreseen only for joins "
    "of two streams by key columns.",
    "leave out recall=, and choose the memory by the reported recall.",
)
UNFORESEEN_POLICY = Unsupported(
    "cannot be combined with Budget(recall=...): it cannot be foreseen which rows it "
    "would keep with less memory.",
    "leave out keep= and discipline=, or leave out recall= and choose the memory by "
    "the reported recall.",
)
BY_PAIRS = Unsupported(
    "values rows by pairs of one left and one right row, but this join keeps rows by "
    "one score each.",
    _SCORING,
)
SAMPLED = Unsupported(
    "draws a sample, but only joins of two streams by key columns can be sampled.",
    _BY_DEFAULT,
)
SAVING = Unsupported(
    "saves work only in joins of two streams by key columns.",
    _BY_DEFAULT,
)
HARVESTING_MEMORY = Unsupported(
    "saves work, but the budget limits memory.",
    "leave out keep=, or write Budget(cpu=0.7).",
)
HARVESTING_KEYS = Unsupported(
    "saves the work of joins by Band or Where, but this join is by key columns.",
    _BY_DEFAULT,
)
ROWS_FOR_TIME = Unsupported(
    "chooses which rows to keep, but the budget limits time alone.",
    "leave out keep=, or write Budget(rows=1_000_000).",
)
SAMPLE_AT_ONCE = Unsupported(
    "leaves out results because of other rows of the same instant, and the weights of "
    "a sample cannot account for that.",
    'write discipline="probe_then_insert", the default.',
)
ONE_DISCIPLINE = Unsupported(
    "says when rows are shed, but this join always probes with an arrival before it "
    "decides whether to keep it.",
    'leave it out: discipline="probe_then_insert" is the default.',
)
ALWAYS_ANEW = Unsupported(
    "says when scores are computed again, but this join always computes them again for "
    "every block of arrivals.",
    "leave out recompute=.",
)
IMPORTANCE_AT_START = Unsupported(
    "was sent, but this join takes importance only from the arguments of its call.",
    'start the query with keep=MostImportant("column", by=policies.Greedy()).',
)
