"""The questions of adapting_transformers, trainings on them, and prefixes that are trained at home and submitted."""

import dataclasses
import hashlib
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from fixtures.adapting_transformers.data import make, make_prefixes
from tests.support.course_of_texts import best_tier
from tests.support.own_assignments import COURSE, ROOT, accepted_of, examiner, example, grade, submissions_of
from viva.examiner.boxes.author_helpers import helpers_of
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader
from viva.examiner.fixtures.student_names import Names
from viva.examiner.fixtures.submission_fixture import SubmissionView
from viva.model import Entry, File, Status, Submission
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.plugins import training
from viva.plugins.verify.expected_verdicts import key_submission
from viva.sandbox.host.box_pool import Pool
from viva.sandbox.host.fork_server import ForkServer
from viva.submissions.examples import lay_out

ASSIGNMENT = "adapting_transformers"
GRADERS = ROOT / "graders" / ASSIGNMENT
TRAINING = [f"test_{kind}_tuning_learns" for kind in ("fine", "full", "head", "prefix")]
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


def test_questions_are_those_of_the_script() -> None:
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


@pytest.mark.training
@pytest.mark.parametrize("name", LOST)
def test_programs_are_told_apart(name: str) -> None:
    with examiner(ASSIGNMENT) as process:
        entries = grade(process, example(ASSIGNMENT, name), *TRAINING).entries
    lost = [e.test_id.partition("::")[2] for e in entries if e.status is not Status.PASSED]
    assert lost == LOST[name], [e.message for e in entries]


@pytest.fixture
def names() -> Iterator[tuple[SubmissionView, Names, Names]]:
    """`submission`, `student` and `inside` of a right program."""
    assignment = COURSE.assignment(ASSIGNMENT)
    submission = example(ASSIGNMENT, "accepted/plain_loops")
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


SUBMISSIONS = submissions_of(ASSIGNMENT)
FILE = make_prefixes.FILE
ACCEPTED = accepted_of(ASSIGNMENT)
RIGHT = (SUBMISSIONS / "accepted" / "plain_loops" / FILE).read_bytes()
REFUSED = {
    "wrong/prefix_of_random_numbers": "questions rightly; expected 576. Was it trained on our questions",
    "wrong/prefix_in_a_pickle": "pickled files are never opened, because opening one runs code: submit a checkpoint "
    'by `safetensors.torch.save_file(model.state_dict(), "model.safetensors")`',
    "wrong/by_hand": f"No file {FILE} was found: submit your weights under this name, next to your code.",
}


@pytest.fixture(scope="module")
def prefix_examiner() -> Iterator[ExaminerProcess]:
    with examiner(ASSIGNMENT) as process:
        yield process


def entry(process: ExaminerProcess, submission: Submission) -> Entry:
    (found,) = grade(process, submission, "test_handed_in_prefix").entries
    return found


STAND_INS = {
    "datasets.py": "def load_dataset(*_): raise RuntimeError\n",
    "evaluate.py": """
class Accuracy:
    def add_batch(self, predictions, references): self.rows = predictions == references
    def compute(self): return {"accuracy": float(self.rows.float().mean())}
load = lambda name: Accuracy()
""",
}
"""Libraries that students have at home."""


@pytest.mark.training
@pytest.mark.parametrize("name", ["accepted/plain_loops", "accepted/torch_einsum"])
def test_prefix_trained_at_home(prefix_examiner: ExaminerProcess, name: str, tmp_path: Path) -> None:
    """The script that students get, in a folder of their own; prefix_length as a global and as an argument."""
    lay_out(SUBMISSIONS / name, tmp_path)
    for file, text in STAND_INS.items():
        (tmp_path / file).write_text(text, "utf-8")
    script = make_prefixes.HERE / "at_home.py"
    chosen = ["--device", "cpu", "--prefix_length", "6"]
    subprocess.run([sys.executable, script, *chosen], cwd=tmp_path, check=True, capture_output=True, timeout=300)
    data = (tmp_path / FILE).read_bytes()
    assert {array.size for array in load(data).values()} >= {6 * 32, 2 * 32, 2}  # all else, where nothing is frozen
    found = entry(prefix_examiner, with_file(data, name))
    assert found.status is Status.PASSED, found.message


def with_file(data: bytes, name: str = "accepted/plain_loops") -> Submission:
    one = example(ASSIGNMENT, name)
    files = tuple(File(f.path, data) if f.path == FILE else f for f in one.files)
    return dataclasses.replace(one, files=files, content_hash=hashlib.sha256(data).hexdigest())


def test_prefixes_are_those_of_the_script() -> None:
    stated = json.loads(make_prefixes.HASHES.read_text("utf-8"))
    assert stated == make_prefixes.digests()
    assert {name.rpartition("/")[0] for name in stated} >= {*ACCEPTED, "adapting_transformers/handed_in"}


def test_untrained_prefix_is_made_again() -> None:
    again = save(make_prefixes.not_trained(load(RIGHT)))
    assert again == (SUBMISSIONS / make_prefixes.NOT_TRAINED / FILE).read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("name", [*ACCEPTED, "key"])
def test_accepted_prefixes(prefix_examiner: ExaminerProcess, name: str) -> None:
    key = key_submission(COURSE, COURSE.assignment(ASSIGNMENT))
    found = entry(prefix_examiner, key if name == "key" else example(ASSIGNMENT, name))
    assert found.status is Status.PASSED and found.earned == 2, found.message


@pytest.mark.long
@pytest.mark.parametrize("name", REFUSED)
def test_refused_prefixes(prefix_examiner: ExaminerProcess, name: str) -> None:
    found = entry(prefix_examiner, example(ASSIGNMENT, name))
    assert found.status is Status.FAILED and found.earned == 0, f"{found.status}: {found.message}"
    assert REFUSED[name] in found.message


def changed(shapes: dict[str, tuple[int, ...]]) -> bytes:
    """The right file with other shapes; a side of 0 leaves the array out."""
    arrays = {**load(RIGHT), **{name: np.ones(shape, np.float32) for name, shape in shapes.items()}}
    return save({name: array for name, array in arrays.items() if array.size})


BROKEN = {
    "a header that is said to be huge": ((1 << 60).to_bytes(8, "little") + b"{}", "has a header of more than 2 MiB"),
    "no head": (changed({"head.weight": (0,)}), "lacks 'head.weight', which your model of type 'prefix' has"),
    "other names": (save({"p": np.ones(3, np.float32)}), "it holds 'p': save prefix and head by the names of"),
    "a head of three classes": (
        changed({"head.weight": (3, 32)}),
        "in your model with prefix_length = 8 it has (2, 32)",
    ),
    "a prefix that is too long": (
        changed({"prefix.weight": (34, 32)}),
        "expected vectors of 32 numbers, 1 to 33 of them",
    ),
    "a prefix of a larger model": (changed({"prefix.weight": (1, 768)}), "in your model with prefix_length = 24"),
    "numbers that are none": (changed({"head.bias": (2,)}).replace(b"\0\0\x80?", b"\0\0\xc0\x7f"), "holds NaN in"),
}


@pytest.mark.long
@pytest.mark.parametrize("what", BROKEN)
def test_broken_prefix_file(prefix_examiner: ExaminerProcess, what: str) -> None:
    data, words = BROKEN[what]
    found = entry(prefix_examiner, with_file(data))
    assert found.status is Status.FAILED and words in found.message, found.message
    assert found.message.startswith(FILE) and "\n" not in found.message


@pytest.mark.long
def test_wrapped_names(prefix_examiner: ExaminerProcess) -> None:
    """As from a model that was trained on several cards, or that freezes nothing."""
    arrays = {f"module.{name}": array for name, array in load(RIGHT).items()}
    whole = {**arrays, "module.encoder.pooler.dense.bias": np.ones(32, np.float32)}
    assert entry(prefix_examiner, with_file(save(whole))).status is Status.PASSED
