"""Numbers with their nouns, as people read them."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 item`, `2 items`; `plural` is needed if it is not the noun and an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
