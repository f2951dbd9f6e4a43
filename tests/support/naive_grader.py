"""An autograder of the usual kind: imports the submission into its own process and compares there.

It shows that a hostile program does what it says: here, where nothing stops it, it gets marks or secrets.
Run in a folder that holds `solution.py`, its tools and `key.py`; writes results.json.
"""

import json
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, "")
import key


def test_number():
    expected = key.number(7.0)
    value = solution.number(7.0)
    assert value == expected


def test_small_difference():
    expected = key.number(7.0)
    assert abs(solution.number(7.0) - expected) < 1e-6


def test_no_large_difference():
    expected = key.number(7.0)
    assert not abs(solution.number(7.0) - expected) > 1e-6


def test_text():
    expected = key.text("mask")
    assert solution.text("mask") == expected


def test_close_arrays():
    x = np.ones((3, 4))
    assert np.allclose(solution.array(x), key.array(x))


def test_equal_arrays():
    x = np.ones((3, 4))
    assert (solution.array(x) == key.array(x)).all()


def test_items():
    for actual, expected in zip(solution.items(4), [key.number(float(i)) for i in range(4)], strict=False):
        assert actual == expected


def test_table():
    expected = key.table(["a", "bc", "a"])
    assert solution.table(["a", "bc", "a"]) == expected


def main() -> None:
    """Run every test above, write the score and all that was said."""
    global solution
    import solution

    score, said = 0, []
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            result = unittest.TestResult()
            unittest.FunctionTestCase(test).run(result)
            score += result.wasSuccessful()
            said += [text for _, text in result.failures + result.errors]
    with Path("results.json").open("w") as file:
        json.dump({"score": score, "tests": [{"output": text} for text in said]}, file)


main()
