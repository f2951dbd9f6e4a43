"""Word counts, the bag-of-words representation of a text."""

from collections import Counter


def word_counts(text: str) -> Counter[str]:
    """How often each lower-cased, white-space separated word stands in `text`."""
    return Counter(text.lower().split())
