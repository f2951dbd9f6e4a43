"""Measures the threshold of `test_fine_tuning.py`: `python -m graders.bert_lora_fudge.thresholds.measure`.

Takes a minute of one core. The right layers draw their factors at different sizes, in float32 or float64, so that
their runs differ by more than the seed. Tests of properties find what accuracy cannot show:

- W trained together with its factors, or used the wrong way round, or one factor left as it is: the weights are
  compared with W, the factors before and after training, in the same test;
- the scale α/r missing, or a start that is not at W: training makes up for both; the tests of 2a and 2e see them.
"""

from pathlib import Path

from bench.thresholds import Measured, main, measure, write

HERE = Path(__file__).parent
RIGHT = [f"accepted/{name}" for name in ("einsum", "numpy_arrays", "plain_loops", "torch_modules")]
WANTED = [
    Measured(
        "Accuracy with LoRA", 0.94, "at least", "test_lora_tuning_learns",
        ("wrong/both_factors_zero", "wrong/factors_frozen"),
    ),
]  # fmt: skip


def measured() -> list[str]:
    """Measure and write; what separates too little."""
    entries = measure("bert_lora_fudge", RIGHT, WANTED)
    return write(HERE / "fine_tuning.json", "graders/bert_lora_fudge/thresholds/measure.py", entries)


if __name__ == "__main__":
    main(measured)
