"""The state of a training with torch crosses the connection, and a training that was cut continues bit for bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from graders.transfer_learning.inside import checkpoints
from tests.support.course_of_texts import without_times
from tests.support.own_assignments import examiner, example
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.values.plain_data import PlainData

EPOCHS = 3
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "Adam": lambda parameters: torch.optim.Adam(parameters, 1e-2),
    "AdamW with amsgrad": lambda parameters: torch.optim.AdamW(parameters, 1e-2, amsgrad=True),
    "SGD with momentum": lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9, nesterov=True),
    "plain SGD": lambda parameters: torch.optim.SGD(parameters, 0.1),
    "RMSprop": lambda parameters: torch.optim.RMSprop(parameters, 1e-2),
    "LBFGS": lambda parameters: torch.optim.LBFGS(parameters, 0.5, max_iter=3),
    "two groups": lambda parameters: torch.optim.Adam(
        [{"params": parameters[:2], "lr": 1e-3}, {"params": parameters[2:]}], 1e-2
    ),
}


class Net(nn.Module):
    """Dropout draws random numbers, batch norm has buffers, the last layer shares its weight with the first."""

    def __init__(self, width: int = 6) -> None:
        super().__init__()
        self.first, self.norm, self.drop = nn.Linear(width, width), nn.BatchNorm1d(width), nn.Dropout(0.5)
        self.last = nn.Linear(width, width)
        self.last.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, width) -> the same."""
        found: torch.Tensor = self.last(self.drop(self.norm(torch.relu(self.first(x)))))
        return found


def begun(optimizer: str) -> tuple[Net, torch.optim.Optimizer]:
    torch.manual_seed(1)
    np.random.seed(1)
    net = Net()
    return net, OPTIMIZERS[optimizer](list(net.parameters()))


def epoch(net: Net, optimizer: torch.optim.Optimizer, *, forgets_gradients: bool = True) -> None:
    data = torch.randn(8, 6) + float(np.random.normal())

    def loss() -> Any:
        if forgets_gradients:
            optimizer.zero_grad()
        found = (net(data) - data).square().mean()
        found.backward()
        return found

    optimizer.step(loss)


def send_across(state: Any) -> Any:
    """From the box, into a file, out of it and back into a box."""
    leaves = wire.load(
        b"".join(bytes(part) for part in wire.dump(state, PlainData(lambda value: pytest.fail(repr(value)))))
    )
    return wire.load(b"".join(bytes(part) for part in wire.dump(leaves)))


def bits(net: Net) -> list[bytes]:
    return [tensor.detach().numpy().tobytes() for tensor in net.state_dict().values()] + [
        torch.get_rng_state().numpy().tobytes()
    ]


@pytest.mark.long
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("cut", range(EPOCHS + 1))
@pytest.mark.parametrize("forgets_gradients", [True, False])
def test_training_continues_bit_for_bit(optimizer: str, cut: int, forgets_gradients: bool) -> None:
    """Also where gradients of one epoch reach into the next, because someone forgot `zero_grad`."""
    whole = begun(optimizer)
    for _ in range(EPOCHS):
        epoch(*whole, forgets_gradients=forgets_gradients)
    expected = bits(whole[0])
    first = begun(optimizer)
    for _ in range(cut):
        epoch(*first, forgets_gradients=forgets_gradients)
    state = send_across(checkpoints.snapshot(*first))
    again = begun(optimizer)
    epoch(*again)
    torch.rand(3)
    assert checkpoints.restore(*again, state)
    for _ in range(EPOCHS - cut):
        epoch(*again, forgets_gradients=forgets_gradients)
    assert bits(again[0]) == expected


def test_modes_and_frozen_parameters_are_kept() -> None:
    net, optimizer = begun("Adam")
    net.norm.eval()
    net.first.bias.requires_grad_(False)
    state = send_across(checkpoints.snapshot(net, optimizer))
    net.train()
    net.first.bias.requires_grad_(True)
    assert checkpoints.restore(net, optimizer, state)
    assert net.drop.training and not net.norm.training and not net.first.bias.requires_grad
    assert net.first.weight.requires_grad and net.last.weight is net.first.weight


@pytest.mark.parametrize(
    "other", [lambda: (Net(5), "Adam"), lambda: (nn.Linear(6, 6), "Adam"), lambda: (Net(), "two groups")]
)
def test_state_that_does_not_fit(other: Callable[[], tuple[nn.Module, str]]) -> None:
    state = send_across(checkpoints.snapshot(*begun("Adam")))
    net, name = other()
    optimizer = OPTIMIZERS[name](list(net.parameters()))
    before = [parameter.detach().clone() for parameter in net.parameters()]
    assert not checkpoints.restore(net, optimizer, state)
    assert all(torch.equal(*pair) for pair in zip(before, net.parameters(), strict=True))


def test_large_model_is_not_copied() -> None:
    net = nn.Linear(4096, 4096)
    with pytest.raises(ValueError, match="64 MiB, more than 60 MiB"):
        checkpoints.snapshot(net, torch.optim.SGD(net.parameters(), 0.1))


@pytest.mark.long
def test_half_precision() -> None:
    net = nn.Linear(3, 3).to(torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    before = net.weight.detach().clone()
    state = send_across(checkpoints.snapshot(net, optimizer))
    net.weight.data.zero_()
    assert checkpoints.restore(net, optimizer, state)
    assert net.weight.dtype is torch.bfloat16 and torch.equal(net.weight, before)


ASSIGNMENT = "transfer_learning"
SHORT = ("test_pretrained_is_ahead_after_one_epoch", "test_pretrained_is_ahead_at_the_end")


@pytest.mark.training
@pytest.mark.parametrize("name", ["accepted/einsum_by_hand", "wrong/base_not_loaded"])
def test_verdict_of_interrupted_training(name: str, tmp_path: Path) -> None:
    process = examiner(ASSIGNMENT)
    told: list[str] = []

    def graded(*, kept: Path | None, kill: bool = False) -> Graded:
        def on_progress(text: str) -> None:
            told.append(text)
            if kill and any(tmp_path.iterdir()):
                process.interrupt()

        told.clear()
        request = GradeRequest(example(ASSIGNMENT, name), GradeOptions(only=SHORT), checkpoints=kept)
        return process.grade(request, on_progress=on_progress)

    with process:
        whole = graded(kept=None)
        cut = graded(kept=tmp_path, kill=True)
        again = graded(kept=tmp_path)
    # A machine on which no training takes two seconds has nothing to keep, and comes to the end.
    assert cut.finished or any("goes on after epoch" in text for text in told)
    assert without_times(again.score) == without_times(whole.score) and not again.remarks
