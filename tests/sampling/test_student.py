"""The polynomial for Student's t against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from shedjoin.errors import ParameterError
from shedjoin.sampling.student import log_quantile


@pytest.mark.parametrize(
    ("level", "tolerance"),
    [(0.5, 1e-8), (0.8, 1e-8), (0.95, 1e-8), (0.99, 1e-7), (0.999, 1e-6)],
)
def test_equals_scipy(level: float, tolerance: float) -> None:
    freedom = np.concatenate([np.linspace(1, 50, 500), np.logspace(1, 12, 200)])
    found = np.exp(np.polyval(log_quantile(level)[::-1], 1 / freedom))
    exact = stats.t.ppf((1 + level) / 2, freedom)
    np.testing.assert_allclose(found, exact, rtol=tolerance)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan")])
def test_bad_values(level: float) -> None:
    with pytest.raises(ParameterError, match=r"Fix: pass level=0\.95"):
        log_quantile(level)
