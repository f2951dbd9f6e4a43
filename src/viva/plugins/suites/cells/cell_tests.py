"""The tests of a notebook, described before there is any submission."""

from dataclasses import dataclass
from fractions import Fraction

from viva.examiner.catalog import TestFunction


@dataclass(frozen=True, slots=True)
class CellTest:
    """One test of a notebook."""

    function: TestFunction
    """The description that tests of other assignments have too, without pytest items."""
    file: str
    """The notebook or test file that contains it."""
    key: str
    """Which of the tests in that file."""
    case: int | None = None
    """The case of a question, from 0; None for a test as a whole."""


def plain_test(test_id: str, name: str, number: str, points: Fraction = Fraction(0)) -> TestFunction:
    """Return a visible test that depends on nothing."""
    return TestFunction(
        test_id=test_id,
        name=name,
        number=number,
        points=points,
        visibility="visible",
        tags=(),
        hide_errors=None,
        depends=(),
        gpu=None,
        training=False,
        timeout_s=None,
        leaderboard=None,
    )
