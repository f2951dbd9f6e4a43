"""The model answers of translation_and_masks, in the student's API, on top of `reference/`."""

from reference.bleu import bleu, brevity_penalty, modified_precision

__all__ = ["answers", "bleu", "brevity_penalty", "modified_precision"]

answers = {
    "1.4": {"P1": "11/12", "P2": "9/11", "P3": "8/10", "P4": "7/9", "BP": 1, "BLEU": 0.826517},
}
