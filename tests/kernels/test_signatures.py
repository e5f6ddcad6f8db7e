"""Types are fixed at the seam: a kernel is compiled once, not once per caller."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shedjoin.kernels.hashing import mixed

pytestmark = pytest.mark.skipif(
    not hasattr(mixed, "signatures"), reason="kernels are plain Python in this run"
)

EXPECTED = {
    "mixed": 1,
    "chain_words": 2,  # columns of Arrow are read-only, those made by numpy are not
    "chain_bytes": 1,
    "link": 1,
    "probe": 1,
    "count_after": 1,
    "read_run": 1,
    "times_of": 1,
    "bury": 1,
    "meet": 1,
    "count_lags": 1,
    "merge": 1,
    "first_from": 1,
    "first_beyond": 1,
    "keep_inside": 1,
    "keep_outside": 1,
}
INSIDE = {"mixed", "first_from", "first_beyond", "keep_inside", "keep_outside"}
"""They have none when their callers come from the cache: they are inside them."""

PROGRAM = """
import json, sys, tempfile
from decimal import Decimal
from pathlib import Path
import numpy as np
import pyarrow as pa
from shedjoin import Band, Budget, Options, Where, Within, local
from shedjoin.columns.packing import pack
from shedjoin.local.shard import MemoryBlobs
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Opening, Outcome, commit, stored_directory
from shedjoin.state.workspace import MappedWorkspace
from shedjoin.kernels import hashing, index, ranges
from support.specs import make_spec

rng = np.random.default_rng(0)
SECOND = 1_000_000


def table(side, batch, kind):
    rows = 300
    number = rng.integers(0, 50, rows)
    time = (100 + 10 * batch + rng.integers(0, 10, rows)) * SECOND
    time[0] += 10_000 * SECOND * (batch == 0)  # pins the oldest segment
    made = {
        "int64": lambda: {"k": number},
        "int32": lambda: {"k": pa.array(number, pa.int32())},
        "bool": lambda: {"k": pa.array(number % 2 == 0)},
        "date": lambda: {"k": pa.array(number.astype(np.int32), pa.date32())},
        "string": lambda: {"k": [f"key {n}" for n in number]},
        "decimal": lambda: {"k": [Decimal(int(n)) for n in number]},
        "float": lambda: {"k": number / 2},
        "pair": lambda: {"k": number, "k2": [f"{n % 3}" for n in number]},
        "triple": lambda: {"k": number, "k2": number % 2 == 0, "k3": number / 3},
    }[kind]()
    return pa.table({**made, side: pa.array(time, pa.timestamp("us", "UTC"))})


KEYS = {"pair": ["k", "k2"], "triple": ["k", "k2", "k3"]}
WINDOW = Within(before="20 seconds", after="20 seconds")
KINDS = "int64 int32 bool date string decimal float pair triple".split()
for kind in KINDS:
    local.join(
        [(table("l", batch, kind), table("r", batch, kind)) for batch in range(20)],
        on=KEYS.get(kind, "k"),
        within=WINDOW,
        time=("l", "r"),
        options=Options(shards=1 if kind == "int64" else 2),
        restart_every=6,
    )

local.multijoin(
    [{n: table(n, batch, "int64") for n in "abc"} for batch in range(5)],
    on="k",
    within="5 seconds",
    time={n: n for n in "abc"},
)
for kind in ("int64", "int32"):
    for on in (["k", Band("k", 1)], Band("k", 1), Where("a.k", "!=", "b.k")):
        local.multijoin(
            [{n: table(n, batch // 2, kind) for n in "ab"} for batch in range(4)],
            on=on,
            within="1 second",
            time={n: n for n in "ab"},
            restart_every=2,
        )

local.multijoin(
    [{n: table(n, batch, "int64") for n in "ab"} for batch in range(4)],
    on=Band("k", 1),
    within="1 second",
    time={n: n for n in "ab"},
    budget=Budget(cpu="1 second"),
)
with tempfile.TemporaryDirectory() as folder:
    workspace, stored = MappedWorkspace(Path(folder)), MemoryBlobs()
    names = ("_l", "_r")
    for batch in range(20):
        sides = table("l", batch, "int64"), table("r", batch, "int64")
        schemas = sides[0].schema, sides[1].schema
        spec = make_spec(schemas, "k", WINDOW, ("l", "r"), 1, names)
        directory = stored_directory(stored, spec)
        opening = Opening(spec, 0, stored, directory, workspace)
        join = open_join(opening._replace(opened=directory is not None))
        blobs = [b for s in (0, 1) for _, b in pack(sides[s].to_batches(), s, spec)]
        Outcome.of(join.step(blobs, 1000 * (100 + 10 * batch)))
        commit(join, stored, "token")

kernels = {
    name: kernel
    for module in (hashing, index, ranges)
    for name, kernel in vars(module).items()
    if hasattr(kernel, "signatures")
}
json.dump({name: len(k.signatures) for name, k in kernels.items()}, sys.stdout)
"""


@pytest.fixture(scope="module")
def compiled() -> dict[str, int]:
    """How many signatures each kernel has after a run of everything."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[1],  # for the package "support"
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, int] = json.loads(run.stdout)
    return found


def test_every_kernel_is_listed(compiled: dict[str, int]) -> None:
    assert compiled.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_kernel_is_compiled_and_not_twice(name: str, compiled: dict[str, int]) -> None:
    assert (name not in INSIDE) <= compiled[name] <= EXPECTED[name]
