"""Question 3.1.1: base_classification.py, its rows, its accuracy and its training; one step of the other."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.float64]
Row = tuple[str, str, bool]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "is",
    "was",
    "can",
    "the",
    "a",
    "river",
    "city",
    "king",
    "green",
    "old",
    "small",
    "dog",
    "cat",
    "house",
    "on",
    "in",
    "of",
    "it",
    "with",
    "neighbourhood",
    ".",
    "?",
]
VOCABULARY = {token: index for index, token in enumerate([*SPECIAL, *WORDS])}
RATE = 0.05
"""The learning rate of a few steps."""
FEW = 1e-5
"""What single precision and another order of summation may move a gradient: right programs are below 1e-6."""
ON_ONE_SIDE = ((-3.0, -1.0), (1.0, 2.0), (-0.5, -0.25), (0.25, 3.0))
EXTREME = ((2000.25, 2000.5), (1000.0, 3000.0), (-9000.0, -1000.0), (0.5, 0.5001), (-3000.5, -3000.25))
"""Pairs of scores: both above or both below 0; thousands apart, or so close that half precision finds a tie."""
FAR = 66_000
"""The first id of a vocabulary whose ids do not fit into two bytes, and whose [PAD] is not 0."""


@number("3.1.1")
@weight(3)
def test_rows_of_the_data(submission: Any, key: Any, inside: Any) -> None:
    """Each row is question, [SEP] and passage, filled up to max_len, with its mask and its label."""
    rows = [
        ("is the river green", "the old river in the city is green", True),
        ("can a dog with it", "a dog in the house", False),
        ("was it old", "the king was old", False),
        ("is the old house green ?", "a house . the house is green . it is old", True),
        ("was the small cat in the house of a king", "a river", True),
    ]
    dataset = submission.preferring("base_classification").BoolQADataset
    check_rows(dataset, key, inside, rows, 18)
    check_rows(dataset, key, inside, rows[:2], 18, FAR)


@number("3.1.1")
@weight(2)
def test_long_passages_are_cut(submission: Any, key: Any, inside: Any) -> None:
    """Of a passage that is too long the end is cut off; the question stays whole."""
    passage = "the old king in the green city with the river it is the small house of a dog on the old house"
    rows = [
        ("is the city of the king green", passage, True),
        ("was it a small cat", passage + " with " + passage, False),
        ("is it the old king in a green house of it", passage, False),
        *[("can a dog", " ".join(["river"] * length), True) for length in (9, 10, 11)],
    ]
    check_rows(submission.preferring("base_classification").BoolQADataset, key, inside, rows, 16)


@number("3.1.1")
@weight(1)
@visibility("after_published")
def test_random_rows(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random questions and passages, some of them too long; the data set of each of the two files.

    Try passages that are longer than the limit, and compare each part of a row with the handout, in both files.
    """
    rows = [
        (sentence(rng, int(rng.integers(2, 6))), sentence(rng, int(length)), bool(rng.integers(2)))
        for length in rng.integers(6, 24, 5)
    ]
    rows.append((sentence(rng, 3), f"{sentence(rng, 2)} . {sentence(rng, 2)}", True))
    long = [(sentence(rng, 3), " ".join(["neighbourhood"] * 250), False)]
    for file in ("base_classification", "classification"):
        if file == "base_classification" or "BoolQADataset" in submission.module(file):
            dataset = submission.preferring(file).BoolQADataset
            check_rows(dataset, key, inside, rows, 16, FAR)
            check_rows(dataset, key, inside, long, 200)


@number("3.1.1")
@weight(3)
def test_accuracy(submission: Any, student: Any, inside: Any, rng: np.random.Generator) -> None:
    """evaluate_model gives the share of rows that are right, with a smaller last batch, in evaluation mode."""
    right = [1] * 8 + [0] * 3 if rng.integers(2) else [1] * 7 + [0] * 4
    while sum(right[-3:]) not in (1, 2):
        right = rng.permutation(right).tolist()
    labels = [1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0]
    check_accuracy(submission, student, inside, labels, right, 4)
    check_accuracy(submission, student, inside, labels[1:], right[1:], 3)
    check_accuracy(submission, student, inside, [1], [1], 4)
    for pairs in (ON_ONE_SIDE, EXTREME):
        check_extreme(submission, student, inside, labels, pairs, 5)


@number("3.1.1")
@weight(1)
@visibility("after_published")
def test_accuracy_of_random_scores(submission: Any, student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random scores and labels, in batches of random size.

    Try batches of different sizes, a last batch with a single row, and hundreds of batches.
    """
    also = ["classification"] if "evaluate_model" in submission.module("classification") else []
    for file, size in zip(["base_classification", "base_classification", *also], rng.integers(2, 6, 3), strict=False):
        labels, right = rng.integers(0, 2, (2, 11)).tolist()
        check_accuracy(submission, student, inside, labels, right, int(size), file)
        check_extreme(submission, student, inside, labels, EXTREME, int(size), file)
        check_accuracy(submission, student, inside, labels * 20, [1] * 120 + right + [0] * 89, 1, file)


@number("3.1.1")
@weight(4)
def test_steps(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Each step follows the gradient of the cross entropy on its own batch, and the model follows the steps."""
    check_steps(submission, submission.preferring("base_classification").train, None, key, inside, rng)


@number("3.2.1")
@weight(2)
def test_steps_of_full_tuning(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """The same holds for classification.py and your own model, of type full and of type head."""
    train = submission.preferring("classification").train
    make = submission.preferring("classification").CustomModelforSequenceClassification
    for kind in ("full", "head"):
        check_steps(submission, train, make, key, inside, rng, kind)


@number("3.1.1")
@weight(2)
@pytest.mark.timeout(15)  # a second on an idle machine; two threads on a busy one wait for each other
def test_ten_rows_are_learned(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Trained on ten rows, a small pretrained model gets at least nine of them right."""
    labels = np.array([0, 1] * 5)
    batch = drawn_batch(rng, labels, 12)
    batch["attention_mask"] = np.ones_like(batch["attention_mask"])  # whether the mask is used is asked step by step
    half = len(WORDS) // 2  # each label has words of its own: rows of a random mixture take some right programs longer
    batch["input_ids"][:, 1:] = len(SPECIAL) + rng.integers(half, size=(10, 11)) + half * labels[:, None]
    submission.set(args=inside.arguments.keep())
    train = submission.preferring("base_classification").train
    inside.serve(key.draw_weights(rng, len(VOCABULARY), 16, 1, 32, 24))
    submission.set(test_dataloader=inside.Batches.keep([batch]))
    found = inside.overfitted(train, batch, 30, 0.01)
    before, after = (scores(found[when], (10, 2)) for when in ("before", "after"))
    right = int((after.argmax(axis=1) == labels).sum())
    assert right >= 9, (
        f"After 30 steps on the same ten rows the model gets {right} of them right, and its loss is "
        f"{loss(after, labels):.3f}; it was {loss(before, labels):.3f}. A model that learns fits ten rows by heart: "
        f"{reason(before, after, labels)}"
    )


def reason(before: Array, after: Array, labels: NDArray[np.int64]) -> str:
    """Return what the scores say about training that did not work."""
    if np.allclose(before, after, atol=1e-5):
        return "the scores did not move; does the optimizer step, and is it this model's parameters that it has?"
    if loss(after, 1 - labels) < loss(before, 1 - labels) / 2:
        return "it learned the opposite labels."
    return (
        "does the optimizer get the argument lr, and do loss, backward, optimizer and zero_grad stand in this order in "
        "the loop?"
    )


# Rows.


def check_rows(dataset: Any, key: Any, inside: Any, rows: Sequence[Row], max_len: int, first_id: int = 0) -> None:
    vocabulary = {token: first_id + index for token, index in VOCABULARY.items()}
    if first_id:
        vocabulary.update({"[CLS]": 0, WORDS[0]: 1})
    found = inside.items(dataset, WORDS, rows, max_len, first_id)
    agree(found["length"], len(rows), name="the length of the data set")
    assert not found["other"], (
        f"Asked again for row {found['other'][0]}, BoolQADataset gives another row than the first time: a row depends "
        "on its index alone."
    )
    for position, (row, item) in enumerate(zip(rows, found["items"], strict=True)):
        expected = key.boolq_item(*row, vocabulary, max_len)
        name = f"of row {position}, question {row[0]!r} and passage {shortened(row[1])!r} with max_len {max_len}"
        missing = [column for column in expected if column not in item]
        assert not missing, f"A row has no {missing[0]!r}; it has {', '.join(map(str, item))}."
        if first_id:
            name += f", where [PAD] has the id {first_id} and [CLS] the id 0"
        hints = ids_mistakes(row, vocabulary, max_len)
        agree(item["input_ids"], expected["input_ids"], hints=hints, name=f"input_ids {name}")
        mask = np.asarray(expected["attention_mask"])
        hints = {
            "the padding is not masked": np.ones_like(mask),
            "1 stands for what is read, 0 for padding": 1 - mask,
        }
        agree(item["attention_mask"], mask, hints=hints, name=f"attention_mask {name}")
        for column in ("input_ids", "labels"):
            kind = np.asarray(item[column]).dtype
            assert kind.kind not in "fc", f"{column} {name} are of type {kind}; expected whole numbers."
        label = np.asarray(item["labels"])
        agree(
            label.reshape(()) * 1 if label.size == 1 else label,
            expected["labels"],
            hints={"the labels are turned round: True is 1": 1 - int(row[2])},
            name=f"labels {name}",
        )


def ids_mistakes(row: Row, vocabulary: dict[str, int], max_len: int) -> dict[str, Any]:
    """Return what goes wrong in encoding a row."""
    unknown = vocabulary["[UNK]"]
    question, passage = ([vocabulary.get(word, unknown) for word in text.split()] for text in row[:2])
    cls, sep, pad = (vocabulary[token] for token in ("[CLS]", "[SEP]", "[PAD]"))
    wrong = {
        "[SEP] is missing between question and passage": [cls, *question, *passage],
        "the passage comes first, so that the question is cut off": [cls, *passage, sep, *question],
        "the question is missing": [cls, *passage],
        "the passage is missing": [cls, *question],
        "question and passage are encoded without special tokens": [*question, *passage],
        "the answer stands in the text that the model reads": [cls, *question, sep, unknown, *passage],
        "the beginning is cut off instead of the end": [],
    }
    hints: dict[str, Any] = {}
    for name, ids in wrong.items():
        closed = [*ids[: max_len - 1], sep]
        if name.startswith("question and passage are"):
            closed = ids[:max_len]
        if name.startswith("the beginning"):
            closed = [cls, *[*question, sep, *passage][-(max_len - 2) :], sep]
        hints[name] = closed + [pad] * (max_len - len(closed))
    whole = [cls, *question, sep, *passage, sep]
    hints["the row is not cut to max_len"] = whole
    hints["the row is not filled up to max_len"] = [*whole[: max_len - 1], sep] if len(whole) > max_len else whole
    closed = whole if len(whole) <= max_len else [*whole[: max_len - 1], sep]
    right = closed + [pad] * (max_len - len(closed))
    hints["there is a dimension too many: take the first of the batch of one"] = [right]
    hints["padding is the tokenizer's [PAD], whose id is not always 0"] = closed + [0] * (max_len - len(closed))
    return hints


def sentence(rng: np.random.Generator, words: int) -> str:
    return " ".join(rng.choice(WORDS, size=words))


def shortened(text: str) -> str:
    return text if len(text) <= 240 else text[:237] + "…"


# Accuracy.


def check_accuracy(
    submission: Any,
    student: Any,
    inside: Any,
    labels: list[int],
    right: list[int],
    size: int,
    file: str = "base_classification",
) -> None:
    """Ask for the accuracy of scores that are right where `right` says so."""
    rows = len(labels)
    table = np.zeros((rows, 2))
    predicted = [label if is_right else 1 - label for label, is_right in zip(labels, right, strict=True)]
    table[np.arange(rows), predicted] = 2.0
    shares = [float(np.mean(right[start : start + size])) for start in range(0, rows, size)]
    share, whole = sum(right) / rows, rows // size * size
    hints = {
        "the model was in training mode: call model.eval()": 1 - share,
        "this is the mean over batches; the last batch is smaller": float(np.mean(shares)),
        "this divides by the number of batches instead of rows": sum(right) / len(shares),
        "this is the number of right rows": float(sum(right)),
        "the attention mask is not given to the model": labels.count(0) / rows,
        "the attention mask that the model gets is not that of the row": mean_of(
            right[row] if row % 2 else 1 - labels[row] for row in range(rows)
        ),
        "the last batch is left out": sum(right[:whole]) / max(whole, 1),
        "the last batch alone was counted": shares[-1],
        "the first batch alone was counted": shares[0],
        "as many rows are counted as full batches hold": sum(right) / (len(shares) * size),
        "this is in percent": 100 * share,
        "this is the share of rows that the model answers with True": sum(predicted) / rows,
    }
    name = f"the accuracy for {sum(right)} right of {rows} rows in batches of {size}"
    ask_accuracy(submission, student, inside, table, labels, share, hints, name, size, file)


def check_extreme(
    submission: Any,
    student: Any,
    inside: Any,
    labels: list[int],
    pairs: Sequence[tuple[float, float]],
    size: int,
    file: str = "base_classification",
) -> None:
    """Ask for the accuracy of scores that are right in every row: the smaller and the larger of these pairs."""
    table = np.array([pairs[row % len(pairs)][:: 1 if label else -1] for row, label in enumerate(labels)])
    above = np.mean((table[:, 1] > 0) == np.array(labels))
    hints = {"class 1 is chosen where its score is above 0; choose the class of the larger score": float(above)}
    name = f"the accuracy where each row has the right score, such as {pairs[0][0]:g} and {pairs[0][1]:g},"
    known = hints if pairs is ON_ONE_SIDE else {}
    ask_accuracy(submission, student, inside, table, labels, 1.0, known, name, size, file, is_asked_again=True)


def ask_accuracy(
    submission: Any,
    student: Any,
    inside: Any,
    table: Array,
    labels: list[int],
    share: float,
    hints: dict[str, float],
    name: str,
    size: int,
    file: str,
    *,
    is_asked_again: bool = False,
) -> None:
    """Ask `evaluate_model`, or `accuracy` of who has none; the first token of a row is its number, as a large id."""
    rows = len(labels)
    read = [1 + row % 2 for row in range(rows)]  # every second row has no padding
    batches = [
        {
            "input_ids": [[FAR + row, row % 2] for row in range(rows)[start : start + size]],
            "attention_mask": [[1, row % 2] for row in range(rows)[start : start + size]],
            "labels": list(labels[start : start + size]),
        }
        for start in range(0, rows, size)
    ]
    if "evaluate_model" not in submission.preferring("base_classification") and "accuracy" in student:
        agree(student.accuracy(table, list(labels)), share, hints=hints, name=name)
        return
    found = inside.evaluated(submission.preferring(file).evaluate_model, table, read, FAR, batches)
    agree(number_of(found["returned"]), share, hints=hints, name=name)
    if is_asked_again:
        hints = {"this is the accuracy of the first call; call model.eval() in each call, and count afresh": share}
        again = "the accuracy in a second call, after training that turns every answer into the other one,"
        agree(number_of(found["again"]), 1 - share, hints=hints, name=again)
    assert found["same"] is True, "evaluate_model changes the parameters of the model; it should only ask it."


def mean_of(values: Iterable[int]) -> float:
    """Return the mean of a few numbers."""
    return float(np.mean(list(values)))


def number_of(returned: Any) -> Any:
    """Return the accuracy alone, or as {"accuracy": x}."""
    if isinstance(returned, dict):
        assert "accuracy" in returned, f"evaluate_model returns {list(returned)[:5]}; expected {{'accuracy': x}}."
        return returned["accuracy"]
    return returned


# Training.


def check_steps(
    submission: Any, train: Any, make: Any, key: Any, inside: Any, rng: np.random.Generator, kind: str = "full"
) -> None:
    """Two epochs over three batches of different rows; the gradient at the logits is known from the logits."""
    parts = [np.array(part) for part in ([1, 0], [0, 1], [1])]
    batches = [drawn_batch(rng, labels, 8) for labels in parts]
    inside.serve(key.draw_weights(rng, len(VOCABULARY), 8, 1, 8, 24))
    submission.set(
        test_dataloader=inside.Batches.keep(batches),
        args=inside.arguments.keep(type=kind, prefix_length=3),
        prefix_length=3,
    )
    found = inside.noted(train, make, batches, 2, RATE, kind)
    steps = [step for step in found["steps"] if step["gradient"] is not None]
    assert len(steps) == 6, (
        f"Two epochs over three batches gave {len(steps)} backward passes through the model's scores; expected 6, one "
        "for each batch of the training data."
    )
    assert found["moved"] is True, (
        "After six steps the model is what it was: does the optimizer step? Is it the model that train was given, and "
        "not a copy of it?"
    )
    before: Array = np.zeros(2)
    summed = False
    for position, (step, labels) in enumerate(zip(steps, parts * 2, strict=True)):
        logits = scores(step["logits"], (len(labels), 2))
        gradient, wanted = np.asarray(step["gradient"], dtype=np.float64), key.loss_gradient(logits, labels)
        if position == 0:  # the loss is the mean over the batch, or the sum
            summed = bool(np.allclose(gradient, 2 * wanted, atol=FEW))
        size = len(labels) if summed else 1
        name = (
            f"the gradient of the cross entropy at the scores {np.round(logits, 4).tolist()} with the labels "
            f"{labels.tolist()}, in step {position + 1},"
        )
        mask = batches[position % 3]["attention_mask"]
        assert np.array_equal(np.asarray(step["mask"]), mask), (
            f"In step {position + 1} the model does not get the attention mask of the batch, so that it reads padding."
        )
        assert np.array_equal(np.asarray(step["ids"]), batches[position % 3]["input_ids"]), (
            f"In step {position + 1} the model does not get the input_ids of the batch as they are."
        )
        agree(gradient, size * wanted, hints=gradient_mistakes(logits, labels), name=name, rtol=FEW, atol=FEW)
        if step["gathered"] is not None:
            check_gathered(np.asarray(step["gathered"]), gradient.sum(axis=0), before, position + 1)
            before = np.asarray(step["gathered"])
        assert step["training"] is True, (
            f"In step {position + 1} the model is in evaluation mode, so that its dropout is off: call train() in each "
            "epoch, for evaluate_model calls eval()."
        )
    assert kind != "full" or not found["unmoved"], (
        f"Training of the whole model does not change {found['unmoved'][0]!r}: does the optimizer have all parameters?"
    )
    stale = next(((n, step["stale"]) for n, step in enumerate(steps, 1) if step["stale"] is not None), None)
    assert kind != "full" or stale is None, (  # what is not trained need not be cleared
        f"In step {stale[0]} the gradient of {stale[1]!r} holds that of another batch, too: does the optimizer have "
        "all parameters, and is zero_grad() called in each step?"
    )
    check_every_step([np.asarray(values) for values in (*[step["own"] for step in steps], found["own"])])
    assert found["rates"] <= 1, (
        f"The optimizer has {found['rates']} learning rates at once, for different parameters; expected lr for "
        "all of them."
    )
    assert found["at_once"] <= 1, (
        f"The optimizer takes {found['at_once']} steps for one batch; expected one step for each batch."
    )
    slow = inside.noted(train, make, batches, 2, RATE / 100, kind)
    far, near = (distance(run) for run in (found, slow))
    assert far >= 5 * near, (
        f"With lr = {RATE:g} training moves the head's parameters by up to {far:.2g}, and with lr = {RATE / 100:g} by "
        f"{near:.2g}; expected about a hundredth. Does the optimizer get the argument lr?"
    )


def distance(found: Any) -> float:
    """Return how far training has moved a parameter outside the encoder, at most."""
    return float(np.abs(np.asarray(found["own"]) - np.asarray(found["steps"][0]["own"])).max())


def check_every_step(values: Sequence[Array]) -> None:
    """The optimizer steps after each batch, where the schedule of the learning rate does not begin or end with 0."""
    changed = [not np.array_equal(old, new) for old, new in itertools.pairwise(values)]
    assert any(changed), "Training changes nothing beside the encoder: does the optimizer get the head's parameters?"
    first, last = changed.index(True), len(changed) - 1 - changed[::-1].index(True)
    assert last > first and all(changed[first:last]), (
        f"Of six batches only {sum(changed)} changed the head's parameters, those in step "
        f"{', '.join(str(step) for step, has in enumerate(changed, 1) if has)}; expected one step of the optimizer for "
        "each batch."
    )


def check_gathered(gathered: Array, own: Array, before: Array, step: int) -> None:
    """The gradient that the optimizer finds is that of the step's own batch; some programs clear it once per epoch."""
    if np.allclose(gathered, own, rtol=FEW, atol=FEW):
        return
    cause = "the gradient of the step before is still in it: call zero_grad() in each step"
    hints = {f"{cause}, of an optimizer that has all parameters": before + own}
    name = f"what has gathered as the gradient of the head's bias in step {step}"
    agree(gathered, own, hints=hints, name=name, rtol=FEW, atol=FEW)


def gradient_mistakes(logits: Array, labels: NDArray[np.int64]) -> dict[str, Callable[[], Array]]:
    """Return the gradients of what students compute instead."""

    def twice() -> Array:
        p = softmax(logits)
        outer = cross_entropy_gradient(p, labels)
        return np.asarray(p * (outer - (outer * p).sum(axis=1, keepdims=True)))

    return {
        "softmax is applied twice: cross entropy wants the scores as they are": twice,
        "it is that of the opposite labels": lambda: cross_entropy_gradient(logits, 1 - labels),
        "it points uphill: the loss has the wrong sign": lambda: -cross_entropy_gradient(logits, labels),
    }


def cross_entropy_gradient(scores_: Array, labels: NDArray[np.int64]) -> Array:
    gradient: Array = (softmax(scores_) - np.eye(scores_.shape[1])[labels]) / len(labels)
    return gradient


def softmax(scores_: Array) -> Array:
    exponentials = np.exp(scores_ - scores_.max(axis=1, keepdims=True))
    weights: Array = exponentials / exponentials.sum(axis=1, keepdims=True)
    return weights


def loss(logits: Array, labels: NDArray[np.int64]) -> float:
    """Return the mean cross entropy."""
    return float(-np.log(softmax(logits)[np.arange(len(labels)), labels] + 1e-30).mean())


def scores(returned: Any, shape: tuple[int, ...]) -> Array:
    """Logits as finite numbers of the shape."""
    logits = np.asarray(returned)
    assert logits.shape == shape, f"The logits have shape {logits.shape}; expected {shape}."
    assert logits.dtype.kind in "fiu" and np.isfinite(logits).all(), "The logits are no finite numbers."
    return logits.astype(np.float64)


def drawn_batch(rng: np.random.Generator, labels: NDArray[np.int64], length: int) -> dict[str, Any]:
    """Rows of random tokens, [CLS] first, some of them padded."""
    rows = len(labels)
    ids = rng.integers(len(SPECIAL), len(VOCABULARY), (rows, length))
    ids[:, 0] = VOCABULARY["[CLS]"]
    mask = (np.arange(length) < rng.integers(length // 2, length + 1, (rows, 1))).astype(np.int64)
    mask[0, -3:], mask[-1] = 0, 1
    return {"input_ids": ids * mask, "attention_mask": mask, "labels": labels}
