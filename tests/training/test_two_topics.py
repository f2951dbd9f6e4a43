"""The language of two topics: made by its script, byte by byte, and hard enough that pretraining matters."""

import json
from pathlib import Path

import numpy as np
import pytest

from fixtures.transfer_learning.data import make
from viva.config import load_course
from viva.examiner.boxes.author_helpers import helpers_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, make.Ids], dict[str, str]]:
    return make.documents()


def test_the_script_makes_the_stored_documents_and_labels(made: tuple[dict[str, make.Ids], dict[str, str]]) -> None:
    """The cheap part of the script; the weights take a minute, and their hash is stored."""
    with np.load(make.HERE / "documents.npz") as stored:
        assert sorted(stored.files) == sorted(made[0])
        for name, ids in made[0].items():
            np.testing.assert_array_equal(stored[name], ids)
    assert json.loads(make.LABELS.read_text("utf-8")) == made[1]
    assert make.LABELLED.read_text("utf-8") == make.table(made[1]["labelled"])


def test_the_files_have_their_hashes(tmp_path: Path, made: tuple[dict[str, make.Ids], dict[str, str]]) -> None:
    stated = json.loads((make.HERE / "sha256.json").read_text("utf-8"))
    assert make.digests() == stated
    make.write(tmp_path / "again.npz", made[0])
    assert (tmp_path / "again.npz").read_bytes() == (make.HERE / "documents.npz").read_bytes()


def test_the_weights_are_those_of_the_labs_model() -> None:
    from reference.transformer.language_model import Model

    wanted = Model(make.NTOKEN, make.NHEAD, make.NHID, make.NLAYERS, make.NTOKEN).state_dict()
    with np.load(make.HERE / "language_model.npz") as weights:
        assert {n: weights[n].shape for n in weights.files} == {n: tuple(v.shape) for n, v in wanted.items()}
        assert all(np.isfinite(weights[name]).all() for name in weights.files)


def test_both_topics_are_as_frequent_and_told_by_their_words(
    made: tuple[dict[str, make.Ids], dict[str, str]],
) -> None:
    ids, labels = made
    for name in ("labelled", "test"):
        assert labels[name].count("0") == labels[name].count("1") == len(ids[name]) / 2
    topics = np.array([int(digit) for digit in labels["words"]])
    guessed = topics[ids["test"].astype(int) - len(make.SPECIAL)].mean(axis=1) > 0.5
    right = np.array([digit == "1" for digit in labels["test"]])
    assert np.mean(guessed == right) > 0.97


def test_students_get_no_topic_of_test_documents(
    made: tuple[dict[str, make.Ids], dict[str, str]],
) -> None:
    ids, labels = made
    rows = make.LABELLED.read_text("utf-8").splitlines()[1:]
    assert [row.split(",")[1] for row in rows] == list(labels["labelled"]) and len(rows) == make.N_LABELLED
    labelled = {row.tobytes() for row in ids["labelled"]}
    assert not [row for row in ids["test"] if row.tobytes() in labelled]


def test_no_label_can_enter_a_box() -> None:
    """What a submission may read is listed under `data:`; labels lie next to the grader."""
    assignment = load_course(ROOT).assignment("transfer_learning")
    assert make.LABELS.parent == assignment.graders and make.LABELS not in assignment.data
    assert not [path for path in assignment.data if path.is_relative_to(make.HERE)]
    helpers = helpers_of(assignment)
    assert helpers and not [name for name, text in helpers.items() if make.LABELS.name in text]
