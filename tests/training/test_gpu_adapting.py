"""What is graded on a graphics card at the size of BERT-base, on the CPU with small models: only the device is new."""

import importlib.util
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from fixtures.adapting_transformers.data.make_prefixes import in_the_box
from graders.adapting_transformers import test_on_a_gpu as grader
from tests.support.own_assignments import ROOT, accepted_of, example
from viva.examiner.fixtures.student_names import Names
from viva.examiner.fixtures.submission_fixture import SubmissionView
from viva.grading.events import Events, collecting
from viva.plugins import training
from viva.plugins.training import read_thresholds

ASSIGNMENT = "adapting_transformers"
SMALL = {
    "vocab_size": 500, "hidden_size": 64, "intermediate_size": 96, "max_position_embeddings": 40,
    "num_hidden_layers": 2, "num_attention_heads": 4,
}  # fmt: skip
LENGTH, PREFIX_LENGTH = 24, 8
LIMITS = read_thresholds(ROOT / "graders" / ASSIGNMENT / "thresholds" / "on_a_gpu.json")
FAR = LIMITS[grader.APART]
MEASURED = replace(LIMITS[grader.LOSS], guess="")
"""As if it had been measured: on a CPU it is no guess."""

Asked = tuple[SubmissionView, Names, np.random.Generator]


def asked(name: str) -> Iterator[Asked]:
    with in_the_box(example(ASSIGNMENT, name)) as (submission, inside):
        yield submission, inside, np.random.default_rng(5)


@pytest.fixture(params=accepted_of(ASSIGNMENT))
def right(request: pytest.FixtureRequest) -> Iterator[Asked]:
    yield from asked(request.param)


@pytest.fixture
def one(request: pytest.FixtureRequest) -> Iterator[Asked]:
    yield from asked(request.param)


def learn(submission: Any, inside: Any, rng: np.random.Generator) -> Events:
    """The test of the graders; what it draws."""
    events = Events()
    with collecting(events):
        losses = grader.learned(submission, inside, rng, SMALL, LENGTH, "cpu", MEASURED, rate=1e-3)
        training.expect(min(losses), MEASURED, grader.learns_little(losses, MEASURED))
    return events


@pytest.mark.training
def test_right_programs_pass(right: Asked) -> None:
    submission, inside, rng = right
    for kind in ("full", "prefix"):
        assert grader.apart(submission, inside, rng, kind, SMALL, LENGTH, "cpu", PREFIX_LENGTH) <= FAR.value
    speed, loss = learn(submission, inside, rng).curves
    assert (speed.name, len(speed.values)) == ("at real size, rows per second", grader.ROUNDS)
    assert min(speed.values) > 0 and len(loss.values) >= grader.EPOCHS
    assert loss.values[-1] < loss.values[0] and loss.thresholds == ((grader.EPOCHS, MEASURED.value),)


@pytest.mark.training
@pytest.mark.parametrize("one", ["wrong/learning_rate_stays_zero", "wrong/head_frozen"], indirect=True)
def test_loss_that_stays_is_told(one: Asked) -> None:
    with pytest.raises(
        AssertionError, match=r"on ten rows, on the GPU, their loss falls from 0\.693 to 0\.\d+; expected"
    ):
        learn(*one)


@pytest.mark.nightly
@pytest.mark.parametrize("one", ["accepted/plain_loops"], indirect=True)
def test_logits_that_depend_on_the_device(one: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    submission, inside, rng = one
    batch = grader.drawn(rng, 4, LENGTH, SMALL["vocab_size"])
    make = submission.preferring("classification").CustomModelforSequenceClassification
    grader.prepare(submission, inside, "full", SMALL, PREFIX_LENGTH)
    found = inside.on_both(make, "full", PREFIX_LENGTH, batch, "cpu")
    np.testing.assert_array_equal(found["cpu"], found["device"])
    assert 0.05 < np.abs(found["cpu"]).max() < 20

    class Other:
        """`inside`, on a device that computes with eight bits."""

        def __getattr__(self, name: str) -> Any:
            return getattr(inside, name)

        def on_both(self, *given: Any) -> Any:
            logits = dict(inside.on_both(*given))
            return {**logits, "device": np.asarray(logits["cpu"]) * (1 + 2.0**-7)}

    far = grader.apart(submission, Other(), rng, "full", SMALL, LENGTH, "cpu", PREFIX_LENGTH)
    assert far > FAR.value and "the logits on the GPU differ" in grader.differs(far, "full", FAR)


@pytest.mark.nightly
@pytest.mark.parametrize("one", ["accepted/plain_loops"], indirect=True)
def test_weights_depend_on_sizes_and_seed(one: Asked) -> None:
    submission, inside, rng = one
    make = submission.preferring("classification").CustomModelforSequenceClassification
    batch = grader.drawn(rng, 2, LENGTH, SMALL["vocab_size"])
    submission.set(prefix_length=1)

    def base(sizes: dict[str, int], seed: int) -> dict[str, np.ndarray]:
        inside.serve_at_random(sizes, seed)
        found: dict[str, np.ndarray] = inside.computed(make, "full", 1, batch)["groups"]["base"]
        return found

    first, again, other, smaller = base(SMALL, 1), base(SMALL, 1), base(SMALL, 2), base({**SMALL, "hidden_size": 32}, 1)
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
    word = "embeddings.word_embeddings.weight"
    assert not np.allclose(first[word], other[word]) and smaller[word].shape == (500, 32)
    assert sum(name.endswith("attention.self.query.weight") for name in first) == SMALL["num_hidden_layers"]


def test_cross_entropy_is_that_of_torch() -> None:
    rng = np.random.default_rng(0)
    logits, labels = 30 * rng.standard_normal((7, 2)), rng.integers(0, 2, 7)
    wanted = torch.nn.functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(labels)).item()
    assert grader.cross_entropy(logits, labels) == pytest.approx(wanted)
    assert (
        grader.cross_entropy(np.zeros((4, 2)), np.arange(4) % 2)
        == pytest.approx(math.log(2))
        == pytest.approx(4 * MEASURED.value, abs=1e-3)
    )
    assert grader.cross_entropy(np.full((4, 2), np.nan), np.arange(4) % 2) == 1e9


@pytest.fixture
def on_cpu() -> Any:
    """The mode, loaded by itself: the package next to it replaces what the hub gives."""
    path = ROOT / "graders" / ASSIGNMENT / "inside" / "on_cpu.py"
    spec = importlib.util.spec_from_file_location("on_cpu", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.OnCpu


def test_named_card_means_cpu(on_cpu: Any) -> None:
    """Without the mode each of these lines raises here, where there is no card."""
    with on_cpu():
        made = [
            torch.ones(2).to("cuda"),
            torch.ones(2).to(device="cuda:0"),
            torch.ones(2).to(torch.device("cuda"), torch.float32),
            torch.ones(2).to(0),
            torch.ones(2).cuda(),
            torch.ones(2, device="cuda"),
            torch.tensor([1.0, 1.0], device=torch.device("cuda", 0)),
            torch.nn.Linear(2, 2).to("cuda").bias,
            torch.nn.Linear(2, 2, device="cuda").cuda().bias,
        ]
        assert torch.ones(2).to(torch.int64).dtype is torch.int64
    assert {tensor.device.type for tensor in made} == {"cpu"}
    with pytest.raises((AssertionError, RuntimeError)):
        torch.ones(2).to("cuda")
