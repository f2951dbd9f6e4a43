"""The author's helpers in the box: stand-ins for what the course downloads, tiny models, loaders, trainings.

They hold no answers. They run in the course's interpreter: torch, transformers 4 or 5 with what comes with them, Python
3.9 or later. They are loaded before any submitted file, which then imports `evaluate` and `datasets` as if they
were installed and finds a tiny model and a tiny tokenizer under whatever name it asks the hub for.
"""

from .fine_tuning import fine_tuned
from .handed_in import answered, own_shapes
from .hub import serve, serve_at_random
from .loaders import Batches, arguments, items
from .programs import in_one_go, loaded, started
from .real_size import on_both, rounds
from .stand_ins import stand_in
from .trainings import computed, evaluated, noted, overfitted, tuned

__all__ = [
    "Batches",
    "answered",
    "arguments",
    "computed",
    "evaluated",
    "fine_tuned",
    "in_one_go",
    "items",
    "loaded",
    "noted",
    "on_both",
    "overfitted",
    "own_shapes",
    "rounds",
    "serve",
    "serve_at_random",
    "started",
    "tuned",
]

stand_in()
