"""Proposed tests that cannot tell right from wrong are not written, or are taken back."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import best_tier
from viva.config import load_course
from viva.plugins.authoring.empty_course import make_course
from viva.plugins.authoring.solved.failing_tests import FAILED, PASSED, take_back_failing_tests
from viva.plugins.authoring.solved.from_solution import from_solution
from viva.plugins.authoring.solved.new_files import Made

pytestmark = pytest.mark.long

CLASSES = """
# %% [markdown]
# ## 1 Objects (4 points)

# %%
import random

class Vector:
    def __init__(self, data):
        if len(data) == 0:
            raise ValueError("no numbers")
        self.data = list(data)

    def total(self):
        return sum(self.data)

    def doubled(self):
        return Vector([2 * x for x in self.data])

    def shuffled(self):
        return random.sample(self.data, len(self.data))

    def norm(self):
        raise NotImplementedError("in a later homework")

    def dot(self, other):
        return sum(x * y for x, y in zip(self.data, other.data))

class Base:
    def norm(self):
        raise NotImplementedError

v = Vector([1, 2, 3])
v.total(), v.doubled(), v.shuffled(), v.dot(v), Base()
"""
UNSURE = '''
# %% [markdown]
# ## 1 Words (4 points)

# %%
def unique(text):
    """The different words."""
    ### BEGIN SOLUTION
    return list(set(text.split()))
    ### END SOLUTION

class Pair:
    """Two words."""

    def __init__(self, first, second):
        self.words = [first, second]

    def longest(self):
        return max(self.words, key=len)

    def common(self, other):
        """The words that both pairs have."""
        ### BEGIN SOLUTION
        return sorted({*self.words} & {*other.words})
        ### END SOLUTION

def count(text):
    """The number of words."""
    ### BEGIN SOLUTION
    return len(text.split())
    ### END SOLUTION

other = Pair("b", "c")
other.words.append("d")
unique("a b c d e f"), count("a b c"), Pair("a", "bc").longest(), Pair("a", "b").common(other)
'''


def taken_over(source: str, folder: Path) -> tuple[Path, Made]:
    (folder / "solved.py").write_text(source, "utf-8")
    make_course(folder / "course")
    return folder / "course", from_solution(load_course(folder / "course"), "hw", folder / "solved.py")


def test_methods_without_comparable_results(tmp_path: Path) -> None:
    root, made = taken_over(CLASSES, tmp_path)
    assert made.proposals["Vector"].warnings == [
        "`Vector.doubled` is not tested: it returns an object of a class of the notebook.",
        "`Vector.shuffled` is not tested: it gives two results for the same arguments.",
        "`Vector.norm` is not tested: it only raises NotImplementedError.",
    ]
    assert made.proposals["Base"].why_not == "`norm` is not tested: it only raises NotImplementedError"
    tests = (made.folder / "tests.py").read_text("utf-8")
    assert 'just("total")' in tests and tests.count("just(") == 2
    assert 'tuples(just("dot"), built(key.Vector, ' in " ".join(tests.split())
    assert take_back_failing_tests(load_course(root), made, best_tier(), b"secret") == []


def test_tests_taken_back(tmp_path: Path) -> None:
    root, made = taken_over(UNSURE, tmp_path)
    before = (made.folder / "tests.py").read_text("utf-8")
    assert "student.unique" in before and "student.Pair" in before
    assert take_back_failing_tests(load_course(root), made, best_tier(), b"secret") == []
    assert {proposal.name: proposal.why_not for _, proposal in made.left} == {
        "unique": FAILED,
        "Pair": PASSED,
    }
    after = (made.folder / "tests.py").read_text("utf-8")
    assert "student.unique" not in after and "student.Pair" not in after and "student.count" in after
    assert load_course(root).assignment("hw").points == 4


def test_solution_that_does_not_load(tmp_path: Path) -> None:
    lost = f"import os\nif os.getcwd() != {str(tmp_path)!r}:\n    del count\n    raise OSError\n\nunique("
    root, made = taken_over(UNSURE.replace('unique("a b c d', f'{lost}"a b c d'), tmp_path)
    left = take_back_failing_tests(load_course(root), made, best_tier(), b"secret")
    assert made.failed == [] and made.proposals["count"].body, "the name is lost in the box alone"
    assert len(left) == 1 and "test_count" in left[0], left


RARELY = """
# %%
import sys

def halved(number, by=2):
    if "pytest" in sys.modules and number > 6:
        raise ValueError(f"{number} is\\ntoo much")
    return number / by

halved(6), halved(9, by=3)
"""


def test_arguments_that_fail_in_the_test(tmp_path: Path) -> None:
    """viva tries fewer arguments than the test; here it tries them in a process without pytest."""
    root, made = taken_over(RARELY, tmp_path)
    assert "errors=" not in (made.folder / "tests.py").read_text("utf-8")
    assert take_back_failing_tests(load_course(root), made, best_tier(), b"secret") == []
    after = (made.folder / "tests.py").read_text("utf-8")
    assert after.count('errors="skip"') == after.count("agree_on(student.halved") == 2
    (said,) = made.proposals["halved"].warnings
    assert said.startswith("`halved` fails: ValueError: ") and " is too much; it was asked about (" in said
    assert said.endswith("). Such arguments are not asked.")
