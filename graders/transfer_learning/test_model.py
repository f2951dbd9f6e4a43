"""Questions 2 and 5: the base, its heads, and what a mask makes of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, weight

Array = NDArray[np.float64]
NTOKEN, NHEAD, NHID, NLAYERS, NCLASSES = 13, 2, 8, 2, 3


@number("2")
@weight(3)
def test_shapes_of_base_and_head(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """The base gives a vector for each token, the head a score for each class of each token."""
    source = rng.integers(0, NTOKEN, (5, 4))
    for n_out in (NCLASSES, NTOKEN):
        found = inside.shapes(model_of(student, n_out), source, own_mask(student))
        base, scores = tuple(found["base"]), np.shape(found["scores"])
        assert base == (5, 4, NHID), f"The base returned shape {base}; expected (L, N, nhid) = (5, 4, {NHID})."
        assert scores == (5, 4, n_out), (
            f"Model with nclasses = {n_out} returned shape {scores}; expected (L, N, nclasses) = (5, 4, {n_out}): "
            "the loss, not the model, chooses the last token."
        )
        assert found["apart"] < 1e-4, "Model(src, src_mask) is not model.classifier(model.base(src, src_mask))."
    head = student.ClassificationHead.keep(NHID, NCLASSES)
    vectors = rng.standard_normal((7, 1, NHID)).astype(np.float32)
    shape = np.shape(inside.applied(head, vectors))
    assert shape == (7, 1, NCLASSES), f"ClassificationHead gave shape {shape} for (7, 1, {NHID})."


@number("2")
@weight(1)
def test_scores_not_probabilities(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """The model returns scores; softmax is a part of the loss."""
    source = rng.integers(0, NTOKEN, (6, 6))
    scores = np.asarray(inside.shapes(model_of(student, NCLASSES), source, own_mask(student))["scores"])
    sums = scores.sum(axis=-1)
    assert np.abs(sums - 1).max() > 1e-3, (
        "The scores of every token sum to 1: softmax has been taken. nn.CrossEntropyLoss takes it once more, which "
        "flattens the gradient; return what the linear layer gives."
    )


@number("2")
@weight(1)
def test_sequences_of_a_batch_do_not_mix(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """A sequence gets the same vectors whatever else is in its batch, which is the second axis."""
    source = rng.integers(0, NTOKEN, (5, 5))
    base = base_of(student)
    others = source.copy()
    others[:, [0, 2, 3, 4]] = (others[:, [0, 2, 3, 4]] + 1) % NTOKEN
    pairs = inside.outputs(base, [source, others], own_mask(student))
    apart = min(float(np.abs(np.asarray(one)[:, 1] - np.asarray(other)[:, 1]).max()) for one, other in pairs)
    assert apart < 1e-4, (
        f"The vectors of a sequence change by {apart:.2g} with its neighbours in the batch: the layers take "
        "(L, N, nhid), so the batch is the second axis (batch_first=False)."
    )


@number("2")
@weight(2)
def test_embeddings_are_scaled_and_get_positions(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """What enters the first layer is E[x]·√nhid plus the positional encoding."""
    source = rng.integers(0, NTOKEN, (5, 5))
    flow = inside.what_flows(base_of(student), source, own_mask(student))
    assert flow["embedding"] is not None, "No embedding of shape (ntoken, nhid) was found in TransformerModel."
    embedding, seen = np.asarray(flow["embedding"])[source], [np.asarray(value) for value in flow["seen"]]
    positions = key.positional_encoding(64, NHID)
    scaled, along_time = embedding * np.sqrt(NHID), positions[:5, None]
    own = np.asarray(inside.positions_of(student.PositionalEncoding, 5, NHID)) if "PositionalEncoding" in student else 0
    if passes(seen, scaled + along_time) or (
        np.shape(own) == (5, NHID) and passes(seen, scaled + np.asarray(own)[:, None])
    ):
        return  # whether the positions themselves are right is question 1b
    for hint, mistake in {
        "the embeddings are not multiplied by √nhid": embedding + along_time,
        "positions are counted along the batch; they go along the first axis": scaled + positions[None, :5],
        "the embeddings are divided by √nhid, not multiplied": embedding / np.sqrt(NHID) + along_time,
        "the embeddings are multiplied by nhid, not by its square root": embedding * NHID + along_time,
        "the sum is multiplied by √nhid; only the embeddings are": (embedding + along_time) * np.sqrt(NHID),
        "the positional encoding is not added": scaled,
    }.items():
        assert not passes(seen, mistake), f"What enters the first layer is not E[x]·√nhid + PE: {hint}."
    raise AssertionError("E[x]·√nhid + PE enters no layer of TransformerModel.")


@number("2")
@weight(1)
def test_number_of_parameters_of_the_model(student: Any, key: Any, inside: Any) -> None:
    """The model has the layers that were asked for, of the width nhid."""
    for n_layers, n_out in [(1, NCLASSES), (3, NTOKEN)]:
        count = inside.parameter_count(student.Model.keep(NTOKEN, NHEAD, NHID, n_layers, n_out))
        expected = key.count_parameters(NTOKEN, NHID, n_layers, NHEAD, NHID, n_out)
        fewest = key.count_parameters(NTOKEN, NHID, n_layers, NHEAD, NHID, n_out, bias=False)
        if fewest <= count <= expected:  # attention by hand often goes without some biases
            continue
        agree(
            count,
            expected,
            hints=count_mistakes(key, n_layers, n_out),
            name=f"the number of parameters with nlayers = {n_layers}",
        )


@number("5")
@weight(1)
def test_without_the_mask_the_future_is_seen(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """As an encoder trained on masked tokens, without a causal mask, the same base reads what comes after a token."""
    source = rng.integers(0, NTOKEN, (6, 6))
    changed = source.copy()
    changed[5] = (changed[5] + 1) % NTOKEN
    pairs = inside.outputs(base_of(student), [source, changed], own_mask(student), open_mask=True)
    seen = max(float(np.abs(np.asarray(one)[:5] - np.asarray(other)[:5]).max()) for one, other in pairs)
    assert seen > 1e-4, (
        "With a mask that hides nothing, the vectors of the first five tokens do not depend on the sixth: the mask "
        "that is handed over is not the one that is used."
    )


def model_of(student: Any, n_out: int) -> Any:
    """A small model without dropout."""
    return student.Model.keep(NTOKEN, NHEAD, NHID, NLAYERS, n_out, 0.0)


def base_of(student: Any) -> Any:
    """A small base without dropout."""
    return student.TransformerModel.keep(NTOKEN, NHEAD, NHID, NLAYERS, 0.0)


def own_mask(student: Any) -> Any:
    """The student's function for masks, which their own attention may need."""
    return student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None


def passes(seen: list[Array], expected: Array) -> bool:
    """Whether a value is among those that were seen."""
    return any(value.shape == expected.shape and np.abs(value - expected).max() < 1e-3 for value in seen)


def count_mistakes(key: Any, n_layers: int, n_out: int) -> dict[str, int]:
    """What a wrong number of parameters tells."""

    def counted(layers: int = n_layers, d_ff: int = NHID, out: int = n_out) -> int:
        return int(key.count_parameters(NTOKEN, NHID, layers, NHEAD, d_ff, out))

    return {
        "dim_feedforward is 2048, torch's default; nhid was asked for": counted(d_ff=2048),
        "nlayers is not used": counted(layers=2 if n_layers == 1 else 1),
        "the head has nhid outputs, not nclasses": counted(out=NHID),
        "the head has ntoken outputs, not nclasses": counted(out=NTOKEN),
        "the positional encoding is trained; register it as a buffer": counted() + 5000 * NHID,
        "the head is missing": counted() - key.count_parameters(0, NHID, 0, 1, 0, n_out),
    }
