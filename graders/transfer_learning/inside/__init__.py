"""The author's helpers that live in the box: a model with known gradients, loaders, and what properties need.

Hold no answers. Run in the course's interpreter: numpy, torch and the standard library, Python 3.9 or later.
"""

from .asking import Pieces, ask, ask_each, cpu, each, were_asked
from .devices import copied_to, device_of, finish, inverted, last_scores_on, loader_on, on, placed, vocabulary
from .known_gradient import PrefixMean, adam, asked_without_mask, criterion, plain_descent, rates_of
from .layers import added_to, changes_with_dropout, dropped, in_training, taken_apart, unused
from .loaders import Loader, arrays, batches_of, each_accuracy, get_loader, items, lists, steps, tensors
from .properties import (
    applied,
    copied,
    load,
    loss_of,
    method,
    outputs,
    parameter_count,
    parameters,
    positions_of,
    save,
    shaken,
    shapes,
    what_flows,
    without_positions,
)
from .two_topics import language_model, last_scores, seeded, with_tables

__all__ = [
    "Loader",
    "Pieces",
    "PrefixMean",
    "adam",
    "added_to",
    "applied",
    "arrays",
    "ask",
    "ask_each",
    "asked_without_mask",
    "batches_of",
    "changes_with_dropout",
    "copied",
    "copied_to",
    "cpu",
    "criterion",
    "device_of",
    "dropped",
    "each",
    "each_accuracy",
    "finish",
    "get_loader",
    "in_training",
    "inverted",
    "items",
    "language_model",
    "last_scores",
    "last_scores_on",
    "lists",
    "load",
    "loader_on",
    "loss_of",
    "method",
    "on",
    "outputs",
    "parameter_count",
    "parameters",
    "placed",
    "plain_descent",
    "positions_of",
    "rates_of",
    "save",
    "seeded",
    "shaken",
    "shapes",
    "steps",
    "taken_apart",
    "tensors",
    "unused",
    "vocabulary",
    "were_asked",
    "what_flows",
    "with_tables",
    "without_positions",
]
