"""The three masks of UniLM: Dong et al. (2019), "Unified Language Model Pre-training", section 2.2 and figure 1.

    A = softmax(Q Kᵀ / √d_k + M) V,   M_ij = 0 where i may attend to j, -∞ where not

Here as 0 = visible, 1 = masked, for n_source source tokens followed by n_target target tokens:

    unidirectional           bidirectional          sequence_to_sequence
    triu(1, diagonal 1)      0                      [[0, 1], [0, triu(1, diagonal 1)]]
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["unidirectional", "bidirectional", "sequence_to_sequence"]
KINDS: tuple[Kind, ...] = ("unidirectional", "bidirectional", "sequence_to_sequence")


def unilm_mask(kind: Kind, n_source: int, n_target: int) -> NDArray[np.int64]:
    """Return the mask of shape (query, key), both n_source + n_target; 0 = visible, 1 = masked.

    Raises:
        ValueError: `kind` is none of `KINDS`.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    n = n_source + n_target
    if kind == "bidirectional":
        return np.zeros((n, n), dtype=np.int64)
    mask = np.triu(np.ones((n, n), dtype=np.int64), k=1)  # nothing sees its future
    if kind == "sequence_to_sequence":
        mask[:n_source, :n_source] = 0  # but the source sees all of itself
    return mask
