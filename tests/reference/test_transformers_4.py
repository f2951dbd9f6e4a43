"""Right answers stay right with the transformers that the course was written for: another interpreter grades them."""

import shutil
from pathlib import Path

import pytest

from viva.config import load_course
from viva.model import Status
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.verify.expected_verdicts import example_submissions
from viva.sandbox.host.levels.detect_levels import detect_tiers

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv" / "transformers4" / "bin" / "python"
NAME = "adapting_transformers"
SECRET = b"the secret of a course that is graded twice"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The assignment as a course of its own, graded by the interpreter with the older libraries."""
    assert PYTHON.is_file(), f"{PYTHON} is missing: run make {PYTHON.parents[1].relative_to(ROOT)}/.installed"
    without_caches = shutil.ignore_patterns("__pycache__")
    for folder in (f"assignments/{NAME}", f"graders/{NAME}", f"fixtures/{NAME}", "reference"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=without_caches)
    (tmp_path / "grader.yaml").write_text(f"course: nlp\nassignments: [{NAME}]\n", "utf-8")
    with (tmp_path / "assignments" / NAME / "assignment.yaml").open("a", encoding="utf-8") as settings:
        settings.write(f"\npython: {PYTHON}\n")
    return tmp_path


@pytest.mark.nightly
def test_accepted_submissions_lose_nothing_with_transformers_4(root: Path) -> None:
    course = load_course(root)
    assignment = course.assignment(NAME)
    accepted = [known for known in example_submissions(course, assignment) if known.verdict == "accepted"]
    assert len(accepted) >= 4
    tier = next(report.tier for report in detect_tiers() if report.available)
    jobs = [Job(Path(known.name), known.name, assignment, known.submission) for known in accepted]
    lost = {}
    for job, result in LocalPool(course, SECRET, BoxOptions(tier), GradeOptions()).run(jobs):
        assert isinstance(result, Graded), result
        assert result.score.signature["box.transformers"].startswith("4.")
        for entry in result.score.entries:
            left_out = entry.status is Status.NEEDS_REVIEW or "gpu" in entry.needs
            if entry.earned < entry.points and not left_out:
                lost[f"{job.name}: {entry.test_id}"] = (str(entry.status), entry.message, entry.staff_message)
    assert lost == {}
