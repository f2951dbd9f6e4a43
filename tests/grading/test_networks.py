"""Networks that students write are compared by what they compute, whatever their layers are called."""

from collections.abc import Iterator

import pytest

from tests.support.course_of_texts import Examined, write_course
from tests.support.table_rows import Rows

KEY = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.first = nn.Linear(size, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.third = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        a = torch.relu(self.first(x))
        return self.drop(self.norm(self.second(a) + torch.tanh(self.third(a)))), a


def outputs_Net(arguments, inputs):
    from viva.grading.networks import outputs_of

    return outputs_of(Net, arguments, inputs)
"""
TESTS = '''
from hypothesis.strategies import integers, tuples

from viva.grading import agree_on, outputs, weight
from viva.grading.strategies import tensors


@weight(1)
def test_net(student, key):
    """Net computes what it should."""
    agree_on(outputs(student.Net), key.outputs_Net, tuples(integers(3, 3), integers(1, 6)), tuples(tensors("n", 3)))
'''


def changed(*edits: tuple[str, str]) -> str:
    text = KEY
    for was, becomes in edits:
        assert was in text
        text = text.replace(was, becomes)
    return text


LAYERS = "self.layers = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(3)])"
ONE, OTHER = "self.second = nn.Linear(hidden, hidden)", "self.third = nn.Linear(hidden, hidden)"
RIGHT = {
    "the key": KEY,
    "other names": changed(("first", "w1"), ("norm", "n")),
    "another order": changed((ONE, "pass"), (OTHER, f"{OTHER}\n        {ONE}")),
    "a list": changed(
        (ONE, LAYERS), (OTHER, ""), ("self.second(", "self.layers[0]("), ("self.third(", "self.layers[1](")
    ),
    "sizes found in the first call": changed(("nn.Linear(size, hidden)", "nn.LazyLinear(hidden)")),
    "a second name": changed(("        self.drop =", "        self.again = self.second\n        self.drop =")),
    "other first weights": changed(
        ("        self.drop =", "        nn.init.zeros_(self.first.bias)\n        self.drop =")
    ),
    "weights of its own": changed(
        (
            "self.first = nn.Linear(size, hidden)",
            "self.w = nn.Parameter(torch.randn(hidden, size))\n        self.b = nn.Parameter(torch.zeros(hidden))",
        ),
        ("self.first(x)", "x @ self.w.T + self.b"),
    ),
}
WRONG = {
    "a layer used twice": changed(("self.third(a)", "self.second(a)")),
    "no activation": changed(("torch.relu(self.first(x))", "self.first(x)")),
    "another activation": changed(("torch.tanh", "torch.sigmoid")),
    "no norm": changed(("self.norm(", "(")),
    "dropout in evaluation": changed(("self.drop(", "nn.functional.dropout(")),
    "no residual": changed(("self.second(a) + ", "")),
    "no gradients": changed(("    def forward", "    @torch.no_grad()\n    def forward")),
    "one output": changed((", a\n", "\n")),
    "no bias": changed(("nn.Linear(size, hidden)", "nn.Linear(size, hidden, bias=False)")),
    "no module": changed(("nn.Module", "object")),
}


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    found = Examined(write_course(tmp_path_factory.mktemp("networks"), tests=TESTS, key=KEY, preload="torch"))
    yield found
    found.process.close()


def test_right_and_wrong_networks(examined: Examined) -> None:
    with Rows() as row:
        for name, text in [*RIGHT.items(), *WRONG.items()]:
            with row(name):
                entry = examined.entry(text.partition("def outputs_Net")[0], "test_net")
                assert (str(entry.status) == "passed") == (name in RIGHT), entry.message
