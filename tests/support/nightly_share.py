"""Which part of a long list a night takes, so that `make nightly` ends in time and every part has its turn."""

import os
from datetime import date
from typing import Final

EVERYTHING: Final = "all"
NIGHT: Final = os.environ.get("VIVA_NIGHT") or str(date.today().toordinal())
"""The number of the night; "all" takes everything."""


def is_tonight(number: int, nights: int) -> bool:
    """Whether the item of this number has its turn, if every item has one in so many nights."""
    return NIGHT == EVERYTHING or (number + int(NIGHT)) % nights == 0
