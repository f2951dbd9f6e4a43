"""Next sentence prediction: Devlin et al. (2019), "BERT", section 3.1, task 2.

    (A, B, True)    B is the sentence after A           with probability 1/2
    (A, B, False)   B is a sentence of another document

RoBERTa (Liu et al., 2019, section 4.2) trains as well or better without it.
"""

import itertools
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Sentence = TypeVar("Sentence")


def make_nsp_pairs(
    documents: Sequence[Sequence[Sentence]], rng: np.random.Generator | int | None = None
) -> list[tuple[Sentence, Sentence, bool]]:
    """Return one pair (A, B, is_next) for each sentence A that has a successor.

    B of a negative pair is uniform over the sentences of the other documents, so it is never A's own successor.

    Args:
        documents: the sentences of each document, in order.
        rng: source of randomness, or its seed; None for an unpredictable one.

    Raises:
        ValueError: fewer than two documents have a sentence, so that there is nothing to draw a negative from.
    """
    if sum(bool(document) for document in documents) < 2:
        raise ValueError("negative pairs need a second document with a sentence")
    generator = np.random.default_rng(rng)
    sentences = [(home, sentence) for home, document in enumerate(documents) for sentence in document]
    pairs = []
    for home, document in enumerate(documents):
        others = [sentence for other, sentence in sentences if other != home]
        for first, second in itertools.pairwise(document):
            is_next = bool(generator.random() < 0.5)
            pairs.append((first, second if is_next else others[generator.integers(len(others))], is_next))
    return pairs
