"""Question 1: which token sees which, and the position of each token."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.float64]
NHEAD, NHID, NTOKEN = 2, 8, 11
SEEN = 1e-4
"""Changes of the output above this are changes; rounding stays far below."""


@number("1a")
@weight(2)
def test_square_mask(student: Any, key: Any, inside: Any) -> None:
    """Row i of the mask hides everything after position i, for every size from 1 to 24, and for 64 and 260."""
    mask = mask_function(student, inside)
    for size in (1, 2, 5):
        expected = key.generate_square_subsequent_mask(size)
        name = f"the mask of size {size}"
        agree(mask(size), expected, hints=mask_mistakes(expected), up_to=("polarity",), name=name)
    sizes = [(size,) for size in (*range(1, 25), 64, 260)]
    masks = inside.each(mask, sizes)
    agree(masks, [key.generate_square_subsequent_mask(*size) for size in sizes], up_to=("polarity",), name="the masks")
    if "TransformerModel" in student:
        leaks = leaks_of(student, inside, np.arange(12).reshape(4, 3) % NTOKEN, 2)[0]
        assert not (min(leaks) < SEEN < leaks[-1]), (
            "The mask has the right form, but your model reads it in another way and sees the future: nn.Transformer "
            "adds a mask of numbers to the scores (0 and -∞, not 0 and 1), and True in a mask of bools means hidden."
        )


@number("1a")
@weight(3)
def test_the_past_does_not_see_the_future(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """With the mask, the output up to position t stays as it is when later tokens change."""
    t, source = 3, rng.integers(0, NTOKEN, (5, 5))
    for mode in ("evaluation", "training"):
        leaks, reacts = leaks_of(student, inside, source, t, training=mode == "training")
        assert min(leaks) < SEEN, (
            f"In {mode} mode the output at positions 0 … {t - 1} changed by {min(leaks):.2g} when the tokens from "
            f"position {t} on were changed: the model looks into the future. Is src_mask handed to the encoder, and is "
            "the batch its second axis?"
        )
        assert max(reacts) > SEEN, "The output does not change at all when the tokens change."


@number("1b")
@weight(3)
def test_positional_encoding(student: Any, key: Any, inside: Any) -> None:
    """Sines in the even columns, cosines in the odd ones, slower from column to column."""
    for max_len, d in [(3, 2), (9, 6), (30, 8)]:
        name = f"the positional encoding of {max_len} positions with d = {d}"
        expected = key.positional_encoding(max_len, d)
        agree(table(student, inside, max_len, d), expected, hints=position_mistakes(max_len, d), atol=1e-4, name=name)
    if "PositionalEncoding" in student:
        check_module(student, key, inside)


@number("1b")
@weight(1)
@visibility("after_published")
def test_positional_encoding_of_random_sizes(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random lengths up to 400 and even widths up to 40; products of two rows depend on their distance alone.

    Try one position, two dimensions, and lengths in the hundreds.
    """
    for _ in range(3):
        max_len, d = int(rng.integers(20, 400)), 2 * int(rng.integers(2, 21))
        found = np.asarray(table(student, inside, max_len, d))
        agree(found, key.positional_encoding(max_len, d), atol=1e-3)
        gram = found @ found.T
        agree(np.diagonal(gram, 3), np.full(max_len - 3, gram[0, 3]), atol=1e-2, name="the products at distance 3")


@number("1b")
@weight(3)
def test_order_matters_through_positions_alone(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Where every position sees every other, only the positional encoding tells in which order the tokens came."""
    length = 6
    source = np.stack([rng.permutation(NTOKEN)[:length] for _ in range(length)], axis=1)
    order = np.array([3, 0, 5, 1, 4, 2])
    base = student.TransformerModel.keep(NTOKEN, NHEAD, NHID, 2, 0.0)
    pairs = outputs_of(inside, base, [source, source[order]], own_mask(student), open_mask=True)
    moved = not_equivariant(pairs, order)
    assert min(moved) > 1e-3, (
        "Without a causal mask, shuffled tokens gave the same vectors, only shuffled: positions are not added to the "
        "embeddings, every position gets the same one, or the layers take the batch for the sequence (batch_first)."
    )
    if "PositionalEncoding" in student and inside.without_positions(base, student.PositionalEncoding):
        left = not_equivariant(inside.outputs(base, [source, source[order]], own_mask(student), open_mask=True), order)
        assert min(left) < SEEN, (
            f"With the positional encoding taken out, shuffling the tokens still changes their vectors (by "
            f"{min(left):.2g}): something else depends on the order. Does the model use the mask that it is handed, "
            "which hides nothing here, and is the batch the second axis, not the first?"
        )


def check_module(student: Any, key: Any, inside: Any) -> None:
    """Raise unless the module adds the table to its input, the same rows to every sequence of a batch."""
    x = np.arange(5 * 3 * 8, dtype=np.float32).reshape(5, 3, 8) / 20
    pe = key.positional_encoding(5, 8)[:, None]
    hints = {
        "the positions are subtracted; they are added": x - pe,
        "the input is multiplied by √nhid here; it is left as it is": x * np.sqrt(8) + pe,
        "the input is lost": np.broadcast_to(pe, x.shape),
        "the input comes back as it was": x,
        "the batch is taken for the sequence; positions go along the first axis": x + pe[:3].swapaxes(0, 1),
    }
    found = inside.added_to(student.PositionalEncoding, x)
    agree(found, x + pe, hints=hints, atol=1e-3, name="what PositionalEncoding makes of its input, without dropout")
    for length, max_len in [(512, None), (6000, 6000)]:  # 512 as documents are by default
        longest = np.zeros((length, 1, 2), dtype=np.float32)
        told = "" if max_len is None else f" with max_len = {max_len}"
        call = inside.added_to.call(student.PositionalEncoding, longest, max_len)
        if call.raised is not None and call.raised.type_name in ("RuntimeError", "IndexError", "ValueError"):
            raise AssertionError(
                f"PositionalEncoding(2, 0.5){told} raised {call.raised.type_name} on {length} positions, not on 5: how "
                "many rows has its table? max_len says so; it is 5000 by default."
            )
        if call.raised is not None:
            raise call.raised
        found = np.asarray(call.value)
        name = f"the last three rows that PositionalEncoding(2, 0.5){told} adds to {length} positions"
        agree(found[-3:, 0], np.asarray(key.positional_encoding(length, 2))[-3:], atol=1e-2, name=name)


def outputs_of(inside: Any, base: Any, sources: list[Any], mask: Any, open_mask: bool = False) -> list[Any]:
    """Return the base's output for each source and form of mask.

    Raises:
        AssertionError: two equal calls differ, so that nothing can be told from a difference.
    """
    found = inside.outputs(base, [*sources, sources[0]], mask, open_mask)
    apart = max(float(np.abs(np.asarray(outputs[0]) - np.asarray(outputs[-1])).max()) for outputs in found)
    assert apart < SEEN, (
        f"TransformerModel gave two outputs for the same input in evaluation mode; they differ by {apart:.2g}. Is "
        "dropout applied although it is off, or does the model keep something from call to call?"
    )
    return [outputs[:-1] for outputs in found]


def leaks_of(
    student: Any, inside: Any, source: NDArray[np.int64], t: int, *, training: bool = False
) -> tuple[list[float], list[float]]:
    """How far outputs before and from position t change with the tokens from t on; by torch's mask, then their own.

    In training mode dropout is 0; a model that draws there all the same fails the test of dropout, and only that.
    """
    base = student.TransformerModel.keep(NTOKEN, NHEAD, NHID, 2, 0.0)
    sources = [source, changed_after(source, t)]
    if training:
        found = inside.outputs(base, [*sources, source], own_mask(student), training=True)
        pairs = [np.asarray(triple)[:2] for triple in found if np.array_equal(triple[0], triple[2])]
        return [float(np.abs(one[:t] - other[:t]).max()) for one, other in pairs] or [0.0], [np.inf]
    pairs = [np.asarray(pair) for pair in outputs_of(inside, base, sources, own_mask(student))]
    for before, _ in pairs:
        check_shape(before, (*source.shape, NHID), "TransformerModel")
    leaks = [float(np.abs(before[:t] - after[:t]).max()) for before, after in pairs]
    return leaks, [float(np.abs(before[t:] - after[t:]).max()) for before, after in pairs]


def mask_function(student: Any, inside: Any) -> Any:
    """Return the function for masks, or the method of the base."""
    if "generate_square_subsequent_mask" in student:
        return student.generate_square_subsequent_mask
    base = student.TransformerModel.keep(NTOKEN, NHEAD, NHID, 1, 0.0)
    return inside.method.keep(base, "generate_square_subsequent_mask")


def own_mask(student: Any) -> Any:
    """Return the student's function for masks, which their own attention may need."""
    return student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None


def table(student: Any, inside: Any, max_len: int, d: int) -> Any:
    """Return the encoding as the function gives it, or as the module adds it to zeros."""
    if "positional_encoding" in student:
        found = np.asarray(student.positional_encoding(max_len, d))
        return found.reshape(max_len, d) if found.shape in {(max_len, 1, d), (1, max_len, d)} else found
    return inside.positions_of(student.PositionalEncoding, max_len, d)


def changed_after(source: NDArray[np.int64], t: int) -> NDArray[np.int64]:
    """Other tokens from position t on."""
    changed = source.copy()
    changed[t:] = (changed[t:] + 1) % NTOKEN
    return changed


def check_shape(output: Array, shape: tuple[int, ...], name: str) -> None:
    """Raise with a sentence for the student unless the output has the shape asked for."""
    assert output.shape == shape, f"{name} returned shape {output.shape}; expected (L, N, nhid) = {shape}."


def not_equivariant(pairs: Any, order: NDArray[np.int64]) -> list[float]:
    """Return how far shuffling before is from shuffling after, for each kind of mask."""
    return [float(np.abs(np.asarray(shuffled) - np.asarray(plain)[order]).max()) for plain, shuffled in pairs]


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def mask_mistakes(right: Array) -> dict[str, Any]:
    size = len(right)
    return {
        "the mask is transposed: it hides the past and shows the future": lambda: right.T,
        "-∞ and 0 have changed places: -∞ hides": lambda: np.where(right == 0, -np.inf, 0.0),
        "a position must see itself; the diagonal is hidden": lambda: np.where(np.tri(size, k=-1) == 1, 0.0, -np.inf),
        "each position sees one token of the future; the diagonal is off by one": lambda: np.where(
            np.tri(size, k=1) == 1, 0.0, -np.inf
        ),
        "nothing is hidden": lambda: np.zeros_like(right),
    }


def position_mistakes(max_len: int, d: int) -> dict[str, Callable[[], Array]]:
    position = np.arange(max_len)[:, None]

    def interleaved(angles: Array, first: Callable[[Array], Array], second: Callable[[Array], Array]) -> Array:
        encoding = np.zeros((max_len, d))
        encoding[:, 0::2], encoding[:, 1::2] = first(angles), second(angles)
        return encoding

    angles = position / 10000 ** (np.arange(0, d, 2) / d)
    return {
        "sine and cosine have changed places: even columns are sines": lambda: interleaved(angles, np.cos, np.sin),
        "all sines stand before all cosines; they take turns": lambda: np.hstack([np.sin(angles), np.cos(angles)]),
        "positions are counted from 1; the first one is 0": lambda: interleaved(
            (position + 1) / 10000 ** (np.arange(0, d, 2) / d), np.sin, np.cos
        ),
        "the exponent is 2i/d with i = 0, 1, 2, … for each pair of columns; yours grows twice as fast": lambda: (
            interleaved(position / 10000 ** (2 * np.arange(0, d, 2) / d), np.sin, np.cos)
        ),
        "the exponent is 2i/d with i = 0, 1, 2, … for each pair of columns; yours grows half as fast": lambda: (
            interleaved(position / 10000 ** (np.arange(d // 2) / d), np.sin, np.cos)
        ),
        "the frequencies rise from column to column; the sign of the exponent is turned": lambda: interleaved(
            position * 10000 ** (np.arange(0, d, 2) / d), np.sin, np.cos
        ),
    }
