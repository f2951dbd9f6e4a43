"""Question 2a: the layer in a small pretrained encoder, trained on our own yes/no questions.

`fixtures/adapting_transformers/data/make.py` explains the questions and has trained the encoder. Model and loop are the
course's (`inside/fine_tuning.py`); the answers to the test questions stay here. What right and wrong layers reach was
measured by `thresholds/measure.py`.
"""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import number, weight
from viva.plugins import training

GRADERS = Path(__file__).parents[1]
DATA = GRADERS.parent / "fixtures" / "adapting_transformers" / "data"
ANSWERS = GRADERS / "adapting_transformers" / "yes_no_answers.json"
LIMIT = training.thresholds("fine_tuning.json")["Accuracy with LoRA"]
R, ALPHA, RATE, BATCH, EPOCHS, BUDGET_S = 4, 8.0, 3e-3, 16, 5, 30
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

State = Mapping[str, Mapping[str, Any]]


@number("2a")
@weight(4)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_lora_tuning_learns(student: Any, inside: Any) -> None:
    """With your layers for its queries and values, a small pretrained encoder learns to answer new questions."""
    states: list[tuple[State, State]] = []
    training.judge(
        tuning(student.LoRALinear, inside, states),
        LIMIT,
        help=(
            "The head alone reaches about 0.82. Does exactly one of the two factors start at zero, do both get "
            "their gradients, and does the output depend on both?"
        ),
    )
    check_frozen(states[0][1])
    check_factors(*states[0])


def tuning(make: Any, inside: Any, states: list[tuple[State, State]], epochs: int = EPOCHS) -> Callable[[int], float]:
    """seed -> the accuracy that an encoder with the student's layers reaches; what they held before and after is kept.

    The best epoch counts, so training ends when it meets the threshold. The box gets test questions and returns scores;
    right answers are counted here.
    """

    def run(seed: int) -> float:
        settings = {"seed": seed, "r": R, "alpha": ALPHA, "lr": RATE, "batch_size": BATCH}
        model = inside.LoRATuning.keep(make, encoder(), training_rows(), settings)
        before = model.state()
        first = seed == training.SEEDS[0]
        course = training.epochs(epochs, budget_s=BUDGET_S, name="LoRA", curve=first, until={"accuracy": LIMIT})
        for epoch in course:
            epoch.tell(loss=model.epoch())
            epoch.record(accuracy=accuracy(model.scores(asked_rows())))
        states.append((before, model.state()))
        if first:
            training.draw("LoRA, accuracy", course.values("accuracy"), {course.reached: LIMIT.value})
        return max(course.values("accuracy"))

    return run


def accuracy(scores: Any) -> float:
    """Return the share of the test questions whose higher score (row, 2) is that of the right answer."""
    right = right_answers()
    found = np.asarray(scores, dtype=np.float64)
    assert found.shape == (len(right), 2), f"The scores of {len(right)} questions have the shape {found.shape}."
    return float(np.mean(found.argmax(axis=1) == right))


def check_frozen(after: State) -> None:
    """Trained or not, W' differs from the pretrained W by the product of two factors: by a matrix of rank r at most."""
    for name, layer in after.items():
        W = encoder()[name]
        change = np.asarray(layer["weight"], dtype=np.float64) - W
        assert change.shape == W.shape and np.isfinite(change).all(), f"{named(name)} is no finite matrix {W.shape}."
        sizes = np.linalg.svd(change, compute_uv=False)
        rank = int((sizes > max(1e-3 * sizes[0], 1e-5)).sum())
        assert rank <= R, (
            f"After training, {named(name)} differs from the pretrained one by a matrix of rank {rank}; two "
            f"factors can make {R} at most. Is W itself trained?"
        )


def check_factors(before: State, after: State) -> None:
    """Both factors of each layer are trained."""
    for name, layer in before.items():
        shapes = {(len(encoder()[name]), R), (R, encoder()[name].shape[1])}
        pairs = list(zip(layer["held"], after[name]["held"], strict=False))
        factors = [pair for pair in pairs if {np.shape(pair[0]), np.shape(pair[0])[::-1]} & shapes]
        changed = sum(not np.array_equal(*pair) for pair in factors)
        assert changed >= 2, (
            f"Training changes {changed} of the two factors of {named(name)}; expected both to change. "
            "Do both get a gradient?"
        )


def named(name: str) -> str:
    """Return a weight as the student reads it: `encoder.layer.0.attention.self.query.weight`."""
    parts = name.split(".")
    return f"the {parts[-2]} weight of layer {int(parts[2]) + 1}"


def training_rows() -> Mapping[str, NDArray[np.int64]]:
    """Ids (row, token) and answers (row,), 1 for yes."""
    rows = questions()["train"]
    return {"input_ids": encoded(rows), "labels": np.array([int(answer) for *_, answer in rows])}


def asked_rows() -> NDArray[np.int64]:
    """Ids (row, token) of the questions that are asked."""
    return encoded(questions()["test"])


def encoded(rows: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    """[CLS], question, [SEP], passage and [SEP] as ids: always 15 of them."""
    ids = {token: index for index, token in enumerate([*SPECIAL, *questions()["words"]])}
    texts = [f"[CLS] {question} [SEP] {passage} [SEP]".split() for question, passage, *_ in rows]
    return np.array([[ids[token] for token in text] for text in texts])


@functools.cache
def questions() -> Any:
    """Words; question, passage and answer of each training row; question and passage of each test row."""
    return json.loads((DATA / "questions.json").read_text("utf-8"))


@functools.cache
def right_answers() -> NDArray[np.int64]:
    """Return the answers to the test questions, 1 for yes."""
    return np.array([int(digit) for digit in json.loads(ANSWERS.read_text("utf-8"))["test"]])


@functools.cache
def encoder() -> Mapping[str, NDArray[np.float32]]:
    """Return the pretrained weights, by the names of transformers."""
    with np.load(DATA / "encoder.npz") as file:
        return {name: file[name].astype(np.float32) for name in file.files}
