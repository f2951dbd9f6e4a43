"""Groups of answers with nearly the same wording, which a marker can grade together."""

from collections.abc import Sequence
from typing import Final

from viva.plugins.review.wording import decisive_tokens, tokens

NEAR: Final = (4, 5)
"""The minimum Jaccard similarity of two answers, as a fraction: four in five."""
_SHINGLE: Final = 3
"""Words in a shingle; an answer with fewer words is one shingle."""

Words = tuple[str, ...]


def groups(texts: Sequence[str]) -> list[list[int]]:
    """Group answers that are near the first answer of their group; return indices into `texts`, largest group first.

    Two answers are near if the Jaccard similarity of their shingles of three words (Broder 1997, "On the resemblance
    and containment of documents") is at least `NEAR`, and if they have the same numbers, formula signs and negations
    in the same order. Each answer joins the earliest group whose first answer it is near to. Answers without a word or
    a sign are one group. An answer that is near to no other is in no group. The result depends on the texts alone.
    """
    same: dict[Words, list[int]] = {}
    for index, text in enumerate(texts):
        same.setdefault(tokens(text), []).append(index)
    found = [same.pop((), [])]
    alike: dict[tuple[Words, ...], list[Words]] = {}
    for words in same:
        alike.setdefault(decisive_tokens(words), []).append(words)
    for block in alike.values():
        for cluster in _cluster(block):
            found.append(sorted(index for words in cluster for index in same[words]))
    return sorted((group for group in found if len(group) > 1), key=lambda group: (-len(group), group[0]))


def _cluster(block: Sequence[Words]) -> list[list[Words]]:
    """Assign each answer to the first one that it is near to.

    Who shares four in five of an answer's shingles has at least one of any fifth of them and one more. So an index by
    shingles finds the few answers that need to be compared.
    """
    part, whole = NEAR
    firsts: list[frozenset[Words]] = []
    clusters: list[list[Words]] = []
    index: dict[Words, list[int]] = {}
    for words in block:
        shingles = frozenset(words[start : start + _SHINGLE] for start in range(max(1, len(words) - _SHINGLE + 1)))
        rarest = sorted(shingles, key=lambda shingle: len(index.get(shingle, ())))
        probes = rarest[: len(shingles) - len(shingles) * part // whole + 1]
        for number in sorted({number for probe in probes for number in index.get(probe, ())}):
            shared = len(firsts[number] & shingles)
            if whole * shared >= part * (len(firsts[number]) + len(shingles) - shared):
                clusters[number].append(words)
                break
        else:
            for shingle in shingles:
                index.setdefault(shingle, []).append(len(firsts))
            firsts.append(shingles)
            clusters.append([words])
    return clusters
