"""Masked tokens and pairs of sentences, against the papers' shares, chi-square and Hugging Face's collator."""

import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.pretraining.mlm import IGNORED, corruption_shares, mlm_corrupt
from reference.pretraining.nsp import make_nsp_pairs

Ids = NDArray[np.int64]

N, V, MASK = 200_000, 500, 4
IDS = np.random.default_rng(30).integers(5, V, N)
SPECIAL = np.arange(N) % 128 == 0


@pytest.fixture(scope="module")
def corrupted() -> tuple[Ids, Ids]:
    return mlm_corrupt(IDS, SPECIAL, MASK, V, 0.15, np.random.default_rng(31))


def hugging_face() -> tuple[Ids, Ids]:
    """Hugging Face's DataCollatorForLanguageModeling, without a tokenizer."""
    from transformers import DataCollatorForLanguageModeling

    class Vocabulary(SimpleNamespace):
        def __len__(self) -> int:
            return V

    tokenizer: Any = Vocabulary(mask_token="[MASK]", convert_tokens_to_ids=lambda token: MASK)
    collator = DataCollatorForLanguageModeling(tokenizer, seed=32)
    collator.generator = torch.Generator().manual_seed(32)
    inputs, labels = collator.torch_mask_tokens(torch.tensor(IDS), torch.tensor(SPECIAL))
    return inputs.numpy(), labels.numpy()


def fates(inputs: Ids, labels: Ids) -> dict[str, float]:
    """Shares of the tokens that are not special."""
    selected = labels != IGNORED
    counts = Counter(
        "mask" if new == MASK else "kept" if new == old else "random"
        for new, old in zip(inputs[selected].tolist(), IDS[selected].tolist(), strict=True)
    )
    return {fate: count / (~SPECIAL).sum() for fate, count in counts.items()}


def test_mlm_labels(corrupted: tuple[Ids, Ids]) -> None:
    inputs, labels = corrupted
    selected = labels != IGNORED
    np.testing.assert_array_equal(labels[selected], IDS[selected])
    np.testing.assert_array_equal(inputs[~selected], IDS[~selected])
    assert not (selected & SPECIAL).any()


def test_mlm_shares(corrupted: tuple[Ids, Ids]) -> None:
    """12 % [MASK], 1.5 % random, 1.5 % kept, within four standard errors; a random token is the original once in V."""
    mask, random, kept = corruption_shares()
    assert (mask, random, kept) == pytest.approx((0.12, 0.015, 0.015)) and mask + random + kept == pytest.approx(0.15)
    for inputs, labels in (corrupted, hugging_face()):
        shares = fates(inputs, labels)
        for fate, expected in [
            ("mask", mask + random / V),
            ("random", random * (1 - 2 / V)),
            ("kept", kept + random / V),
        ]:
            error = math.sqrt(expected * (1 - expected) / N)
            assert abs(shares[fate] - expected) < 4 * error, (fate, shares[fate])


def test_mlm_positions_are_independent(corrupted: tuple[Ids, Ids]) -> None:
    """Neighbours are selected together with probability p², as independent choices are."""
    selected = corrupted[1] != IGNORED
    both = (selected[1:] & selected[:-1] & ~SPECIAL[1:] & ~SPECIAL[:-1]).sum() / (~SPECIAL[1:] & ~SPECIAL[:-1]).sum()
    assert abs(both - 0.15**2) < 5 * math.sqrt(0.0225 / N)


def test_mlm_random_tokens_are_uniform() -> None:
    """A vocabulary of 20; 19 degrees of freedom, critical value 43.8 at 0.1 %."""
    ids = np.full(N, 7)
    inputs, labels = mlm_corrupt(ids, np.zeros(N, dtype=bool), 19, 20, 0.5, np.random.default_rng(33))
    counts = np.bincount(inputs[(labels != IGNORED)], minlength=20)
    others = np.delete(counts, [7, 19])  # the kept ones are 7, the masked ones 19
    expected = 0.1 * 0.5 * N / 20
    assert ((others - expected) ** 2 / expected).sum() < 43.8


def test_mlm_epochs_differ() -> None:
    ids, rng = IDS[:400].copy(), np.random.default_rng(34)
    first, second = (mlm_corrupt(ids, SPECIAL[:400], MASK, V, 0.15, rng) for _ in range(2))
    np.testing.assert_array_equal(ids, IDS[:400])
    assert (first[1] != second[1]).any()


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_degenerate_mlm_shares(p: float) -> None:
    _, labels = mlm_corrupt([8, 9, 10], [True, False, False], MASK, V, p, 0)
    assert labels.tolist() == ([-100] * 3 if p == 0 else [-100, 9, 10])


DOCUMENTS = [[(home, place) for place in range(size)] for home, size in enumerate([40, 1, 300, 2, 700])]


def test_nsp_first_sentences() -> None:
    pairs = make_nsp_pairs(DOCUMENTS, np.random.default_rng(35))
    assert [first for first, _, _ in pairs] == [sentence for document in DOCUMENTS for sentence in document[:-1]]


def test_nsp_second_sentences() -> None:
    for (home, place), (other, other_place), is_next in make_nsp_pairs(DOCUMENTS, 36):
        if is_next:
            assert (other, other_place) == (home, place + 1)
        else:
            assert other != home


def test_nsp_half_are_positive() -> None:
    labels = [is_next for _, _, is_next in make_nsp_pairs(DOCUMENTS, 37)]
    assert abs(sum(labels) - len(labels) / 2) < 4 * math.sqrt(len(labels) / 4)


def test_nsp_negatives_are_uniform() -> None:
    """4,000 pairs of one document, negatives from the ten sentences of two others: 9 degrees of freedom."""
    documents = [[f"a{i}" for i in range(4001)], [f"b{i}" for i in range(3)], [f"c{i}" for i in range(7)]]
    drawn = [b for a, b, is_next in make_nsp_pairs(documents, 38) if a[0] == "a" and not is_next]
    counts = np.array([drawn.count(sentence) for document in documents[1:] for sentence in document])
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 27.88


@pytest.mark.parametrize("documents", [[], [["a", "b"]], [["a", "b"], []]])
def test_nsp_of_one_document(documents: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="second document"):
        make_nsp_pairs(documents, 0)
