"""Questions 3.1.1 and 3.2: whole programs, from the data to the printed accuracies, on stand-ins for downloads."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from viva.grading import number, visibility, weight

KINDS = ("full", "head", "prefix")
RATE = 0.001
ARGUMENTS = ["--small_subset", "--num_epochs", "2", "--lr", str(RATE), "--batch_size", "4", "--device", "cpu"]
SEP, PASSAGE = "3", 12
"""The id of [SEP], and how many tokens a passage of the stand-in for BoolQ has."""
ACCURACY = re.compile(r"(?<![\w.])(?:0?\.\d+|[01]\.0+|[01])(?![\w.])")


@number("3.1.1")
@weight(1)
def test_data_of_the_program(submission: Any, inside: Any) -> None:
    """pre_process gives the model and three loaders: ten rows three times, or training, dev and test data apart."""
    own = submission.preferring("base_classification")
    inside.serve(None)
    check_small(inside.loaded(own.pre_process, True))
    found = inside.loaded(own.pre_process, False)
    check_whole(found)
    check_order(found, own.BoolQADataset, inside)


@number("3.2")
@weight(1)
@visibility("after_published")
def test_models_of_the_program(submission: Any, inside: Any) -> None:
    """pre_process of classification.py, if it has one of its own, makes a model of the type that it is asked for.

    Try each type that the program offers, and look at which parameters can be trained.
    """
    own, has_one = submission.preferring("classification"), "pre_process" in submission.module("classification")
    inside.serve(None)
    submission.set(prefix_length=3, args=inside.arguments.keep(prefix_length=3))
    for kind in KINDS if has_one else KINDS[:1]:
        found = inside.loaded(own.pre_process, True, kind)
        check_small(found)
        assert found["type"] in (kind, None), f"Asked for type {kind!r}, pre_process makes a {found['type']!r} model."
        assert found["type"] is None or not found["of_the_library"], (
            f"Asked for type {kind!r}, pre_process makes a model of the library, not your own."
        )
    if has_one:
        found = inside.loaded(own.pre_process, False, "full")
        check_whole(found)
        check_order(found, own.BoolQADataset, inside)


@number("3.1.1")
@weight(1)
@pytest.mark.timeout(15)  # as for the ten rows: a busy machine must not cost a point
def test_program_runs(submission: Any, student: Any, inside: Any) -> None:
    """The program trains on ten rows and prints accuracies: started with its arguments, or cell after cell."""
    path = next((p for p in submission.files if p.rsplit("/", 1)[-1] == "base_classification.py"), None)
    inside.serve(None)
    if path is None:
        done = inside.in_one_go.call(student.pre_process, student.train, student.evaluate_model)
    else:
        done = inside.started.call(path, submission.source(path), [*ARGUMENTS, "--model", "tiny"])
    if done.raised is not None:
        raise done.raised
    if path is not None:
        check_rate(done.value)
    shares = [float(text) for text in ACCURACY.findall(done.printed)]
    assert any(abs(10 * share - round(10 * share)) < 1e-6 for share in shares), (
        f"base_classification.py {' '.join(ARGUMENTS)} printed no accuracy of ten rows; a program that prints nothing "
        'does no work when it is started: is there an `if __name__ == "__main__":` at its end?'
    )


def check_rate(rates: Sequence[float]) -> None:
    """The program trains with the learning rate of its arguments; its accuracies show whether it trains."""
    assert not rates or any(abs(rate - RATE) < 1e-9 for rate in rates), (
        f"Started with --lr {RATE}, base_classification.py trains with the learning rate {rates[0]:g}: is args.lr "
        "handed on?"
    )


def check_order(found: dict[str, Any], dataset: Any, inside: Any) -> None:
    """The question comes before the passage, unless the data set itself swaps them, which is reported there."""
    words = [f"word{i}" for i in range(PASSAGE + 3)]
    row = (" ".join(words[PASSAGE:]), " ".join(words[:PASSAGE]), True)
    [item] = inside.items(dataset, words, [row], 2 * len(words))["items"]
    if str(np.asarray(item["input_ids"]).reshape(-1)[4]) != SEP:
        return
    assert not any(ids.split()[1 + PASSAGE : 2 + PASSAGE] == [SEP] for ids in found["rows"][0]), (
        "In the rows of the training data the passage stands where the question belongs: BoolQADataset takes the "
        "passages first, then the questions."
    )


def check_small(found: dict[str, Any]) -> None:
    """Ten rows for training, and the same for dev and test."""
    train, dev, test = three_loaders(found)
    check_names(found)
    sizes = [len(part) for part in (train, dev, test)]
    assert sizes == [10, 10, 10], f"With small_subset the three loaders have {sizes} rows; expected ten in each."
    assert set(train) == set(dev) == set(test), "With small_subset training, dev and test data are the same ten rows."
    assert tuple(found["scores"]) == (4, 2), (
        f"For a batch of four rows the model's scores have the shape {found['scores']}; expected (4, 2)."
    )


def check_whole(found: dict[str, Any]) -> None:
    """All rows: BoolQ's training data shared by training and test data, its validation data as dev data."""
    train, dev, test = three_loaders(found)
    check_names(found)
    assert not set(train) & set(test), "Rows of the test data are in the training data as well."
    assert not set(train) & set(dev), "Rows of the dev data are in the training data as well."
    every = found["train"]
    assert len(train) + len(test) == every and test, (
        f"Training and test data have {len(train)} and {len(test)} rows; expected them to share all {every} of BoolQ's "
        "training data, which are as many here."
    )
    assert len(dev) == found["validation"], (
        f"The dev data have {len(dev)} rows; expected all {found['validation']} of BoolQ's validation data."
    )


def check_names(found: dict[str, Any]) -> None:
    """Model and tokenizer are those of the name that was given, the rows have their labels, batches their size."""
    others = [name for name in found["names"] if name != "tiny"]
    assert not others, (
        f"pre_process asked for 'tiny' takes a model or a tokenizer from {others[0]!r}; expected both by the argument "
        "model_name: ids of one checkpoint mean nothing to another."
    )
    every = sum(len(rows) for rows in found["rows"])  # where all labels are turned round, BoolQADataset did it
    assert found["mislabelled"] in (0, every), (
        f"{found['mislabelled']} rows of the three loaders have the label of another row: passages, questions and "
        "answers come from the same rows."
    )
    assert found["first"][0] == 4, (
        f"With batch_size 4 the first batch of the training data has {found['first'][0]} rows; expected 4."
    )


def three_loaders(found: dict[str, Any]) -> Sequence[list[str]]:
    rows: Sequence[list[str]] = found["rows"]
    assert len(rows) == 3, f"pre_process gives a model and {len(rows)} loaders; expected three."
    return rows
