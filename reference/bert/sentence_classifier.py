"""Fine-tuning BERT for the classes of a text: Devlin et al. (2019), "BERT", section 4.1.

    o = W h_[CLS] + b      W (class, d) and b (class,) are the only new parameters: C d + C, so 2 d + 2 for two classes

The final hidden state of [CLS], the first token, represents the text. Google's BERT puts a pre-trained layer with tanh,
the pooler, in between; it is a part of BERT and not of the classifier.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.bert.cross_entropy import Array


def sentence_logits(H: ArrayLike, W: ArrayLike, b: ArrayLike) -> Array:
    """Return the logits of each text.

    Args:
        H: final hidden states, [CLS] first, shape (batch, token, d).
        W: shape (class, d).
        b: shape (class,).

    Returns:
        shape (batch, class).
    """
    h_cls = np.asarray(H, dtype=np.float64)[:, 0]  # (batch, d)
    logits: Array = h_cls @ np.asarray(W, dtype=np.float64).T + np.asarray(b, dtype=np.float64)  # (batch, class)
    return logits


def classifier_parameters(d: int, classes: int = 2) -> int:
    """Count the numbers in W and b."""
    return classes * d + classes
