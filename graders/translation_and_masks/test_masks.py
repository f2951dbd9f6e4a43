"""Questions 3.2, 3.3 and 3.4: who may attend to whom."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, agree_choice, agree_table, number, visibility, weight
from viva.model.errors import StudentRaised

Mask = NDArray[np.int64]
Mistakes = dict[str, Callable[[], Any]]

words = str.split

SOURCE = words("Ada Byron [MASK] long letters")
TARGET = words("She was [MASK] poetry")
MASK_TOKENS = "the tokens [MASK] are hidden; a mask depends on the positions alone"
MODELS = ["encoder", "decoder", "encoder-decoder", "summariser"]
KINDS = ["unidirectional", "bidirectional", "sequence_to_sequence"]
LENGTHS = [(5, 4), (1, 1), (0, 3), (3, 0)]


@number("3.2")
@weight(2)
@pytest.mark.parametrize("model", MODELS)
def test_which_model_uses_which_mask(submission: Any, key: Any, model: str) -> None:
    """Which of the three masks each model's self-attention uses."""
    beside = submission.answers.readable(f"3.2.{other}" for other in MODELS if other != model)
    agree_choice(submission.answers[f"3.2.{model}"], key.answers[f"3.2.{model}"], beside=beside)


@number("3.3")
@weight(6)
@pytest.mark.parametrize("kind", KINDS)
def test_mask_tables(submission: Any, key: Any, kind: str) -> None:
    """The three tables for the sentence of question 3.3; each of the 81 cells counts."""
    beside = submission.answers.readable(f"3.3.{other}" for other in KINDS if other != kind)
    agree_table(submission.answers[f"3.3.{kind}"], key.answers[f"3.3.{kind}"], up_to=("polarity",), beside=beside)


@number("3.4")
@weight(2)
def test_unidirectional_mask(student: Any, key: Any) -> None:
    """Each token sees itself and what stands before it."""
    for n_source, n_target in LENGTHS:
        source, target = segments(n_source, n_target)
        expected = key.mask_for_unidirectional_lm(source, target)
        actual = mask_of(student.mask_for_unidirectional_lm, source, target)
        hints = unidirectional_mistakes(key, expected, source, target)
        agree(actual, expected, hints=hints, up_to=("polarity",), name=asked("unidirectional", n_source, n_target))


@number("3.4")
@weight(2)
def test_bidirectional_mask(student: Any, key: Any) -> None:
    """Every token sees every token."""
    for n_source, n_target in LENGTHS:
        source, target = segments(n_source, n_target)
        expected = key.mask_for_bidirectional_lm(source, target)
        actual = mask_of(student.mask_for_bidirectional_lm, source, target)
        hints = bidirectional_mistakes(key, expected, source, target)
        agree(actual, expected, hints=hints, up_to=("polarity",), name=asked("bidirectional", n_source, n_target))
        agree_with_the_others(student, key, actual, asked("bidirectional", n_source, n_target))


@number("3.4")
@weight(3)
def test_sequence_to_sequence_mask(student: Any, key: Any) -> None:
    """The source sees itself; each target token sees the source and its own past."""
    for n_source, n_target in LENGTHS:
        source, target = segments(n_source, n_target)
        expected = key.mask_for_seq2seq_lm(source, target)
        actual = mask_of(student.mask_for_seq2seq_lm, source, target)
        hints = sequence_to_sequence_mistakes(key, expected, source, target)
        agree(actual, expected, hints=hints, up_to=("polarity",), name=asked("seq2seq", n_source, n_target))
        agree_with_the_others(student, key, actual, asked("seq2seq", n_source, n_target))


@number("3.4")
@weight(3)
@visibility("after_published")
def test_masks_of_random_lengths(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """The three masks for random lengths from 1 to 12, and one beyond 256 tokens.

    Try one token, an empty source, and a target that is longer than the source.
    """
    long = [int(rng.integers(257, 300)), int(rng.integers(20, 40))]
    pairs = [segments(*sizes) for sizes in [(1, 12), (12, 1), *rng.integers(1, 13, size=(3, 2)).tolist(), long]]
    for kind in ("unidirectional", "bidirectional", "seq2seq"):
        name = f"mask_for_{kind}_lm"
        function = getattr(student, name)
        try:
            actual = inside.each(function, pairs)
        except StudentRaised:
            actual = [mask_of(function, *pair) for pair in pairs]  # takes strings, or raises again
        agree(actual, [getattr(key, name)(*pair) for pair in pairs], up_to=("polarity",))


def segments(n_source: int, n_target: int) -> tuple[list[str], list[str]]:
    """Source and target tokens of the lengths asked for."""
    return (SOURCE * (1 + n_source // 5))[:n_source], (TARGET * (1 + n_target // 4))[:n_target]


def agree_with_the_others(student: Any, key: Any, mask: Any, name: str) -> None:
    """Raise if a mask marks what is visible in another way than the unidirectional one does.

    A mask that hides nothing equals one that hides everything up to polarity: only the other masks tell the two apart.
    Nothing is tested where the unidirectional mask, which has its own test, is not right.
    """
    if "mask_for_unidirectional_lm" not in student:
        return
    source, target = segments(2, 2)
    try:
        other = mask_of(student.mask_for_unidirectional_lm, source, target)
        agree(other, key.mask_for_unidirectional_lm(source, target), up_to=("polarity",))
    except (StudentRaised, AssertionError):
        return
    marks = [bool(np.asarray(matrix, dtype=float)[0, 0]) for matrix in (mask, other)]  # a token sees itself
    words = ["is visible" if mark else "is masked" for mark in marks]
    assert marks[0] == marks[1], (
        f"{name}: 1 means that a token {words[0]}, but in mask_for_unidirectional_lm it {words[1]}; "
        "give 1 the same meaning in all three."
    )


def mask_of(function: Any, source: list[str], target: list[str]) -> Any:
    """Segments are lists of tokens; a function that splits strings itself is right as well."""
    try:
        return function(source, target)
    except StudentRaised as with_lists:
        try:
            return function(" ".join(source), " ".join(target))
        except StudentRaised:
            raise with_lists from None


def asked(kind: str, n_source: int, n_target: int) -> str:
    """Return the call as the message shows it."""
    source, target = segments(n_source, n_target)
    return f"mask_for_{kind}_lm({source}, {target})"


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def unidirectional_mistakes(key: Any, right: Mask, source: list[str], target: list[str]) -> Mistakes:
    return {
        "the mask is transposed: it hides the past and shows the future": lambda: right.T,
        "only the target is included": lambda: key.mask_for_unidirectional_lm([], target),
        "only the source is included": lambda: key.mask_for_unidirectional_lm(source, []),
        "nothing is masked": lambda: np.zeros_like(right),
        MASK_TOKENS: lambda: mask_tokens_hidden(right, [*source, *target]),
    }


def bidirectional_mistakes(key: Any, right: Mask, source: list[str], target: list[str]) -> Mistakes:
    return {
        "the future is masked, as in a unidirectional model": lambda: key.mask_for_unidirectional_lm(source, target),
        "source and target cannot see each other": lambda: blocks(source, target, 1, 1, 0),
        "each token sees only itself": lambda: 1 - np.eye(len(right), dtype=np.int64),
        MASK_TOKENS: lambda: mask_tokens_hidden(right, [*source, *target]),
    }


def sequence_to_sequence_mistakes(key: Any, right: Mask, source: list[str], target: list[str]) -> Mistakes:
    future = key.mask_for_unidirectional_lm([], target)
    return {
        "the source can see the target": lambda: blocks(source, target, 0, 0, future),
        "the target cannot see the source": lambda: blocks(source, target, 1, 1, future),
        "the target can see its own future": lambda: blocks(source, target, 1, 0, 0),
        "the source is read from left to right; it should see all of itself": lambda: key.mask_for_unidirectional_lm(
            source, target
        ),
        "the mask is transposed: row i says what token i may look at": lambda: right.T,
        "source and target have changed places": lambda: key.mask_for_seq2seq_lm(target, source),
        MASK_TOKENS: lambda: mask_tokens_hidden(right, [*source, *target]),
    }


def blocks(source: list[str], target: list[str], to_target: int, to_source: int, within_target: int | Mask) -> Mask:
    """Return a mask whose source sees itself, by what hides source → target, target → source and target → target."""
    s, n = len(source), len(source) + len(target)
    mask = np.zeros((n, n), dtype=np.int64)
    mask[:s, s:], mask[s:, :s], mask[s:, s:] = to_target, to_source, within_target
    return mask


def mask_tokens_hidden(right: Mask, tokens: list[str]) -> Mask:
    """Return the mask that also hides [MASK] tokens from attention."""
    hidden = right.copy()
    hidden[:, [index for index, token in enumerate(tokens) if token == "[MASK]"]] = 1
    return hidden
