"""Same bytes, same version, same secret: the same score, however often, in whatever order and shape."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in, hand_in_notebook

# Each of these gives other answers from run to run unless the box is seeded for each test.
RANDOM = RIGHT.replace("return counts", "import random; return counts if random.random() < .5 else {}")
NUMPY_RANDOM = RIGHT.replace("return counts", "import numpy; return counts if numpy.random.rand() < .5 else {}")
SET_ORDER = RIGHT.replace("return result", "return result + ord(list({'a', 'b', 'c', 'd', 'e', 'f'})[0])")
COUNTS_CALLS = (
    RIGHT + "\ncalls = []\n_total = total\ndef total(n):\n    calls.append(1)\n    return _total(n) + len(calls) - 1\n"
)
RAISES = RIGHT.replace("result += number", "result += number.real.nothing")
ADDRESS = RIGHT.replace("result += number", "raise ValueError(hex(id(object())))")
LEAVES_THE_BOX = RIGHT.replace("result += number", "import os; os._exit(3)")

CLASS = {
    "right": RIGHT,
    "keeps_case": KEEPS_CASE,
    "random": RANDOM,
    "numpy_random": NUMPY_RANDOM,
    "set_order": SET_ORDER,
    "counts_calls": COUNTS_CALLS,
    "raises": RAISES,
    "leaves_the_box": LEAVES_THE_BOX,
}


def graded(folder: Path) -> dict[str, Any]:
    """Every result by its submission, without times."""
    found = {}
    for path in sorted(folder.rglob("results.json")):
        result = json.loads(path.read_bytes())
        del result["execution_time"]
        for test in result["tests"]:
            del test["extra_data"]["wall_s"]
        found[path.parent.name] = result
    return found


@pytest.fixture
def whole_class(tmp_path: Path) -> Path:
    for name, source in CLASS.items():
        hand_in(tmp_path / "class" / name, source)
    return tmp_path / "class"


@pytest.mark.long
def test_three_runs_serial_and_parallel_are_identical(viva: Viva, whole_class: Path) -> None:
    """Not only the scores: the whole results, but for the times."""
    runs = []
    for index, workers in enumerate([1, 2, 2]):
        submissions = sorted(whole_class.iterdir(), reverse=index == 2)  # and in another order
        assert viva("grade", *submissions, "-o", f"run{index}", "--workers", workers).status == 0
        runs.append(graded(Path(f"run{index}")))
    assert len(runs[0]) == len(CLASS)
    assert runs[0] == runs[1] == runs[2]
    assert viva("diff", "run0", "run1").out == "0 of 8 results differ.\n"


@pytest.mark.slow
def test_alone_and_among_others_is_the_same(viva: Viva, whole_class: Path) -> None:
    viva("grade", *sorted(whole_class.iterdir()), "-o", "together", "--workers", "1")
    viva("grade", whole_class / "counts_calls", "-o", "alone")
    assert graded(Path("alone"))["counts_calls"] == graded(Path("together"))["counts_calls"]


@pytest.mark.long
def test_another_secret_and_another_version_draw_other_questions(
    viva: Viva, own_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = own_course / "assignments/words/assignment.yaml"
    hand_in(own_course.parent / "right")
    asked = []
    for secret, version in [("first secret of ours", 1), ("second secret of ours", 1), ("first secret of ours", 2)] * 2:
        monkeypatch.setenv("VIVA_SECRET", secret)
        yaml.write_text(re.sub(r"version: \d", f"version: {version}", yaml.read_text("utf-8")), "utf-8")
        ran = viva("explain", "right", "test_random_texts")
        asked.append([line for line in ran.out.splitlines() if line.startswith("  word_counts(")])
        assert len(asked[-1]) == 4
    assert asked[:3] == asked[3:]
    assert asked[0] != asked[1] != asked[2] != asked[0]


@pytest.mark.parametrize("source", [RIGHT, KEEPS_CASE, RAISES, COUNTS_CALLS], ids=["right", "wrong", "raises", "state"])
def test_notebook_and_module_of_the_same_code_get_the_same(viva: Viva, tmp_path: Path, source: str) -> None:
    cells = source.split("\n\n\n")
    assert len(cells) >= 3
    hand_in(tmp_path / "class" / "module", source)
    hand_in_notebook(tmp_path / "class" / "cells", *cells)
    hand_in_notebook(tmp_path / "class" / "one_cell", source)
    viva("grade", *sorted((tmp_path / "class").iterdir()), "-o", "graded")
    results = graded(Path("graded"))
    marks = [
        [(t["extra_data"]["test_id"], t["extra_data"]["status"], t.get("score")) for t in results[name]["tests"]]
        for name in ("module", "cells", "one_cell")
    ]
    assert marks[0] == marks[1] == marks[2]
    if source is not RAISES:  # whose traceback names the file or the cell
        outputs = [[t["output"] for t in results[name]["tests"]] for name in ("module", "cells", "one_cell")]
        assert outputs[0] == outputs[1] == outputs[2]
