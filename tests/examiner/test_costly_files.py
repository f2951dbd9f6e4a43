"""Files that cost much to read: right work keeps its points, hostile work does not; the time is the submission's."""

import json
from pathlib import Path
from unittest.mock import Mock

from tests.support.course_of_texts import NAME, Examined, handed_in, read_by_students, statuses, write_course
from viva.config import Course
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader

TESTS = '''
from viva.grading import agree, weight


@weight(1)
def test_double(student, key):
    """Doubles."""
    agree(student.double(2), key.double(2))
'''
KEY = "def double(n): return 2 * n\n"
STARTER = "def double(n):\n    raise NotImplementedError\n"
MUCH = "\n".join(f"def helper_{n}(x):\n    return x + {n}" for n in range(4000))
SETTINGS = "submission: {module: solution.py, notebook: '*.ipynb'}\n"


def notebook(source: str, **more: object) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source, "metadata": {}} | more]})


def written(root: Path) -> Course:
    course = write_course(root, tests=TESTS, key=KEY, settings=SETTINGS)
    starter = root / f"assignments/{NAME}/starter/solution.py"
    starter.parent.mkdir()
    starter.write_text(STARTER, "utf-8")
    return course


def test_graded(tmp_path: Path) -> None:
    examined = Examined(written(tmp_path))
    try:
        right = {"solution.py": STARTER, "work.ipynb": notebook(f"{MUCH}\n{KEY}", outputs=["1, " * 300_000])}
        assert statuses(examined.score(right)) == {"test_double": "passed"}
        nested = ",".join(["[" * 20 + "{}" + "]" * 20] * 200_000)
        score = examined.score({"work.ipynb": f'{{"cells":[{{"source":"x","metadata":{{"a":[{nested}]}}}}]}}'})
        assert statuses(score) == {"test_double": "failed"}
        assert "far too many values" in read_by_students(score)
    finally:
        examined.process.close()


def test_the_time_is_the_submissions(tmp_path: Path) -> None:
    assignment = written(tmp_path).assignment(NAME)
    loader = Loader(handed_in(KEY), assignment, {})
    session = BoxSession(Mock(), loader, assignment.limits)
    with loader.reading():
        sum(range(1_000_000))
    assert 0 < loader.read_s == session.counted_s
