"""Who adds something to the records, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """The author of an addition, and the reason; both are stored with it."""

    by: str
    why: str = ""
