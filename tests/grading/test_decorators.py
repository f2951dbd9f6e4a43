"""The authors' decorators: exact points, gradescope's attributes, refusals where they are written."""

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from gradescope_utils.autograder_utils import decorators as gradescope

from viva.grading import hide_errors, leaderboard, needs_review, number, partial_credit, tags, visibility, weight
from viva.grading.signals import NeedsReview


@pytest.fixture
def function() -> Any:
    def question(student: Any) -> Any:
        """What the student reads."""
        return student

    return question


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        (4, Fraction(4)),
        (0, Fraction(0)),
        (0.1, Fraction(1, 10)),
        (2.5, Fraction(5, 2)),
        ("1/3", Fraction(1, 3)),
        ("0.7", Fraction(7, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (1e-3, Fraction(1, 1000)),
    ],
)
def test_exact_points(function: Any, written: Any, exact: Fraction) -> None:
    assert weight(written)(function).__weight__ == exact
    assert type(function.__weight__) is Fraction
    assert partial_credit(written)(function).__viva_partial__ == exact


@pytest.mark.parametrize("decorator", [weight, partial_credit])
@pytest.mark.parametrize("points", [float("nan"), float("inf"), "many", "1/0", "", "nan"])
def test_impossible_points(decorator: Any, points: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a number of points"):
        decorator(points)


@pytest.mark.parametrize("points", [-1, -0.5, "-1/2"])
def test_points_below_zero(function: Any, points: Any) -> None:
    """A deduction is worth less than nothing; partial credit cannot be."""
    assert weight(points)(function).__weight__ == Fraction(str(points))
    with pytest.raises(ValueError, match=r"zero or more"):
        partial_credit(points)


@pytest.mark.parametrize("points", [None, True, [4], 1j])
def test_points_of_another_type(points: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a number of points"):
        weight(points)


def test_forgotten_brackets(function: Any) -> None:
    with pytest.raises(TypeError, match=r"write @weight\(4\)"):
        weight(function)
    with pytest.raises(TypeError, match=r"write @number\('...'\)"):
        number(function)


def test_functions_are_not_wrapped(function: Any) -> None:
    decorated = weight(2)(number("3.3")(visibility("hidden")(tags("bleu")(hide_errors("no")(function)))))
    decorated = leaderboard("accuracy", "asc")(partial_credit(3)(decorated))
    assert decorated is function
    assert list(inspect.signature(decorated).parameters) == ["student"]
    assert decorated.__doc__ == "What the student reads."
    assert decorated(7) == 7


@pytest.mark.parametrize(
    ("ours", "other", "attribute"),
    [
        (number("1.1"), gradescope.number("1.1"), "__number__"),
        (visibility("after_published"), gradescope.visibility("after_published"), "__visibility__"),
        (tags("a", "b"), gradescope.tags("a", "b"), "__tags__"),
        (hide_errors(), gradescope.hide_errors(), "__hide_errors__"),
        (hide_errors("Look again"), gradescope.hide_errors("Look again"), "__hide_errors__"),
        (weight(3), gradescope.weight(3), "__weight__"),
    ],
)
def test_attributes_of_gradescope(ours: Any, other: Any, attribute: str) -> None:
    def one() -> None:
        pass

    def two() -> None:
        pass

    assert getattr(ours(one), attribute) == getattr(other(two), attribute)


def test_leaderboard_sets_the_attributes_of_gradescope(function: Any) -> None:
    leaderboard("perplexity", "asc")(function)
    assert function.__leaderboard_column__ == "perplexity"
    assert function.__leaderboard_sort_order__ == "asc"
    with pytest.raises(ValueError, match="asc or desc"):
        leaderboard("perplexity", "up")  # type: ignore[arg-type]  # no such order


def test_invalid_arguments() -> None:
    calls: list[Callable[[], object]] = [
        lambda: visibility("secret"),
        lambda: number(""), lambda: tags("a", " "), lambda: hide_errors(""), lambda: leaderboard(""),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="expected"):
            call()


@pytest.mark.parametrize(("refused", "argument"), [(number, 3.3), (tags, 1), (weight(1), "not a function")])
def test_arguments_of_another_type(refused: Callable[[Any], object], argument: Any) -> None:
    with pytest.raises(TypeError):
        refused(argument)


def test_review_cannot_be_swallowed() -> None:
    """A body that catches every Exception still ends: the signal is not an Exception."""

    def body() -> None:
        try:
            needs_review("Because of the gradient.", rubric="2.1a")
        except Exception:  # swallows what it can
            return

    with pytest.raises(NeedsReview) as raised:
        body()
    assert raised.value.text == "Because of the gradient."
    assert raised.value.rubric == "2.1a"


def test_findings_of_a_review() -> None:
    with pytest.raises(NeedsReview) as raised:
        needs_review("It learned.", rubric="3.1", findings=["0.62 is the majority class."])
    assert raised.value.findings == ("0.62 is the majority class.",)


@pytest.mark.parametrize("findings", ["one text", [3]])
def test_invalid_findings(findings: Any) -> None:
    with pytest.raises(TypeError, match="findings"):
        needs_review("text", rubric="1", findings=findings)


@pytest.mark.parametrize(("text", "rubric"), [(None, "1"), (3, "1")])
def test_review_without_text(text: Any, rubric: str) -> None:
    with pytest.raises(TypeError, match="text"):
        needs_review(text, rubric)


def test_review_without_a_rubric() -> None:
    with pytest.raises(ValueError, match="rubric"):
        needs_review("text", rubric="")
