"""Questions 2 and 5: the base, its heads, and what a mask makes of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graders.transfer_learning.test_mask_and_positions import outputs_of
from viva.grading import agree, number, weight

Array = NDArray[np.float64]
NTOKEN, NHEAD, NHID, NLAYERS, NCLASSES = 13, 2, 8, 2, 3
WIDTH = 12
"""The sizes of a layer that is taken apart: two and three heads, and no vectors of the size of a head's matrix."""
SAME = 1e-6


@number("2")
@weight("1/2")
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
@weight("1/2")
def test_scores_not_probabilities(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """The model returns scores; softmax is a part of the loss."""
    source = rng.integers(0, NTOKEN, (6, 6))
    scores = np.asarray(inside.shapes(model_of(student, NCLASSES), source, own_mask(student))["scores"])
    sums = scores.sum(axis=-1)
    assert np.abs(sums - 1).max() > 1e-3, (
        "The scores of every token sum to 1: softmax has been taken. nn.CrossEntropyLoss takes it once more, which "
        "flattens the gradient; return what the linear layer gives."
    )
    head = student.ClassificationHead.keep(NHID, NCLASSES)
    one, other = (3 * rng.standard_normal((2, 3, NHID)).astype(np.float32) for _ in range(2))
    a, b, middle, bias = (np.asarray(inside.applied(head, x)) for x in (one, other, one + other, np.zeros_like(one)))
    assert np.abs(a + b - middle - bias).max() < 1e-3 * max(1, np.abs(middle).max()), (
        "ClassificationHead is not one linear layer: head(x + y) - head(x) - head(y) + head(0) is not 0."
    )


@number("2")
@weight("1/2")
def test_sequences_of_a_batch_do_not_mix(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """A sequence gets the same vectors whatever else is in its batch, which is the second axis."""
    source = rng.integers(0, NTOKEN, (5, 5))
    base = base_of(student)
    others = source.copy()
    others[:, [0, 2, 3, 4]] = (others[:, [0, 2, 3, 4]] + 1) % NTOKEN
    pairs = outputs_of(inside, base, [source, others], own_mask(student))
    apart = min(float(np.abs(np.asarray(one)[:, 1] - np.asarray(other)[:, 1]).max()) for one, other in pairs)
    assert apart < 1e-4, (
        f"The vectors of a sequence change by {apart:.2g} with its neighbours in the batch: the layers take "
        "(L, N, nhid), so the batch is the second axis (batch_first=False)."
    )


@number("2")
@weight("5/2")
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
    first = ", ".join(f"{number:.3g}" for number in (scaled + along_time)[0, 0])
    raise AssertionError(
        f"E[x]·√nhid + PE enters no layer of TransformerModel: the vector of token {source[0, 0]} at position 0 should "
        f"be [{first}], which is √{NHID} times its row of your embedding plus [0, 1, 0, 1, …]."
    )


@number("2")
@weight(3)
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


@number("2")
@weight(4)
def test_layers_are_those_of_the_definition(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """A layer computes attention with nhead heads and a feed-forward network with ReLU, and every weight is used."""
    for n_heads in (2, 3):
        check_layer(student, key, inside, rng, n_heads)
    n_layers, source = 3, rng.permutation(np.tile(np.arange(NTOKEN - 1), 4)).reshape(4, 12)
    submission.set(token2ind={"<sos>": 3, "<eos>": 4, "<oov>": 5, "<pad>": NTOKEN - 1})  # no <pad> is in the source
    base = student.TransformerModel.keep(NTOKEN, NHEAD, NHID, n_layers, 0.0)
    found = inside.unused(base, source, own_mask(student))
    key_biases = NHID * n_layers  # softmax does not see what is added to all scores of a row
    dead = 2 * (2 * NHID + 1)  # room for two units that are dead by chance in all five draws
    assert found["count"] <= key_biases + dead, (
        f"{found['count']} numbers of the layers change nothing in what {n_layers} of them give, most in "
        f"`{found['first']}`: does each layer read what the one before it gives, and is everything used?"
    )
    assert not found["gains"], (
        f"{found['gains']} gains of layer norms change nothing in what {n_layers} layers give: has each norm of a "
        "layer gains of its own?"
    )
    assert len(found["tokens"]) < NTOKEN - 1, "The embedding gets no gradient: is it detached, or under no_grad()?"
    assert not found["tokens"], (
        f"The embedding of token {found['tokens'][0]} gets no gradient, though the token is in the batch: is its id "
        "written into the model (padding_idx)? Only token2ind says which id <pad> has."
    )
    passed_on = normalize(np.asarray(found["passed_on"], dtype=np.float64))
    ways = entering(student, key, inside, np.asarray(found["embedding"], dtype=np.float64), source)
    assert any(np.abs(passed_on - normalize(x)).max() < 1e-2 for x in ways), (
        f"With all weights of the {n_layers} layers set to 0, so that they add nothing, TransformerModel does not "
        "return what enters the first layer (up to layer norms): E[x]·√nhid + PE enters once, before the first layer."
    )


@number("2")
@weight(2)
def test_dropout_is_handed_on(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Dropout acts in training alone, as often as it is asked for: behind the positions and in the layers."""
    source = rng.integers(0, NTOKEN, (6, 6))
    pe = student.PositionalEncoding if "PositionalEncoding" in student else None
    make, sizes = student.TransformerModel, [NTOKEN, NHEAD, NHID, NLAYERS]
    none, resting, training, inner, apart = inside.changes_with_dropout(make, sizes, source, own_mask(student), pe)
    found = inside.changes_with_dropout(student.Model, [*sizes, NCLASSES], source, own_mask(student), None)
    part = "Model, but not of its base," if none < SAME else "TransformerModel"
    assert max(none, found[0]) < SAME, (
        f"With dropout = 0 two passes of {part} in training mode differ: is `dropout` handed on to every part of the "
        "model?"
    )
    assert max(apart, found[4]) < 1e-3, (
        "With dropout = 0 the model gives other vectors in training than in evaluation (by "
        f"{max(apart, found[4]):.2g}): dropout is all that differs between the two."
    )
    assert max(resting, found[1]) < SAME, "In evaluation mode two passes differ; dropout acts in training mode alone."
    assert training > SAME, "With dropout = 0.5 two passes in training mode are the same: where is it handed on?"
    assert inner == -1 or inner > SAME, "With dropout = 0.5 nothing is dropped in the layers: is it handed on to them?"
    if pe is not None:
        check_dropped(pe, key, inside)
    for dropout in (None, 0.25):
        check_rates(make, sizes, dropout, student, key, inside, rng)
        check_rates(student.Model, [*sizes, NCLASSES], dropout, student, key, inside, rng)


@number("5")
@weight(1)
def test_without_the_mask_the_future_is_seen(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """As an encoder trained on masked tokens, without a causal mask, the same base reads what comes after a token."""
    source = rng.integers(0, NTOKEN, (6, 6))
    changed = source.copy()
    changed[5] = (changed[5] + 1) % NTOKEN
    pairs = outputs_of(inside, base_of(student), [source, changed], own_mask(student), open_mask=True)
    seen = max(float(np.abs(np.asarray(one)[:5] - np.asarray(other)[:5]).max()) for one, other in pairs)
    assert seen > 1e-4, (
        "With a mask that hides nothing, the vectors of the first five tokens do not depend on the sixth: the mask "
        "that is handed over is not the one that is used."
    )


def check_dropped(pe: Any, key: Any, inside: Any) -> None:
    """Raise unless the module for positions drops a share of x + PE: that which it was told, or a tenth by default."""
    length, p = 40, 0.25
    x = np.full((length, 50, NHID), 3.0, dtype=np.float32)  # 3 + PE is 2 at least, so that a 0 is a dropped one
    found = np.asarray(inside.dropped(pe, x, p))
    check_shape(found, x.shape)
    share = float(np.mean(found == 0))  # of 16,000 draws: off by .03 with a probability below 1e-17
    assert abs(share - p) < 0.03, f"PositionalEncoding with dropout = {p} dropped a share of {share:.3f}."
    wanted = np.where(found == 0, 0, (x + key.positional_encoding(length, NHID)[:, None]) / (1 - p))
    own = np.where(found == 0, 0, np.asarray(inside.added_to(pe, x)) / (1 - p))
    assert min(np.abs(found - wanted).max(), np.abs(found - own).max()) < 1e-2, (
        "What PositionalEncoding gives in training is not dropout(x + PE): dropout acts on the sum, and what is left "
        f"is divided by 1 - {p}."
    )
    share = float(np.mean(np.asarray(inside.dropped(pe, x, None)) == 0))
    assert abs(share - 0.1) < 0.03, f"PositionalEncoding dropped a share of {share:.3f}; its default is 0.1."


def check_rates(
    make: Any, sizes: list[int], dropout: float | None, student: Any, key: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Raise unless positions and layers drop as much as they were told, or half of it all by default.

    Dropout that torch does not see is judged by what enters the first layer alone.
    """
    rate, length = 0.5 if dropout is None else dropout, 10
    source = rng.integers(0, NTOKEN, (length, length))
    found = inside.in_training(make, sizes, source, own_mask(student), dropout)
    given = "is left out, so that it is 0.5" if dropout is None else f"= {dropout}"
    others = [p for p in found["rates"] if p not in (0, rate)]
    assert not others, f"With dropout that {given}, something in the model drops with the rate {others[0]:g}."
    embedding = np.asarray(found["embedding"])[source] * np.sqrt(NHID)
    entering = [embedding + np.asarray(key.positional_encoding(length, NHID))[:, None]]
    if "PositionalEncoding" in student:
        entering.append(np.asarray(inside.added_to(student.PositionalEncoding, embedding)))
    resting, training = ([np.asarray(value) for value in found[mode]] for mode in ("resting", "training"))
    entering = [x for x in entering if passes(resting, x)]  # whether it enters at all has its own test
    assert not entering or any(drops(value, x, rate) for value in training for x in entering), (
        f"With dropout that {given}, what enters the first layer in training is not dropout(E[x]·√nhid + PE): is "
        "`dropout` handed on to the positional encoding?"
    )


def drops(found: Array, x: Array, rate: float) -> bool:
    """Return whether found is x with a share of its numbers set to 0 and the others divided by what is left."""
    if found.shape != x.shape:
        return False
    kept = found != 0
    return (  # of 800 draws: off by .11 with a probability below 1e-9
        abs(float(np.mean(~kept)) - rate) < 0.11 and np.abs(np.where(kept, x / (1 - rate), 0) - found).max() < 1e-3
    )


def check_layer(student: Any, key: Any, inside: Any, rng: np.random.Generator, n_heads: int) -> None:
    """Raise unless a base of one layer is x₀ = E[x]·√nhid + PE and then a layer of the definition, by its own weights.

    What cannot be told apart into six matrices, gains and biases passes; `unused` and the number of parameters see it.
    """
    base = student.TransformerModel.keep(NTOKEN, n_heads, WIDTH, 1, 0.0)
    alone, together = rng.integers(0, NTOKEN, (1, 8)), rng.integers(0, NTOKEN, (5, 3))
    found = inside.taken_apart(base, WIDTH, n_heads, alone, together, own_mask(student))
    if not found["orders"]:
        return
    orders = [[np.asarray(matrix, dtype=np.float64) for matrix in order] for order in found["orders"]]
    ways = zip(
        entering(student, key, inside, np.asarray(found["embedding"], dtype=np.float64), alone),
        entering(student, key, inside, np.asarray(found["embedding"], dtype=np.float64), together),
        strict=True,
    )
    mistake = None
    for is_first, (x_alone, x_together) in zip([True] + [False] * 20, ways, strict=False):
        for z_alone, z_together in zip(found["alone"], found["together"], strict=True):
            pairs = (x_alone[0], np.asarray(z_alone)[0]), (x_together, np.asarray(z_together))
            fit = key.fits(orders, *pairs, n_heads, mistakes=is_first)
            if fit == "":
                return
            mistake = mistake or fit
    why = (
        mistake.rstrip("?.") + ("?" if mistake.endswith("?") else ".")
        if mistake
        else "does it add each input to what attention and the feed-forward network give, norm it (before or after), "
        "and does E[x]·√nhid + PE enter it once?"
    )
    raise AssertionError(f"With nhead = {n_heads}, a layer is not like nn.TransformerEncoderLayer: {why}")


def entering(student: Any, key: Any, inside: Any, embedding: Array, source: NDArray[np.int64]) -> list[Array]:
    """E[x]·√nhid + PE, and what else may enter a layer: scale and positions have their own tests."""
    e = embedding[source]  # (L, N, d)
    length, n, d = e.shape
    positions = np.asarray(key.positional_encoding(64, d))
    along_time, along_batch = positions[:length, None], positions[None, :n]
    ways = [e * np.sqrt(d) + along_time, e + along_time, e / np.sqrt(d) + along_time, e * d + along_time]
    ways += [e * np.sqrt(d) + along_batch, (e + along_time) * np.sqrt(d), e * np.sqrt(d), e]
    if "PositionalEncoding" in student:
        own = inside.added_to(student.PositionalEncoding, (e * np.sqrt(d)).astype(np.float32))
        ways += [np.asarray(own, dtype=np.float64)] if np.shape(own) == e.shape else []
    return ways


def normalize(x: Array) -> Array:
    """Return vectors (..., d) with mean 0 and variance 1."""
    centered = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(centered / (centered.std(axis=-1, keepdims=True) + 1e-9))


def check_shape(found: Array, shape: tuple[int, ...]) -> None:
    """Raise with a sentence for the student unless positions leave the shape as it is."""
    assert found.shape == shape, f"PositionalEncoding made shape {found.shape} of {shape}."


def model_of(student: Any, n_out: int) -> Any:
    """Return a small model without dropout."""
    return student.Model.keep(NTOKEN, NHEAD, NHID, NLAYERS, n_out, 0.0)


def base_of(student: Any) -> Any:
    """Return a small base without dropout."""
    return student.TransformerModel.keep(NTOKEN, NHEAD, NHID, NLAYERS, 0.0)


def own_mask(student: Any) -> Any:
    """Return the student's function for masks, which their own attention may need."""
    return student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None


def passes(seen: list[Array], expected: Array) -> bool:
    """Return whether a value is among those that were seen."""
    return any(value.shape == expected.shape and np.abs(value - expected).max() < 1e-3 for value in seen)


def count_mistakes(key: Any, n_layers: int, n_out: int) -> dict[str, int]:
    """Return what a wrong number of parameters tells."""

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
