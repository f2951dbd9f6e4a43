"""A master notebook of otter's: doctests by default, functions with `ok_format: false`."""

import json
from typing import Any, Final

from bench.small_course import cell

Cell = dict[str, Any]
CONFIG: Final = """\
# ASSIGNMENT CONFIG
name: hw
files: [words.txt]
seed:
  variable: rng_seed
  autograder_value: 7
  student_value: 1
generate:
  show_hidden: true
  points_possible: 20
export_cell: false
"""


def raw(text: str) -> Cell:
    return {"cell_type": "raw", "id": f"r{abs(hash(text))}", "metadata": {}, "source": text}


def markdown(text: str) -> Cell:
    return {"cell_type": "markdown", "id": f"m{abs(hash(text))}", "metadata": {}, "source": text}


def code(text: str, shown: str = "") -> Cell:
    made = cell(f"c{abs(hash(text))}", text)
    result = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": shown}}
    return {**made, "outputs": [result] if shown else []}


def question(name: str, settings: str, body: list[Cell]) -> list[Cell]:
    return [raw(f"# BEGIN QUESTION\nname: {name}\n{settings}"), *body, raw("# END QUESTION")]


def block(kind: str, *cells: Cell) -> list[Cell]:
    return [raw(f"# BEGIN {kind}"), *cells, raw(f"# END {kind}")]


SQUARE: Final = "def square(x):\n    # BEGIN SOLUTION\n    return x ** 2\n    # END SOLUTION"
WORDS: Final = "words = ['a', 'b'] # SOLUTION\nx, y = 1, 2 # SOLUTION\nprint(x) # SOLUTION NO PROMPT"
CONFIGURED: Final = '''\
""" # BEGIN TEST CONFIG
hidden: true
points: 2
failure_message: no
""" # END TEST CONFIG
def same(x: int) -> int:
    return x
same(square(0))'''
BOTH: Final = [
    code("# IGNORE\nprint('for the author')"),
    code("import numpy as np\nrng_seed = 42 # SEED\nsecret = 1 # IGNORE\nkept = 2"),
    code("rng_seed = 3\nkept += 1"),
]


def ok_cells() -> list[Cell]:
    """The doctest form."""
    return [
        markdown("# Homework"),
        markdown(f"```otter\n{CONFIG}```"),
        *BOTH,
        *question(
            "q1",
            "points: 3",
            [
                markdown("Square."),
                *block("SOLUTION", code(SQUARE)),
                *block(
                    "TESTS",
                    code("square(2)", "4"),
                    code("# HIDDEN\nfor n in [1, 3]:\n    assert square(n) == n * n\nelse_ = 1\nsquare(else_)", "1"),
                    code(CONFIGURED, "0"),
                ),
            ],
        ),
        *question(
            "q2",
            "points:\n  each: 2\nall_or_nothing: true\ncheck_cell: false",
            [
                *block("SOLUTION", code(WORDS)),
                *block("TESTS", code("words == ['a', 'b']", "True"), code("# hidden\nlen(words)", "2")),
            ],
        ),
        *question("q3", "manual: true\npoints: 4", [markdown("Why?"), *block("SOLUTION", markdown("Because."))]),
    ]


def function_cells() -> list[Cell]:
    """The form of functions that raise."""
    cells = ok_cells()[2:5]
    return [
        raw(CONFIG + "tests:\n  ok_format: false\n"),
        *cells,
        *question(
            "q1",
            "points: 2",
            [
                *block("SOLUTION", code(SQUARE)),
                *block(
                    "TESTS",
                    code("def test_two(square):\n    assert square(2) == 4\ntest_two(square)"),
                    code("# HIDDEN\ndef test_three(square):\n    assert square(3) == 9"),
                ),
            ],
        ),
    ]


def master(cells: list[Cell]) -> bytes:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}).encode()
