"""The benchmarks run and give the figures they promise, at a tiny size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RATES = ["passthrough", "native_memory", "native_rocksdb"]
FIELDS = {
    "kernels": ["arrivals_per_s", "arrivals_per_s_10_matches"],
    "band": ["nested_pairs_per_s", "sorted_pairs_per_s", "gain", "arrivals_per_s"],
    "harvest": ["gain_aligned", "gain_nonaligned", "gain_costed", "gain_m5"],
    "several": ["found_3_key", "told_3_key", "fifo_3_band", "rows_per_s_1000"],
    "harvest-spark": ["gain_spark", "seconds_harvest", "seconds_randomdrop"],
    "exact": ["equal", "rows_per_s"]
    + [f"{name}_rows_per_s" for name in RATES]
    + [f"ratio_{name}" for name in RATES],
    "ours": ["passthrough_rows_per_s", "exact_rows_per_s", "star_rows_per_s"],
    "window-growth": ["time_ratio", "bytes_ratio"],
    "truth": ["of_informed_worst", "shards_steady_worst", "covered_worst"],
    "size": ["recall_zipf"],
    "learning": [f"{kind}_ratio" for kind in ("zipf", "INC", "DEC", "BELL")],
    "shedding": ["static_ratio", "dynamic_ratio", "growth_ratio"],
    "multiway": ["band_equal", "three_equal", "ratio_band", "ratio_three"],
    "star": ["equal", "ratio", "ratio_memory"],
    "relation": ["route_us_ratio", "active_us_ratio", "change_ms_ratio"],
    "budget": ["of"],
    "optimum": [
        *(f"zipf_{name}_results" for name in ("most_results", "prob", "ijoin", "rand")),
        *("impressions_most_important_importance", "impressions_greedy_importance"),
        *("optimum_2k_s", "optimum_2k_long_here_s", "equal", "equal_long"),
    ],
    "costs": ["median_error", "worst_error", "within_20_percent"],
    "burst": ["overshoot", "adaptations", "recovered", "gain"],
    "before-shuffle": ["kept_0.15", "inside_s_0.15", "packing_s_0.15"],
    "budget-speed": [
        f"ratio_{name}" for name in ("most_results", "prob", "fifo", "ijoin", "sample")
    ],
}


def run(name: str, folder: Path) -> dict[str, Any]:
    path = folder / "record.json"
    call = [sys.executable, "-m", "benchmarks", name, "--quick", "--json", str(path)]
    subprocess.run(call, check=True, cwd=ROOT, capture_output=True)
    record: dict[str, Any] = json.loads(path.read_text())
    return record


LONG = (
    *("exact", "ours", "learning", "budget", "budget-speed", "burst", "costs"),
    *("before-shuffle", "window-growth", "multiway", "shedding", "harvest-spark"),
    *("star", "optimum", "harvest", "several"),
)
"""Their quick form takes most of a minute."""


@pytest.mark.bench
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG else ())
        for name in FIELDS
    ],
)
def test_a_benchmark_gives_its_figures(name: str, tmp_path: Path) -> None:
    record = run(name, tmp_path)
    assert all(record[field] > 0 for field in FIELDS[name])
    assert record["sizes"]["seed"] >= 0
    assert record["versions"]["shedjoin"]
    if name == "exact":
        assert record["equal"] is True
        assert record["results"] > 0
    if name == "window-growth":
        assert record["bytes_ratio"] <= 1.5
    if name == "optimum":
        parts = [cell["part"] for cell in record["details"]["cells"]]
        assert max(parts) <= 1 + 1e-9
    if name == "learning":
        assert all(record[field] > 0.85 for field in FIELDS[name])
    if name == "truth":
        assert record["loss_worst"] < 0.05
        assert record["shards_steady_worst"] > 0.85
        assert record["reported_off_mean"] < 0.03
        assert record["reported_off_worst"] < 0.08
        assert record["unknown"] <= 0.1
