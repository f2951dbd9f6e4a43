"""Gives its cells ids that are doubled, endless, paths, markup and no texts at all."""

# makes a folder
import json

from tests.support.hostile_files import ZERO, notebook

IDS = [
    "same",
    "same",
    "x" * 1_000_000,
    "../../../etc/passwd",
    "<b>1</b>",
    "\u202e1",
    7,
    None,
    {"id": 1},
    "__proto__",
    "",
]


def hand_in(targets):
    book = json.loads(notebook(*[ZERO] * len(IDS)))
    for cell, name in zip(book["cells"], IDS, strict=True):
        cell |= {"id": name, "metadata": {"id": name, "name": name, "attachments": {"../x": {"text/plain": "x"}}}}
    return {"work.ipynb": json.dumps(book)}
