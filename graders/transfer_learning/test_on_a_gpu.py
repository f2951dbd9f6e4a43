"""Question 4 at the lab's size on a graphics card: the student's own model and training step, with random weights.

All of it takes a device and sizes, and runs on a CPU as well (`tests/training/test_gpu_transfer.py`). On a GPU it
has not been run yet. float32 throughout: the lab uses no mixed precision.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import number, weight
from viva.plugins import training

GPU = "cuda"
LOSS = "The loss on words that were not shown, after fifty steps"
SPECIAL = ("<sos>", "<pad>", "<eos>", "<oov>")
FURTHEST = "How far the scores on CPU and GPU are apart"
"""They are below 3 in accepted programs."""
COMPARED, COMPARED_LENGTH, COMPARED_RATE = 4, 128, 0.1
WORDS = 64
"""The words of the vocabulary that occur, all equally often. A language model that knows nothing has a loss
of log 50001 = 10.82, one that has seen which words there are log 64 = 4.16, and less is not to be had."""
EPOCHS, STEPS, BATCH, LENGTH, RATE = 3, 50, 4, 32, 1e-3
ASKED = 64
LAB_BATCH, LAB_LENGTH, ROUNDS, STEPS_OF_ROUND = 16, 128, 4, 10
"""How fast it is, is measured on batches of the lab's size: its documents have 135 pieces on average."""

Ids = NDArray[np.int64]


class Sizes(NamedTuple):
    """What `Model` is made with; the lab trains its language model without dropout."""

    ntoken: int
    nhead: int
    nhid: int
    nlayers: int

    def language_model(self) -> list[Any]:
        """Return the arguments of `Model`."""
        return [*self, self.ntoken, 0.0]


LAB = Sizes(ntoken=50_001, nhead=2, nhid=200, nlayers=4)


class Apart(NamedTuple):
    """How far the scores on two devices are apart."""

    before: float
    """With the same random weights."""
    after: float
    """After one step of the student's training on each."""


class Trained(NamedTuple):
    """What a training has reached."""

    losses: tuple[float, ...]
    """On words that it was not shown, after each epoch."""
    tokens_per_s: tuple[float, ...]
    """In rounds of ten steps, of which the first makes everything warm."""


@number("4")
@weight(2)
@pytest.mark.training
@pytest.mark.gpu(memory_mib=4000)
@pytest.mark.timeout(120)
def test_cpu_and_gpu_agree(student: Any, submission: Any, inside: Any) -> None:
    """At the lab's size your model gives the same scores on CPU and GPU, before and after a step of your training."""
    limit = training.thresholds("on_a_gpu.json")[FURTHEST]
    apart = compared(student, submission, inside, LAB, GPU)
    if np.isfinite(apart).all():
        training.draw("scores of CPU and GPU apart, before and after a step", apart)
    when = "after one step of your training" if limit.met_by(apart.before) else "with the same random weights"
    training.expect(
        max(apart),
        limit,
        f"On the GPU the scores differ from those on the CPU by up to {max(apart):.3g} {when}; expected at most "
        f"{limit.value:g} in float32. Does your model or your step depend on the device, or compute in half precision?",
    )


@number("4")
@weight(2)
@pytest.mark.training
@pytest.mark.gpu(memory_mib=4000)
@pytest.mark.timeout(240)
def test_language_model_learns_on_a_gpu(student: Any, submission: Any, inside: Any) -> None:
    """At the lab's size your training step teaches your language model, on the GPU, which words there are."""
    limit = training.thresholds("on_a_gpu.json")[LOSS]

    def run(seed: int) -> float:
        rounds = ROUNDS if seed == training.SEEDS[0] else 0
        trained = learned(student, submission, inside, LAB, GPU, seed, rounds=rounds)
        assert trained.losses[-1] <= max(trained.losses[0], limit.value), (
            f"The loss rises from {trained.losses[0]:.3f} to {trained.losses[-1]:.3f} while it is trained on: is the "
            "gradient clipped to norm 0.5?"
        )
        return trained.losses[0]

    training.judge(run, limit, help="Do the steps reach the parameters on the GPU?")


def compared(student: Any, submission: Any, inside: Any, sizes: Sizes, device: str) -> Apart:
    """How far the scores of the same model on the CPU and on the device are apart; inf where one is not a number."""
    rng = np.random.default_rng(1)
    read = rng.integers(len(SPECIAL), sizes.ntoken, (COMPARED_LENGTH + 1, COMPARED))
    on_cpu = inside.placed.keep(student.Model, 1, sizes.language_model(), "cpu")
    pairs = [("cpu", on_cpu), (device, inside.copied_to.keep(on_cpu, device))]
    found = []
    for step in (False, True):
        scores = []
        for where, model in pairs:
            if step:
                optimizer = inside.plain_descent.keep(model, COMPARED_RATE)
                train_on(where, student, submission, inside, model, optimizer, [shifted(read)], sizes.ntoken)
            scores.append(last_scores(student, inside, where, model, read[:-1]))
        far = np.abs(scores[0] - scores[1]).max()
        found.append(float(far) if np.isfinite(far) else float("inf"))
    return Apart(*found)


def learned(
    student: Any,
    submission: Any,
    inside: Any,
    sizes: Sizes,
    device: str,
    seed: int,
    epochs: int = EPOCHS,
    rounds: int = 0,
) -> Trained:
    """Train a language model on the device; draws loss and speed."""
    rng = np.random.default_rng(seed)
    used = rng.permutation(np.arange(len(SPECIAL), sizes.ntoken))[:WORDS]
    asked = rng.choice(used, (LENGTH + 1, ASKED))
    model = inside.placed.keep(student.Model, seed, sizes.language_model(), device)
    optimizer = inside.adam.keep(model, RATE)
    counted = training.epochs(epochs, budget_s=60, name="at the lab's size", curve=seed == training.SEEDS[0])
    for epoch in counted:
        batches = [shifted(rng.choice(used, (LENGTH + 1, BATCH))) for _ in range(STEPS)]
        train_on(device, student, submission, inside, model, optimizer, batches, sizes.ntoken)
        epoch.record(loss=cross_entropy(last_scores(student, inside, device, model, asked[:-1]), asked[-1]))
    speeds: list[float] = []
    for _ in range(rounds):
        batches = [shifted(rng.choice(used, (LAB_LENGTH + 1, LAB_BATCH))) for _ in range(STEPS_OF_ROUND)]
        taken_s = train_on(device, student, submission, inside, model, optimizer, batches, sizes.ntoken)
        speeds.append(STEPS_OF_ROUND * LAB_BATCH * LAB_LENGTH / taken_s)
        training.draw("tokens per second", speeds)
    return Trained(counted.values("loss"), tuple(speeds))


def train_on(
    device: str,
    student: Any,
    submission: Any,
    inside: Any,
    model: Any,
    optimizer: Any,
    batches: Sequence[tuple[Ids, Ids]],
    ntoken: int,
) -> float:
    """Take a step for each batch with `train_step` or the lab's `train`; return the seconds that they took."""
    token2ind = inside.vocabulary.keep(ntoken, SPECIAL)
    world = {
        "model": model,
        "optimizer": optimizer,
        "criterion": inside.criterion.keep(SPECIAL.index("<pad>")),
        "device": inside.device_of.keep(device),
        "token2ind": token2ind,
        "ind2token": inside.inverted.keep(token2ind),
    }
    loader = inside.loader_on.keep(batches, device)
    submission.set(**world, ntokens=ntoken, get_loader=inside.get_loader.keep(loader))
    task = "language_modeling"
    if "train_step" in student:
        step = inside.on.keep(device, student.train_step)
        started = perf_counter()
        inside.steps(step, loader, task, world)
    else:
        submission.put("documents.txt", b"w0\n")
        known = {
            **world,
            "task": task,
            "log_interval": 1000,
            "save_interval": -1,
            "data_loader": loader,
            "loader": loader,
        }
        train = inside.on.keep(device, student.train)
        started = perf_counter()
        inside.ask(train, ("documents.txt", None), known)
    inside.finish(device)
    return perf_counter() - started


def last_scores(student: Any, inside: Any, device: str, model: Any, source: Ids) -> NDArray[np.float64]:
    """Scores at the last position, (n, token)."""
    own = student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None
    return np.asarray(inside.last_scores_on(device, model, source, own), dtype=np.float64)


def shifted(ids: Ids) -> tuple[Ids, Ids]:
    """Return all words but the last (length, n), and what follows each of them in one row (length · n,)."""
    return ids[:-1], ids[1:].reshape(-1)


def cross_entropy(scores: NDArray[np.float64], targets: Ids) -> float:
    """Return the mean of -log softmax(scores)[target]; as large as floats are where a score is not a number."""
    with np.errstate(all="ignore"):
        shifted_scores = scores - scores.max(axis=1, keepdims=True)
        log_p = shifted_scores[np.arange(len(targets)), targets] - np.log(np.exp(shifted_scores).sum(axis=1))
    return float(-log_p.mean()) if np.isfinite(log_p).all() else float(np.finfo(np.float32).max)
