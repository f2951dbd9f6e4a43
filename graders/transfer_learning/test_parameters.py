"""Question 3: how many parameters are trained."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from viva.grading import agree, agree_formula, agree_number, agree_on, number, visibility, weight

D, N_LAYERS, N_HEADS, N_CLASSES = 200, 4, 2, 2
VOCABULARIES = (100, 50_001)
"""The notebook's test cell, and the lab's dictionary with its four special tokens."""


@number("3a")
@weight(2)
def test_parameters_of_the_language_model_by_hand(submission: Any, key: Any) -> None:
    """The trainable parameters of the language model, for the V that you state."""
    check_number(submission, key, "3.language_model", lambda V: V)


@number("3b")
@weight(2)
def test_parameters_of_the_classifier_by_hand(submission: Any, key: Any) -> None:
    """The trainable parameters of the classifier, for the V that you state."""
    check_number(submission, key, "3.classification", lambda _: N_CLASSES)


@number("3c")
@weight(5)
@pytest.mark.parametrize("part", ["embedding", "attention", "feed_forward", "layer_norm", "head"])
def test_parameters_of_each_part_by_hand(submission: Any, key: Any, part: str) -> None:
    """A formula for each part, with or without the biases of the linear layers."""
    answer, expected = submission.answers[f"3.{part}"], key.answers[f"3.{part}"]
    accept, hints = PARTS[part]
    if part == "layer_norm" and weights_only(submission):
        accept = (*accept, "2*d")
    agree_formula(answer, expected, ["V", "d", "d_ff"], accept=accept, hints=hints)


PARTS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "embedding": ((), {"an embedding has no bias": "V*d + d", "this is one token's row; there are V of them": "d"}),
    "attention": (
        ("4*d**2",),
        {
            "the output projection W_O is missing": "3*d**2",
            "the output projection W_O and its bias are missing": "3*d**2 + 3*d",
            "this is one matrix; there are W_Q, W_K, W_V and W_O": "d**2",
            "the biases of the output projection are missing": "4*d**2 + 3*d",
        },
    ),
    "feed_forward": (
        ("2*d*d_ff", "2*d**2", "2*d**2 + 2*d"),
        {
            "this is one of the two linear layers": "d*d_ff",
            "this is one of the two linear layers, with its bias": "d*d_ff + d_ff",
            "the second layer has d biases, not d_ff": "2*d*d_ff + 2*d_ff",
        },
    ),
    "layer_norm": (
        (),
        {
            "this is one layer norm; a layer has two": "2*d",
            "this is one gain; a layer norm has a gain and a bias, and a layer two of them": "d",
        },
    ),
    "head": (
        ("d*V",),
        {"there is one bias for each output, not for each input": "d*V + d", "this is the classifier's": "2*d + 2"},
    ),
}


@number("3")
@weight(3)
def test_count_parameters(student: Any, key: Any) -> None:
    """count_parameters(V, d, n_layers, n_heads, d_ff, n_out) counts what torch allocates, biases included."""
    from hypothesis import strategies as st

    small = st.integers(1, 9)
    sizes = (small, st.sampled_from([2, 4, 6]), st.integers(1, 3), st.sampled_from([1, 2]), small, small)
    agree_on(student.count_parameters, key.count_parameters, *sizes, examples=30, hints=count_mistakes(key))


@number("3")
@weight(1)
@visibility("after_published")
def test_count_parameters_of_large_models(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sizes that all differ, up to six layers.

    Try sizes that all differ, and count one layer by hand first.
    """
    questions = []
    for heads in (1, 4, 12):
        # a program that makes the model and counts is right as well, so none is large
        d, d_ff, V = heads * int(rng.integers(4, 16)), int(rng.integers(50, 500)), int(rng.integers(1000, 3000))
        questions.append((V, d, int(rng.integers(3, 7)), heads, d_ff, int(rng.integers(2, V))))
    agree(student.count_parameters.each(questions), [key.count_parameters(*q) for q in questions])


def check_number(submission: Any, key: Any, name: str, n_out: Callable[[int], int]) -> None:
    """Raise unless the number is right for a vocabulary that is stated, or for either if none is."""
    answer, bare = submission.answers[name], weights_only(submission)
    full, without, gains = [], [], []
    for V in vocabularies(submission):
        full.append(count(key, V, n_out(V)))
        without.append(count(key, V, n_out(V), bias=False))
        gains.append(without[-1] - 2 * D * N_LAYERS)
    hints: dict[str, Any] = {
        "this leaves out the biases; if you count weights only, say so in 3.convention": lambda: without[0],
        "this is the number for the other vocabulary; 3.V says which one you count": lambda: other(
            submission, key, n_out
        ),
    }
    if name == "3.classification":
        hints["2 was put in the place of V everywhere, so the embedding has shrunk to 2 rows"] = count(
            key, 2, 2, bias=False
        )
        hints["the embedding keeps its V rows; only the head has 2 outputs"] = count(key, 2, 2)
        hints["this is the language model; the classifier's head has 2 outputs"] = lambda: count(key, 100, 100)
    agree_number(answer, full[0], atol=0, accept=[*full[1:], *((*without, *gains) if bare else ())], hints=hints)


def count(key: Any, V: int, n_out: int, *, bias: bool = True) -> int:
    """Return the lab's model: four layers, d_ff = d = 200."""
    return int(key.count_parameters(V, D, N_LAYERS, N_HEADS, D, n_out, bias))


def other(submission: Any, key: Any, n_out: Callable[[int], int]) -> int:
    """Return the count for the vocabulary that was not stated."""
    [V] = set(VOCABULARIES) - set(vocabularies(submission))
    return count(key, V, n_out(V))


def vocabularies(submission: Any) -> tuple[int, ...]:
    """Return the V that is stated; both if none is."""
    stated = submission.answers.get("3.V")
    return VOCABULARIES if stated is None else (int(stated),)


def weights_only(submission: Any) -> bool:
    """Return whether the student says that biases are left out."""
    return bool(submission.answers.get("3.convention") == "weights only")


def count_mistakes(key: Any) -> dict[str, Callable[..., int]]:
    counted = key.count_parameters
    return {
        "the biases are missing": lambda V, d, n, h, f, o: counted(V, d, n, h, f, o, False),
        "the bias of the head is missing": lambda V, d, n, h, f, o: counted(V, d, n, h, f, o) - o,
        "d_ff is not used": lambda V, d, n, h, f, o: counted(V, d, n, h, d, o),
        "each head has matrices of the full width; d is shared among the heads": lambda V, d, n, h, f, o: (
            counted(V, d, n, h, f, o) + n * (h - 1) * 3 * (d * d + d)
        ),
        "the layers are counted once": lambda V, d, n, h, f, o: counted(V, d, 1, h, f, o),
        "the layer norms are missing": lambda V, d, n, h, f, o: counted(V, d, n, h, f, o) - n * 4 * d,
        "each layer has two layer norms; one is counted": lambda V, d, n, h, f, o: (
            counted(V, d, n, h, f, o) - n * 2 * d
        ),
        "the output projection of the attention is missing": lambda V, d, n, h, f, o: (
            counted(V, d, n, h, f, o) - n * (d * d + d)
        ),
        "the head is missing": lambda V, d, n, h, f, o: counted(V, d, n, h, f, o) - d * o - o,
        "the embedding has n_out rows, not V": lambda V, d, n, h, f, o: counted(o, d, n, h, f, o),
    }
