"""Minibatches of similar length: Sutskever, Vinyals and Le (2014), "Sequence to Sequence Learning", section 3.4.

    cost of a batch = |batch| · max_{i in batch} length_i      tokens, pads included: what the memory must hold

Sorted from long to short, the first batch is the most expensive one: if it fits into memory, all of them do.
"""

from collections.abc import Sequence


def length_sorted_batches(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Cut the indices, longest sequence first, into batches of `batch_size`; only the last may be smaller.

    Raises:
        ValueError: `batch_size` is not positive.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; expected 1 or more")
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def padded_tokens(lengths: Sequence[int], batches: Sequence[Sequence[int]]) -> list[int]:
    """Return the size of each batch in tokens after padding to its longest sequence."""
    return [len(batch) * max(lengths[index] for index in batch) for batch in batches]
