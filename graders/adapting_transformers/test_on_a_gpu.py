"""Question 3.2 at real size: the student's model on an encoder as large as BERT-base, on a graphics card.

The weights are random, made in the box from a seed. The course's programs compute in single precision throughout, and
so does everything here. None of it has been run on a graphics card yet; `tests/training/test_gpu_adapting.py` runs it
on the CPU with small models.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import number, weight
from viva.plugins import training

BERT_BASE = {
    "vocab_size": 30_522,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 512,
}
LENGTH, PREFIX_LENGTH, DEVICE = 256, 128, "cuda"
"""The prefix is as long as the course's."""
APART = "How far the logits on CPU and GPU are apart"
"""They are of order 1; larger ones may be apart in proportion."""
ROWS, WORDS, EPOCHS, RATE = 10, 8, 60, 1e-4
LOSS = "The loss on ten rows"
"""Those of each label are made of eight words of their own."""
BATCH, BATCHES, ROUNDS = 16, 8, 3
SEED = 1

Rows = Mapping[str, NDArray[np.int64]]


@number("3.2.1")
@weight(2)
@pytest.mark.training
@pytest.mark.gpu(memory_mib=4_000)
@pytest.mark.timeout(240)
@pytest.mark.parametrize("kind", ["full", "prefix"])
def test_cpu_and_gpu_agree(submission: Any, inside: Any, rng: np.random.Generator, kind: str) -> None:
    """At the size of BERT-base your model computes the same on a graphics card as on the CPU."""
    limit = training.thresholds("on_a_gpu.json")[APART]
    far = apart(submission, inside, rng, kind, BERT_BASE, LENGTH, DEVICE)
    training.draw(f"logits of CPU and GPU apart, {kind}", [far])
    training.expect(far, limit, differs(far, kind, limit))


@number("3.2.1")
@weight(2)
@pytest.mark.training
@pytest.mark.gpu(memory_mib=12_000)
@pytest.mark.timeout(300)
def test_ten_rows_are_learned_on_a_gpu(submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """At the size of BERT-base, full tuning on a graphics card learns to tell ten rows apart."""
    limit = training.thresholds("on_a_gpu.json")[LOSS]
    losses = learned(submission, inside, rng, BERT_BASE, LENGTH, DEVICE, limit)
    training.expect(min(losses), limit, learns_little(losses, limit))


def apart(
    submission: Any,
    inside: Any,
    rng: np.random.Generator,
    kind: str,
    sizes: Mapping[str, int],
    length: int,
    device: str,
    prefix_length: int = PREFIX_LENGTH,
) -> float:
    """How far the logits of four rows, two of them padded, are apart on both devices; large ones in proportion."""
    make = submission.preferring("classification").CustomModelforSequenceClassification
    prepare(submission, inside, kind, sizes, prefix_length)
    batch = drawn(rng, 4, length, sizes["vocab_size"])
    mask = batch["attention_mask"].copy()
    mask[1, length // 2 :] = mask[2, length // 8 :] = 0
    asked = {"input_ids": batch["input_ids"] * mask, "attention_mask": mask}
    found = inside.on_both(make, kind, prefix_length, asked, device)
    on_cpu, on_device = (np.asarray(found[place], dtype=np.float64) for place in ("cpu", "device"))
    assert on_cpu.shape == on_device.shape == (4, 2), (
        f"The logits of 4 rows have the shapes {on_cpu.shape} and {on_device.shape}; expected (4, 2)."
    )
    far = float(np.abs(on_cpu - on_device).max()) / max(1.0, float(np.abs(on_cpu).max()))
    return far if math.isfinite(far) else float(np.finfo(np.float32).max)


def differs(far: float, kind: str, limit: training.Threshold) -> str:
    """Say that the logits depend on the device."""
    return (
        f"With the same weights and type {kind!r}, the logits on the GPU differ from those on the CPU by up to "
        f"{far:.2g}; expected at most {limit.value:g}. Is everything computed in float32, and is every tensor where "
        "the model is?"
    )


def learned(
    submission: Any,
    inside: Any,
    rng: np.random.Generator,
    sizes: Mapping[str, int],
    length: int,
    device: str,
    limit: training.Threshold,
    rate: float = RATE,
) -> list[float]:
    """The losses on ten rows after each epoch; draws them, and how many rows are trained on in a second."""
    own = submission.preferring("classification")
    train, make = own.train, own.CustomModelforSequenceClassification
    words = rng.choice(np.arange(5, sizes["vocab_size"]), (2, WORDS), replace=False)
    ten, *batches = (told_apart(rng, words, rows, length) for rows in (ROWS, *[BATCH] * BATCHES))

    def rounds(batches: list[Rows], epochs: int) -> Any:
        prepare(submission, inside, "full", sizes, 1)
        run = {"seed": SEED, "lr": rate, "device": device, "epochs": epochs}
        return inside.rounds(train, make, "full", 1, batches, ten, run)

    seconds = rounds(batches, ROUNDS)["seconds"]
    training.draw("at real size, rows per second", [BATCH * BATCHES / max(float(s), 1e-9) for s in seconds])
    losses = [cross_entropy(logits, ten["labels"]) for logits in rounds([ten], EPOCHS)["logits"]]
    training.draw("at real size, loss on ten rows", losses[1:], {EPOCHS: limit.value})
    return losses


def learns_little(losses: Sequence[float], limit: training.Threshold) -> str:
    """Say that the loss hardly falls."""
    return (
        f"In {EPOCHS} epochs on ten rows, on the GPU, their loss falls from {losses[0]:.3f} to {min(losses):.3f}; "
        f"expected at most {limit.value:.3f}. Does the optimizer have the parameters of the model that is on the GPU?"
    )


def prepare(submission: Any, inside: Any, kind: str, sizes: Mapping[str, int], prefix_length: int) -> None:
    """A hub of random models, and the names that the course's starter forgot."""
    inside.serve_at_random(sizes, SEED)
    row = drawn(np.random.default_rng(SEED), 1, 8, sizes["vocab_size"])
    submission.set(
        prefix_length=prefix_length,
        test_dataloader=inside.Batches.keep([row]),
        args=inside.arguments.keep(type=kind, prefix_length=prefix_length, num_epochs=EPOCHS, lr=RATE),
    )


def drawn(rng: np.random.Generator, rows: int, length: int, vocabulary: int) -> Rows:
    """Random rows without padding, with as many labels 0 as 1."""
    ids = rng.integers(5, vocabulary, (rows, length))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "labels": np.arange(rows) % 2}


def told_apart(rng: np.random.Generator, words: NDArray[np.int64], rows: int, length: int) -> Rows:
    """Return the same, but that each label has words of its own, (label, word)."""
    labels = np.arange(rows) % 2
    ids = words[labels[:, None], rng.integers(0, words.shape[1], (rows, length))]
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "labels": labels}


def cross_entropy(logits: Any, labels: NDArray[np.int64]) -> float:
    """Return the mean of -log softmax(logits)[label]; 1e9 where it is not a number.

    Raises:
        AssertionError: the logits have another shape.
    """
    scores = np.asarray(logits, dtype=np.float64)
    assert scores.shape == (len(labels), 2), f"The logits of {len(labels)} rows have the shape {scores.shape}."
    with np.errstate(invalid="ignore"):
        mean = float(np.mean(np.logaddexp(scores[:, 0], scores[:, 1]) - scores[np.arange(len(labels)), labels]))
    return mean if math.isfinite(mean) else 1e9
