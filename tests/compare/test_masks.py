"""Masks in every convention: one and the same mask earns full marks, another one none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tests.support.table_rows import Rows
from viva.grading import Disagreement, agree

Mask = NDArray[Any]


INF = float("inf")


def causal(n: int) -> Mask:
    return np.triu(np.ones((n, n), dtype=int), 1)


def sequence_to_sequence(source: int, target: int) -> Mask:
    mask = np.zeros((source + target, source + target), dtype=int)
    mask[:source, source:] = 1
    mask[source:, source:] = causal(target)
    return mask


def additive(mask: Mask, value: Any) -> Mask:
    return np.where(mask == 1, value, 0.0)


# A mask (1 = masked) in each convention that students know.
CONVENTIONS: dict[str, Callable[[Mask], Any]] = {
    "1 masked": lambda m: m,
    "1 visible": lambda m: 1 - m,
    "float": lambda m: m.astype(np.float32),
    "True masked": lambda m: m.astype(bool),
    "True visible": lambda m: m == 0,
    "nested lists": lambda m: m.tolist(),
    "nested bools": lambda m: (m == 0).tolist(),
    "-inf": lambda m: additive(m, -INF),
    "-1e9": lambda m: additive(m, -1e9),
    "-10000": lambda m: additive(m, -10000).astype(int),
    "float32 minimum": lambda m: additive(m, np.finfo(np.float32).min).astype(np.float32),
    "tensor": lambda m: torch.tensor(m),
    "bool tensor": lambda m: torch.tensor(m) == 0,
    "uint8": lambda m: m.astype(np.uint8),
}
MASKS = {
    "causal": causal(5),
    "sequence to sequence": sequence_to_sequence(3, 2),
    "bidirectional": np.zeros((4, 4), dtype=int),
    "one token": np.zeros((1, 1), dtype=int),
    "no token": np.zeros((0, 0), dtype=int),
    "a batch": np.stack([causal(3), np.zeros((3, 3), dtype=int)]),
    "padding": np.array([[0, 0, 1, 1], [0, 0, 0, 0]]),
    "cross attention": np.array([[0, 0, 1], [0, 0, 1]]),
}


def test_same_mask() -> None:
    with Rows() as row:
        for expected in ["1 masked", "1 visible", "True visible", "-inf"]:
            for answered in CONVENTIONS:
                for kind in MASKS:
                    with row(expected, answered, kind):
                        mask = MASKS[kind]
                        agree(CONVENTIONS[answered](mask), CONVENTIONS[expected](mask), up_to=("polarity",))


OTHER_MASKS = [
    ("causal", causal(5).T),
    ("causal", np.zeros((5, 5), dtype=int)),
    ("causal", np.triu(np.ones((5, 5), dtype=int), 2)),
    ("sequence to sequence", sequence_to_sequence(2, 3)),
    ("sequence to sequence", sequence_to_sequence(3, 2).T),
    ("a batch", np.stack([causal(3), causal(3)])),
    ("causal", causal(4)),
]


def test_other_mask() -> None:
    with Rows() as row:
        for n, (kind, wrong) in enumerate(OTHER_MASKS):
            for expected in ["1 masked", "1 visible", "-inf"]:
                for answered in CONVENTIONS:
                    with row(n, kind, expected, answered), pytest.raises(Disagreement):
                        agree(CONVENTIONS[answered](wrong), CONVENTIONS[expected](MASKS[kind]), up_to=("polarity",))


def test_opposite_polarity_is_named() -> None:
    with pytest.raises(Disagreement, match="opposite of the expected"):
        agree(1 - causal(4), causal(4))
    with pytest.raises(Disagreement, match=r"additive mask \(0 and -inf\)"):
        agree(additive(causal(4), -INF), causal(4))


def test_one_convention_per_answer() -> None:
    """All ones says nothing alone; next to a causal mask that means 1 = masked it hides everything."""
    expected: dict[str, Any] = {"bidirectional": np.zeros((4, 4)), "causal": causal(4)}
    agree({"bidirectional": np.ones((4, 4)), "causal": 1 - causal(4)}, expected, up_to="polarity")
    agree([np.zeros((4, 4)), causal(4)], list(expected.values()), up_to="polarity")
    with pytest.raises(Disagreement, match=r"At \['bidirectional'\] your answer differs .* 16 of 16 positions"):
        agree({"bidirectional": np.ones((4, 4)), "causal": causal(4)}, expected, up_to="polarity")


def test_message_of_masks() -> None:
    wrong = 1 - causal(4)
    wrong[2, 0] = 0
    with pytest.raises(Disagreement) as raised:
        agree(wrong, causal(4), up_to="polarity")
    assert str(raised.value) == (
        "Your answer differs from the expected mask at 1 of 16 positions (6 %), first at [2, 0]: masked, "
        "expected visible (1 was read as visible in your answer)."
    )


@pytest.mark.parametrize("value", [0.5, 2, -1, float("nan"), float("inf"), 1j])
def test_no_mask(value: complex) -> None:
    wrong = causal(3).astype(type(value) if isinstance(value, complex) else float)
    wrong[1, 2] = value
    with pytest.raises(Disagreement, match="expected a mask of 0 and 1"):
        agree(wrong, causal(3), up_to="polarity")


def test_hint_is_recognized_in_every_convention() -> None:
    hints = {"nothing is masked": np.zeros((5, 5)), "rows and columns are swapped": causal(5).T}
    for convention in CONVENTIONS.values():
        with pytest.raises(Disagreement) as raised:
            agree(convention(causal(5).T), causal(5), hints=hints, up_to="polarity")
        assert raised.value.hint == "rows and columns are swapped"


def test_numbers_next_to_masks() -> None:
    expected = {"mask": causal(3), "weights": np.full((3, 3), 0.25), "n": 3}
    agree({"mask": 1 - causal(3), "weights": np.full((3, 3), 0.25), "n": 3}, expected, up_to="polarity")
    with pytest.raises(Disagreement, match=r"At \['weights'\]"):
        agree({"mask": 1 - causal(3), "weights": np.full((3, 3), 0.75), "n": 3}, expected, up_to="polarity")
    with pytest.raises(Disagreement, match=r"At \['n'\]"):
        agree({"mask": causal(3), "weights": np.full((3, 3), 0.25), "n": 0}, expected, up_to="polarity")
