"""Bit mixing as in :func:`shedjoin.kernels.hashing.mixed`, but in numpy.

Policies, and tasks that send rows to shards, mix the bits of whole columns. With numpy,
they need not compile or load a kernel, so they start faster.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bits: TypeAlias = npt.NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed_bits(bits: Bits) -> Bits:
    """Spread the bits of each number; a bijection (splitmix64's finaliser).

    >>> import numpy as np
    >>> [hex(each) for each in mixed_bits(np.array([0, 1], np.uint64)).tolist()]
    ['0x0', '0x5692161d100b05e5']
    """
    bits = bits ^ (bits >> np.uint64(30))  # a copy, which is then changed in place
    bits *= _FIRST
    bits ^= bits >> np.uint64(27)
    bits *= _SECOND
    bits ^= bits >> np.uint64(31)
    return bits
