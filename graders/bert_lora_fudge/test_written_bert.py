"""The written parts of question 1, which a person grades with rubric.yaml."""

from typing import Any

from viva.grading import needs_review, number, weight


@number("1a.i")
@weight(2)
def test_why_masked_language_modelling_gives_context(submission: Any) -> None:
    """Why predicting masked tokens makes representations contextual."""
    needs_review(submission.written["1a.i"], rubric="1a.i")


@number("1a.ii")
@weight(1)
def test_effect_of_the_masking_ratio(submission: Any) -> None:
    """What happens with a much larger and a much smaller masking ratio."""
    needs_review(submission.written["1a.ii"], rubric="1a.ii")


@number("1a.iii")
@weight(1)
def test_a_disadvantage_of_masked_language_modelling(submission: Any) -> None:
    """One disadvantage of masked language modelling."""
    needs_review(submission.written["1a.iii"], rubric="1a.iii")


@number("1b")
@weight(1)
def test_next_sentence_prediction(submission: Any) -> None:
    """What next sentence prediction was for, and why it was dropped."""
    needs_review(submission.written["1b"], rubric="1b")


@number("1c")
@weight(1)
def test_what_fine_tuning_trains(submission: Any) -> None:
    """What is trained when BERT is fine-tuned to classify, and where each part starts."""
    needs_review(submission.written["1c"], rubric="1c")


@number("1d")
@weight(1)
def test_why_bert_suits_tagging(submission: Any) -> None:
    """Why BERT is well suited to tagging words."""
    needs_review(submission.written["1d"], rubric="1d")


@number("1e.iii")
@weight(1)
def test_windows_over_a_long_passage(submission: Any) -> None:
    """What windows over a long passage gain and cost."""
    needs_review(submission.written["1e.iii"], rubric="1e.iii")


@number("1f")
@weight(2)
def test_why_bidirectional_models_do_not_generate(submission: Any) -> None:
    """Why a bidirectional model is hard to generate with."""
    needs_review(submission.written["1f"], rubric="1f")
