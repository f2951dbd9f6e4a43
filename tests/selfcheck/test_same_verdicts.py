"""A live notebook gets the verdicts that the same work gets as a file: two ways to ask, one answer."""

import os
from pathlib import Path
from typing import Any

import pytest

import viva
from viva.config import load_course
from viva.model import Entry, Tier
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.submissions import open_submission
from viva.submissions.examples import lay_out

ROOT = Path(__file__).parents[2]


def verdicts(entries: tuple[Entry, ...]) -> dict[str, tuple[str, Any]]:
    return {entry.test_id: (str(entry.status), entry.earned) for entry in entries}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")  # of the student's cells
@pytest.mark.parametrize(
    "work",
    [
        "translation_and_masks/submissions/accepted/numpy_vectorised",
        "translation_and_masks/submissions/wrong/transposed_mask",
        "translation_and_masks/submissions/partial/first_half",
        "attention_theory/submissions/accepted/numpy_vectorised",
        "bert_lora_fudge/submissions/accepted/plain_loops",
        "transfer_learning/submissions/accepted/torch_module",
    ],
)
def test_live_and_from_a_file(folder: Path, bare: Any, monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    monkeypatch.setenv("VIVA_COURSE", str(ROOT))
    lay_out(ROOT / "fixtures" / work, folder)
    name = work.split("/", maxsplit=1)[0]
    course = load_course(ROOT)
    assignment, wanted = course.assignment(name), GradeOptions(visible_only=True, training=False)
    secret = course.secret_or_public(os.environ)
    with ExaminerProcess(course, assignment, secret, BoxOptions(Tier.T0, ready=1)) as examiner:
        from_file = examiner.grade(GradeRequest(open_submission(folder, "mine"), wanted)).score
    bare.run_cell((folder / "solution.py").read_text("utf-8"), store_history=True).raise_error()
    live = viva.check(assignment=name)
    assert verdicts(live.entries) == verdicts(from_file.entries)
    assert live.earned == from_file.earned
