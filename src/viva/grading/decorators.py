"""Decorators with Gradescope's names, for plain pytest functions.

They set the attributes that `gradescope_utils` sets and return the function unchanged: nothing is wrapped, so
fixtures, parametrization and docstrings stay what pytest sees. A wrong argument is refused where it is written.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, Literal, TypeVar, get_args

from viva.model.score import VISIBILITIES

Test = TypeVar("Test", bound=Callable[..., Any])
Order = Literal["asc", "desc"]
ORDERS: Final[tuple[str, ...]] = get_args(Order)


def weight(points: int | float | str | Fraction) -> Callable[[Test], Test]:
    """Set what the test is worth; parametrized cases share it.

    A deduction has points below zero: `@weight(-2)` takes 2 points from those who fail the test, and gives none to
    those who pass. The total of a submission is never below zero.

    Args:
        points: kept exactly: 4, Fraction(1, 3), "1/3", -2; 0.1 is one tenth.

    Raises:
        TypeError: not a number of points.
        ValueError: not a number of points.
    """
    exact = _points(points, "weight", may_be_negative=True)
    return lambda test: _set(test, __weight__=exact)


def number(label: str) -> Callable[[Test], Test]:
    """Set the question's number, for example "3.3"; it sorts the results."""
    text = _text(label, "number")
    return lambda test: _set(test, __number__=text)


def visibility(who: str) -> Callable[[Test], Test]:
    """Set when students see the test: visible, hidden, after_due_date or after_published.

    Raises:
        ValueError: another word.
    """
    if who not in VISIBILITIES:
        raise ValueError(f"visibility({who!r}): expected one of {', '.join(VISIBILITIES)}.")
    return lambda test: _set(test, __visibility__=who)


def tags(*labels: str) -> Callable[[Test], Test]:
    """Set labels of the test, for reports."""
    texts = tuple(_text(label, "tags") for label in labels)
    return lambda test: _set(test, __tags__=texts)


def hide_errors(message: str = "Test failed") -> Callable[[Test], Test]:
    """Show this sentence instead of what went wrong."""
    text = _text(message, "hide_errors")
    return lambda test: _set(test, __hide_errors__=text)


def partial_credit(points: int | float | str | Fraction) -> Callable[[Test], Test]:
    """Set what the test is worth at most; its body gives points with the fixture `set_score(points_earned)`.

    Raises:
        TypeError: not a number of points.
        ValueError: not a number of points.
    """
    exact = _points(points, "partial_credit")
    return lambda test: _set(test, __weight__=exact, __viva_partial__=exact)


def leaderboard(name: str, order: Order = "desc") -> Callable[[Test], Test]:
    """Let the test fill this column of the leaderboard with the fixture `set_leaderboard_value(value)`.

    Args:
        name: the column's title.
        order: "desc" when more is better, "asc" when less is.

    Raises:
        TypeError: the name is not a text.
        ValueError: an empty name or another order.
    """
    column = _text(name, "leaderboard")
    if order not in ORDERS:
        raise ValueError(f"leaderboard({name!r}, {order!r}): expected the order to be asc or desc.")
    return lambda test: _set(test, __leaderboard_column__=column, __leaderboard_sort_order__=order)


def _set(test: Test, **attributes: object) -> Test:
    if not callable(test):
        raise TypeError(f"a grading decorator belongs above a test function; this is {test!r}.")
    for name, value in attributes.items():
        setattr(test, name, value)
    return test


def _points(points: object, decorator: str, *, may_be_negative: bool = False) -> Fraction:
    bound = "" if may_be_negative else ", zero or more"
    wrong = f"{decorator}({points!r}): expected a number of points{bound}, such as 4, 0.5 or '1/3'."
    if callable(points):
        raise TypeError(f"@{decorator} needs its points: write @{decorator}(4).")
    if isinstance(points, bool) or not isinstance(points, int | float | str | Fraction):
        raise TypeError(wrong)
    if isinstance(points, float) and not math.isfinite(points):
        raise ValueError(wrong)
    try:
        exact = Fraction(str(points)) if isinstance(points, float) else Fraction(points)
    except (ValueError, ZeroDivisionError):
        raise ValueError(wrong) from None
    if exact < 0 and not may_be_negative:
        raise ValueError(wrong)
    return exact


def _text(value: object, decorator: str) -> str:
    if callable(value):
        raise TypeError(f"@{decorator} needs its text: write @{decorator}('...').")
    if not isinstance(value, str):
        raise TypeError(f"{decorator}({value!r}): expected a string in quotes.")
    if not value.strip():
        raise ValueError(f"{decorator}({value!r}): expected some text, not an empty string.")
    return value
