"""Graders written with gradescope_utils' own decorators run as they are, without that package's defects."""

from tests.support.course_of_texts import Examined, by_name, examiner_fixture

TESTS = '''
from gradescope_utils.autograder_utils.decorators import (
    hide_errors, leaderboard, number, partial_credit, tags, visibility, weight,
)

@weight(2)
@number("1.1")
@tags("one", "two")
def test_weighed(student):
    assert student.value() == 1

@partial_credit(4)
def test_parts(student, set_score=None):
    set_score(student.value())

@partial_credit(4)
def test_too_many(student, set_score=None):
    set_score(99)

@partial_credit(4)
def test_never_set(student, set_score=None):
    """Points that are never given are all given, as for any test that passes."""

@leaderboard("speed", "asc")
@weight(1)
def test_leader(student, set_leaderboard_value=None):
    set_leaderboard_value(float(student.value()))

@weight(1)
@visibility("hidden")
@hide_errors("No words.")
def test_hidden(student):
    assert student.value() == 2
'''


examined = examiner_fixture(tests=TESTS, key="def value(): return 1\n")


def test_decorators_of_gradescope(examined: Examined) -> None:
    score = examined.score("def value(): return 1\n")
    entries = by_name(score)
    found: dict[str, tuple[object, ...]] = {n: (str(e.status), e.earned, e.points) for n, e in entries.items()}
    assert found == {
        "test_weighed": ("passed", 2, 2),
        "test_parts": ("partial", 1, 4),
        "test_too_many": ("passed", 4, 4),
        "test_never_set": ("passed", 4, 4),
        "test_leader": ("passed", 1, 1),
        "test_hidden": ("failed", 0, 1),
    }
    assert (entries["test_weighed"].number, entries["test_weighed"].tags) == ("1.1", ("one", "two"))
    assert entries["test_hidden"].visibility == "hidden"
    assert [(x.name, x.value, x.order) for x in score.leaderboard] == [("speed", 1.0, "asc")]


def test_points_do_not_leak(examined: Examined) -> None:
    assert by_name(examined.score("def value(): return 3\n"))["test_parts"].earned == 3
    raising = by_name(examined.score("def value(): raise ValueError\n"))["test_parts"]
    assert raising.status == "error" and raising.earned == 0


def test_points_of_nan_are_none(examined: Examined) -> None:
    entry = by_name(examined.score("def value(): return float('nan')\n"))["test_parts"]
    assert entry.status == "failed" and entry.earned == 0
