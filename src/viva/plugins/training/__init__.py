"""Training tests: thresholds from measured distributions, a verdict by the median of three seeds, epochs on a budget.

LIMITS = training.thresholds("fine_tuning.json")  # graders/<a>/thresholds/fine_tuning.json

@pytest.mark.training
def test_it_learns(student, inside):
    def run(seed):
        model = inside.classifier.keep(student.Model, seed)
        epochs = training.epochs(8, budget_s=60, name="pretrained", curve=seed == training.SEEDS[0])
        for epoch in epochs:
            student.train(model)
            epoch.record(accuracy=accuracy_of(inside.predictions(model), LABELS))
        return epochs.last("accuracy")
    training.judge(run, LIMITS["accuracy"])
"""

from viva.plugins.training.epochs import Epoch, Epochs, epochs, stopped
from viva.plugins.training.judging import SEEDS, expect, judge
from viva.plugins.training.thresholds import (
    RIGHT_RUNS,
    RIGHT_RUNS_IF_ONE_IS_ENOUGH,
    Threshold,
    read_thresholds,
    share_at_most,
    thresholds,
)
from viva.plugins.training.training_curves import draw

__all__ = [
    "RIGHT_RUNS",
    "RIGHT_RUNS_IF_ONE_IS_ENOUGH",
    "SEEDS",
    "Epoch",
    "Epochs",
    "Threshold",
    "draw",
    "epochs",
    "expect",
    "judge",
    "read_thresholds",
    "share_at_most",
    "stopped",
    "thresholds",
]
