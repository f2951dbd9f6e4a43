"""The authors' decorators: exact points, gradescope's attributes, refusals where they are written."""

import inspect
from fractions import Fraction

import pytest
from gradescope_utils.autograder_utils import decorators as theirs

from viva.grading import hide_errors, leaderboard, needs_review, number, partial_credit, tags, visibility, weight
from viva.grading.signals import NeedsReview


def question(student: object) -> object:
    """What the student reads."""
    return student


@pytest.fixture
def test_function():
    def fresh(student):
        """What the student reads."""
        return student

    return fresh


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
def test_points_are_exact(test_function, written, exact):
    assert weight(written)(test_function).__weight__ == exact
    assert type(test_function.__weight__) is Fraction
    assert partial_credit(written)(test_function).__viva_partial__ == exact


def test_thirds_add_up():
    assert sum(weight("1/3")(lambda: None).__weight__ for _ in range(3)) == 1


@pytest.mark.parametrize("decorator", [weight, partial_credit])
@pytest.mark.parametrize("points", [-1, -0.5, "-1/2", float("nan"), float("inf"), "many", "1/0", "", "nan"])
def test_impossible_points_are_refused(decorator, points):
    with pytest.raises(ValueError, match=r"expected a number of points, zero or more"):
        decorator(points)


@pytest.mark.parametrize("points", [None, True, [4], 1j])
def test_points_of_another_type_are_refused(points):
    with pytest.raises(TypeError, match=r"expected a number of points"):
        weight(points)


def test_forgotten_brackets_are_named(test_function):
    with pytest.raises(TypeError, match=r"write @weight\(4\)"):
        weight(test_function)
    with pytest.raises(TypeError, match=r"write @number\('...'\)"):
        number(test_function)


def test_nothing_is_wrapped(test_function):
    decorated = weight(2)(number("3.3")(visibility("hidden")(tags("bleu")(hide_errors("no")(test_function)))))
    decorated = leaderboard("accuracy", "asc")(partial_credit(3)(decorated))
    assert decorated is test_function
    assert list(inspect.signature(decorated).parameters) == ["student"]
    assert decorated.__doc__ == "What the student reads."
    assert decorated(7) == 7


@pytest.mark.parametrize(
    ("ours", "theirs_", "attribute"),
    [
        (number("1.1"), theirs.number("1.1"), "__number__"),
        (visibility("after_published"), theirs.visibility("after_published"), "__visibility__"),
        (tags("a", "b"), theirs.tags("a", "b"), "__tags__"),
        (hide_errors(), theirs.hide_errors(), "__hide_errors__"),
        (hide_errors("Look again"), theirs.hide_errors("Look again"), "__hide_errors__"),
        (weight(3), theirs.weight(3), "__weight__"),
    ],
)
def test_the_attributes_are_those_of_gradescope(ours, theirs_, attribute):
    def one():
        pass

    def two():
        pass

    assert getattr(ours(one), attribute) == getattr(theirs_(two), attribute)


def test_a_leaderboard_has_a_name_and_an_order(test_function):
    leaderboard("perplexity", "asc")(test_function)
    assert test_function.__leaderboard_column__ == "perplexity"
    assert test_function.__leaderboard_sort_order__ == "asc"
    with pytest.raises(ValueError, match="asc or desc"):
        leaderboard("perplexity", "up")


@pytest.mark.parametrize(
    "refused",
    [
        lambda: visibility("secret"),
        lambda: number(""),
        lambda: tags("a", " "),
        lambda: hide_errors(""),
        lambda: leaderboard(""),
    ],
)
def test_refusals_are_one_sentence(refused):
    with pytest.raises(ValueError) as raised:
        refused()
    assert "expected" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("refused", [lambda: number(3.3), lambda: tags(1), lambda: weight(1)("not a function")])
def test_wrong_types_are_refused(refused):
    with pytest.raises(TypeError):
        refused()


def test_a_review_cannot_be_swallowed():
    """A body that catches every Exception still ends: the signal is not an Exception."""

    def body():
        try:
            needs_review("Because of the gradient.", rubric="2.1a")
        except Exception:  # swallows what it can
            return

    with pytest.raises(NeedsReview) as raised:
        body()
    assert raised.value.text == "Because of the gradient."
    assert raised.value.rubric == "2.1a"


def test_a_review_carries_findings():
    with pytest.raises(NeedsReview) as raised:
        needs_review("It learned.", rubric="3.1", findings=["0.62 is the majority class."])
    assert raised.value.findings == ("0.62 is the majority class.",)


@pytest.mark.parametrize("findings", ["one text", [3]])
def test_findings_are_a_list_of_sentences(findings):
    with pytest.raises(TypeError, match="findings"):
        needs_review("text", rubric="1", findings=findings)


@pytest.mark.parametrize(("text", "rubric"), [(None, "1"), (3, "1")])
def test_a_review_needs_text(text, rubric):
    with pytest.raises(TypeError, match="text"):
        needs_review(text, rubric)


def test_a_review_needs_a_rubric_question():
    with pytest.raises(ValueError, match="rubric"):
        needs_review("text", rubric="")
