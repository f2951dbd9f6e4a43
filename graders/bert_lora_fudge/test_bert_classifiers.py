"""Questions 1c and 1d: the class of a text, and a tag for each word."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, agree_formula, agree_on, number, strategies, visibility, weight

Array = NDArray[np.floating[Any]]
Labels = NDArray[np.integer[Any]]
Mistakes = dict[str, Callable[[], Any]]
WordIds = list[int | None]

SHOWN = 12
"""How many numbers of hidden states a message shows."""
SENTENCES: list[tuple[WordIds, list[int]]] = [
    ([None, 0, 1, None], [3, 1]),
    ([None, 0, 0, 1, None], [3, 1]),
    ([None, 0, 1, 1, 1, 2, None, None, None], [0, 2, 2]),
    ([None, 0, 0, 1, 1, 2, 2, None], [0, 0, 4]),
    ([0, 0, 1, 2], [2, 0, 1]),  # a tokenizer without special tokens
    ([0, 0], [2]),
    ([0], [1]),
    ([None, 0, 1, 1, None], [4, 0, 3, 1]),  # the text was cut off after its second word
    ([None, 2, 2, 3, 5, None], [1, 2, 3, 4, 0, 2]),  # a later window, of which one word left no token
    ([None, None], []),
]
"""The word of each token, and the label of each word."""


@number("1c")
@weight("1/2")
def test_pack_single(student: Any, key: Any) -> None:
    """One text is read as [CLS] tokens [SEP], all of segment 0."""
    hints: dict[str, Callable[[list[str]], Any]] = {
        "the final [SEP] is missing": lambda tokens: (["[CLS]", *tokens], [0] * (len(tokens) + 1)),
        "[CLS] is missing": lambda tokens: ([*tokens, "[SEP]"], [0] * (len(tokens) + 1)),
        "the special tokens have no segment; each token has one": lambda tokens: (
            ["[CLS]", *tokens, "[SEP]"],
            [0] * len(tokens),
        ),
        "the only text is segment 0": lambda tokens: (["[CLS]", *tokens, "[SEP]"], [1] * (len(tokens) + 2)),
    }
    words = strategies.token_lists(("ada", "sail", "##ed"), 1, 6)
    agree_on(student.pack_single, key.pack_single, words, examples=10, hints=hints)
    long = ["sail", "##ed"] * 300  # nothing is cut off
    agree(student.pack_single(long), key.pack_single(long), name="pack_single(['sail', '##ed'] * 300)")


@number("1c")
@weight(1)
def test_sentence_logits(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The logits are W h + b, with h the final hidden state of [CLS]."""
    for batch, tokens, d, classes in [(2, 3, 2, 2), (3, 5, 4, 2), (4, 4, 4, 4), (1, 1, 5, 3)]:
        H, W, b = head(rng, batch, tokens, d, classes)
        expected = key.sentence_logits(H, W, b)
        name = f"sentence_logits {show_input(H, W, b)}"
        agree(student.sentence_logits(H, W, b), expected, hints=sentence_mistakes(key, H, W, b), name=name)


@number("1c")
@weight("1/2")
def test_parameters_by_hand(submission: Any, key: Any) -> None:
    """The parameters of the classifier, as a formula in d."""
    hints = {
        "the bias is missing": "2*d",
        "the classifier has a logit for each of the two classes": "d + 1",
        "there is one bias for each class": "2*d + 1",
        "the pooler belongs to BERT; asked is the new classifier": "d**2 + d + 2*d + 2",
    }
    agree_formula(submission.answers["1c"], key.answers["1c"], ["d"], hints=hints)


@number("1c")
@weight(1)
def test_classification_loss(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The loss is the mean cross entropy of the logits, also of large ones."""
    for batch, classes, scale in [(1, 2, 1.0), (4, 2, 1.0), (5, 3, 2.0), (3, 4, 1.0), (6, 2, 1000.0), (4, 3, 1000.0)]:
        logits, labels = scale * rng.standard_normal((batch, classes)), rng.integers(classes, size=batch)
        if classes == 4:
            labels = np.zeros(batch, dtype=int)  # one class alone
        if scale > 9:
            labels = logits.argmin(axis=1)  # a large loss: a small one would be lost in the rounding of float32
            logits += 5 * scale * np.arange(batch)[:, None]  # the texts differ by thousands
        if scale == 1.0:
            logits = logits.round(1)
        expected = key.classification_loss(logits, labels)
        name = f"classification_loss with logits of shape {logits.shape}{' in the thousands' * (scale > 9)}"
        if scale == 1.0:
            name = f"classification_loss({logits.tolist()}, {labels.tolist()})"
        agree(
            student.classification_loss(logits, labels), expected, hints=loss_mistakes(key, logits, labels), name=name
        )


@number("1c")
@weight(1)
@visibility("after_published")
def test_classifier_on_random_states(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random shapes; what the other tokens' states are does not matter.

    Try batches of one text and sizes that all differ, and check which token your classifier reads.
    """
    for _ in range(3):
        batch, tokens, d, classes = (int(size) for size in rng.integers(2, 9, 4))
        H, W, b = head(rng, batch, tokens, d, classes)
        others = H.copy()
        others[:, 1:] = rng.standard_normal((batch, tokens - 1, d))
        expected, labels = key.sentence_logits(H, W, b), rng.integers(classes, size=batch)
        agree(student.sentence_logits.each([(H, W, b), (others, W, b)]), [expected, expected])
        agree(student.classification_loss(expected, labels), key.classification_loss(expected, labels))


@number("1d")
@weight(1)
def test_token_logits(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Every token gets its own logits W h_i + b."""
    for batch, tokens, d, tags in [(1, 3, 2, 2), (2, 4, 3, 5), (3, 3, 3, 3)]:
        H, W, b = head(rng, batch, tokens, d, tags)
        name = f"token_logits {show_input(H, W, b)}"
        agree(student.token_logits(H, W, b), key.token_logits(H, W, b), hints=token_mistakes(key, H, W, b), name=name)


@number("1d")
@weight(1)
def test_align_labels(student: Any, key: Any) -> None:
    """The first token of each word gets the word's label; later subwords, special tokens and pads get -100."""
    for word_ids, word_labels in SENTENCES:
        name = f"align_labels({word_ids}, {word_labels})"
        expected = key.align_labels(word_ids, word_labels)
        agree(
            student.align_labels(word_ids, word_labels),
            expected,
            hints=align_mistakes(word_ids, word_labels),
            name=name,
        )


@number("1d")
@weight(2)
def test_ner_loss(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The loss is the mean over the tokens that have a label; the others do not count at all."""
    for rows, ignore_index, scale in [
        ([[-100, 1, -100, -100, -100, -100]], -100, 2),
        ([[-100, 2, 0, -100, -100], [-100, 1, -100, 2, -100], [-100, 0, 0, 1, -100]], -100, 2),
        ([[-1, 0, 1, -1], [-1, 1, -1, -1]], -1, 2),
        ([[-100, 2, 0, -100], [-100, -100, -100, -100], [2, -100, 1, 1]], -100, 2),  # nothing counts in one text
        ([[0, 1, 2, 0], [0, 2, 0, 0]], 0, 2),  # what does not count may be a tag, or larger than any
        ([[255, 1, 2, 255], [0, 2, 0, 0]], 255, 2),
        ([[-100, 1, 0, -100], [2, 2, -100, 0]], -100, 1000),
    ]:
        labels = np.array(rows)
        logits = (scale * rng.standard_normal((*labels.shape, 3))).round(1)
        if scale > 9:  # tokens far apart, and a large loss: a small one would be lost in the rounding of float32
            logits += 10 * scale * rng.standard_normal((*labels.shape, 1))
            logits -= 5 * scale * (np.arange(3) == labels[..., None])
        expected = key.ner_loss(logits, labels, ignore_index)
        hints = ner_mistakes(key, logits, labels, ignore_index)
        large = ", logits in the thousands" * (scale > 9)
        first = f" and the logits {logits.tolist()}" * (labels.size < 9 and scale < 9)
        name = f"ner_loss with the labels {rows}{first} and ignore_index = {ignore_index}{large}"
        given = () if ignore_index == -100 else (ignore_index,)  # -100 is the default
        agree(student.ner_loss(logits, labels, *given), expected, hints=hints, name=name)


@number("1d")
@weight(1)
@visibility("after_published")
def test_tags_of_random_sentences(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sentences: what is predicted for pads and later subwords does not change the loss.

    Try words of several subwords, pads, and a sentence with a single word.
    """
    questions = [random_words(rng) for _ in range(4)]
    aligned = [key.align_labels(*question) for question in questions]
    words: WordIds = [None, *np.repeat(np.arange(250, 270), 2).tolist(), None]
    late = (words, rng.integers(5, size=300).tolist())  # above 256, equal numbers are not one object in Python
    agree(student.align_labels.each([*questions, late]), [*aligned, key.align_labels(*late)])
    longest = max(map(len, aligned))
    labels = np.array([[*row, *[-100] * (longest - len(row))] for row in aligned])
    H, W, b = head(rng, len(labels), longest, 6, 5)
    logits = key.token_logits(H, W, b)
    agree(student.token_logits(H, W, b), logits)
    changed = np.where((labels == -100)[..., None], 50 * rng.standard_normal(logits.shape), logits)
    expected = key.ner_loss(logits, labels)
    agree(student.ner_loss.each([(logits, labels), (changed, labels)]), [expected, expected])


def head(rng: np.random.Generator, batch: int, tokens: int, d: int, classes: int) -> tuple[Array, Array, Array]:
    """H (batch, token, d), W (class, d), b (class,)."""
    H, W, b = (rng.standard_normal(shape) for shape in ((batch, tokens, d), (classes, d), classes))
    return (H.round(1), W.round(1), b.round(1)) if H.size <= SHOWN else (H, W, b)


def show_input(H: Array, W: Array, b: Array) -> str:
    """Return the input as a message shows it: small ones whole."""
    if H.size > SHOWN:
        return f"with H of shape {H.shape} and W of shape {W.shape}"
    return f"for H = {H.tolist()}, W = {W.tolist()} and b = {b.tolist()}"


def random_words(rng: np.random.Generator) -> tuple[WordIds, list[int]]:
    """Word ids of [CLS], up to eight words of up to four subwords, [SEP] and up to three pads; labels of the words."""
    pieces = rng.integers(1, 5, int(rng.integers(1, 9))).tolist()
    words: WordIds = [word for word, count in enumerate(pieces) for _ in range(count)]
    return [None, *words, None, *[None] * int(rng.integers(4))], rng.integers(5, size=len(pieces)).tolist()


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def sentence_mistakes(key: Any, H: Array, W: Array, b: Array) -> Mistakes:
    def logits(h: Array) -> Array:
        result: Array = h @ W.T + b
        return result

    return {
        "the mean over all tokens is used; take the state of [CLS], the first token": lambda: logits(H.mean(axis=1)),
        "the last token is used; take the state of [CLS], the first one": lambda: logits(H[:, -1]),
        "the largest value over all tokens is used; take the state of [CLS]": lambda: logits(H.max(axis=1)),
        "the bias is missing": lambda: logits(H[:, 0]) - b,
        "W is transposed: its rows are the classes": lambda: H[:, 0] @ W + b,
        "a tanh stands before the classifier: the pooler is not asked for": lambda: logits(np.tanh(H[:, 0])),
        "these are probabilities; the logits are what softmax is applied to": lambda: np.exp(
            log_softmax(logits(H[:, 0]))
        ),
        "the first text is used instead of the first token of each text": lambda: logits(H[0]),
    }


def token_mistakes(key: Any, H: Array, W: Array, b: Array) -> Mistakes:
    return {
        "the bias is missing": lambda: key.token_logits(H, W, 0 * b),
        "W is transposed: its rows are the tags": lambda: H @ W + b,
        "these are probabilities; the logits are what softmax is applied to": lambda: np.exp(
            log_softmax(key.token_logits(H, W, b))
        ),
        "every token has the logits of [CLS]": lambda: key.token_logits(np.repeat(H[:, :1], H.shape[1], axis=1), W, b),
    }


def loss_mistakes(key: Any, logits: Array, labels: Labels) -> Mistakes:
    loss, (batch, classes) = key.classification_loss, logits.shape
    picked = np.arange(batch), labels
    return {
        "the losses are added up over the texts; take their mean": lambda: batch * loss(logits, labels),
        "softmax is applied twice": lambda: loss(np.exp(log_softmax(logits)), labels),
        "softmax is taken over the texts (axis 0), not over the classes": lambda: (
            -log_softmax(logits.T).T[picked].mean()
        ),
        "logarithms to base 2 are used; take natural ones": lambda: loss(logits, labels) / math.log(2),
        "the sign is turned round": lambda: -loss(logits, labels),
        "the loss is divided by the number of classes as well": lambda: loss(logits, labels) / classes,
    }


def align_mistakes(word_ids: WordIds, word_labels: Sequence[int]) -> Mistakes:
    def at(counts: Callable[[int], bool], otherwise: int = -100) -> Callable[[], list[int]]:
        return lambda: [
            word_labels[word] if word is not None and counts(place) else otherwise
            for place, word in enumerate(word_ids)
        ]

    return {
        "every subword has the label of its word; only the first one counts": at(lambda i: True),
        "the last subword of each word has the label; it is the first one's": at(
            lambda i: i + 1 == len(word_ids) or word_ids[i + 1] != word_ids[i]
        ),
        "tokens that do not count have the label 0, which is a tag; it is -100": at(
            lambda i: word_ids[i - 1] != word_ids[i], 0
        ),
        "special tokens and pads have the label 0, which is a tag; it is -100": lambda: [
            0 if word is None else label
            for word, label in zip(word_ids, at(lambda i: word_ids[i - 1] != word_ids[i])(), strict=True)
        ],
        "later subwords have the label 0, which is a tag; it is -100": lambda: [
            0 if word is not None and label == -100 else label
            for word, label in zip(word_ids, at(lambda i: word_ids[i - 1] != word_ids[i])(), strict=True)
        ],
    }


def ner_mistakes(key: Any, logits: Array, labels: Labels, ignore_index: int) -> Mistakes:
    loss, counted = key.ner_loss, labels != ignore_index
    right, as_first = loss(logits, labels, ignore_index), np.where(counted, labels, 0)
    texts = [pair for pair in zip(logits, labels, strict=True) if (pair[1] != ignore_index).any()]
    per_text = [loss(row, wanted, ignore_index) for row, wanted in texts]
    last = np.where(counted, labels, logits.shape[-1] - 1)
    return {
        "pads, special tokens and later subwords count, with tag 0; ignore_index is not used": lambda: loss(
            logits, as_first, -1
        ),
        "ignored tokens count with the last tag: index -1 or -100 is read from the end": lambda: loss(logits, last, -1),
        "the sum is divided by the number of all tokens, not of those that have a label": lambda: (
            right * counted.mean()
        ),
        "the losses are added up over the tokens; take their mean": lambda: right * counted.sum(),
        "the mean is taken in each text first; take it over all labelled tokens of the batch": lambda: np.mean(
            per_text
        ),
        "the loss is divided by the number of texts": lambda: right * counted.sum() / len(labels),
        "logarithms to base 2 are used; take natural ones": lambda: right / math.log(2),
    }


def log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result
