"""Sinusoidal positional encoding: Vaswani et al. (2017), "Attention Is All You Need", section 3.5.

    PE(pos, 2i) = sin(pos / 10000^(2i/d))        PE(pos, 2i+1) = cos(pos / 10000^(2i/d))

Each row encodes one absolute position. What two rows have in common depends on their distance alone:
PE(p) · PE(q) = Σ_i cos((p - q) / 10000^(2i/d)), and PE(p + k) is a rotation of PE(p) that does not depend on p.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def positional_encoding(max_len: int, d: int) -> Array:
    """Return the rows PE(0) … PE(max_len - 1), shape (max_len, d); an odd d ends with a sine.

    Args:
        max_len: number of positions.
        d: dimension of the model.
    """
    positions = np.arange(max_len, dtype=np.float64)[:, None]  # (max_len, 1)
    frequencies = 10000.0 ** (-np.arange(0, d, 2) / d)  # (⌈d / 2⌉,)
    angles = positions * frequencies  # (max_len, ⌈d / 2⌉)
    encoding = np.empty((max_len, d))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : d // 2])
    return encoding
