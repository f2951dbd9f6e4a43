"""The executed notebook next to a result: its file name, and its metadata."""

import json
from dataclasses import dataclass
from typing import Final

from viva.formats.notebook_json import parse_json

FILE: Final = "executed.ipynb"
OURS: Final = "viva"
"""The key in a notebook's metadata that holds viva's own metadata."""


@dataclass(frozen=True, slots=True)
class About:
    """The submission from which an executed notebook was made."""

    content_hash: str = ""
    """The submission's; empty where the file does not have it."""
    load: str = ""
    """"run", or "definitions" where only statements that define names were run."""


def about(data: bytes) -> About:
    """Read viva's metadata from the file; never raises."""
    try:
        notebook = parse_json(data)
    except json.JSONDecodeError:
        return About()
    metadata = _table(_table(_table(notebook).get("metadata")).get(OURS))
    return About(_text(metadata.get("content_hash")), _text(metadata.get("load")))


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:100] if isinstance(value, str) else ""
