"""The encoder that bert_lora_fudge trains with the student's layers: it is BERT, and tells right layers from wrong."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from graders.bert_lora_fudge import test_fine_tuning as grader
from graders.bert_lora_fudge.inside.encoder import encode
from graders.bert_lora_fudge.inside.fine_tuning import ADAPTED, Adam, LoRATuning, seeded
from tests.support.own_assignments import COURSE, accepted_of, examiner, example, grade
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model import Status

ASSIGNMENT = "bert_lora_fudge"
TEST = "test_lora_tuning_learns"
RUN: dict[str, Any] = {"seed": 1, "r": grader.R, "alpha": grader.ALPHA, "lr": grader.RATE, "batch_size": grader.BATCH}
TOLD = {
    "wrong/both_factors_zero": "expected at least 0.94",
    "wrong/factors_frozen": "expected at least 0.94",
    "wrong/one_factor_frozen": "Training changes 1 of the two factors of the query weight of layer 1",
    "wrong/trainable_base": "Is W itself trained?",
    "error/untransposed_weight": "expected at least 0.94",
}
"""What is wrong with training, and what the student reads."""
STILL_RIGHT = [
    *("wrong/almost_zero", "wrong/both_factors_random", "wrong/scale_missing"),
    *("error/missing_module", "partial/lora_only"),
]
"""What is wrong elsewhere keeps these points."""


class Layer(torch.nn.Module):
    """W + (α/r) A B in torch, from factors of any size."""

    W: torch.Tensor

    def __init__(self, W: np.ndarray, r: int, alpha: float, sizes: tuple[float, float] = (0.0, 1.0)) -> None:
        super().__init__()
        self.register_buffer("W", torch.from_numpy(W))
        self.A = torch.nn.Parameter(sizes[0] * torch.randn(W.shape[0], r))
        self.B = torch.nn.Parameter(sizes[1] * torch.randn(r, W.shape[1]))
        self.scale = alpha / r

    def weight(self) -> torch.Tensor:
        return self.W + self.scale * self.A @ self.B

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight().T


@pytest.mark.slow
def test_encoder_is_that_of_transformers() -> None:
    """Values, and gradients of a matrix that another one stands for."""
    from transformers import BertConfig, BertModel

    from fixtures.adapting_transformers.data import make

    sizes: Any = {"vocab_size": len(make.IDS), "max_position_embeddings": make.POSITIONS, **make.SIZES}
    theirs: Any = BertModel(BertConfig(**sizes, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    theirs.eval()
    weights = {name: torch.from_numpy(value) for name, value in grader.encoder().items()}
    theirs.load_state_dict(weights)
    replaced = "encoder.layer.0.attention.self.query.weight"
    ours = {**weights, replaced: weights[replaced].clone().requires_grad_()}
    ids = torch.from_numpy(grader.asked_rows()[:20])
    states, expected = encode(ours, ids), theirs(input_ids=ids).last_hidden_state
    torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-5)
    torch.autograd.backward([(states**3).sum(), (expected**3).sum()])
    torch.testing.assert_close(
        ours[replaced].grad, dict(theirs.named_parameters())[replaced].grad, rtol=1e-3, atol=1e-3
    )


def test_adam_is_that_of_torch() -> None:
    """For tensors, arrays and nested lists, changed in place."""
    rng = np.random.default_rng(0)
    start, gradients = rng.standard_normal((3, 2)), rng.standard_normal((5, 3, 2))
    theirs = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.Adam([theirs], lr=0.1)
    ours = [torch.tensor(start), start.copy(), start.tolist()]
    adam = Adam(0.1)
    for gradient in gradients:
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
        adam.step(ours, [gradient] * 3)
    for parameter in ours:
        np.testing.assert_allclose(np.asarray(parameter), theirs.detach().numpy(), rtol=1e-10)


def test_random_numbers_of_layers() -> None:
    def drawn(seed: int) -> list[float]:
        with seeded(seed):
            sources = [np.random.default_rng(), np.random.default_rng(), np.random.default_rng(7)]
            return [*(float(source.random()) for source in sources), float(np.random.rand()), float(torch.rand(()))]

    before = np.random.default_rng
    assert drawn(1) == drawn(1) != drawn(2) and drawn(1)[2] == drawn(2)[2]
    assert len(set(drawn(1))) == 5 and np.random.default_rng is before


@pytest.mark.long
def test_epoch_equals_autograd() -> None:
    """The layers see unit vectors alone; by the chain rule that changes nothing."""
    tuning = LoRATuning(Layer, grader.encoder(), grader.training_rows(), RUN)
    weights = {name: torch.from_numpy(value) for name, value in grader.encoder().items()}
    names = [name for name in weights if name.endswith(ADAPTED)]
    with seeded(RUN["seed"]):
        layers = {name: Layer(weights[name].numpy(), grader.R, grader.ALPHA) for name in names}
    d = weights["pooler.dense.bias"].shape[0]
    head = [torch.zeros(2, d, requires_grad=True), torch.zeros(2, requires_grad=True)]
    optimizer = torch.optim.Adam([*head, *(p for layer in layers.values() for p in layer.parameters())], lr=RUN["lr"])

    def scores(ids: torch.Tensor) -> torch.Tensor:
        states = encode({**weights, **{name: layer.weight() for name, layer in layers.items()}}, ids)
        return torch.nn.functional.linear(states.mean(dim=1), *head)

    rows = {name: torch.from_numpy(value) for name, value in grader.training_rows().items()}
    order = torch.randperm(len(rows["labels"]), generator=torch.Generator().manual_seed(RUN["seed"]))
    losses = []
    for some in torch.split(order, grader.BATCH):
        loss = torch.nn.functional.cross_entropy(scores(rows["input_ids"][some]), rows["labels"][some])
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    assert tuning.epoch() == pytest.approx(np.mean(losses), abs=1e-3)
    asked = grader.asked_rows()[:50]
    np.testing.assert_allclose(tuning.scores(asked), scores(torch.from_numpy(asked)).detach().numpy(), atol=1e-3)


@pytest.mark.training
@pytest.mark.parametrize("sizes", [(0, 1e-3), (1e-3, 0), (0, 0.02), (0.02, 0), (0, 0.2), (0.2, 0), (0, 1), (1, 0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_layers_learn_from_any_start(sizes: Any, seed: int) -> None:
    def make(W: np.ndarray, r: int, alpha: float) -> Layer:
        return Layer(W, r, alpha, sizes)

    tuning = LoRATuning(make, grader.encoder(), grader.training_rows(), {**RUN, "seed": seed})
    before = tuning.state()
    for _ in range(grader.EPOCHS):
        tuning.epoch()
    after = tuning.state()
    assert grader.LIMIT.met_by(grader.accuracy(tuning.scores(grader.asked_rows())))
    grader.check_frozen(after)
    grader.check_factors(before, after)


def test_answers_stay_with_the_grader() -> None:
    assignment = COURSE.assignment(ASSIGNMENT)
    helpers = helpers_of(assignment)
    assert helpers and not [name for name, text in helpers.items() if grader.ANSWERS.name in text]
    assert grader.ANSWERS not in assignment.data
    assert {len(row) for row in json.loads((grader.DATA / "questions.json").read_text("utf-8"))["test"]} == {2}


@pytest.mark.training
def test_layers_are_told_apart() -> None:
    with examiner(ASSIGNMENT) as process:
        for name in [*accepted_of(ASSIGNMENT), *STILL_RIGHT]:
            (entry,) = grade(process, example(ASSIGNMENT, name), TEST).entries
            assert entry.status is Status.PASSED, f"{name}: {entry.message}"
        for name, words in TOLD.items():
            (entry,) = grade(process, example(ASSIGNMENT, name), TEST).entries
            assert entry.status is Status.FAILED and words in entry.message, f"{name}: {entry.message}"
