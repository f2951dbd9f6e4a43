"""Pairs of submissions that share much of their code, found by winnowing; pairs to look at, never a verdict.

Schleimer, Wilkerson and Aiken 2003, "Winnowing: local algorithms for document fingerprinting", SIGMOD. Every run of K
tokens is hashed. It keeps the smallest of every W consecutive hashes, and the rightmost if several are equal. Any
WINDOW_TOKENS tokens that two submissions share therefore give them a common fingerprint, and fewer than K tokens never
do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from viva.report.similarity.tokens import Source, Token, tokens_of

K: Final = 15
"""Tokens in a run; about one and a half lines. Shorter runs occur in every program."""
W: Final = 11
WINDOW_TOKENS: Final = W + K - 1
"""A shared run of this many tokens is always found: 25, about three lines."""
COMMON: Final = 0.10
"""A fingerprint in more than this share of the class is left out, because it was probably taught …"""
FEWEST_COMMON: Final = 4
"""… unless at most this many submissions have it."""
FEWEST_SHARED: Final = 4
"""The fewest common fingerprints of a pair that is listed."""
_MOST_TOKENS: Final = 60_000
_BASE: Final = np.uint64(0x9E3779B97F4A7C15)
_CHUNK: Final = 4_000_000

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The fingerprints of one submission."""

    name: str
    who: frozenset[str]
    """Ids of the students; submissions of the same students are not compared."""
    sources: tuple[Source, ...]
    hashes: Hashes
    """Distinct and sorted, without those of the starter; (fingerprints,)."""
    first_tokens: npt.NDArray[np.int64]
    """The index of the first token of the first run with each hash; (fingerprints,)."""
    lines: npt.NDArray[np.int32]
    """Source and line of each token; (tokens, 2)."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Matching lines of two submissions."""

    names: tuple[str, str]
    """The names of the sources."""
    first_lines: tuple[int, int]
    texts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions to look at."""

    names: tuple[str, str]
    shared: int
    """The number of fingerprints that both have."""
    share: float
    """The share of them in the fingerprints of the submission that has fewer."""
    passages: tuple[Passage, ...]


def fingerprints_of(
    name: str, who: frozenset[str], sources: Sequence[Source], starter: npt.NDArray[np.uint64] | None = None
) -> Fingerprints:
    """Compute the fingerprints of a submission.

    Args:
        name: the name of the submission.
        who: the ids of its students.
        sources: its code.
        starter: the hashes of the code that all students were given, from `hashes_of_all_runs`.
    """
    tokens = tokens_of(sources)[:_MOST_TOKENS]
    hashes = _hashes([token.kind for token in tokens])
    places = _selected(hashes)
    found, index = np.unique(hashes[places], return_index=True)
    first = places[index]
    if starter is not None and len(starter):
        kept = ~np.isin(found, starter)
        found, first = found[kept], first[kept]
    return Fingerprints(name, who, tuple(sources), found, first, _lines(tokens))


def hashes_of_all_runs(sources: Sequence[Source]) -> Hashes:
    """Return the hash of every run of K tokens, not only of those that winnowing selects."""
    return np.unique(_hashes([token.kind for token in tokens_of(sources)]))


def pairs(fingerprints: Sequence[Fingerprints], *, most: int = 50, common: float = COMMON) -> list[Pair]:
    """Return the pairs that share the largest part of the smaller submission's fingerprints, largest share first.

    Args:
        fingerprints: the fingerprints of all submissions.
        most: the maximum number of pairs.
        common: the share of the class above which a fingerprint is left out.
    """
    limit = max(FEWEST_COMMON, int(common * len(fingerprints)))
    sizes = [len(p.hashes) for p in fingerprints]
    owners = np.repeat(np.arange(len(fingerprints)), sizes)
    hashes = np.concatenate([np.empty(0, dtype=np.uint64), *(p.hashes for p in fingerprints)])
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    starts = np.flatnonzero(np.r_[True, hashes[1:] != hashes[:-1]]) if len(hashes) else np.empty(0, dtype=np.int64)
    counts = np.diff(np.r_[starts, len(hashes)])
    kept = {int(h) for h in hashes[starts[(counts > 1) & (counts <= limit)]]}
    fewer = np.bincount(owners[np.repeat(counts <= limit, counts)], minlength=len(fingerprints))
    shared = _shared(owners, starts, counts, limit, len(fingerprints))
    ranked = sorted(
        (
            (min(1.0, n / max(1, min(fewer[a], fewer[b]))), n, a, b)
            for (a, b), n in shared.items()
            if n >= FEWEST_SHARED and not fingerprints[a].who & fingerprints[b].who
        ),
        key=lambda found: (-found[0], -found[1], found[2], found[3]),
    )
    return [
        Pair(
            (fingerprints[a].name, fingerprints[b].name),
            n,
            float(share),
            _passages(fingerprints[a], fingerprints[b], kept),
        )
        for share, n, a, b in ranked[:most]
    ]


def _hashes(kinds: Sequence[int]) -> Hashes:
    """Hash each run of K tokens by a polynomial modulo 2 to the 64; mix the bits, so that any hash may be smallest."""
    stream = np.asarray(kinds, dtype=np.uint64)
    count = len(stream) - K + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    found = np.zeros(count, dtype=np.uint64)
    for offset in range(K):
        found = found * _BASE + stream[offset : offset + count]
    found ^= found >> np.uint64(30)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(27)
    found *= np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


def _selected(hashes: Hashes) -> npt.NDArray[np.int64]:
    """Return the indices that winnowing selects: the rightmost smallest hash of each window of W, or of all hashes."""
    if not len(hashes):
        return np.empty(0, dtype=np.int64)
    width = min(W, len(hashes))
    windows = np.lib.stride_tricks.sliding_window_view(hashes, width)
    rightmost = width - 1 - np.argmin(windows[:, ::-1], axis=1)
    return np.unique(np.arange(len(windows)) + rightmost)


def _lines(tokens: Sequence[Token]) -> npt.NDArray[np.int32]:
    return np.array([(token.source, token.line) for token in tokens], dtype=np.int32).reshape(-1, 2)


def _shared(
    owners: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    limit: int,
    size: int,
) -> dict[tuple[int, int], int]:
    """Count the common fingerprints of each pair; fingerprints with equally many owners are counted at once."""
    found: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    for length in (n for n in np.unique(counts) if 1 < n <= limit):
        places = starts[counts == length]
        one, two = np.triu_indices(int(length), 1)
        step = max(1, _CHUNK // len(one))
        for begin in range(0, len(places), step):
            group = owners[places[begin : begin + step, None] + np.arange(length)]
            codes = group[:, one] * size + group[:, two]  # owners rise within a group: the sort was stable
            found.append(np.unique(codes, return_counts=True))
    if not found:
        return {}
    codes, inverse = np.unique(np.concatenate([codes for codes, _ in found]), return_inverse=True)
    total = np.bincount(inverse, weights=np.concatenate([n for _, n in found])).astype(np.int64)
    enough = total >= FEWEST_SHARED
    return {(int(code) // size, int(code) % size): int(n) for code, n in zip(codes[enough], total[enough], strict=True)}


def _passages(one: Fingerprints, two: Fingerprints, kept: set[int], most: int = 12) -> tuple[Passage, ...]:
    """Return the longest passages with shared fingerprints, in the order of the file; neighboring ones are joined."""
    _, at_one, at_two = np.intersect1d(one.hashes, two.hashes, assume_unique=True, return_indices=True)
    places = sorted(
        (int(one.first_tokens[i]), int(two.first_tokens[j]))
        for i, j in zip(at_one, at_two, strict=True)
        if int(one.hashes[i]) in kept
    )
    runs: list[list[int]] = []
    before = -1
    for a, b in places:
        if runs and a <= runs[-1][1] + W and before < b <= runs[-1][3] + W:
            runs[-1][1], runs[-1][3] = a + K - 1, b + K - 1
        else:
            runs.append([a, a + K - 1, b, b + K - 1])
        before = b
    longest = sorted(sorted(runs, key=lambda run: run[0] - run[1])[:most])
    return tuple(_passage(one, two, run) for run in longest)


def _passage(one: Fingerprints, two: Fingerprints, run: Sequence[int]) -> Passage:
    (name_a, line_a, text_a), (name_b, line_b, text_b) = _excerpt(one, *run[:2]), _excerpt(two, *run[2:])
    return Passage((name_a, name_b), (line_a, line_b), (text_a, text_b))


def _excerpt(fingerprints: Fingerprints, first: int, last: int) -> tuple[str, int, str]:
    """Return source, first line and text of a run of tokens, at most to the end of the source in which it begins."""
    source, begin = (int(x) for x in fingerprints.lines[first])
    end = max(int(line) for s, line in fingerprints.lines[first : last + 1] if s == source)
    lines = fingerprints.sources[source].text.splitlines()
    return fingerprints.sources[source].name, begin, "\n".join(lines[begin - 1 : end][:60])
