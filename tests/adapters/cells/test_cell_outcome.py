"""nbgrader's and otter's rules, on what a box may claim."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.model import Status
from viva.plugins.suites.notebook_outcome import judge_case, judge_cell


def value(text: Any) -> dict[str, Any]:
    return {"output_type": "execute_result", "data": {"text/plain": text}}


ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
STDERR = {"output_type": "stream", "name": "stderr", "text": "careful"}
STDOUT = {"output_type": "stream", "name": "stdout", "text": "0"}
SHOWN = {"output_type": "display_data", "data": {"text/plain": "0"}}


@pytest.mark.parametrize(
    ("outputs", "share"),
    [
        ([], 1),
        ([STDOUT], 1),
        ([SHOWN], 1),
        ([ERROR], 0),
        ([STDERR], 0),
        ([value("1")], Fraction(1, 4)),
        ([value("0")], 0),
        ([value("0.0")], 0),
        ([value("4.0")], 1),
        ([value("1e-1")], Fraction(1, 40)),
        ([value("np.float64(1.0)")], Fraction(1, 4)),
        ([value("np.int64(0)")], 0),
        ([value("True")], 1),
        ([value("'all right'")], 1),
        ([value("-1")], 1),
        ([value("nan")], 1),
        ([value("inf")], 1),
        ([value("9")], 1),  # nbgrader refuses the whole notebook
        ([value("1"), ERROR], Fraction(1, 4)),
        ([STDOUT, ERROR, value("4")], 0),
    ],
)
def test_cell_outcome(outputs: list[dict[str, Any]], share: Fraction) -> None:
    outcome = judge_cell({"status": "ok", "outputs": outputs}, Fraction(4))
    earned = outcome.share if outcome.share is not None else int(outcome.status is Status.PASSED)
    assert earned == share


@pytest.mark.parametrize("text", ["True", "'all right'", "-1", "nan", "9", "np.float64(9.0)", "array([1.])"])
def test_value_that_is_no_number(text: str) -> None:
    outcome = judge_cell({"status": "ok", "outputs": [value(text)]}, Fraction(4))
    assert outcome.status is Status.PASSED and f"The cell's value {text} is not a number" in outcome.staff_message


@pytest.mark.parametrize(("frames", "whose"), [(1, "The test needs"), (2, "Your code needs")])
def test_missing_library_of_the_test(frames: int, whose: str) -> None:
    raised: dict[str, object] = {
        "type": "ModuleNotFoundError", "message": "No module named 'nose'", "missing_module": "nose",
        "frames": [["cell 3", 1, "", "import nose"]] * frames,
    }  # fmt: skip
    outcome = judge_cell({"status": "error", "outputs": [ERROR], "raised": raised}, Fraction(4))
    assert outcome.status is Status.ERROR and outcome.message.startswith(f"{whose} the module `nose`")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["status", "outputs", "output_type", "name", "text", "data", "text/plain", "raised", "passed"]
            )
            | st.integers(),
            inner | st.sampled_from(["execute_result", "stream", "stderr", "error"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_any_claim(claim: Any) -> None:
    for outcome in (judge_cell(claim, Fraction(3)), judge_case(claim, success="", failure="")):
        assert outcome.share is None or 0 <= outcome.share <= 1
        assert isinstance(outcome.message, str)


@pytest.mark.parametrize("claim", [None, 1, "passed", [], {"passed": 1}, {"passed": "True"}, {"status": "raised"}])
def test_odd_claims_do_not_pass(claim: Any) -> None:
    assert judge_case(claim, success="", failure="").status is not Status.PASSED
    assert judge_cell(claim, Fraction(1)).status is not Status.PASSED
