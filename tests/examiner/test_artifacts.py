"""Files submitted next to code, from the bytes of a submission to the sentence that its author reads."""

import io
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from tests.support.course_of_texts import Examined, by_name, examiner_fixture, write_course
from tests.support.editable_submission import zipped

TESTS = """
from fractions import Fraction

from viva.grading import weight
from viva.plugins.training import artifacts

LABELS = [1, 0, 0, 1]

@weight(2)
def test_predictions(submission):
    given = artifacts.predictions(submission, "predictions.csv", len(LABELS), classes=["no", "yes"])
    assert artifacts.accuracy(given, LABELS) >= Fraction(3, 4), "Fewer than three of four rows are right."

@weight(1)
def test_checkpoint(submission):
    weights = artifacts.checkpoint(submission, "model.safetensors", shapes={"head": (2, 3)})
    assert weights["head"].sum() == 6, "The weights add up to something else."

@weight(1)
def test_bytes(submission):
    assert submission.read("model.safetensors")[8:9] == b"{"
"""

RIGHT = b"id,prediction\n3,yes\n1,no\n0,yes\n2,no\n"
WEIGHTS = save({"head": np.ones((2, 3), np.float32)})
PICKLE = pickle.dumps([1, 0, 0, 1])
CODE = "print('trained')\n"


examiner = examiner_fixture(tests=TESTS, key="")


BOTH = {"predictions.csv": RIGHT, "model.safetensors": WEIGHTS}


@pytest.mark.parametrize(
    "files",
    [
        {"solution.py": CODE, **BOTH},
        {"solution.py": CODE, "hw/out/Predictions.CSV": RIGHT, "hw/model.safetensors": WEIGHTS},
        {"solution.py": "while True: pass", **BOTH},
        {"hw.zip": zipped({"hw/solution.py": CODE, **{f"hw/{name}": data for name, data in BOTH.items()}})},
    ],
    ids=["beside the code", "in folders", "beside code that never ends", "in an archive"],
)
def test_right_files_get_all_points(examiner: Examined, files: dict[str, str | bytes]) -> None:
    score = examiner.score(files)
    assert score.earned == 4, [entry.message for entry in score.entries]


def test_another_ending_is_found(examiner: Examined) -> None:
    npy = io.BytesIO()
    np.save(npy, ["yes", "no", "no", "yes"])
    files: dict[str, str | bytes] = {"solution.py": CODE, "predictions.npy": npy.getvalue()}
    assert examiner.entry(files, "test_predictions").earned == 2


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "No file predictions.csv was found: submit your predictions for the 4 rows under this name"),
        ({"predictions.csv": b"0\n1\n1\n0\n"}, "Fewer than three of four rows are right."),
        ({"predictions.csv": PICKLE}, "predictions.csv is pickled, and pickled files are never opened"),
    ],
)
def test_unusable_file(examiner: Examined, files: dict[str, bytes], says: str) -> None:
    score = by_name(examiner.score({"solution.py": CODE, "model.safetensors": WEIGHTS, **files}))
    assert str(score["test_predictions"].status) == "failed" and says in score["test_predictions"].message
    assert score["test_checkpoint"].earned == 1


GUIDE = (Path(__file__).parents[2] / "docs" / "author-guide.md").read_text("utf-8")
LOG = "epoch,lr,loss,dev\n1,0,0.69,0.6217\n2,0,0.69,0.6217\n"
ANSWERS = f"""
answers: {{"5.2": {{lr: 1e-4, epochs: 2, dev: 0.6217, test: 0.6217, log: {json.dumps(LOG)}}}}}
written: {{"5.2": It learns.}}
"""


def test_example_of_guide(tmp_path: Path) -> None:
    """Part 9 of the author guide, word for word, with labels of our own."""
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", GUIDE[GUIDE.index("## 9. Three kinds") : GUIDE.index("## 10.")], re.M | re.S
    )
    before = "from fractions import Fraction\n\nLABELS = [row % 2 for row in range(2000)]\n"
    words = "id,prediction\n" + "".join(
        f"{row},{'negative' if row % 2 == 0 or row < 200 else 'positive'}\n" for row in range(2000)
    )
    files = {"train.py": "rows = load().shuffle()\n", "predictions.csv": words, "answers.yaml": ANSWERS}
    with Examined(write_course(tmp_path, tests=before + block, key="")) as examined:
        entries = by_name(examined.score(files))
    assert entries["test_predictions"].earned == 5  # exactly 1,900 rows are right
    assert str(entries["test_report"].status) == "needs_review"
    for said in (
        "Your run: dev accuracy 0.6217 = 2033/3270: the majority class",
        "Your run: dev and test have the same accuracy 0.6217",
        "The log: the learning rate is 0 in all 2 rows",
        "train.py, line 1: `load().shuffle()` has no seed",
    ):
        assert said in entries["test_report"].message
