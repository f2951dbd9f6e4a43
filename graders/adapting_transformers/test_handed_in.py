"""Question 3.2.3: the prefix and the head that a student has trained at home, in the student's own model.

The file is read here, and no pickle is ever opened. What it holds goes into a model of the student's class on the
course's encoder, in the box; the answers to the test questions stay here.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from graders.adapting_transformers.yes_no import MAX_LEN, asked_rows, encoder, right_answers, scores_of
from viva.grading import number, weight
from viva.plugins.training import artifacts

FILE, KIND = "prefix.safetensors", "prefix"
REQUIRED = 0.96
"""The share of right answers, as the handout says it.

A prefix is trained at home, for as long as its author likes. Those of the accepted submissions have had twelve epochs
and answer every question rightly; a random one answers 0.475.
"""
ASKED_LENGTH = 8
"""With this prefix_length a model is made to learn the names of its parameters."""
WRAPPERS = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile put before every name."""


@number("3.2.3")
@weight(2)
@pytest.mark.training
@pytest.mark.timeout(60)
def test_handed_in_prefix(submission: Any, inside: Any) -> None:
    """The prefix and the head in your file prefix.safetensors answer our questions, in your own model."""
    given = artifacts.checkpoint(submission, FILE)
    make = submission.preferring("classification").CustomModelforSequenceClassification
    inside.serve(encoder())
    values = matched(given, shapes_with(submission, inside, make, ASKED_LENGTH))
    length = length_of(values, shapes_with(submission, inside, make, ASKED_LENGTH))
    check_shapes(values, shapes_with(submission, inside, make, length), length)
    right = right_answers()
    scores = scores_of(inside.answered(make, KIND, length, values, asked_rows()), len(right))
    reached = artifacts.accuracy(scores, right)
    assert reached >= REQUIRED, (
        f"With the prefix and the head of {FILE}, your model answers {int(reached * len(right))} of {len(right)} "
        f"questions rightly; expected {math.ceil(REQUIRED * len(right))}. Was it trained on our questions and "
        "our encoder, and saved after training?"
    )


def shapes_with(submission: Any, inside: Any, make: Any, length: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the student's prefix model outside the encoder, with a prefix of some length."""
    submission.set(prefix_length=length, args=inside.arguments.keep(type=KIND, prefix_length=length))
    shapes = inside.own_shapes(make, KIND, length)
    return {str(name): tuple(int(side) for side in shape) for name, shape in shapes.items()}


def matched(given: Mapping[str, Any], wanted: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return what the file holds of the student's own parameters; whatever else is in it is left out."""
    bare = dict(given)
    for wrapper in WRAPPERS:
        bare = {name.removeprefix(wrapper): array for name, array in bare.items()}
    if missing := [name for name in wanted if name not in bare]:
        there = ", ".join(repr(name[:60]) for name in list(given)[:4])
        raise AssertionError(
            f"{FILE} lacks {missing[0][:60]!r}, which your model of type 'prefix' has; it holds "
            f"{there or 'nothing'}{', …' if len(given) > 4 else ''}: save prefix and head by the names of "
            "`model.named_parameters()`."
        )
    return {name: bare[name] for name in wanted}


def length_of(values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> int:
    """Return the prefix_length of what was trained."""
    positions, d = encoder()["embeddings.position_embeddings.weight"].shape
    prefixes = [name for name, shape in shapes.items() if math.prod(shape) == ASKED_LENGTH * d]
    assert len(prefixes) == 1, (
        f"With prefix_length = {ASKED_LENGTH} and d = {d}, your model has {len(prefixes)} parameters of "
        f"{ASKED_LENGTH * d} numbers beside the encoder; expected one, the prefix."
    )
    array, most = values[prefixes[0]], positions - MAX_LEN
    length: int = array.size // d
    assert array.size == length * d and 1 <= length <= most, (
        f"{FILE} holds {prefixes[0][:60]!r} of shape {array.shape}; expected vectors of {d} numbers, 1 to {most} of "
        f"them: the encoder has {positions} positions, and a question with its passage takes {MAX_LEN}."
    )
    return length


def check_shapes(values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], length: int) -> None:
    """What is put into a parameter has its shape."""
    for name, array in values.items():
        assert array.shape == shapes.get(name), (
            f"{FILE} holds {name[:60]!r} of shape {array.shape}; in your model with prefix_length = {length} it has "
            f"{shapes.get(name)}. Is the file that of this model?"
        )
