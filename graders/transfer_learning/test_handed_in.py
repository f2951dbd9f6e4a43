"""Question 4, as an artifact: the topics of the test documents, predicted at home.

What a file says is compared with labels that only the examiner holds; the file does not show who or what made it.
`thresholds/handed_in.py` measured what right implementations reach, `fixtures/transfer_learning/data/hand_in.py` made
the files of the accepted submissions.
"""

import math
from typing import Any

import pytest

from graders.transfer_learning.test_fine_tuning import as_labels, digits
from viva.grading import number, weight
from viva.plugins import training
from viva.plugins.training import artifacts
from viva.plugins.training.audits import audit_predictions

THRESHOLD = training.thresholds("handed_in.json")["The share of your predictions that are right"]
TOPICS = 2


@number("4")
@weight(2)
@pytest.mark.training
def test_predictions_handed_in(submission: Any) -> None:
    """The topics in your predictions.csv are right for four of five test documents."""
    labels = as_labels(digits()["test"])
    given = artifacts.predictions(submission, "predictions.csv", len(labels), classes=TOPICS)
    reached = artifacts.accuracy(given, labels)
    if THRESHOLD.met_by(float(reached)):
        return
    found = " ".join(finding.text for finding in audit_predictions(given, labels))
    wanted = math.ceil(THRESHOLD.value * len(labels))
    raise AssertionError(
        f"{int(reached * len(labels))} of {len(labels)} topics are right; expected at least {wanted}. Right "
        f"implementations reach {min(THRESHOLD.right):.3f} to {max(THRESHOLD.right):.3f} after three epochs on the "
        f"pretrained base. {found}".strip()
    )
