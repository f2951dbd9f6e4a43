"""The executed notebook beside a result: what it is called, and what it says of itself."""

import json
from dataclasses import dataclass
from typing import Any, Final

FILE: Final = "executed.ipynb"
OURS: Final = "viva"
"""The key in a notebook's metadata under which everything stands that viva says itself."""


@dataclass(frozen=True, slots=True)
class About:
    """What an executed notebook was made from."""

    content_hash: str = ""
    """Of the submission; empty where the file does not say it."""
    load: str = ""
    """"run", or "definitions" where only what defines names was run."""


def about(data: bytes) -> About:
    """What the file says of itself; never raises."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        return About()
    said = _table(_table(_table(notebook).get("metadata")).get(OURS))
    return About(_text(said.get("content_hash")), _text(said.get("load")))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value[:100] if isinstance(value, str) else ""
