"""reference/pretraining/nsp.py against the definition, a binomial interval and chi-square."""

import math

import numpy as np
import pytest

from reference.pretraining.nsp import make_nsp_pairs

DOCUMENTS = [[(home, place) for place in range(size)] for home, size in enumerate([40, 1, 300, 2, 700])]


def test_one_pair_for_each_sentence_with_a_successor() -> None:
    pairs = make_nsp_pairs(DOCUMENTS, np.random.default_rng(35))
    assert [first for first, _, _ in pairs] == [sentence for document in DOCUMENTS for sentence in document[:-1]]


def test_positives_are_successors_and_negatives_come_from_another_document() -> None:
    for (home, place), (other, other_place), is_next in make_nsp_pairs(DOCUMENTS, 36):
        if is_next:
            assert (other, other_place) == (home, place + 1)
        else:
            assert other != home


def test_half_are_positive() -> None:
    labels = [is_next for _, _, is_next in make_nsp_pairs(DOCUMENTS, 37)]
    assert abs(sum(labels) - len(labels) / 2) < 4 * math.sqrt(len(labels) / 4)


def test_negatives_are_uniform_over_the_sentences_of_other_documents() -> None:
    """4,000 pairs of one document, negatives from the ten sentences of two others: 9 degrees of freedom."""
    documents = [[f"a{i}" for i in range(4001)], [f"b{i}" for i in range(3)], [f"c{i}" for i in range(7)]]
    drawn = [b for a, b, is_next in make_nsp_pairs(documents, 38) if a[0] == "a" and not is_next]
    counts = np.array([drawn.count(sentence) for document in documents[1:] for sentence in document])
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 27.88


@pytest.mark.parametrize("documents", [[], [["a", "b"]], [["a", "b"], []]])
def test_one_document_is_refused(documents: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="second document"):
        make_nsp_pairs(documents, 0)
