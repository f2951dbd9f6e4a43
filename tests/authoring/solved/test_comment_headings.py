"""A solved module numbers its questions in comments, as a notebook does in its headings."""

import pytest

from viva.authoring.solved.comment_headings import questions_in
from viva.authoring.source.source_cells import Cell

MODULE = '''"""Homework.

# ## 9 Not a heading (5 points)
"""
import math

# ## 1.1 Area (5 points)
# Of a circle.
# BEGIN SOLUTION
def area(r):
    # ## 7 Inside (2 points)
    return math.pi * r ** 2
# END SOLUTION


# A comment without a number.
# %% [markdown]
# 1.2 Length and angle (2.5 pts)
#
# Both of a vector.
# %%
def length(v):  # SOLUTION
    return math.hypot(*v)

def angle(v):  # SOLUTION
    return math.atan2(*v)

# ## 2 Why? (3 points)
# In words.
'''


def found(text: str) -> list[tuple[str, str, object, list[str]]]:
    questions = questions_in([Cell("code", text, 1)])
    return [(each.number, each.title, each.points, each.names) for each in questions]


def test_headings_in_comments_number_the_questions_of_a_module() -> None:
    assert found(MODULE) == [("1.1", "Area", 5, ["area"]), ("1.2", "Length and angle", 2.5, ["length", "angle"])]


@pytest.mark.parametrize(
    "text",
    [
        "# 1. first\n# 2. second\ndef f(x):\n    return x\n",
        "# BEGIN SOLUTION\ndef f(x):\n    return x\n# ## 3 Inside (2 points)\n# END SOLUTION\n",
    ],
)
def test_other_comments_are_no_headings(text: str) -> None:
    ((_, _, points, names),) = found(text)
    assert points is None and names == ["f"]
