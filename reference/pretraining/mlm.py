"""Masked language modelling: Devlin et al. (2019), "BERT", section 3.1 and appendix A.1.

    every token that is not special is selected with probability p = 0.15
    a selected token becomes [MASK] with probability 0.8, a random token with 0.1, and stays as it is with 0.1
    labels: the original token where selected, -100 (no loss) elsewhere

Of all tokens, 12 % become [MASK], 1.5 % random and 1.5 % stay, and the loss counts all three kinds: the model cannot
tell from its input which of the tokens it sees are right.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ids = NDArray[np.int64]

IGNORED = -100
"""The label of a token that the loss leaves out, as in torch's `cross_entropy`."""


def mlm_corrupt(
    ids: ArrayLike,
    special_mask: ArrayLike,
    mask_id: int,
    V: int,
    p: float = 0.15,
    rng: np.random.Generator | int | None = None,
) -> tuple[Ids, Ids]:
    """Return the corrupted input and the labels; `ids` is unchanged, so that every epoch can corrupt it again.

    The random token is drawn from the whole vocabulary: with probability 1/V it is the original.

    Args:
        ids: token ids, shape (token,).
        special_mask: True for [CLS], [SEP] and pads, which are never selected, shape (token,).
        mask_id: the id of [MASK].
        V: size of the vocabulary.
        p: the share of tokens that is selected.
        rng: source of randomness, or its seed; None for an unpredictable one.

    Returns:
        inputs and labels, each of shape (token,).
    """
    generator = np.random.default_rng(rng)
    original = np.asarray(ids, dtype=np.int64)
    n = len(original)
    selected = (generator.random(n) < p) & ~np.asarray(special_mask, dtype=bool)  # (token,)
    fate = generator.random(n)  # (token,)
    replaced = np.where(fate < 0.8, mask_id, np.where(fate < 0.9, generator.integers(V, size=n), original))
    return np.where(selected, replaced, original), np.where(selected, original, IGNORED)


def corruption_shares(p: float = 0.15) -> tuple[float, float, float]:
    """Return the shares of all tokens that become [MASK], become a random token, and are selected but stay."""
    return 0.8 * p, 0.1 * p, 0.1 * p
