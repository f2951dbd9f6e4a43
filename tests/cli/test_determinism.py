"""Same bytes, same version, same secret: the same score, however often, in whatever order and shape."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in

RAISES = RIGHT.replace("result += number", "result += number.real.nothing")
COUNTS_CALLS = (
    RIGHT + "\ncalls = []\n_total = total\ndef total(n):\n    calls.append(1)\n    return _total(n) + len(calls) - 1\n"
)
# Several of these give other answers from run to run unless the sandbox is seeded for each test.
CLASS = {
    "right": RIGHT,
    "keeps_case": KEEPS_CASE,
    "random": RIGHT.replace("return counts", "import random; return counts if random.random() < .5 else {}"),
    "numpy_random": RIGHT.replace("return counts", "import numpy; return counts if numpy.random.rand() < .5 else {}"),
    "set_order": RIGHT.replace("return result", "return result + ord(list({'a', 'b', 'c', 'd', 'e', 'f'})[0])"),
    "counts_calls": COUNTS_CALLS,
    "raises": RAISES,
    "leaves_the_box": RIGHT.replace("result += number", "import os; os._exit(3)"),
}


def graded(folder: Path) -> dict[str, Any]:
    """Every result by its submission, without times."""
    results = {}
    for path in sorted(folder.rglob("results.json")):
        result = json.loads(path.read_bytes())
        del result["execution_time"]
        for test in result["tests"]:
            del test["extra_data"]["wall_s"]
        results[path.parent.name] = result
    return results


@pytest.mark.long
def test_serial_and_parallel_runs_are_identical(viva: Viva, tmp_path: Path) -> None:
    """Not only the scores: the whole results, but for the times; alone, and among others in another order."""
    folders = [hand_in(tmp_path / "class" / name, source) for name, source in CLASS.items()]
    runs = []
    for index, workers in enumerate([1, 2, 2]):
        submissions = sorted(folders, reverse=index == 2)
        assert viva("grade", *submissions, "-o", f"run{index}", "--workers", workers).status == 0
        runs.append(graded(Path(f"run{index}")))
    assert len(runs[0]) == len(CLASS)
    assert runs[0] == runs[1] == runs[2]
    assert viva("diff", "run0", "run1").out == "0 of 8 results differ.\n"
    viva("grade", tmp_path / "class/counts_calls", "-o", "alone")
    assert graded(Path("alone"))["counts_calls"] == runs[0]["counts_calls"]
