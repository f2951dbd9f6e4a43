"""Tests that are proposed for classes of networks."""

from typing import Any

import pytest

from tests.support.table_rows import Rows
from viva.plugins.authoring.solved.class_proposal import of_class
from viva.plugins.authoring.solved.proposals import propose_function
from viva.plugins.authoring.solved.recorded_run import Recorded, run
from viva.plugins.authoring.solved.solved_assignment import key_source
from viva.plugins.authoring.source.source_cells import Cell

pytest.importorskip("torch")
pytestmark = pytest.mark.long  # each is tried with some hundred drawn networks

NETWORKS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, d_in, hidden=8):
        super().__init__()
        self.a, self.b = nn.Linear(d_in, hidden), nn.Linear(hidden, 2)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.all = n_heads, nn.Linear(d_model, 3 * d_model)

    def split(self, x):
        return x.view(len(x), self.h, -1).transpose(0, 1)

    def forward(self, x, mask=None):
        q, k, v = map(self.split, self.all(x).chunk(3, -1))
        scores = q @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return (scores.softmax(-1) @ v).transpose(0, 1).reshape(x.shape)

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.one, self.other = Net(d), Net(2)

    def forward(self, x):
        return self.other(self.one(x))

class Noisy(nn.Module):
    def forward(self, x):
        return x + torch.randn(3)

class Unused(nn.Module):
    def forward(self, x):
        return x

Net(3)(torch.randn(6, 3)), Net(5, hidden=4)(torch.randn(2, 5))
Attention(8, 2)(torch.randn(5, 8)), Attention(4, 1)(torch.randn(4, 4), torch.tril(torch.ones(4, 4)))
Block(3)(torch.randn(2, 3)), Noisy()(torch.randn(2, 3))
"""
NET = """\
    agree_on(
        outputs(student.Net), key.outputs_Net, tuples(sizes("n")) | tuples(sizes("n"), integers(1, 16)),
        tuples(tensors("m", "n")),
    )"""
TRAINING = """
import torch
from torch import nn

def step(model, x, y, optimizer):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()

def freeze(model):
    for weight in model.parameters():
        weight.requires_grad = False

def adam(model, x, y):
    optimizer = torch.optim.AdamW(model.parameters())
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()

def by_sign(model, x, y):
    optimizer = torch.optim.Rprop(model.parameters())
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()

def grows(model, x):
    with torch.no_grad():
        for _ in range(30):
            model.weight.copy_(torch.sin(9 * model.weight))

def computed(model, x):
    return model(x)

def made(d_in, hidden):
    return nn.Sequential(nn.Linear(d_in, hidden), nn.ReLU(), nn.Linear(hidden, 2))

def embedded(vocab, dim=6):
    class Mean(nn.Module):
        def forward(self, x):
            return x.mean(1)

    return nn.Sequential(nn.Embedding(vocab, dim), Mean())

def unknown(size):
    return nn.Bilinear(size, size, 1)

net = nn.Linear(3, 2)
x, y = torch.randn(5, 3), torch.randn(5, 2)
step(net, x, y, torch.optim.Adam([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.1}], lr=0.2))
adam(net, x, y)
by_sign(net, x, y)
grows(net, x)
computed(net, x)
freeze(net)
made(4, 5), embedded(10), embedded(12, dim=3), unknown(2)
"""
STEP = """\
    agree_on(
        trained(student.step), key.trained_step, networks(lambda: nn.Linear(3, 2)), tensors("n", 3), tensors("n", 2),
        optimizers(torch.optim.SGD, lr=sampled_from([0.1, 0.05, 0.2])), rtol=1e-4,
    )"""
ADAM = """\
    agree_on(
        trained(student.adam, returned=False), key.trained_adam, networks(lambda: nn.Linear(3, 2)), tensors("n", 3),
        tensors("n", 2), rtol=1e-4,
    )"""
MADE = """\
    agree_on(
        outputs(student.made), key.outputs_made, tuples(sizes("n"), integers(1, 10)),
        tuples(tensors("m", "n", elements=numbers(0, 1))),
    )"""
EMBEDDED = """\
    agree_on(
        outputs(student.embedded), key.outputs_embedded, tuples(just(10)),
        tuples(tensors("n", "m", elements=integers(0, 9))),
    )
    agree_on(
        outputs(student.embedded), key.outputs_embedded, tuples(just(12), just(3)),
        tuples(tensors("n", "m", elements=integers(0, 11))),
    )"""
FREEZE = (
    "    agree_on(trained(student.freeze, returned=False), key.trained_freeze, "
    "networks(lambda: nn.Linear(3, 2)), rtol=1e-4)"
)
ATTENTION = """\
    agree_on(outputs(student.Attention), key.outputs_Attention, tuples(just(8), just(2)), tuples(tensors("n", 8)))
    agree_on(
        outputs(student.Attention), key.outputs_Attention, tuples(just(4), just(1)),
        tuples(tensors(4, 4), tensors(4, 4, elements=sampled_from([0.0, 1.0]))),
    )"""
BLOCK = '    agree_on(outputs(student.Block), key.outputs_Block, tuples(sizes("n")), tuples(tensors("m", "n")))'

HOMEWORK = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.a = nn.Linear(d, 4)
        self.b = nn.Linear(4, k)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

x = torch.randn(6, 3)
y = torch.tensor([0, 1, 0, 1, 0, 1])
Net(3, 2)(x)
"""
TRAIN = """
def train(model, x, y, epochs=5, lr=0.5):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses

train(Net(3, 2), x, y, epochs=5)
"""
HOMEWORK_NET = """\
    agree_on(outputs(student.Net), key.outputs_Net, tuples(sizes("n"), integers(1, 4)), tuples(tensors("m", "n")))"""
HOMEWORK_TRAIN = """\
    agree_on(
        trained(student.train), key.trained_train, networks(lambda: nn.Linear(3, 2)), tensors("n", 3),
        tensors("n", elements=integers(0, 1)), """
USES = """
import torch
from torch import nn

class Images(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 4, 3), nn.Linear(64, k)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)).flatten(1))

class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Embedding(10, 4), nn.Linear(4, 1)

    def forward(self, x):
        return torch.sigmoid(self.b(self.a(x).mean(1))).squeeze(-1)

def classes(model, x):
    return model(x).argmax(1)

def likely(model, x):
    return model(x) > 0.5

def kernel(model, x):
    return len(model(x)) + model.a.kernel_size[0]

images, words = torch.randn(5, 1, 6, 6), torch.arange(20).reshape(4, 5) % 10
classes(Images(3), images), classes(nn.Sequential(Images(3)), images), likely(Words(), words), kernel(Images(3), images)
"""
OF_USES = {
    "classes": "networks(lambda: nn.Sequential(nn.Flatten(), nn.Linear(36, 3))), ",
    "likely": "networks(lambda: nn.Sequential(nn.EmbeddingBag(10, 1), nn.Flatten(start_dim=0), nn.Sigmoid())), ",
    "kernel": "built(key.Images, ",
}


def test_network_classes(networks: Recorded) -> None:
    with Rows() as row:
        for name, body in [("Net", NET), ("Attention", ATTENTION), ("Block", BLOCK)]:
            with row(name):
                proposal = of_class(name, networks)
                assert "\n".join(proposal.body[1:]) == body, proposal.why_not
                assert proposal.imports == {"agree_on", "outputs"} and "tensors" in proposal.strategies
                assert "Delete this test if students choose the sizes" in proposal.body[0]
                assert proposal.warnings == ["`Attention.split` is not tested: only what the network computes is."] * (
                    name == "Attention"
                )


def test_network_and_its_training() -> None:
    for source, names in [(HOMEWORK, ["Net"]), (HOMEWORK + TRAIN, ["train", "Net"])]:
        found = recorded(source, *names)
        for name in names[:-1]:
            proposal = propose_function(name, found)
            assert "\n".join(proposal.body).startswith(HOMEWORK_TRAIN), proposal.why_not
        network = of_class("Net", found)
        assert "\n".join(network.body[1:]) == HOMEWORK_NET, network.why_not


def test_layers_replace_own_networks() -> None:
    found = recorded(USES, "Images", "Words", *OF_USES)
    with Rows() as row:
        for name, part in OF_USES.items():
            with row(name):
                proposal = propose_function(name, found)
                assert part in " ".join("\n".join(proposal.body).split()), [proposal.body, proposal.why_not]


def recorded(source: str, *names: str) -> Recorded:
    run_of_source = run([Cell("code", source, 1)], frozenset(names))
    assert run_of_source.failed == []
    run_of_source.written = frozenset(names)
    return run_of_source


@pytest.fixture(scope="module")
def networks() -> Recorded:
    return recorded(NETWORKS, "Net", "Attention", "Block", "Noisy", "Unused")


@pytest.fixture(scope="module")
def training() -> Recorded:
    names = "step freeze adam by_sign grows computed made embedded unknown"
    return recorded(TRAINING, *names.split())


def test_no_proposal(networks: Recorded) -> None:
    assert of_class("Noisy", networks).why_not == "it gives two results for the same weights and inputs"
    assert of_class("Unused", networks).why_not == "the notebook makes no such network, or does not call it"


def test_key_of_networks() -> None:
    cells = [Cell("code", NETWORKS, 1)]
    text = key_source(cells, frozenset({"Net"}), source="a.ipynb", classes=["Net"], networks={"Net"})
    names: dict[str, Any] = {}
    exec(compile(text, "key.py", "exec"), names)  # the key
    import torch

    answer = names["outputs_Net"]([3], [torch.ones(2, 3)])
    assert answer["output"].shape == (2, 2)
    assert answer["sizes of the weights that it depends on"] == [[2], [2, 8], [8], [8, 3]]


def test_training_functions(training: Recorded) -> None:
    for name, body in [("step", STEP), ("adam", ADAM), ("freeze", FREEZE)]:
        proposal = propose_function(name, training)
        assert "\n".join(proposal.body) == body and "trained" in proposal.imports, proposal.why_not
    nothing = "it returns nothing, and the weights afterwards cannot be compared: "
    by_sign, grows, computed = (propose_function(name, training) for name in ("by_sign", "grows", "computed"))
    assert by_sign.why_not == f"{nothing}optimizers such as Rprop make whole steps of errors of rounding"
    assert grows.why_not == f"{nothing}errors of rounding grow while it trains"
    assert "trained" not in computed.imports and "agree_on" in computed.imports


def test_functions_that_build_networks(training: Recorded) -> None:
    for name, body in [("made", MADE), ("embedded", EMBEDDED)]:
        proposal = propose_function(name, training)
        assert "\n".join(proposal.body[1:]) == body and "outputs" in proposal.imports, proposal.why_not
    assert propose_function("unknown", training).why_not == "it returns a Bilinear, which a test cannot compare"


def test_key_of_training() -> None:
    cells = [Cell("code", TRAINING, 1)]
    text = key_source(cells, frozenset({"freeze"}), source="a.ipynb", classes=[], trained=["freeze"])
    names: dict[str, Any] = {}
    exec(compile(text, "key.py", "exec"), names)  # the key
    import torch

    answer = names["trained_freeze"](torch.nn.Linear(3, 2))
    assert answer["returned"] is None
    assert [each["fixed weights"] for each in answer["networks afterwards"]] == [["bias", "weight"]]
