"""BLEU: Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation", section 2.

    p_n  = Σ_g min(count(g), max_r count_r(g)) / Σ_g count(g)      over the n-grams g of the candidate, r a reference
    BP   = 1 if c > r, else exp(1 - r / c)                         c candidate length, r closest reference length
    BLEU = BP · exp(1/N Σ_{n=1..N} log p_n)

One sentence, no smoothing: an order without a match makes the score 0. Tokens are whatever the caller split.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence

Tokens = Sequence[Hashable]


def ngram_counts(tokens: Tokens, n: int) -> Counter[tuple[Hashable, ...]]:
    """Count how often each n-gram occurs; empty when there are fewer than n tokens."""
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def modified_precision(candidate: Tokens, references: Sequence[Tokens], n: int) -> tuple[int, int]:
    """Count clipped n-gram matches and the n-grams of the candidate (section 2.1).

    Returns:
        (matches, total); (0, 0) when the candidate is shorter than n.
    """
    counts = ngram_counts(candidate, n)
    ceiling: Counter[tuple[Hashable, ...]] = Counter()
    for reference in references:
        ceiling |= ngram_counts(reference, n)  # the largest count in any single reference
    return (counts & ceiling).total(), counts.total()


def closest_reference_length(candidate_length: int, references: Sequence[Tokens]) -> int:
    """Return the reference length nearest to the candidate's; of two equally near, the shorter.

    sacrebleu and nltk do the same.

    Raises:
        ValueError: there is no reference.
    """
    lengths = (len(reference) for reference in references)
    return min(lengths, key=lambda length: (abs(length - candidate_length), length))


def brevity_penalty(candidate: Tokens, references: Sequence[Tokens]) -> float:
    """Return the brevity penalty (section 2.2).

    It is 1 for a candidate at least as long as the closest reference, else exp(1 - r/c); 0 for an empty one.

    Raises:
        ValueError: there is no reference.
    """
    c, r = len(candidate), closest_reference_length(len(candidate), references)
    if c == 0:
        return 0.0
    return 1.0 if c > r else math.exp(1 - r / c)


def bleu(candidate: Tokens, references: Sequence[Tokens], max_n: int = 4) -> float:
    """Return the geometric mean of the modified precisions of order 1 to max_n, times the brevity penalty.

    Section 2.3 of the paper.

    Raises:
        ValueError: there is no reference.
    """
    penalty = brevity_penalty(candidate, references)
    precisions = [modified_precision(candidate, references, n) for n in range(1, max_n + 1)]
    if any(matches == 0 for matches, _ in precisions):
        return 0.0
    return penalty * math.exp(sum(math.log(matches / total) for matches, total in precisions) / max_n)
