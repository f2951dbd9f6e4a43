"""The model answers of bert_lora_fudge, in the student's API, on top of `reference/`."""

from typing import Any

# Section 1: imports of reference.pretraining and reference.bert.
# Sections 2 and 3: imports of reference.adaptation and reference.generation.

__all__ = ["answers"]

answers: dict[str, Any] = {
    # Section 1
    # Sections 2 and 3
}
