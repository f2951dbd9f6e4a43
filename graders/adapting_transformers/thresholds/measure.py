"""Measures the thresholds of `test_fine_tuning.py`: `python -m graders.adapting_transformers.thresholds.measure`.

Takes three minutes of one core. The right programs pool, initialise and schedule in different ways, so that their runs
differ by more than the seed. A mistake is listed below the thresholds that it must miss. Tests of properties find what
accuracy cannot show, next to these thresholds:

- an encoder trained with the head or the prefix reaches more than it should: compared before and after, here too;
- a prefix that is not trained says as well as a trained one that an answer is wanted: compared before and after;
- dropout left on in evaluation: asked twice, the model gives other scores; compared here;
- softmax before the cross entropy slows learning down and no more: `test_steps`;
- positions counted twice, a prefix behind the text: what is trained makes up for them: `test_forward_with_a_prefix`.
"""

from pathlib import Path

from bench.thresholds import Measured, main, measure, write

HERE = Path(__file__).parent
RIGHT = [
    f"accepted/{name}"
    for name in ("numpy_vectorised", "plain_loops", "torch_einsum", "printed_reports", "several_files")
]
WANTED = [
    Measured(
        "Accuracy of the fine-tuned classifier", 0.94, "at least", "test_fine_tuning_learns",
        ("wrong/learning_rate_stays_zero", "wrong/optimizer_never_steps", "wrong/labels_turned_round",
         "wrong/steps_uphill"),
    ),
    Measured(
        "Accuracy with type full", 0.8, "at least", "test_full_tuning_learns",
        ("wrong/learning_rate_stays_zero", "wrong/full_tunes_the_head_alone"),
    ),
    Measured(
        "Accuracy with type head", 0.6, "at least", "test_head_tuning_learns", ("wrong/head_frozen",),
    ),
    Measured(
        "Accuracy with type prefix", 0.8, "at least", "test_prefix_tuning_learns",
        ("wrong/head_not_trained_with_the_prefix",),
    ),
]  # fmt: skip


def measured() -> list[str]:
    """Measure and write; what separates too little."""
    entries = measure("adapting_transformers", RIGHT, WANTED)
    return write(HERE / "fine_tuning.json", "graders/adapting_transformers/thresholds/measure.py", entries)


if __name__ == "__main__":
    main(measured)
