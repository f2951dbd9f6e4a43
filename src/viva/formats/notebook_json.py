"""The JSON of notebooks that students submit: one reader with one error, whatever the bytes are."""

import json
from typing import Any, Final

_LONGEST_NUMBER: Final = 100
NESTED: Final = "nested too deeply"


def parse_json(text: str | bytes) -> Any:
    """Return what JSON says; an integer of very many digits is read as 0, because no number of a notebook matters.

    Raises:
        json.JSONDecodeError: and nothing else, whatever the text is.
    """
    try:
        return json.loads(text, parse_int=_parse_int)
    except json.JSONDecodeError:
        raise
    except (RecursionError, MemoryError):
        raise json.JSONDecodeError(NESTED, "", 0) from None
    except ValueError as error:  # bytes that are no text
        raise json.JSONDecodeError(str(error), "", 0) from None


def _parse_int(digits: str) -> int:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else 0
