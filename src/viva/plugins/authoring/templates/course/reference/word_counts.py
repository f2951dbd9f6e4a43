"""Word counts, the bag-of-words representation of a text."""

from collections import Counter


def word_counts(text: str) -> Counter[str]:
    """Return how often each lower-cased word, separated by white space, occurs in `text`."""
    return Counter(text.lower().split())
