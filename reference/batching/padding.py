"""Padding: Neubig (2017), "Neural Machine Translation and Sequence-to-sequence Models: A Tutorial", on minibatches.

x̃_b = (x_b1, …, x_bL_b, pad, …, pad)     with L_max = max_b L_b entries; side "left" puts the pads in front
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Side = Literal["right", "left"]


def pad_batch(sequences: Sequence[Sequence[int]], pad: int = 0, side: Side = "right") -> NDArray[np.int64]:
    """Put sequences of token ids into one array of shape (batch, longest).

    Raises:
        ValueError: `side` is neither "right" nor "left".
    """
    if side not in ("right", "left"):
        raise ValueError(f'side is {side!r}; expected "right" or "left"')
    longest = max((len(sequence) for sequence in sequences), default=0)
    batch = np.full((len(sequences), longest), pad, dtype=np.int64)  # (batch, longest)
    for row, sequence in zip(batch, sequences, strict=True):
        place: Any = slice(0, len(sequence)) if side == "right" else slice(longest - len(sequence), longest)
        row[place] = sequence
    return batch
