"""Questions 1.1 and 1.2: padding, and batches of similar length."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from viva.grading import agree, number, visibility, weight

ROWS = [[5, 11, 3, 17, 8], [9, 2], [4, 6, 12]]


@number("1.1")
@weight(1)
def test_padding_by_hand(submission: Any, key: Any) -> None:
    """The three sequences of question 1.1, padded with 0 to one length, by hand."""
    rows = submission.answers["1.1"]
    for side in ("right", "left"):  # the question names none
        try:
            return agree(rows, key.pad_batch(ROWS, 0, side))
        except AssertionError:
            continue
    raise AssertionError("Your answer is not right; expected three rows of one length, all padded on the same side.")


@number("1.1")
@weight(1)
def test_pad_batch(student: Any, key: Any) -> None:
    """A batch is padded to its longest sequence, on the side and with the number asked for."""
    agree(student.pad_batch(ROWS), key.pad_batch(ROWS), name=f"pad_batch({ROWS}), pad = 0 on the right,")
    for sequences, pad, side in [
        (ROWS, 0, "right"),
        (ROWS, 0, "left"),
        (ROWS, -1, "right"),
        ([[7, 7, 7], [7, 7, 7]], 0, "right"),
        ([[], [3]], 0, "right"),
        ([[0, 31], [0], [4, 0, 6]], 9, "left"),  # 0 may be a token's id: pads are recognized by their position
        ([[50_256, 199_997, 3], [70_001]], 100_257, "right"),  # vocabularies of today's models
        ([[2**31 - 1, 2**24 + 1], [3]], 0, "left"),  # float32 has 24 binary digits
    ]:
        other = "left" if side == "right" else "right"
        hints = {
            f"the pads stand on the {other}": key.pad_batch(sequences, pad, other),
            "the argument `pad` is not used": key.pad_batch(sequences, 0, side),
            "tokens with the id 0 have become pads": lambda batch=(sequences, pad, side): zeros_padded(key, *batch),
            "ids above 32,767 do not fit into 16 bits": lambda batch=(sequences, pad, side): key.pad_batch(
                *batch
            ).astype(np.int16),
        }
        name = f'pad_batch({sequences}, {pad}, "{side}")'
        actual, expected = student.pad_batch(sequences, pad, side), key.pad_batch(sequences, pad, side)
        agree(actual, expected, hints=hints, name=name)
        changed = np.asarray(actual, dtype=float) != expected  # `agree` lets float32 round
        assert not changed.any(), f"{name} rounds ids above 16,777,216, as float32 does; keep them as whole numbers."


@number("1.1")
@weight(1)
@visibility("after_published")
def test_pad_batch_on_random_sequences(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sequences, one of them long, on both sides, with random pads; 0 and the pad may be tokens as well.

    Try an empty sequence, sequences of equal length, and a pad that also occurs as a token.
    """
    questions = []
    for side in ("right", "left", "right", "left"):
        pad, sizes = int(rng.integers(-100, 100)), [*rng.integers(1, 12, int(rng.integers(1, 6))).tolist(), 1_100]
        sequences = [[*rng.integers(1, 250_000, size).tolist(), 0, abs(pad)] for size in rng.permutation(sizes)]
        questions.append((sequences, pad, side))
    agree(student.pad_batch.each(questions), [key.pad_batch(*question) for question in questions])


@number("1.2")
@weight(2)
def test_length_sorted_batches(student: Any) -> None:
    """Every index is in one batch, the batches are full, and the longest sequences come first."""
    for lengths, batch_size in [
        ([6, 3, 4, 9, 1, 9, 2], 3),
        ([5, 8], 4),
        ([2, 2, 7, 2], 1),
        ([1, 2, 3, 4, 5, 6], 2),
        ([512, 70_000, 9, 32_768, 300], 2),
        ([4, 8, 7, 3, 5, 1, 2], 3),
        ([0, 4, 0, 7], 3),  # an empty text has an index as well
    ]:
        check_batches(student.length_sorted_batches(lengths, batch_size), lengths, batch_size)


@number("1.2")
@weight(1)
@visibility("after_published")
def test_the_first_batch_is_the_largest(student: Any, rng: np.random.Generator) -> None:
    """Random lengths: the first batch needs the most memory, so if it fits, all of them do.

    Try lengths that are in no order, equal lengths, and a last batch that is not full.
    """
    for _ in range(4):
        lengths, batch_size = rng.integers(1, 60, int(rng.integers(1, 40))).tolist(), int(rng.integers(1, 9))
        check_first_batch(student, lengths, batch_size)
    check_first_batch(student, rng.integers(1, 60, 700).tolist(), 4)  # so many that parts sorted one by one show


def check_first_batch(student: Any, lengths: list[int], batch_size: int) -> None:
    """Raise unless the batches are right and the first one has the most tokens."""
    batches = student.length_sorted_batches(lengths, batch_size)
    check_batches(batches, lengths, batch_size)
    cost = [len(batch) * max(lengths[int(index)] for index in batch) for batch in batches]
    assert cost[0] == max(cost), "The first batch is not the one with the most tokens, pads included."


def check_batches(batches: Sequence[Sequence[Any]], lengths: Sequence[int], batch_size: int) -> None:
    """Raise with a sentence for the student unless the batches are as the question asks; ties may be in any order."""
    asked = f"length_sorted_batches({list(lengths)}, {batch_size})" if len(lengths) < 8 else "length_sorted_batches"
    try:
        indices = [[int(index) for index in batch] for batch in batches]
    except (TypeError, ValueError):
        raise AssertionError(f"{asked}: expected a list of batches, each a list of indices such as [3, 0].") from None
    flat = sorted(index for batch in indices for index in batch)
    returned_lengths = flat == sorted(lengths) and flat != list(range(len(lengths)))
    assert not returned_lengths, f"{asked} returned the lengths; return the indices of the sequences (0, 1, …)."
    assert flat == list(range(len(lengths))), f"{asked} does not hold every index 0 … {len(lengths) - 1} exactly once."
    sizes = [len(batch) for batch in indices]
    assert max(sizes) <= batch_size, f"{asked} has a batch of {max(sizes)} sequences; expected at most {batch_size}."
    assert set(sizes[:-1]) <= {batch_size}, f"{asked} has batches of {sizes}; only the last one may be smaller."
    longest, shortest = ([f(lengths[i] for i in batch) for batch in indices] for f in (max, min))
    in_order = all(before >= after for before, after in zip(shortest, longest[1:], strict=False))
    assert in_order, f"{asked}: the longest sequences must come first; the longest of each batch are {longest}."


def zeros_padded(key: Any, sequences: list[list[int]], pad: int, side: str) -> Any:
    """Make the mistake to pad with 0 first and then to replace every 0 by the pad."""
    batch = key.pad_batch(sequences, 0, side)
    return np.where(batch == 0, pad, batch)
