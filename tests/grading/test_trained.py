"""Functions that train or change networks are compared by what they return and by the weights afterwards."""

import re
from collections.abc import Iterator
from itertools import zip_longest

import pytest

from tests.support.course_of_texts import Examined, write_course
from tests.support.table_rows import Rows

pytestmark = pytest.mark.slow  # torch is imported, and the functions are called hundreds of times
KEY = """
import torch
from torch import nn


def train(model, x, y, lr, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return model


def freeze(model):
    for weight in model[0].parameters():
        weight.requires_grad = False


def mean_of(one, other):
    made = nn.Linear(3, 2)
    with torch.no_grad():
        made.weight.copy_((one.weight + other.weight) / 2)
        made.bias.copy_((one.bias + other.bias) / 2)
    return made


def adam(model, x, y, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""


TRAINED = """

def trained_{0}(*arguments):
    from viva.grading.networks import trained_of

    return trained_of({0}, *arguments)
"""
KEY_OF_TESTS = KEY + "".join(TRAINED.format(name) for name in ("adam", "train", "freeze", "mean_of"))
TESTS = '''
from hypothesis.strategies import integers, sampled_from
from torch import nn

from viva.grading import agree_on, trained, weight
from viva.grading.strategies import networks, tensors

NET = networks(lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
NORMED = networks(lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 2)))
LINEAR = networks(lambda: nn.Linear(3, 2))


@weight(1)
def test_train(student, key):
    """Trains."""
    rates = sampled_from([0.5, 0.1])
    agree_on(trained(student.train), key.trained_train, NET, tensors("n", 3), tensors("n", 2), rates, integers(0, 3),
             rtol=1e-3, examples=20)


@weight(1)
def test_freeze(student, key):
    """Freezes."""
    agree_on(trained(student.freeze, returned=False), key.trained_freeze, NET, rtol=1e-3, examples=20)


@weight(1)
def test_adam(student, key):
    """Trains with Adam."""
    agree_on(trained(student.adam, returned=False), key.trained_adam, NORMED, tensors("n", 3), tensors("n", 2),
             integers(0, 4), rtol=1e-4, examples=20)


@weight(1)
def test_adam_itself(student):
    """Steps as torch has it when no function is being trained, also after one that failed."""
    assert student.hooks() == 0


@weight(1)
def test_mean_of(student, key):
    """Averages."""
    agree_on(trained(student.mean_of), key.trained_mean_of, LINEAR, LINEAR, rtol=1e-3, examples=20)
'''
HOOKS = """

def hooks():
    from torch.optim import optimizer

    return len(optimizer._global_optimizer_pre_hooks)
"""
SOLUTION = KEY + HOOKS
BY_HAND = """
    loss_of = nn.MSELoss()
    for epoch in range(epochs):
        model.zero_grad()
        loss_of(model(x), y).backward()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                weight -= lr * weight.grad
    return model
"""
BODY = SOLUTION.partition("lr, epochs):")[2].partition("\n\n\ndef freeze")[0]
ADAM_BODY = SOLUTION.partition("y, epochs):")[2].partition(HOOKS)[0]
ADAM_OTHERWISE = """
    optimizer, loss_of = torch.optim.Adam(model.parameters(), 1e-2), nn.MSELoss(reduction="none")
    for _ in range(epochs):
        loss = sum(loss_of(model(row[None]), goal[None]).mean() for row, goal in zip(x, y)) / len(x)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item() if epochs else None
"""
RIGHT = [
    [],
    [
        (BODY, BY_HAND),
        (ADAM_BODY, ADAM_OTHERWISE),
        (
            "    for weight in model[0].parameters():\n        weight.requires_grad = False",
            "    model[0].requires_grad_(False)",
        ),
        ("    made = nn.Linear(3, 2)", "    import copy\n    made = copy.deepcopy(other)"),
    ],
    [
        ("mse_loss(model(x), y)", "mse_loss(y, model(x).clone())"),
        ("    return model\n", "    model.eval()\n    return model\n"),
        ("        weight.requires_grad = False", "        weight.requires_grad = False\n    return model"),
    ],
]
WRONG_TRAIN = [
    ("        optimizer.step()\n", ""),
    ("        optimizer.zero_grad()\n", ""),
    ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.step()\n"),
    ("loss.backward()", "(-loss).backward()"),
    ("range(epochs)", "range(epochs + 1)"),
    ("lr=lr", "lr=lr, weight_decay=0.02"),
    ("    return model\n", "    return None\n"),
    ("    return model\n", "    return nn.Linear(3, 2)\n"),
    ("    return model\n", "    return model[0]\n"),
]
WRONG_ADAM = [
    ("lr=0.01", "lr=0.011"),
    ("torch.optim.Adam(", "torch.optim.SGD("),
    ("torch.optim.Adam(", "torch.optim.AdamW("),
    ("lr=0.01)", "lr=0.01, betas=(0.9, 0.99))"),
    ("nn.functional.mse_loss(model(x), y).backward()", "pass"),
]
WRONG_FREEZE = [
    ("model[0]", "model[2]"),
    ("        weight.requires_grad = False", "        weight.data.zero_()"),
    ("        weight.requires_grad = False", "        pass"),
]
WRONG_MEAN = [
    (") / 2)", ") / 1)"),
    ("    return made", "    return made.weight"),
    ("    made = nn.Linear(3, 2)", "    made = one"),
]


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    found = Examined(write_course(tmp_path_factory.mktemp("trained"), tests=TESTS, key=KEY_OF_TESTS, preload="torch"))
    yield found
    found.process.close()


def edited(*edits: tuple[str, str]) -> str:
    text = SOLUTION
    for was, becomes in edits:
        assert was in text
        text = text.replace(was, becomes)
    return text


def test_right_training(examined: Examined) -> None:
    with Rows() as row:
        for number, edits in enumerate(RIGHT):
            with row(number):
                score = examined.score(edited(*edits))
                assert [(str(entry.status), entry.message) for entry in score.entries] == [("passed", "")] * 5


@pytest.mark.long
def test_wrong_training(examined: Examined) -> None:
    with Rows() as row:
        for train, adam, freeze, mean in zip_longest(WRONG_TRAIN, WRONG_ADAM, WRONG_FREEZE, WRONG_MEAN):
            with row((train, adam, freeze, mean)):
                wrong = {"test_train": train, "test_adam": adam, "test_freeze": freeze, "test_mean_of": mean}
                score = examined.score(edited(*filter(None, wrong.values())))
                lost = {entry.test_id.partition("::")[2] for entry in score.entries if str(entry.status) == "failed"}
                assert lost == {test for test, edit in wrong.items() if edit}, [e.message for e in score.entries]


def test_messages_of_training(examined: Examined) -> None:
    entry = examined.entry(edited(WRONG_TRAIN[0]), "test_train")
    # On a busy machine the input is less small, and another weight is the first that differs.
    assert re.search(r"At \['returned'\]\['weights'\]\['0\.\w+'\] the answer differs", entry.message), entry.message
    entry = examined.entry(edited(("    return model\n", "    return optimizer\n")), "test_train")
    assert "At ['returned'] the answer is an object of class `SGD`; expected a dict of 2 items." in entry.message
    entry = examined.entry(edited(("loss.backward()", "loss.backwards()")), "test_train")
    assert "raised AttributeError" in entry.message


def test_adam_is_restored(examined: Examined) -> None:
    fails = edited(("nn.functional.mse_loss(model(x), y).backward()", "raise OSError"))
    entries = examined.score(fails, "test_adam", "test_adam_itself").entries
    assert [(str(entry.status), "OSError" in entry.message) for entry in entries] == [
        ("failed", True),
        ("passed", False),
    ]
