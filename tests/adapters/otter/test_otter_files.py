"""Otter's test files are read as text: what they say of points and hidden cases, and what is refused."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.otter_class import TESTS
from viva.model.errors import CourseError
from viva.plugins.suites.otter.otter_files import OtterError, read_tests, resolve_points

OK = "OK_FORMAT = True\ntest = {{'name': 'q', 'points': {points}, 'suites': [{{'cases': [{cases}]}}]}}\n"
FUNCTION = "OK_FORMAT = False\nfrom otter.test_files import test_case\nname = 'q'\npoints = 2\n{rest}\n"


def read(folder: Path, **texts: str) -> list[list[tuple[str, bool, Fraction]]]:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return [[(case.name, case.hidden, case.points) for case in test.cases] for test in read_tests(folder)]


def test_points_are_shared_by_cases(tmp_path: Path) -> None:
    first, second, third, fourth, fifth = read(tmp_path, **TESTS)
    assert first == [("q1 - 1", False, 1), ("q1 - 2", True, Fraction(3, 2)), ("q1 - 3", True, Fraction(3, 2))]
    assert [row[1:] for row in second] == [(False, Fraction(1, 2)), (True, Fraction(5, 4)), (False, Fraction(5, 4))]
    assert [points for *_, points in third] == [Fraction(1, 2)] * 2
    assert [points for *_, points in fourth] == [1, 2]
    assert [name for name, *_ in fifth] == ["q5 - 1", "second time"]


def test_public_part(tmp_path: Path) -> None:
    read(tmp_path, **TESTS)
    first, second, *_ = read_tests(tmp_path)
    assert first.public == {"name": "q1", "doctests": [">>> square(2)\n4"]}
    assert len(first.whole["doctests"]) == 3
    public, whole = second.public["source"], second.whole["source"]
    assert "test_words" in whole and "test_words" not in public and "def expected" in public
    assert public.count("\n") == whole.count("\n")  # lines keep their numbers


def test_file_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = FUNCTION.format(rest=f"open({str(mark)!r}, 'w')\n@test_case()\ndef f(x):\n    pass")
    read(tmp_path, q=text)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("test = 1", "does not say OK_FORMAT"),
        ("OK_FORMAT = True\ntest = make()", "line 2: `test` is worked out when the file is run"),
        ("OK_FORMAT = True\ntest = {'points': 1}", "not a dictionary with a name"),
        (OK.format(points=1, cases="{'code': 1}"), "with their `code`"),
        (OK.format(points=1, cases="{'code': '', 'weight': 2}"), "the key 'weight'"),
        (OK.format(points="[1]", cases="{'code': ''}, {'code': ''}"), "a list of 1, but there are 2 cases"),
        (OK.format(points=1, cases="{'code': '', 'points': 2}"), "more than the question's 1"),
        (OK.format(points=-1, cases="{'code': ''}"), "zero or more"),
        (OK.format(points="'2'", cases="{'code': ''}"), "zero or more"),
        ("OK_FORMAT = True\ntest = {'name': 'q', 'suites': []}", "exactly one suite"),
        (
            "OK_FORMAT = True\ntest = {'name': 'q', 'suites': [{'cases': [], 'setup': '>>> x = 1'}]}",
            "a setup, a teardown",
        ),
        ("OK_FORMAT = False\n", "does not define `name`"),
        (FUNCTION.format(rest="@test_case\ndef f(): pass"), "needs its parentheses"),
        (FUNCTION.format(rest="@test_case(weight=2)\ndef f(): pass"), "unexpected argument"),
        (FUNCTION.format(rest="@test_case(points=two)\ndef f(): pass"), "`points` is worked out"),
        ("def f(:", "is not valid Python (line 1"),
        ("x = 1\0", "q.py: "),
        ("OK_FORMAT = True\ntest = " + "[" * 5000, "q.py: "),
    ],
)
def test_invalid_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CourseError) as raised:
        read(tmp_path, q=text)
    assert words in str(raised.value) and str(raised.value).endswith(".")


def test_duplicate_question(tmp_path: Path) -> None:
    text = OK.format(points=1, cases="{'code': ''}")
    with pytest.raises(CourseError, match=r"two files .* question `q`"):
        read(tmp_path, a=text, b=text)


@pytest.mark.parametrize(
    ("question", "cases", "expected"),
    [
        (None, [None, None], [Fraction(1, 2)] * 2),
        (None, [0, None], [0, 1]),
        (None, [0, 0], [0, 0]),
        (None, [2, None], [2, 0]),
        (3, [1, None, None], [1, 1, 1]),
        (3, [1, 1], [1, 1]),
        (0.3, [None] * 3, [Fraction(1, 10)] * 3),
        ([1, None], [5, 5], [1, 0]),
        (2, [], []),
        (0, [None], [0]),
    ],
)
def test_resolve(question: object, cases: list[object], expected: list[Fraction]) -> None:
    """Rows of otter's "Resolving Point Values"."""
    assert resolve_points(question, cases) == expected


NUMBERS = st.none() | st.integers(0, 100) | st.floats(0, 100, allow_nan=False).map(lambda x: round(x, 2))


@given(NUMBERS, st.lists(NUMBERS, max_size=8))
def test_resolve_sums(question: float | None, cases: list[float | None]) -> None:
    try:
        points = resolve_points(question, cases)
    except OtterError:
        assert question is not None and sum(c for c in cases if c is not None) > question - 1e-6
        return
    assert len(points) == len(cases) and all(p >= 0 for p in points)
    for case, worth in zip(cases, points, strict=True):
        assert case is None or worth == Fraction(str(case))
    if question is not None and None in cases:
        assert sum(points) == Fraction(str(question))
