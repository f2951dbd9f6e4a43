"""The result of an audit."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final

Kind = Literal[
    # stated accuracies
    "unreadable", "missing", "count", "few_digits", "no_count", "small_subset", "majority", "not_above_majority",
    "same_splits", "repeated", "tie", "none_learned", "not_reported", "not_asked",
    # submitted predictions
    "given", "not_given", "tied_scores", "constant",
    # logs
    "no_log", "no_learning_rate", "below_stated_rate", "constant_loss", "loss_not_fallen", "loss_no_number",
    "epoch_missing", "epoch_repeated", "copied_row", "not_in_log", "not_the_best",
    # source
    "not_seeded", "no_source",
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One fact that the numbers show."""

    kind: Kind
    text: str
    """A sentence with its arithmetic."""


def show(value: Fraction) -> str:
    """Return a number with six digits at most."""
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "a number beyond all bounds"


def begin(name: str) -> str:
    """Return the same words with a capital, for the beginning of a sentence."""
    return name[:1].upper() + name[1:]
