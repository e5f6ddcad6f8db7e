"""Array types used across the library."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
Grid: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Cube: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
IntGrid: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
FloatArray: TypeAlias = npt.NDArray[np.float64]
HalfArray: TypeAlias = npt.NDArray[np.float32]
"""Real numbers of 32 bits."""
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
OffsetArray: TypeAlias = npt.NDArray[np.int32]
LinkArray: TypeAlias = npt.NDArray[np.int32]
LinkGrid: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]
Records: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
"""Rows of named fields."""
Record: TypeAlias = Any
"""One row of ``Records``. Writing to the row changes the array."""
