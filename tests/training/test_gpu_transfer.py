"""What `test_on_a_gpu.py` of transfer_learning asks of a GPU, asked of the CPU: all but the device is the same."""

import numpy as np
import pytest
import torch

from fixtures.transfer_learning.data.hand_in import opened
from graders.transfer_learning import test_on_a_gpu as grader
from graders.transfer_learning.inside.devices import OneDevice, copied_to, last_scores_on, on, placed
from reference.transformer.language_model import Model
from tests.support.course_of_texts import best_tier
from tests.support.own_assignments import ROOT, examiner, example, grade
from viva.model import Status
from viva.model.gpu import NONE_HERE, Gpus
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.training import read_thresholds

EXAMPLES = ROOT / "fixtures" / "transfer_learning" / "submissions"
SMALL = grader.Sizes(ntoken=300, nhead=2, nhid=32, nlayers=2)
ON_GPU = ["test_on_a_gpu.py::test_cpu_and_gpu_agree", "test_on_a_gpu.py::test_language_model_learns_on_a_gpu"]
LEARNED, LARGEST = 5.0, 1e-5
"""Of 300 words 64 occur: log 300 = 5.70 and log 64 = 4.16."""


SHORT = {"accepted/torch_module": pytest.mark.nightly, "accepted/notebook_out_of_order": pytest.mark.nightly}
"""One that knows nothing of devices, and one that names the graphics card everywhere."""


RIGHT = ["key", *(f"accepted/{folder.name}" for folder in sorted((EXAMPLES / "accepted").iterdir()))]


@pytest.mark.parametrize("name", [pytest.param(name, marks=SHORT.get(name, pytest.mark.training)) for name in RIGHT])
def test_right_programs_agree_and_learn(name: str) -> None:
    with opened(name) as (student, submission, inside):
        apart = grader.compared(student, submission, inside, SMALL, "cpu")
        trained = grader.learned(student, submission, inside, SMALL, "cpu", seed=1, rounds=2)
    assert max(apart) <= LARGEST
    assert len(trained.losses) == grader.EPOCHS and max(trained.losses) < LEARNED
    assert len(trained.tokens_per_s) == 2 and min(trained.tokens_per_s) > 0


@pytest.mark.nightly
def test_step_that_does_nothing() -> None:
    with opened("wrong/no_step") as (student, submission, inside):
        trained = grader.learned(student, submission, inside, SMALL, "cpu", seed=1)
    assert min(trained.losses) > LEARNED and trained.tokens_per_s == ()


def test_size_of_the_lab() -> None:
    """21,018,401 parameters, as the answer to question 3 says."""
    model = placed(Model, 1, grader.LAB.language_model(), "meta")
    assert sum(p.numel() for p in model.parameters()) == 21_018_401
    assert {p.device.type for p in model.parameters()} == {"meta"}
    limits = read_thresholds(ROOT / "graders" / "transfer_learning" / "thresholds" / "on_a_gpu.json")
    assert np.log(grader.WORDS) < limits[grader.LOSS].value < np.log(grader.LAB.ntoken)


def test_scores_with_the_same_weights() -> None:
    model = placed(Model, 1, SMALL.language_model(), "cpu")
    other = copied_to(model, "cpu")
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
    source = np.arange(12).reshape(4, 3)
    torch.testing.assert_close(last_scores_on("cpu", model, source, None), last_scores_on("cpu", other, source, None))
    assert last_scores_on("cpu", model, source, None).shape == (3, SMALL.ntoken)


class Attention(torch.nn.Module):
    """Makes its mask where it likes; `forward` on another device raises without help."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.ones(5, 4))
        self.register_buffer("seen", torch.zeros(2))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.table[ids]
        mask = torch.from_numpy(np.tril(np.ones((3, 3), dtype=bool)))
        scores = torch.einsum("td,sd->ts", x, x).masked_fill(~mask, float("-inf"))
        return torch.cat([scores.softmax(-1) @ x, torch.zeros(1, 4)])


def test_tensors_are_brought_to_the_device() -> None:
    """The device that holds no numbers stands for a GPU: with tensors of the CPU it raises just so."""
    model = Attention().to("meta")
    ids = torch.zeros(3, dtype=torch.long, device="meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        model(ids)
    found = on("meta", model)(ids)
    assert found.device.type == "meta" and found.shape == (4, 4)


def test_calls_in_one_place() -> None:
    with OneDevice("meta"):
        values = torch.ones(3)
        values[1:] = 2.0
        assert values.tolist() == [1.0, 2.0, 2.0] and values.device.type == "cpu"
        assert Attention().to("meta").table.device.type == "meta"
        assert (values * 2).numpy().tolist() == [2.0, 4.0, 4.0]
        assert (torch.ones(2, device="meta") * torch.tensor(2.0)).device.type == "meta"


def test_change_in_place_stays_in_place() -> None:
    changed = torch.zeros(2, device="meta")
    with OneDevice("cpu"):
        changed += torch.ones(2)
        changed.add_(torch.ones(2))
        changed[0:2] = torch.ones(2)
    assert changed.device.type == "meta"


@pytest.mark.nightly
def test_without_gpu_tests_are_open() -> None:
    with examiner("transfer_learning", BoxOptions(best_tier(), gpus=Gpus(why_none=NONE_HERE))) as process:
        score = grade(process, example("transfer_learning", "accepted/torch_module"), *ON_GPU)
    assert [(e.status, e.message, e.needs) for e in score.entries] == [
        (Status.DEFERRED, NONE_HERE, ("training", "gpu"))
    ] * 2
    assert score.earned == 0 and score.still_open == score.points == 4
