"""Which modules a run of few submissions does not import."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.course_of_texts import NAME, best_tier, write_course
from viva.config import load_course
from viva.model import File, Submission, Tier
from viva.model.errors import CourseError
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.pipeline.unused_modules import unused_modules

NUMPY = "import numpy as np\n"
TORCH = "import torch\nweight = torch.ones(3)\n"


def submission(source: str, name: str = "solution.py") -> Submission:
    return Submission("s", (File(name, source.encode()),), source)


class _Assignment:
    """What is asked of an assignment."""

    preload = ("numpy", "torch?", "scipy.stats?")
    suite: str | None = None

    def __init__(self, graders: Path, helpers: str = "") -> None:
        self.graders = graders
        if helpers:
            (graders / "inside.py").write_text(helpers, "utf-8")


@pytest.mark.parametrize(
    ("sources", "helpers", "expected"),
    [
        ([NUMPY], "", ("torch", "scipy.stats")),
        ([NUMPY, TORCH], "", ("scipy.stats",)),
        ([NUMPY, "from transformers import Trainer"], "", ()),
        ([NUMPY], "import torch", ("scipy.stats",)),
        (["import importlib"], "", ()),
        ([NUMPY] * 9, "", ()),
    ],
)
def test_modules_that_nothing_uses(sources: list[str], helpers: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    assignment: Any = _Assignment(tmp_path, helpers)
    assert unused_modules(assignment, [submission(source) for source in sources]) == expected


@pytest.mark.parametrize(
    ("test", "needs_torch"),
    [
        ("agree_on(student.f, key.f, tensors(3))", True),
        ("import torch.nn as nn", True),
        ("agree(1, 1)  # as torch", False),
    ],
)
def test_modules_that_tests_send(test: str, needs_torch: bool, tmp_path: Path) -> None:
    assignment: Any = _Assignment(tmp_path)
    (tmp_path / "test_f.py").write_text(test, "utf-8")
    assert ("torch" in unused_modules(assignment, [submission(NUMPY)])) is not needs_torch


@pytest.mark.slow
def test_sandbox_for_numpy_has_no_torch() -> None:
    pytest.importorskip("torch")
    course = load_course(Path(__file__).parents[2])
    assignment = course.assignment("attention_theory")
    pool = LocalPool(course, b"secret", BoxOptions(best_tier()), GradeOptions(only=("1c.ii",)), workers=1)
    for source, there in ((NUMPY, False), (TORCH, True)):
        job = Job(Path("solution.py"), "s", assignment, submission(source))
        [(_, graded)] = pool.run([job])
        assert isinstance(graded, Graded)
        assert ("box.torch" in graded.score.signature) is there


def test_unusable_helpers_end_the_examiner(tmp_path: Path) -> None:
    course = write_course(tmp_path, tests="", key="", preload="torch?")
    assignment = course.assignment(NAME)
    (assignment.graders / "inside").mkdir()  # without its __init__.py
    missing = partial(unused_modules, assignment, [submission(NUMPY)])
    examiner = ExaminerProcess(course, assignment, b"secret", BoxOptions(Tier.T0), missing)
    with pytest.raises(CourseError, match=r"has no __init__\.py"):
        examiner.open()
    assert examiner._process is None


def test_submission_that_was_not_read(tmp_path: Path) -> None:
    assignment: Any = _Assignment(tmp_path)
    for unread in (None, submission("PK", "work.zip"), submission("{", "work.ipynb")):
        assert unused_modules(assignment, [submission(NUMPY), unread]) == ()
