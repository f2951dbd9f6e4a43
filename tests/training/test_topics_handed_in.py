"""The predictions that known submissions submit, read and counted as the grader does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.transfer_learning.data import hand_in
from graders.transfer_learning import test_handed_in as grader
from graders.transfer_learning.test_fine_tuning import as_labels, digits
from viva.compare import Disagreement
from viva.config import load_course
from viva.grading import artifacts
from viva.model import Submission
from viva.model.errors import MissingName
from viva.verify.expected_verdicts import example_submissions

COURSE = load_course(Path(__file__).parents[2])
KNOWN = {k.name: k.submission for k in example_submissions(COURSE, COURSE.assignment("transfer_learning"))}


class Files:
    """What the grader is given of a submission whose code no one asks."""

    def __init__(self, of: Submission | dict[str, bytes]) -> None:
        self._files = of if isinstance(of, dict) else {file.path: file.data for file in of.files}

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise MissingName(name)
        return self._files[name]


def asked(submission: Any) -> None:
    grader.test_predictions_handed_in(submission)


def test_accepted_predictions_pass() -> None:
    assert set(hand_in.FILES) == {name for name in KNOWN if name == "key" or name.startswith("accepted/")}
    for name, file in hand_in.FILES.items():
        assert file in {handed.path for handed in KNOWN[name].files}, name
        asked(Files(KNOWN[name]))


def test_one_topic_for_all_is_told_with_its_arithmetic() -> None:
    with pytest.raises(AssertionError) as raised:
        asked(Files(KNOWN["wrong/one_topic_for_all"]))
    assert "500 of 1000 topics are right; expected at least 800." in str(raised.value)
    assert "All 1000 predictions are class 1: one answer for every row." in str(raised.value)


def test_a_pickle_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(Disagreement, match="pickled files are never opened") as raised:
        asked(Files(KNOWN["wrong/pickled_predictions"]))
    assert 'np.savez("predictions.npz", predictions=predictions)' in str(raised.value)


def test_eight_hundred_are_enough() -> None:
    topics = as_labels(digits()["test"])
    topics[:200] = 1 - topics[:200]
    asked(Files({"predictions.csv": "".join(f"{topic}\n" for topic in topics).encode()}))
    topics[200] = 1 - topics[200]
    with pytest.raises(AssertionError, match="799 of 1000 topics are right"):
        asked(Files({"predictions.csv": "".join(f"{topic}\n" for topic in topics).encode()}))


@pytest.mark.training
@pytest.mark.parametrize("name", ["accepted/torch_module", "accepted/notebook_out_of_order"])
def test_the_stored_file_is_what_the_script_makes(name: str) -> None:
    """Another version of torch may turn a few documents round."""
    with hand_in.opened(name) as one:
        made = hand_in.predicted(one, hand_in.SEED)
    stored = artifacts.predictions(Files(KNOWN[name]), "predictions.csv", len(made), classes=2)
    assert np.mean(made == stored) > 0.97
