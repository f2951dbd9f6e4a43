"""Running a solved notebook: what fails, and what goes on."""

from viva.authoring.solved.recorded_run import run
from viva.authoring.source.source_cells import Cell


def test_an_import_that_fails_does_not_end_its_cell() -> None:
    imports = ["import no_such_library, math", "from math import pi", "x = 2 * pi", "import no_other_library"]
    source = "\n".join([*imports, "y = x + 1", "1 / 0", "z = 1"])
    recorded = run([Cell("code", source, 7)], frozenset())
    assert recorded.failed == [
        (7, "ModuleNotFoundError: No module named 'no_such_library'"),
        (7, "ModuleNotFoundError: No module named 'no_other_library'"),
        (7, "ZeroDivisionError: division by zero"),
    ]
    assert recorded.namespace["y"] > 7 and "z" not in recorded.namespace


def test_a_cell_may_begin_with_the_future_and_call_its_functions_later() -> None:
    cells = [
        Cell("code", "from __future__ import annotations\ndef f(x: Unknown):\n    return x", 1),
        Cell("code", "f(3)", 2),
    ]
    recorded = run(cells, frozenset({"f"}))
    assert recorded.failed == [] and [call.args for call in recorded.calls["f"]] == [(3,)]


def test_a_cell_of_tests_runs_to_its_end_although_its_library_is_missing() -> None:
    test = [
        "from nose.tools import assert_equal, assert_raises",
        "assert_equal(f(1), 2)",
        "with assert_raises(ValueError):\n    f(-1)",
        "assert f(2) == 0",
        "f(3)",
    ]
    about: dict[str, object] = {"grade": True, "solution": False}
    solution = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x + 1"
    recorded = run([Cell("code", solution, 1), Cell("code", "\n".join(test), 2, about)], frozenset({"f"}))
    assert [call.args for call in recorded.calls["f"]] == [(1,), (-1,), (2,), (3,)]
    assert recorded.failed == [(2, "ModuleNotFoundError: No module named 'nose'")]


def test_calls_after_the_run_are_not_recorded() -> None:
    source = "class Point:\n    def __init__(self, x):\n        self.x = x\n\ndef f(x):\n    return x\n\nf(Point(3))"
    recorded = run([Cell("code", source, 1)], frozenset({"f", "Point"}))
    recorded.namespace["f"](recorded.namespace["Point"](4))
    assert len(recorded.calls["f"]) == len(recorded.calls["Point.__init__"]) == 1
