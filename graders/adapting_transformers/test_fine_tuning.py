"""Questions 3.1 and 3.2: the student's own training of a small pretrained encoder on our own yes/no questions.

`fixtures/adapting_transformers/data/make.py` explains the questions and has trained the encoder; the answers to the
test questions stay here. What right and wrong implementations reach was measured by `thresholds/measure.py`.
"""

import math
from typing import Any

import numpy as np
import pytest

from graders.adapting_transformers.yes_no import (
    MAX_LEN,
    Batch,
    asked_rows,
    encoder,
    our_rows,
    questions,
    right_answers,
    scores_of,
)
from viva.grading import number, weight
from viva.plugins import training

LIMITS = training.thresholds("fine_tuning.json")
PREFIX_LENGTH, BATCH, EPOCHS, BUDGET_S = 8, 16, 4, 30
SHAPES = {"input_ids": (MAX_LEN,), "attention_mask": (MAX_LEN,), "labels": ()}
RATES = {"full": 1e-3, "head": 2e-2, "prefix": 2e-2}
TUNED_ALONE = {"head": "the head alone", "prefix": "prefix and head alone"}


@number("3.1.2")
@weight(4)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_fine_tuning_learns(submission: Any, inside: Any) -> None:
    """Your rows and your training teach a small pretrained model to answer questions that it has not seen."""
    limit = LIMITS["Accuracy of the fine-tuned classifier"]
    own = submission.preferring("base_classification")
    rows = own_rows(own.BoolQADataset, inside)
    training.judge(
        lambda seed: fine_tuned(submission, inside, own.train, None, "full", rows, seed, "fine-tuning", limit),
        limit,
        help="Do labels and rows belong together, does the learning rate leave zero, and does the optimizer step?",
    )


@number("3.2.1")
@weight(3)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_full_tuning_learns(submission: Any, inside: Any) -> None:
    """Your own model of type full learns to answer questions that it has not seen."""
    check(submission, inside, "full", help="Does the optimizer have the encoder's parameters as well?")


@number("3.2.2")
@weight(2)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_head_tuning_learns(submission: Any, inside: Any) -> None:
    """Your own model of type head learns what a linear layer can, on an encoder that stays as it is."""
    check(submission, inside, "head", help="Does the optimizer have the head's parameters?")


@number("3.2.3")
@weight(3)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_prefix_tuning_learns(submission: Any, inside: Any) -> None:
    """Your own model of type prefix learns to answer new questions, on an encoder that stays as it is."""
    check(submission, inside, "prefix", help="Does the optimizer have the prefix, and is the prefix read?")


def check(submission: Any, inside: Any, kind: str, *, help: str) -> None:
    """Train the student's own model of some type by the `train` beside it."""
    limit = LIMITS[f"Accuracy with type {kind}"]
    own = submission.preferring("classification")
    make = own.CustomModelforSequenceClassification
    training.judge(
        lambda seed: fine_tuned(submission, inside, own.train, make, kind, our_rows(), seed, kind, limit),
        limit,
        help=help,
    )


def fine_tuned(
    submission: Any,
    inside: Any,
    train: Any,
    make: Any,
    kind: str,
    rows: Batch,
    seed: int,
    name: str,
    limit: training.Threshold,
) -> float:
    """Train, and count right answers: the box gets test questions and returns scores.

    Returns:
        The share of the test questions that are answered rightly.
    """
    inside.serve(encoder())
    submission.set(
        prefix_length=PREFIX_LENGTH,
        test_dataloader=inside.Batches.keep([{column: value[:1] for column, value in rows.items()}]),
        args=inside.arguments.keep(type=kind, prefix_length=PREFIX_LENGTH, num_epochs=EPOCHS, lr=RATES[kind]),
    )
    run = {"seed": seed, "epochs": EPOCHS, "lr": RATES[kind], "batch_size": BATCH, "budget_s": BUDGET_S}
    found = inside.fine_tuned(train, make, kind, rows, asked_rows(), {**run, "prefix_length": PREFIX_LENGTH})
    right = right_answers()
    first, again = (scores_of(value, len(right)) for value in found["logits"])
    assert np.allclose(first, again, atol=1e-4), (
        "Asked twice about the same questions, in evaluation mode, the model gives other scores. Is dropout still on? "
        "`nn.functional.dropout` needs `training=self.training`."
    )
    batches = math.ceil(len(rows["labels"]) / BATCH)
    assert found["taken"] >= batches, (
        f"In no epoch more than {found['taken']} of the {batches} batches were trained on; expected all of them."
    )
    before, after = found["groups"]
    check_changes(before, after, kind)
    curve = [float(np.mean(np.asarray(answers) == right)) for answers in found["epochs"]]
    if seed == training.SEEDS[0] and curve:
        training.draw(f"{name}, accuracy", curve, {EPOCHS: limit.value})
    if found["stopped"] and len(curve) < EPOCHS:
        training.stopped(len(curve), EPOCHS, BUDGET_S, name)
    return float(np.mean(first.argmax(axis=1) == right))


def check_changes(before: Any, after: Any, kind: str) -> None:
    """Whoever tunes a part leaves the encoder as it was; a prefix is tuned, though a random one does nearly as well."""
    changed = {
        group: [name for name, value in parts.items() if not np.array_equal(value, after[group].get(name))]
        for group, parts in before.items()
    }
    base = changed["base"]
    assert kind == "full" or not base, (
        f"Training with type {kind!r} changes the encoder ({', '.join(base[:2])}, …); expected {TUNED_ALONE[kind]} to "
        "change. Which parameters does the optimizer have that steps?"
    )
    assert kind != "prefix" or changed["prefix"] or not before["prefix"], (
        "Training with type 'prefix' does not change the prefix; expected it to change. Does the optimizer have it?"
    )


def own_rows(dataset: Any, inside: Any) -> Batch:
    """Return the training rows as the student's own data set encodes them."""
    items = inside.items(dataset, questions()["words"], questions()["train"], MAX_LEN)["items"]
    for item in items:
        for name, shape in SHAPES.items():
            assert name in item, f"A row of BoolQADataset has no {name!r}; it has {', '.join(map(str, item))}."
            assert np.size(item[name]) == np.prod(shape), (
                f"{name} of a row has the shape {np.shape(item[name])}; expected {shape} with max_len {MAX_LEN}."
            )
    return {name: np.array([np.reshape(item[name], shape) for item in items]) * 1 for name, shape in SHAPES.items()}
