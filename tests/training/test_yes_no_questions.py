"""The questions that adapting_transformers trains on: made again, not to be guessed, and told apart by thresholds."""

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.adapting_transformers.data import make
from tests.support.course_of_texts import SECRET, best_tier
from viva.config import load_course
from viva.examiner.boxes.author_helpers import helpers_of
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader
from viva.examiner.fixtures.student_names import Names
from viva.examiner.fixtures.submission_fixture import SubmissionView
from viva.grading import training
from viva.model import Score, Status
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.box_pool import Pool
from viva.sandbox.host.fork_server import ForkServer
from viva.submissions import open_submission

ROOT = Path(__file__).parents[2]
GRADERS = ROOT / "graders" / "adapting_transformers"
SUBMISSIONS = ROOT / "fixtures" / "adapting_transformers" / "submissions"
TRAINING = [
    "test_fine_tuning_learns",
    "test_full_tuning_learns",
    "test_head_tuning_learns",
    "test_prefix_tuning_learns",
]
LOST = {
    "accepted/numpy_vectorised": [],
    "wrong/learning_rate_stays_zero": ["test_fine_tuning_learns", "test_full_tuning_learns"],
    "wrong/head_frozen": ["test_full_tuning_learns", "test_head_tuning_learns", "test_prefix_tuning_learns"],
    "wrong/dropout_left_on": ["test_full_tuning_learns", "test_head_tuning_learns", "test_prefix_tuning_learns"],
    "wrong/encoder_trained_with_the_head": ["test_head_tuning_learns", "test_prefix_tuning_learns"],
    "wrong/prefix_not_trained": ["test_prefix_tuning_learns"],
}


def bag_of_words(ids: np.ndarray) -> np.ndarray:
    """How often each token is in each row, (n, tokens)."""
    return np.stack([np.bincount(row, minlength=len(make.IDS)) for row in ids]).astype(float)


def test_the_files_are_those_of_the_script() -> None:
    assert json.loads((make.HERE / "sha256.json").read_text("utf-8")) == make.digests()
    rows, answers = make.questions()
    assert (make.HERE / "questions.json").read_text("utf-8") == make.as_text(rows)
    assert make.ANSWERS.read_text("utf-8") == make.as_text(answers)


def test_test_rows_without_answers() -> None:
    rows, answers = make.questions()
    assert {len(row) for row in rows["test"]} == {2} and len(answers["test"]) == len(rows["test"]) == make.N_TEST
    asked_in_training = {tuple(row[:2]) for row in rows["train"]}
    assert asked_in_training.isdisjoint(map(tuple, rows["test"]))


def test_bag_of_words_does_not_answer() -> None:
    """A linear classifier of the words, trained on many more rows, is no better than always "yes"."""
    (train, wanted), (test, right) = (make.draw(np.random.default_rng(seed), n) for seed, n in ((1, 8000), (2, 4000)))
    weights, *_ = np.linalg.lstsq(bag_of_words(train), 2.0 * wanted - 1, rcond=None)
    found = bag_of_words(test) @ weights > 0
    assert np.mean(right) == pytest.approx(make.YES, abs=0.03)
    assert np.mean(found == right) < make.YES + 0.05


def test_measured_accuracies_are_ordered() -> None:
    found = training.read_thresholds(GRADERS / "thresholds" / "fine_tuning.json")
    full, prefix, head = (statistics.fmean(found[f"Accuracy with type {k}"].right) for k in ("full", "prefix", "head"))
    assert full >= prefix - 0.01 and prefix > head + 0.05 and head > make.YES + 0.3


def examiner() -> ExaminerProcess:
    course = load_course(ROOT)
    return ExaminerProcess(course, course.assignment("adapting_transformers"), SECRET, BoxOptions(best_tier()))


def graded(one: ExaminerProcess, name: str, *only: str) -> Score:
    return one.grade(GradeRequest(open_submission(SUBMISSIONS / name, name), GradeOptions(only=tuple(only)))).score


@pytest.mark.training
@pytest.mark.parametrize("name", LOST)
def test_right_and_wrong_programs_are_told_apart(name: str) -> None:
    with examiner() as one:
        entries = graded(one, name, *TRAINING).entries
    lost = [e.test_id.partition("::")[2] for e in entries if e.status is not Status.PASSED]
    assert lost == LOST[name], [e.message for e in entries]


@pytest.fixture
def names() -> Iterator[tuple[SubmissionView, Names, Names]]:
    """`submission`, `student` and `inside` of a right program."""
    assignment = load_course(ROOT).assignment("adapting_transformers")
    submission = open_submission(SUBMISSIONS / "accepted" / "plain_loops", "right")
    fork_server = ForkServer.start(best_tier(), preload=assignment.preload)
    pool = Pool(fork_server, assignment.limits, ready=1)
    session = BoxSession(pool, Loader(submission, assignment, helpers_of(assignment)), assignment.limits)
    session.begin_test(seed=0, test_s=120, call_s=60, hidden=False)
    yield SubmissionView(submission, session), Names(session, "student"), Names(session, "inside")
    session.close()
    pool.close()
    fork_server.close()


@pytest.mark.long
def test_training_past_its_time(names: Any) -> None:
    """`train` runs all epochs in one call; no `except` of its own may hold up the loader that ends it."""
    submission, _, inside = names
    ids, answers = make.draw(np.random.default_rng(3), 32)
    mask = np.ones_like(ids)
    rows = {"input_ids": ids, "attention_mask": mask, "labels": answers}
    asked = {"input_ids": ids[:5], "attention_mask": mask[:5]}
    with np.load(make.HERE / "encoder.npz") as file:
        inside.serve({name: file[name].astype(np.float32) for name in file.files})
    run = {"seed": 1, "epochs": 4, "lr": 1e-3, "batch_size": 16, "prefix_length": 8}
    train = submission.module("base_classification").train
    for budget_s, epochs in ((0.0, 1), (60.0, 4)):
        found = inside.fine_tuned(train, None, "full", rows, asked, {**run, "budget_s": budget_s})
        assert len(found["epochs"]) == epochs and found["stopped"] is (epochs < 4)
        assert np.shape(found["logits"]) == (2, 5, 2)
        assert np.argmax(found["logits"][0], axis=1).tolist() == found["epochs"][-1]
