"""Questions 3.1.1 and 3.2: whole programs, from the data to the printed accuracies, on stand-ins for downloads."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from viva.grading import number, visibility, weight

KINDS = ("full", "head", "prefix")
RATE, STEPS = 0.001, 6
"""Two epochs of ten rows in batches of four are six steps."""
ARGUMENTS = ["--num_epochs", "2", "--lr", str(RATE), "--batch_size", "4", "--device", "cpu", "--model", "tiny"]
TUNING = ["--type", "prefix", "--prefix_length", "3"]
PREFIX_SIZE = 48
"""Three prefix vectors of the tests' small model, which has d = 16."""
SEP, PASSAGE = "3", 12
"""The id of [SEP], and how many tokens a passage of the stand-in for BoolQ has."""
ACCURACY = re.compile(r"(?<![\w.])(?:0?\.\d+|[01]\.0+|[01])(?![\w.])")
LABEL = re.compile(
    r"(?<![a-z])(?:(?P<train>train)|(?P<dev>dev(?!ice)|val(?!ue))|(?P<test>test)|(?P<other>loss|epoch|lr|rate))",
    re.IGNORECASE,
)
"""What may stand before a number that a program prints."""


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
    """classification.py, started or by its own pre_process, makes a model of the type that it is asked for.

    Start the program with each type and another prefix length, and look at which parameters are trained.
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
    path = path_of(submission, "classification.py")
    if path is not None and "--prefix_length" in submission.source(path):
        done, _ = start(submission, inside, path, ["--small_subset", *ARGUMENTS, *TUNING])
        check_training(done, path)
        other = done["encoder"] or max(done["own"], default=0) > PREFIX_SIZE
        assert not other or PREFIX_SIZE in done["own"], (
            f"Started with {' '.join(TUNING)}, {path} does not tune a prefix of three vectors, but something else: "
            "are args.type and args.prefix_length handed on?"
        )


@number("3.1.1")
@weight(1)
@pytest.mark.timeout(15)  # as for the ten rows: a busy machine must not cost a point
def test_program_runs(submission: Any, student: Any, inside: Any) -> None:
    """The program trains on ten rows and prints accuracies: started with its arguments, or cell after cell."""
    inside.serve(None)
    path = path_of(submission, "base_classification.py")
    if path is None:
        done = inside.in_one_go.call(student.pre_process, student.train, student.evaluate_model)
        if done.raised is not None:
            raise done.raised
        printed = done.printed
    else:
        found, printed = start(submission, inside, path, ["--small_subset", *ARGUMENTS])
        check_training(found, path)
    shares = [float(text) for text in ACCURACY.findall(printed)]
    assert any(is_share(share, 10) for share in shares), (
        f"base_classification.py --small_subset {' '.join(ARGUMENTS)} printed no accuracy of ten rows; a program that "
        'prints nothing does no work when it is started: is there an `if __name__ == "__main__":` at its end?'
    )
    if path is not None:
        parts = inside.loaded(submission.preferring("base_classification").pre_process, False)
        check_labels(start(submission, inside, path, ARGUMENTS)[1], three_loaders(parts), path)


def path_of(submission: Any, name: str) -> str | None:
    """Return where the file of this name is, if it was submitted."""
    return next((path for path in submission.files if path.rsplit("/", 1)[-1] == name), None)


def start(submission: Any, inside: Any, path: str, arguments: Sequence[str]) -> tuple[Any, str]:
    """Start a submitted program; return what happened in it, and what it printed."""
    done = inside.started.call(path, submission.source(path), arguments)
    if done.raised is not None:
        raise done.raised
    return done.value, done.printed


def check_training(found: Any, path: str) -> None:
    """The program trains the model of its arguments, at their learning rate, as long as they say.

    One that does not train at all prints no accuracies.
    """
    rates, steps = found["rates"], found["steps"]
    assert not rates or any(abs(rate - RATE) < 1e-9 for rate in rates), (
        f"Started with --lr {RATE}, {path} trains with the learning rate {rates[0]:g}: is args.lr handed on to the "
        "optimizer?"
    )
    assert not steps or STEPS in (max(steps), sum(steps)), (
        f"Started with --small_subset --num_epochs 2 --batch_size 4, {path} takes {sum(steps)} steps of training; "
        f"expected {STEPS}: ten rows are three batches, in each of two epochs. Are args.num_epochs and args.batch_size "
        "handed on, and does the optimizer step once for each batch?"
    )
    assert "tiny" in found["names"], (
        f"Started with --model tiny, {path} loads {', '.join(found['names']) or 'no model'}: is args.model handed on?"
    )


def check_labels(printed: str, loaders: Sequence[list[str]], path: str) -> None:
    """What is printed as the accuracy of one part of the data is not that of another; a program may print no labels."""
    sizes = dict(zip(("train", "dev", "test"), map(len, loaders), strict=True))
    last = labelled(printed)
    for label in ("dev", "test"):
        share, others = last.get(label), {name: rows for name, rows in sizes.items() if name != label}
        if share is None or is_share(share, sizes[label]):
            continue
        wrong = [name for name, rows in others.items() if is_share(share, rows)]
        assert not wrong, (
            f"Started without --small_subset, {path} prints {share:.6g} as an accuracy in {label}. Of its "
            f"{sizes[label]} rows that is no whole number, but of the {sizes[wrong[0]]} rows of {wrong[0]} it is: "
            f"which loader does evaluate_model get for {label}?"
        )


def labelled(printed: str) -> dict[str, float]:
    """Return the last number behind each label; a label counts to the end of its line, or to the next label."""
    last: dict[str, float] = {}
    for line in printed.splitlines():
        labels = [*LABEL.finditer(line)]
        ends = [*[label.start() for label in labels[1:]], len(line)]
        for label, end in zip(labels, ends, strict=False):
            numbers = ACCURACY.findall(line[label.end() : end])
            if numbers and len(numbers[-1]) > 5:  # fewer digits may be anything
                last[str(label.lastgroup)] = float(numbers[-1])
    return last


def is_share(number: float, rows: int) -> bool:
    """Return whether the number is k of n rows."""
    return abs(rows * number - round(rows * number)) < 1e-6 * rows


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
