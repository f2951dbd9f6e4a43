"""The author's helpers that live in the box: what the student's functions are given to work with. Holds no answers.

Runs in the course's interpreter, so numpy, torch and the standard library only, and Python 3.9 or later.
"""

from .calls import generator, kept_apart, repeat, stacked
from .fine_tuning import LoRATuning
from .generation import classifier, fill_function, learned, step_function
from .lora import lora_facts, lora_outputs, merged_twice, versions, versions_beside

__all__ = [
    "LoRATuning",
    "classifier",
    "fill_function",
    "generator",
    "kept_apart",
    "learned",
    "lora_facts",
    "lora_outputs",
    "merged_twice",
    "repeat",
    "stacked",
    "step_function",
    "versions",
    "versions_beside",
]
