"""Groups of answers with nearly the same wording, which a marker can grade together."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from viva.plugins.review.wording import decisive_tokens, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
        for cluster in _clusters(block):
            found.append(sorted(index for place in cluster for index in same[block[place]]))
    return sorted((group for group in found if len(group) > 1), key=lambda group: (-len(group), group[0]))


def _clusters(block: Sequence[Words]) -> Iterable[list[int]]:
    """Assign each answer to the first one that it is near to.

    The similarity is exact. An index maps each shingle to the answers that contain it, so that the shingles that an
    answer shares with all others are counted at once.
    """
    if len(block) == 1:
        return [[0]]
    import numpy as np

    which, shingles = _shingles(block)
    sizes = np.bincount(which)
    # The answers by shingle, in their order: before an answer's own position are the earlier ones with that shingle.
    order = np.argsort(shingles, kind="stable")
    standing, ends = which[order], np.argsort(order)
    begins = (np.cumsum(np.bincount(shingles)) - np.bincount(shingles))[shingles]
    again = ends > begins
    begins, ends = begins[again], ends[again]
    own = np.searchsorted(which[again], np.arange(len(block) + 1)).tolist()
    part, whole = NEAR
    clusters: dict[int, list[int]] = {}
    for index, (first, last) in enumerate(pairwise(own)):
        found = [standing[a:b] for a, b in zip(begins[first:last].tolist(), ends[first:last].tolist(), strict=True)]
        shared = np.bincount(np.concatenate([standing[:0], *found]), minlength=len(block))
        near = np.flatnonzero(whole * shared >= part * (sizes + sizes[index] - shared)).tolist()
        clusters.setdefault(next((other for other in near if other in clusters), index), []).append(index)
    return clusters.values()


def _shingles(block: Sequence[Words]) -> "tuple[NDArray[np.intp], NDArray[np.intp]]":
    """Return the distinct shingles of every answer: the index of the answer, and the shingle as a number.

    Both arrays have the shape (shingles of all answers,), in the order of the answers.
    """
    import numpy as np

    numbers = {"": 0}
    padded = [(*words, *[""] * (_SHINGLE - len(words))) for words in block]
    flat = np.array([numbers.setdefault(word, len(numbers)) for words in padded for word in words])
    ends = np.cumsum([len(words) for words in padded])
    which = np.repeat(np.arange(len(block)), [len(words) for words in padded])
    starts = np.flatnonzero(np.arange(len(flat)) + _SHINGLE <= ends[which])
    shingles = flat[starts]
    for step in range(1, _SHINGLE):  # renumbered after each word, so that no product overflows
        shingles = np.unique(shingles * len(numbers) + flat[starts + step], return_inverse=True)[1].reshape(-1)
    pairs = np.unique(which[starts] * (shingles.max() + 1) + shingles)
    return np.divmod(pairs, shingles.max() + 1)
