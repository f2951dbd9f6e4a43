"""Time-first batches: the input format of Vaswani et al.'s (2017) layers in torch, `nn.TransformerEncoder` with (L, N).

source   (longest, batch), short ones padded at their end          target   all targets in one row, time first
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reference.batching.padding import pad_batch

Ids = NDArray[np.int64]


def collate(items: Sequence[tuple[Sequence[int], Sequence[int]]], pad: int) -> tuple[Ids, Ids]:
    """Collect items (source, target) into a batch.

    Returns:
        source of shape (longest, batch), and target of shape (longest target * batch,): entry t * batch + n belongs to
        position t of item n; with labels for targets, entry n is the label of item n.
    """
    source = pad_batch([source for source, _ in items], pad).T  # (longest, batch)
    target = pad_batch([target for _, target in items], pad).T  # (longest target, batch)
    return source, target.reshape(-1)
