"""Measures the threshold of `test_handed_in.py`: `python -m graders.transfer_learning.thresholds.handed_in`.

Takes two minutes of one core. Right are the accepted submissions, trained as the handout says on the pretrained base;
wrong are trainings from scratch and one topic for all.
"""

from pathlib import Path

import numpy as np

from bench.thresholds import WRONG_SEEDS, main, write
from fixtures.transfer_learning.data.hand_in import FILES, opened, predicted
from graders.transfer_learning.test_fine_tuning import as_labels, digits
from viva.plugins import training

NAME, VALUE = "The share of your predictions that are right", 0.8


def measured() -> list[str]:
    """Measure and write; what separates too little."""
    labels = as_labels(digits()["test"])
    accepted = [name for name in FILES if name != "key"]
    right: list[float] = []
    for index, name in enumerate(accepted):
        seeds = range(100 * index, 100 * index + training.RIGHT_RUNS // len(accepted))
        with opened(name) as one:
            right += [float(np.mean(predicted(one, seed) == labels)) for seed in seeds]
        print(f"{name}: {right[-len(seeds) :]}")
    with opened(accepted[-1]) as one:
        scratch = [float(np.mean(predicted(one, seed, pretrained=False) == labels)) for seed in range(WRONG_SEEDS)]
    print(f"from scratch: {scratch}")
    wrong = {"from scratch": scratch, "one topic for all": [float(np.mean(labels == 1))] * WRONG_SEEDS}
    threshold = training.Threshold(
        NAME, VALUE, "at least", tuple(right), {name: tuple(values) for name, values in wrong.items()}, ""
    )
    far = {name: round(d, 2) if abs(d) != float("inf") else None for name, d in threshold.distances.items()}
    entry = {"value": VALUE, "direction": "at least", "right": right, "wrong": wrong, "distances": far}
    script = "graders/transfer_learning/thresholds/handed_in.py"
    return write(Path(__file__).with_suffix(".json"), script, {NAME: entry})


if __name__ == "__main__":
    main(measured)
