"""Measures the threshold of `test_on_a_gpu.py`, on a CPU: `python -m graders.transfer_learning.thresholds.on_a_gpu`.

Takes twenty minutes of one core: the model has the lab's size, and what is learned does not depend on the device.
"""

from pathlib import Path

from bench.thresholds import WRONG_SEEDS, main, write
from fixtures.transfer_learning.data.hand_in import FILES, opened
from graders.transfer_learning.test_on_a_gpu import LAB, LOSS, learned
from viva.plugins import training

VALUE = 5.5
WRONG = ("wrong/no_step", "wrong/softmax_before_loss")


def measured() -> list[str]:
    """Measure and write; what separates too little."""
    accepted = [name for name in FILES if name != "key"]
    each = training.RIGHT_RUNS // len(accepted)
    right = [loss for i, name in enumerate(accepted) for loss in losses(name, range(100 * i, 100 * i + each))]
    wrong = {name: losses(name, range(100, 100 + WRONG_SEEDS)) for name in WRONG}
    threshold = training.Threshold(
        LOSS, VALUE, "at most", tuple(right), {name: tuple(values) for name, values in wrong.items()}, ""
    )
    far = {name: round(d, 2) if abs(d) != float("inf") else None for name, d in threshold.distances.items()}
    entry = {"value": VALUE, "direction": "at most", "right": right, "wrong": wrong, "distances": far}
    script = "graders/transfer_learning/thresholds/on_a_gpu.py"
    return write(Path(__file__).with_suffix(".json"), script, {LOSS: entry})


def losses(name: str, seeds: range) -> list[float]:
    """Return what a submission's language model of the lab's size reaches after one epoch, with each seed."""
    with opened(name) as one:
        found = [round(learned(*one, LAB, "cpu", seed, epochs=1).losses[0], 4) for seed in seeds]
    print(f"{name}: {found}", flush=True)
    return found


if __name__ == "__main__":
    main(measured)
