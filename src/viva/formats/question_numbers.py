"""Sort question numbers: 1.10 comes after 1.2."""

import re


def in_order(number: str) -> tuple[bool, list[tuple[int, str]]]:
    """Return a key that sorts as people do: 1.2 before 1.10, 3.2a before 3.2b, those without a number last."""
    parts = re.findall(r"[0-9]+|[^\W0-9_]+", number)
    return not parts, [(int(p), "") if p.isdecimal() else (0, p) for p in parts]
