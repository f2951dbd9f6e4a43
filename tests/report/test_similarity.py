"""Winnowing keeps its guarantee; what is renamed is found, what was given or is common is not."""

import keyword
import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from viva.report.similarity import similar_pairs
from viva.report.similarity.similar_pairs import (
    FEWEST_COMMON,
    WINDOW_TOKENS,
    Fingerprints,
    K,
    W,
    fingerprints_of,
    hashes_of_all_runs,
    pairs,
)
from viva.report.similarity.tokens import Source

PROGRAM = '''
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Attention."""
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ V


def beam_search(step, k, n_steps):
    beams = [((), 0.0)]
    for _ in range(n_steps):
        candidates = [(b + (t,), s + math.log(p)) for b, s in beams for t, p in step(b).items() if p > 0]
        beams = sorted(candidates, key=lambda c: -c[1])[:k]
    return [b for b, _ in beams]
'''


def prints(name: str, code: str, *, who: str = "", starter: str = "") -> Fingerprints:
    given = hashes_of_all_runs([Source("starter.py", starter)]) if starter else None
    return fingerprints_of(name, frozenset({who} if who else ()), [Source("solution.py", code)], given)


def program(seed: int, size: int = 60) -> str:
    """Return a random program: random statements of random shapes."""
    at = random.Random(seed)
    shapes = [
        "v{0} = [x * {1} for x in v{2} if x {3} {1}]", "if v{0} {3} {1}: v{2} = v{0} - {1}", "v{0}[v{2}] += f{1}(v{2})",
        "for i{0} in range({1}): v{2}.append(i{0})", "while v{0} {3} v{2}: v{0} = v{2} / {1}", "assert v{0} {3} {1}",
        "v{0}, v{2} = v{2}, {{v{0}: {1}}}", "with f{1}(v{0}) as v{2}: pass", "del v{0}[{1}:v{2}]", "v{0} = not v{2}",
    ]  # fmt: skip
    return "\n".join(
        at.choice(shapes).format(at.randrange(9), at.randrange(99), at.randrange(9), at.choice(["<", ">", "=="]))
        for _ in range(size)
    )


tokens = draw.integers(0, 3)


def fingerprints(kinds: list[int]) -> dict[int, int]:
    """Return what winnowing selects of a stream of tokens: the place of each first token, and the hash of its run."""
    hashes = similar_pairs._hashes(kinds)
    return {int(place): int(hashes[place]) for place in similar_pairs._selected(hashes)}


@given(
    draw.lists(tokens, min_size=WINDOW_TOKENS, max_size=40),
    draw.lists(tokens, max_size=60),
    draw.lists(tokens, max_size=60),
    draw.lists(tokens, max_size=60),
    draw.lists(tokens, max_size=60),
)
def test_shared_run_is_found(shared: list[int], a: list[int], b: list[int], c: list[int], d: list[int]) -> None:
    """The guarantee of the paper: whatever stands around it."""
    one, two = a + shared + b, c + shared + d
    assert set(fingerprints(one).values()) & set(fingerprints(two).values())


@given(draw.lists(tokens, max_size=120), draw.lists(tokens, max_size=120))
def test_short_run_is_not_found(one: list[int], two: list[int]) -> None:
    """A fingerprint in common is a run of K tokens in common."""
    runs = {tuple(one[i : i + K]) for i in range(len(one) - K + 1)}
    runs &= {tuple(two[i : i + K]) for i in range(len(two) - K + 1)}
    common = set(fingerprints(one).values()) & set(fingerprints(two).values())
    assert bool(common) <= bool(runs)
    assert len(common) <= len(runs)


@given(draw.lists(tokens, min_size=K, max_size=200))
def test_distance_of_fingerprints(stream: list[int]) -> None:
    places = list(fingerprints(stream))
    assert places and places[0] < W and places[-1] + K + W > len(stream)
    assert all(0 < after - before <= W for before, after in pairwise(places))


def test_density_of_fingerprints() -> None:
    """The density of winnowing, 2 / (w + 1), as in the paper's section 3."""
    at = random.Random(1)
    stream = [at.randrange(1000) for _ in range(20_000)]
    assert len(fingerprints(stream)) / len(stream) == pytest.approx(2 / (W + 1), rel=0.05)


def test_disguised_copy() -> None:
    names = sorted({n for n in re.findall(r"\b[a-zA-Z_]\w*", PROGRAM) if not keyword.iskeyword(n)})
    disguised = re.sub(r"\b[a-zA-Z_]\w*", lambda m: f"z{names.index(m[0])}" if m[0] in names else m[0], PROGRAM)
    disguised = disguised.replace("1e9", "123").replace("\n\n", "\n# mine\n\n").replace("    ", "  ")
    pair, *others = pairs([prints("a", PROGRAM), prints("b", disguised), *(prints(c, program(ord(c))) for c in "cdef")])
    assert all(other.share < 0.5 for other in others)
    assert pair.names == ("a", "b") and pair.share == 1.0
    assert "beams = sorted" in "".join(p.texts[0] for p in pair.passages)
    assert "sorted" not in "".join(p.texts[1] for p in pair.passages)
    assert all(len(p.texts[0].splitlines()) >= 1 for p in pair.passages)


def test_different_programs() -> None:
    assert [pair for pair in pairs([prints(str(i), program(i)) for i in range(40)]) if pair.share > 0.2] == []


def test_starter_is_ignored() -> None:
    assert pairs([prints("a", PROGRAM, starter=PROGRAM), prints("b", PROGRAM, starter=PROGRAM)]) == []
    both = [prints(n, PROGRAM + program(i), starter=PROGRAM) for i, n in enumerate("ab")]
    assert all(pair.share < 0.2 for pair in pairs(both))


def test_common_code_is_ignored() -> None:
    many = [prints(str(i), PROGRAM + program(i)) for i in range(FEWEST_COMMON * 10 + 10)]
    assert all(pair.share < 0.5 for pair in pairs(many))
    few = [prints(str(i), PROGRAM) for i in range(FEWEST_COMMON)]
    assert len(pairs(few)) == FEWEST_COMMON * (FEWEST_COMMON - 1) // 2


def test_attempts_of_one_student() -> None:
    assert pairs([prints("first", PROGRAM, who="ada"), prints("second", PROGRAM, who="ada")]) == []
    assert len(pairs([prints("first", PROGRAM, who="ada"), prints("second", PROGRAM, who="eve")])) == 1


def test_order_of_submissions() -> None:
    some = [prints("a", PROGRAM), prints("b", program(1) + PROGRAM), prints("c", program(2))]
    found = {(frozenset(p.names), p.shared, p.share) for p in pairs(some)}
    assert found == {(frozenset(p.names), p.shared, p.share) for p in pairs(some[::-1])} != set()


@pytest.mark.parametrize(
    "code",
    ["", "def f(:\n" * 300, "'''", "(" * 5000, "\x00" * 100, "    x\n  y\n z\n" * 50, "%magic\n!ls\n", "é = '\ud800'"],
)
def test_unreadable_code(code: str) -> None:
    broken = prints("broken", code + "\n" + PROGRAM)
    assert pairs([broken, prints("empty", "")]) == []


def test_code_after_an_unreadable_line() -> None:
    assert pairs([prints("a", "    x = 1\n  y = 2\n" + PROGRAM), prints("b", PROGRAM)])[0].share > 0.9


@pytest.mark.nightly
def test_pair_among_two_thousand() -> None:
    others = [prints(str(i), program(i, 60)) for i in range(1999)]
    found = pairs([*others, prints("copy", program(7, 60).replace("v", "w"))])
    assert found[0].names == ("7", "copy") and found[0].share > 0.95
