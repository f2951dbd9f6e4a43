"""Questions 1.1 to 1.6: choices about tokenizers, pretraining and checkpoints."""

import re
from typing import Any

from viva.grading import agree_choice, number, weight

CHOICES = ("1.1", "1.2", "1.3", "1.4", "1.5", "1.6")
NUMBERED = {1: re.compile(r"(?<!\d)1(?!\d)|\b(A|one|first)\b"), 2: re.compile(r"(?<!\d)2(?!\d)|\b(B|two|second)\b")}
"""How an answer says which of the two sentences it means."""
UNSURE = re.compile(
    r"\b(optional|optionally|maybe|perhaps|possibly)\b|\]\s*\?|\(\s*\[\s*(CLS|SEP)\s*\]\s*\)", re.IGNORECASE
)
"""Words that leave something open, a question mark behind a token, or parentheses around a single one."""
SPECIAL = re.compile(r"\[\s*(CLS|SEP|PAD|MASK|UNK)\s*\]", re.IGNORECASE)


@number("1.1")
@weight(1)
def test_a_pair_of_sentences(submission: Any, key: Any) -> None:
    """What BERT expects for a pair of sentences."""
    check_choice(submission, key, "1.1")


@number("1.1")
@weight(1)
def test_the_complete_input(submission: Any, key: Any) -> None:
    """The input for a pair of sentences, with every special token."""
    check_packing(submission.answers["1.1.packing"], key)


@number("1.2")
@weight(1)
def test_when_to_train_a_tokenizer(submission: Any, key: Any) -> None:
    """When a new tokenizer is worth training."""
    check_choice(submission, key, "1.2")


@number("1.3")
@weight(1)
def test_byte_pair_encoding(submission: Any, key: Any) -> None:
    """What holds for byte-pair encoding; all of it and nothing else."""
    check_choice(submission, key, "1.3")


@number("1.4")
@weight(1)
def test_labels_of_masked_language_modelling(submission: Any, key: Any) -> None:
    """What the labels are in masked language modelling."""
    check_choice(submission, key, "1.4")


@number("1.5")
@weight(1)
def test_when_to_pretrain(submission: Any, key: Any) -> None:
    """When a new model is worth pretraining; all of it and nothing else."""
    check_choice(submission, key, "1.5")


@number("1.6")
@weight(1)
def test_tokenizer_and_model(submission: Any, key: Any) -> None:
    """What is wrong with the code."""
    check_choice(submission, key, "1.6")


def check_choice(submission: Any, key: Any, question: str) -> None:
    """All right options and no other; the same letter for all questions is a guess."""
    beside = submission.answers.readable(other for other in CHOICES if other != question)
    agree_choice(submission.answers[question], key.answers[question], beside=beside)


def check_packing(text: str, key: Any) -> None:
    """[CLS], a sentence, [SEP], the other sentence, [SEP]; padding may follow."""
    shape = " ".join(parts_of(text))
    shape = re.sub(r"( \[PAD\])+$", "", shape)
    if shape == " ".join(parts_of(key.answers["1.1.packing"])):
        first, second = (piece.strip() for piece in SPECIAL.split(text)[2:5:2])
        check_sentences(first, second)
        assert not UNSURE.search(text), "Your answer leaves open which tokens stand there; write one complete input."
        return
    reasons = {
        "[CLS] … [SEP] …": "a [SEP] closes the second sentence as well",
        "… [SEP] … [SEP]": "[CLS] stands at the beginning",
        "[CLS] … … [SEP]": "a [SEP] stands between the two sentences",
        "[CLS] … [SEP] [CLS] … [SEP]": "[CLS] stands at the beginning only",
        "[CLS] … [SEP] [SEP] … [SEP]": "one [SEP] between the sentences is enough; two is RoBERTa's format",
    }
    because = f": {reasons[shape]}" if shape in reasons else ""
    raise AssertionError(f"Your answer has the form {shape[:80]!r}, which is not what BERT expects{because}.")


def check_sentences(first: str, second: str) -> None:
    """The sentences are in order, if the answer numbers them."""
    one, two = ({i for i, pattern in NUMBERED.items() if pattern.search(piece)} for piece in (first, second))
    assert not (one == two and len(one) == 1), "Your answer has the same sentence before and after the first [SEP]."
    assert (one, two) != ({2}, {1}), "In your answer the second sentence stands before the first."


def parts_of(text: str) -> list[str]:
    """Return the special tokens in capitals, and an ellipsis for each text between two of them."""
    pieces = SPECIAL.split(text)
    parts = []
    for position, piece in enumerate(pieces):
        if position % 2:
            parts.append(f"[{piece.upper()}]")
        elif re.search(r"\w", piece):
            parts.append("…")
    return parts
