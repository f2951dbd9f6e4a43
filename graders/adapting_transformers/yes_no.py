"""The yes/no questions of `fixtures/adapting_transformers/data/make.py`, as the examiner has them: answers included."""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "fixtures" / "adapting_transformers" / "data"
MAX_LEN = 15
"""A row is [CLS], four words, [SEP], eight words and [SEP]: nothing is padding, so that all poolings see the same."""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Batch = Mapping[str, NDArray[np.int64]]


def our_rows() -> Batch:
    """Return the training rows as BoolQADataset should give them."""
    rows = questions()["train"]
    return {**encoded(rows), "labels": np.array([int(answer) for _, _, answer in rows])}


def asked_rows() -> Batch:
    """Return the test rows, which have no labels here."""
    return encoded(questions()["test"])


def encoded(rows: Sequence[Sequence[Any]]) -> Batch:
    """Ids and mask of questions and passages."""
    ids = {token: index for index, token in enumerate([*SPECIAL, *questions()["words"]])}
    texts = [f"[CLS] {question} [SEP] {passage} [SEP]".split() for question, passage, *_ in rows]
    input_ids = np.array([[ids[token] for token in text] for text in texts])
    return {"input_ids": input_ids, "attention_mask": np.ones_like(input_ids)}


def scores_of(value: Any, rows: int) -> NDArray[np.float64]:
    """Scores of the rows, (rows, 2).

    Raises:
        AssertionError: they have another shape.
    """
    scores = np.asarray(value, dtype=np.float64)
    assert scores.shape == (rows, 2), f"The logits of {rows} rows have the shape {scores.shape}; expected {(rows, 2)}."
    return scores


@functools.cache
def questions() -> Any:
    """Words; question, passage and answer of each training row; question and passage of each test row."""
    return json.loads((DATA / "questions.json").read_text("utf-8"))


@functools.cache
def right_answers() -> NDArray[np.int64]:
    """Return the answers to the test questions, 1 for yes."""
    digits = json.loads((HERE / "yes_no_answers.json").read_text("utf-8"))["test"]
    return np.array([int(digit) for digit in digits])


@functools.cache
def encoder() -> Mapping[str, NDArray[np.float32]]:
    """Return the pretrained weights, by the names of transformers."""
    with np.load(DATA / "encoder.npz") as file:
        return {name: file[name].astype(np.float32) for name in file.files}
