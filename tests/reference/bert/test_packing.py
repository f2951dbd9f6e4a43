"""reference/bert: packing, label alignment, windows and spans over them, against a tokenizer and brute force."""

import itertools
from typing import Any

import numpy as np
import pytest
import transformers

from reference.bert.packing import pack_pair, pack_single
from reference.bert.question_answering import merge_spans, sliding_windows
from reference.bert.token_classifier import align_labels

VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
    "who", "sail", "##ed", "##s", "ada", "by", "##ron", "to", "lyon",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    library: Any = transformers
    return library.BertTokenizerFast(vocab={token: place for place, token in enumerate(VOCABULARY)})


TEXTS = ["ada", "who sailed", "byron sails to lyon", "ada byron sailed", ""]


def test_packing_equals_tokenizer(tokenizer: Any) -> None:
    for first, second in itertools.product(TEXTS, TEXTS[:-1]):  # it takes an empty second text for none
        a, b = tokenizer.tokenize(first), tokenizer.tokenize(second)
        theirs = tokenizer(first, second)
        assert pack_pair(a, b) == (tokenizer.convert_ids_to_tokens(theirs["input_ids"]), theirs["token_type_ids"])
        alone = tokenizer(first)
        assert pack_single(a) == (tokenizer.convert_ids_to_tokens(alone["input_ids"]), alone["token_type_ids"])


def test_align_labels(tokenizer: Any) -> None:
    """The tokenizer's offsets say where a word begins: at character 0 of it."""
    sentences = [text.split() for text in TEXTS[:-1]]
    encoded = tokenizer(sentences, is_split_into_words=True, padding=True, return_offsets_mapping=True)
    for row, words in enumerate(sentences):
        labels = [10 + place for place in range(len(words))]
        word_ids = encoded.word_ids(row)
        aligned = align_labels(word_ids, labels)
        firsts = [start == 0 and end > 0 for start, end in encoded["offset_mapping"][row]]
        assert [label for label in aligned if label != -100] == labels
        assert [label != -100 for label in aligned] == firsts
        assert len(aligned) == len(word_ids)


def test_windows_equal_tokenizer(tokenizer: Any) -> None:
    """Its `stride` is the overlap, max_len - stride in our words."""
    question = "who sailed"
    for n, max_len, stride in itertools.product(range(1, 14), (1, 3, 4, 6), (1, 2, 3, 6)):
        if stride > max_len:
            continue
        passage = ["ada", "to", "by", "lyon", "who", "sail"] * 3
        theirs = tokenizer(
            question,
            " ".join(passage[:n]),
            max_length=max_len + 6,  # three tokens of the question and three special ones
            stride=max_len - stride,
            truncation="only_second",
            return_overflowing_tokens=True,
        )
        cut = [
            [tokenizer.convert_ids_to_tokens(i) for i, segment in zip(ids, segments, strict=True) if segment == 1][:-1]
            for ids, segments in zip(theirs["input_ids"], theirs["token_type_ids"], strict=True)
        ]
        assert [passage[first:end] for first, end in sliding_windows(n, max_len, stride)] == cut


def test_windows_cover_every_token() -> None:
    for n, max_len, stride in itertools.product(range(1, 40), range(1, 12), range(1, 12)):
        if stride > max_len:
            continue
        windows = sliding_windows(n, max_len, stride)
        assert {token for first, end in windows for token in range(first, end)} == set(range(n))
        assert all(0 < end - first <= max_len for first, end in windows)
        assert all(end - later == max_len - stride for (_, end), (later, _) in itertools.pairwise(windows))
        assert all(end < n for _, end in windows[:-1])  # nothing after the first window that reaches the end


@pytest.mark.parametrize(("n", "max_len", "stride"), [(0, 3, 1), (5, 3, 4), (5, 3, 0)])
def test_invalid_windows(n: int, max_len: int, stride: int) -> None:
    with pytest.raises(ValueError, match="1 ≤ stride ≤ max_len"):
        sliding_windows(n, max_len, stride)


def test_merge_spans_equals_brute_force() -> None:
    """Every pair of passage tokens, every window that holds both."""
    rng = np.random.default_rng(48)
    across = turned = 0
    for _ in range(200):
        n, max_len = int(rng.integers(1, 25)), int(rng.integers(1, 9))
        windows = sliding_windows(n, max_len, int(rng.integers(1, max_len + 1)))
        start, end = ([rng.standard_normal(last - first) for first, last in windows] for _ in range(2))
        scores = {
            (start[w][i - first] + end[w][j - first]): (i, j)
            for i, j in itertools.combinations_with_replacement(range(n), 2)
            for w, (first, last) in enumerate(windows)
            if first <= i and j < last
        }
        assert merge_spans(windows, start, end) == scores[max(scores)]
        best_start, best_end = (max(range(len(windows)), key=lambda w: side[w].max()) for side in (start, end))
        across += best_start != best_end
        turned += any(s.argmax() > e.argmax() for s, e in zip(start, end, strict=True))
    assert across > 40 and turned > 40  # best start and best end in two windows, or in the wrong order
