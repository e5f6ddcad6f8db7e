"""Profiles of hypothesis, and seeds."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A kernel's first call compiles it, so no example has a deadline.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("dev", _COMMON, max_examples=50)
settings.register_profile(
    "ci", _COMMON, max_examples=200, derandomize=True, print_blob=True
)
settings.register_profile("nightly", _COMMON, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A number that differs from test to test and is the same in every run."""
    return zlib.crc32(request.node.nodeid.encode())


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A generator seeded by the test's name."""
    return np.random.default_rng(seed)
