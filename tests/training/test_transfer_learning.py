"""The language of two topics: made by its script, hard enough, and predicted by the example submissions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.transfer_learning.data import hand_in, make
from graders.transfer_learning import test_handed_in as grader
from graders.transfer_learning.test_fine_tuning import as_labels, digits
from tests.support.own_assignments import COURSE
from viva.compare import Disagreement
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model import Submission
from viva.model.errors import MissingName
from viva.plugins.training import artifacts
from viva.plugins.verify.expected_verdicts import example_submissions


@pytest.fixture(scope="module")
def language() -> tuple[dict[str, make.Ids], dict[str, str]]:
    return make.documents()


def test_script_makes_stored_documents(language: tuple[dict[str, make.Ids], dict[str, str]]) -> None:
    """The cheap part of the script; the weights take a minute, and their hash is stored."""
    with np.load(make.HERE / "documents.npz") as stored:
        assert sorted(stored.files) == sorted(language[0])
        for name, ids in language[0].items():
            np.testing.assert_array_equal(stored[name], ids)
    assert json.loads(make.LABELS.read_text("utf-8")) == language[1]
    assert make.LABELLED.read_text("utf-8") == make.table(language[1]["labelled"])


def test_hashes_of_documents(tmp_path: Path, language: tuple[dict[str, make.Ids], dict[str, str]]) -> None:
    stated = json.loads((make.HERE / "sha256.json").read_text("utf-8"))
    assert make.digests() == stated
    make.write(tmp_path / "again.npz", language[0])
    assert (tmp_path / "again.npz").read_bytes() == (make.HERE / "documents.npz").read_bytes()


def test_weights_fit_the_model() -> None:
    from reference.transformer.language_model import Model

    wanted = Model(make.NTOKEN, make.NHEAD, make.NHID, make.NLAYERS, make.NTOKEN).state_dict()
    with np.load(make.HERE / "language_model.npz") as weights:
        assert {n: weights[n].shape for n in weights.files} == {n: tuple(v.shape) for n, v in wanted.items()}
        assert all(np.isfinite(weights[name]).all() for name in weights.files)


def test_topics_are_balanced_and_learnable(
    language: tuple[dict[str, make.Ids], dict[str, str]],
) -> None:
    ids, labels = language
    for name in ("labelled", "test"):
        assert labels[name].count("0") == labels[name].count("1") == len(ids[name]) / 2
    topics = np.array([int(digit) for digit in labels["words"]])
    guessed = topics[ids["test"].astype(int) - len(make.SPECIAL)].mean(axis=1) > 0.5
    right = np.array([digit == "1" for digit in labels["test"]])
    assert np.mean(guessed == right) > 0.97


def test_students_get_no_topic_of_test_documents(
    language: tuple[dict[str, make.Ids], dict[str, str]],
) -> None:
    ids, labels = language
    rows = make.LABELLED.read_text("utf-8").splitlines()[1:]
    assert [row.split(",")[1] for row in rows] == list(labels["labelled"]) and len(rows) == make.N_LABELLED
    labelled = {row.tobytes() for row in ids["labelled"]}
    assert not [row for row in ids["test"] if row.tobytes() in labelled]


def test_labels_stay_with_the_grader() -> None:
    """What a submission may read is listed under `data:`; labels lie next to the grader."""
    assignment = COURSE.assignment("transfer_learning")
    assert make.LABELS.parent == assignment.graders and make.LABELS not in assignment.data
    assert not [path for path in assignment.data if path.is_relative_to(make.HERE)]
    helpers = helpers_of(assignment)
    assert helpers and not [name for name, text in helpers.items() if make.LABELS.name in text]


KNOWN = {k.name: k.submission for k in example_submissions(COURSE, COURSE.assignment("transfer_learning"))}


class Files:
    """What the grader is given of a submission whose code no one asks."""

    def __init__(self, of: Submission | dict[str, bytes]) -> None:
        self._files = of if isinstance(of, dict) else {file.path: file.data for file in of.files}

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise MissingName(name)
        return self._files[name]


def ask_grader(submission: Any) -> None:
    grader.test_predictions_handed_in(submission)


def test_accepted_predictions_pass() -> None:
    for name, submission in KNOWN.items():
        if name == "key" or name.startswith("accepted/"):
            ask_grader(Files(submission))


def test_predictions_have_the_names_of_the_script() -> None:
    for name, file in hand_in.FILES.items():
        assert file in {handed.path for handed in KNOWN[name].files}, name


def test_constant_predictions() -> None:
    with pytest.raises(AssertionError) as raised:
        ask_grader(Files(KNOWN["wrong/one_topic_for_all"]))
    assert "500 of 1000 topics are right; expected at least 800." in str(raised.value)
    assert "All 1000 predictions are class 1: one answer for every row." in str(raised.value)


def test_pickled_predictions() -> None:
    with pytest.raises(Disagreement, match="pickled files are never opened") as raised:
        ask_grader(Files(KNOWN["wrong/pickled_predictions"]))
    assert 'np.savez("predictions.npz", predictions=predictions)' in str(raised.value)


def test_eight_hundred_right_topics() -> None:
    topics = as_labels(digits()["test"])
    topics[:200] = 1 - topics[:200]
    ask_grader(Files({"predictions.csv": "".join(f"{topic}\n" for topic in topics).encode()}))
    topics[200] = 1 - topics[200]
    with pytest.raises(AssertionError, match="799 of 1000 topics are right"):
        ask_grader(Files({"predictions.csv": "".join(f"{topic}\n" for topic in topics).encode()}))


@pytest.mark.training
@pytest.mark.parametrize("name", ["accepted/torch_module", "accepted/notebook_out_of_order"])
def test_stored_predictions_are_those_of_the_script(name: str) -> None:
    """Another version of torch may turn a few documents round."""
    with hand_in.opened(name) as one:
        made = hand_in.predicted(one, hand_in.SEED)
    stored = artifacts.predictions(Files(KNOWN[name]), "predictions.csv", len(made), classes=2)
    assert np.mean(made == stored) > 0.97
