"""Tests that are proposed for classes of networks."""

import pytest
from rows import Rows

from viva.authoring.solved.class_proposal import of_class
from viva.authoring.solved.key_source import key_source
from viva.authoring.solved.recorded_run import Recorded, run
from viva.authoring.source.source_cells import Cell

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
ATTENTION = """\
    agree_on(outputs(student.Attention), key.outputs_Attention, tuples(just(8), just(2)), tuples(tensors("n", 8)))
    agree_on(
        outputs(student.Attention), key.outputs_Attention, tuples(just(4), just(1)),
        tuples(tensors(4, 4), tensors(4, 4, elements=sampled_from([0.0, 1.0]))),
    )"""
BLOCK = '    agree_on(outputs(student.Block), key.outputs_Block, tuples(sizes("n")), tuples(tensors("m", "n")))'


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    names = frozenset({"Net", "Attention", "Block", "Noisy", "Unused"})
    found = run([Cell("code", NETWORKS, 1)], names)
    assert found.failed == []
    found.written = names
    return found


def test_what_is_proposed(recorded: Recorded) -> None:
    with Rows() as row:
        for name, body in [("Net", NET), ("Attention", ATTENTION), ("Block", BLOCK)]:
            with row(name):
                proposal = of_class(name, recorded)
                assert "\n".join(proposal.body[1:]) == body, proposal.why_not
                assert proposal.imports == {"agree_on", "outputs"} and "tensors" in proposal.strategies
                assert "Delete this test if students choose the sizes" in proposal.body[0]
                assert proposal.warnings == ["`Attention.split` is not tested: only what the network computes is."] * (
                    name == "Attention"
                )


def test_why_nothing_is_proposed(recorded: Recorded) -> None:
    assert of_class("Noisy", recorded).why_not == "it gives two results for the same weights and inputs"
    assert of_class("Unused", recorded).why_not == "the notebook makes no such network, or does not call it"


def test_the_key_has_what_the_test_asks() -> None:
    cells = [Cell("code", NETWORKS, 1)]
    text = key_source(cells, frozenset({"Net"}), source="a.ipynb", classes=["Net"], networks={"Net"})
    names: dict[str, object] = {}
    exec(compile(text, "key.py", "exec"), names)  # the key
    import torch

    answer = names["outputs_Net"]([3], [torch.ones(2, 3)])  # type: ignore[operator]  # the function above
    assert answer["output"].shape == (2, 2)
    assert answer["sizes of the weights that it depends on"] == [[2], [2, 8], [8], [8, 3]]
