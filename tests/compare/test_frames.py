"""DataFrames, series and tensors: what counts as the same answer, and what a student reads about another one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.support.table_rows import Rows
from viva.compare.agree import agree
from viva.compare.disagreement import Disagreement
from viva.compare.show import describe, show
from viva.examiner.recorded_key.recorded_values import digest, packed, unpacked

TABLE = pd.DataFrame({"name": ["ada", "bo", "cy"], "points": [3, 1, 2]})
BY_NAME = pd.Series([3.0, 1.0], index=pd.Index(["ada", "bo"], name="name"), name="points")
DAYS = pd.to_datetime(["2024-01-02"])
TWICE = pd.DataFrame([[1, 2]], columns=["a", "a"])

SAME: dict[str, tuple[Any, Any]] = {
    "columns in another order": (TABLE[["points", "name"]], TABLE),
    "floats": (TABLE.astype({"points": float}), TABLE),
    "small integers": (TABLE.astype({"points": "int8"}), TABLE),
    "categories": (TABLE.astype({"name": "category"}), TABLE),
    "objects": (TABLE.astype(object), TABLE),
    "nullable": (TABLE.convert_dtypes(), TABLE),
    "rows that are numbered otherwise": (TABLE.set_index(np.array([2, 0, 1])), TABLE),
    "another name": (BY_NAME.rename("total"), BY_NAME),
    "an index without a name": (BY_NAME.rename_axis(None), BY_NAME),
    "missing texts": (pd.Series(["x", None], dtype=object), pd.Series(["x", np.nan], dtype=object)),
    "missing numbers": (pd.DataFrame({"a": pd.array([1, None], "Int64")}), pd.DataFrame({"a": [1, np.nan]})),
    "only missing": (pd.DataFrame({"a": [None, None]}), pd.DataFrame({"a": [np.nan, np.nan]})),
    "dates": (pd.DataFrame({"t": DAYS.astype("datetime64[s]")}), pd.DataFrame({"t": DAYS})),
    "labels that are numbers": (pd.DataFrame([[1, 2]]), pd.DataFrame([[1, 2]], columns=np.array([0.0, 1.0]))),
    "a list for a series": ([3, 1, 2], TABLE["points"]),
    "an array for a series": (np.array([3, 1, 2]), TABLE["points"]),
    "a series for a list": (TABLE["points"], [3, 1, 2]),
    "a data frame for an array": (TABLE[["points"]], np.array([[3], [1], [2]])),
    "an index for a list": (TABLE.columns, ["name", "points"]),
    "no rows": (TABLE[:0], TABLE[TABLE["points"] > 9]),
    "no columns": (TABLE[[]], TABLE[[]]),
    "a column twice": (TWICE, TWICE.copy()),
    "inside a tuple": ((TABLE, 1), (TABLE, 1)),
}  # fmt: skip
OTHER: dict[str, tuple[Any, Any, str]] = {
    "a value": (TABLE.assign(points=[3, 1, 9]), TABLE, "At ['points'] your answer is [3, 1, 9]; expected [3, 1, 2]."),
    "a missing value": (TABLE.assign(points=[3, 1, None]), TABLE, "[2] your answer is missing; expected 2."),
    "a text for a number": (TABLE.astype(str), TABLE, "At ['points']"),
    "no column": (TABLE[["name"]], TABLE, "Your answer has no column 'points'."),
    "renamed": (TABLE.rename(columns={"points": "n"}), TABLE, "column 'points'. It has the column 'n' instead."),
    "a column too many": (TABLE.assign(x=1), TABLE, "has the column 'x', which is not expected."),
    "a row too few": (TABLE[:2], TABLE, "has 2 rows; expected 3."),
    "sorted": (TABLE.sort_values("points"), TABLE, "At ['name'][0]"),
    "no index": (BY_NAME.reset_index(drop=True), BY_NAME, "has no index of its own; expected the index ['ada', 'bo']."),
    "another index": (BY_NAME.set_axis(["ada", "cy"]), BY_NAME, "At .index[1] your answer is 'cy'; expected 'bo'."),
    "a data frame": (BY_NAME.to_frame(), BY_NAME, "is a data frame of 2 rows with the columns 'points'; expected a"),
    "a series": (TABLE["points"], TABLE, "is a series of 3 items; expected a data frame of 3 rows"),
    "a dict": (TABLE.to_dict(), TABLE, "is a dict of 2 items; expected a data frame of 3 rows"),
    "a list": ([[1]], TABLE, "is a list of 1 item; expected a data frame"),
    "nothing": (None, TABLE, "is None; expected a data frame"),
    "a list for labelled items": ([3.0, 1.0], BY_NAME, "is a list of 2 items; expected a series of 2 items."),
    "the second of two columns": (TWICE, TWICE.replace(2, 3), "expected [3]"),
}  # fmt: skip


def test_equal_frames() -> None:
    with Rows() as row:
        for name, (actual, expected) in SAME.items():
            with row(name):
                agree(actual, expected)
                agree(actual, unpacked(packed(expected)))


def test_other_frames() -> None:
    with Rows() as row:
        for name, (actual, expected, words) in OTHER.items():
            with row(name):
                with pytest.raises(Disagreement) as caught:
                    agree(actual, expected)
                assert words in str(caught.value)


def test_rows_in_any_order() -> None:
    shuffled = TABLE.sample(frac=1, random_state=1)
    agree(shuffled, TABLE, up_to="order")
    agree(shuffled[["points"]], TABLE[["points"]], up_to="order")
    agree(BY_NAME[::-1], BY_NAME, up_to="order")
    missing = pd.DataFrame({"a": [1.0, None], "b": ["x", None]})
    agree(missing[::-1], missing, up_to="order")
    swapped = TABLE.assign(points=[1, 3, 2])
    for other, expected in ((swapped, TABLE), (BY_NAME.set_axis(["bo", "ada"]), BY_NAME)):
        with pytest.raises(Disagreement):
            agree(other, expected, up_to="order")


def test_index_that_does_not_count() -> None:
    agree(BY_NAME.reset_index(drop=True), BY_NAME, up_to="index")
    agree([3.0, 1.0], TABLE["points"][:2])
    with pytest.raises(Disagreement):
        agree(BY_NAME[::-1], BY_NAME, up_to="index")


def test_digest_of_frames() -> None:
    assert digest("f", (TABLE,), {}) == digest("f", (TABLE.copy(),), {})
    assert digest("f", (TABLE,), {}) != digest("f", (TABLE[::-1],), {})


TENSORS = [
    torch.tensor([[0.5, -1.0]]),
    torch.tensor([3, 1]),
    torch.tensor(True),
    torch.zeros(0, 2),
    torch.tensor([1.5], dtype=torch.bfloat16),
]


def test_shown_tensor() -> None:
    assert show(torch.tensor([[0.5, -1.0]])) == "[[0.5, -1]]" and show([torch.tensor([3])]) == "[[3]]"
    assert describe(torch.zeros(20, 30)) == "an array of shape (20, 30)"


def test_recorded_tensor() -> None:
    for tensor in TENSORS:
        agree(tensor, unpacked(packed(tensor)))
    with pytest.raises(AssertionError):
        agree(TENSORS[0] + 1, unpacked(packed(TENSORS[0])))


def test_digest_of_tensors() -> None:
    for tensor in TENSORS:
        assert digest("f", (tensor,), {}) == digest("f", (tensor.clone(),), {})
    questions = {digest("f", (tensor,), {}) for tensor in TENSORS}
    assert len(questions) == len(TENSORS)
    assert digest("f", (TENSORS[0],), {}) != digest("f", (TENSORS[0].double(),), {})
    assert digest("f", (TENSORS[0],), {}) != digest("f", (TENSORS[0].numpy(),), {})
