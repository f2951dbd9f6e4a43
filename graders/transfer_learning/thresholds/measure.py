"""Measures the thresholds of `test_fine_tuning.py`: `python -m graders.transfer_learning.thresholds.measure`.

Takes ten minutes of one core. A mistake is listed below the thresholds that it must miss. What a threshold
cannot tell is told by a test of properties: a frozen head by `test_pretrained_is_ahead_at_the_end`, which compares the
head before and after; softmax before the cross entropy learns to classify as well as a right one, and is seen by
`test_classification_step` and here by the language model.
"""

from pathlib import Path

from bench.thresholds import Measured, main, measure, write

HERE = Path(__file__).parent
RIGHT = [
    f"accepted/{name}"
    for name in ("einsum_by_hand", "lab_notebook", "notebook_out_of_order", "several_files", "torch_module")
]
NOT_TRAINED = ("wrong/learning_rate_stays_zero", "wrong/no_step")
WANTED = [
    Measured(
        "The share of documents whose topic the pretrained language model has seen", 0.85, "at least",
        "test_pretrained_is_ahead_after_one_epoch", ("wrong/embeddings_twice",),
    ),
    Measured(
        "The gap after one epoch", 0.1, "at least", "test_pretrained_is_ahead_after_one_epoch",
        (*NOT_TRAINED, "wrong/base_not_loaded"), one_is_enough=True,  # some heads look the wrong way at first
    ),
    Measured(
        "The gap after two epochs", 0.2, "at least", "test_pretrained_is_ahead_at_the_end",
        (*NOT_TRAINED, "wrong/base_not_loaded"),
    ),
    Measured(
        "The share of predictions that change", 0.02, "at most", "test_predictions_depend_on_the_documents_alone",
        ("wrong/label_in_document", "wrong/training_mode"),
    ),
    Measured(
        "How many times likelier than by chance the words of unseen documents are", 1.03, "at least",
        "test_language_model_predicts_unseen_documents",
        (*NOT_TRAINED, "wrong/mask_not_used", "wrong/softmax_before_loss"), one_is_enough=True,  # 1 in 40 learns slowly
    ),
]  # fmt: skip


def measured() -> list[str]:
    """Measure and write; what separates too little."""
    entries = measure("transfer_learning", RIGHT, WANTED)
    return write(HERE / "fine_tuning.json", "graders/transfer_learning/thresholds/measure.py", entries)


if __name__ == "__main__":
    main(measured)
