"""Question 1b: the pairs of next sentence prediction."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graders.bert_lora_fudge.chances import check_independent, radius, uniform, within
from viva.grading import number, visibility, weight

Documents = list[list[str]]
Triple = tuple[str, str, bool]

CALLS, TEXTS, LENGTH = 300, 6, 7
APART = "Decide about each A by itself, with probability 1/2, and draw its B by itself."


@number("1b")
@weight(2)
def test_make_nsp_pairs(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Half of the pairs are a sentence and its successor, the others a sentence and one of another document."""
    source = inside.generator.keep(int(rng.integers(2**32)))
    check_pairs(student.make_nsp_pairs(documents(40, 1, 300, 2, 460), source), documents(40, 1, 300, 2, 460))
    check_pairs(student.make_nsp_pairs(documents(400, 350), source), documents(400, 350))
    check_many(student, inside, source)
    check_every_sentence(student, inside, source)


@number("1b")
@weight(1)
@visibility("after_published")
def test_pairs_of_random_documents(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Documents of random lengths, many of them short.

    Try documents with one and with two sentences, and count how often a pair is from one document.
    """
    source = inside.generator.keep(int(rng.integers(2**32)))
    drawn = documents(*rng.integers(1, 30, 40).tolist())
    check_pairs(student.make_nsp_pairs(drawn, source), drawn)


def documents(*sizes: int) -> Documents:
    """Documents of this many sentences, each a text that gives its own position."""
    return [[f"sentence {place} of text {home}" for place in range(size)] for home, size in enumerate(sizes)]


def check_pairs(returned: Any, texts: Documents) -> None:
    """Raise with a sentence for the student unless the pairs are as the question asks."""
    triples = read_triples(returned)
    check_kinds(triples, texts)
    count = sum(is_next for *_, is_next in triples)
    assert within(count, len(triples), 0.5), (
        f"{count} of {len(triples)} pairs are positive; expected half of them ± {radius(len(triples), 0.5):.0f}."
    )
    different = len({b for _, b, is_next in triples if not is_next})
    assert different > min(20, (len(triples) - count) / 4), (
        f"The B of {len(triples) - count} negative pairs is always one of {different} sentences. {APART}"
    )


def check_kinds(triples: list[Triple], texts: Documents) -> None:
    """Raise unless each sentence with a successor is A once, and each B is what its label says."""
    where = {sentence: (home, place) for home, text in enumerate(texts) for place, sentence in enumerate(text)}
    wanted = sorted(sentence for text in texts for sentence in text[:-1])
    for a, b, _ in triples:
        assert a in where and b in where, (
            f"make_nsp_pairs returned the pair ({a!r}, {b!r}), which are no two sentences."
        )
        assert where[a][1] + 1 < len(texts[where[a][0]]), f"{a!r} has no successor, so it is no A of a pair."
    assert sorted(a for a, _, _ in triples) == wanted, (
        f"make_nsp_pairs returned {len(triples)} pairs for {len(wanted)} sentences with a successor; "
        "expected each of these once as A."
    )
    successors = [where[b] == (where[a][0], where[a][1] + 1) for a, b, _ in triples]
    says = [is_next for _, _, is_next in triples]
    assert successors != [not s for s in says] or not any(successors), (
        "is_next is turned round: it is true (1) where B follows A."
    )
    for (a, b, is_next), follows in zip(triples, successors, strict=True):
        assert follows or not is_next, f"({a!r}, {b!r}) is marked as next, but B does not follow A."
        assert is_next or not follows, f"({a!r}, {b!r}) is marked as not next, but B follows A: no negative pair."
        assert is_next or where[a][0] != where[b][0], (
            f"({a!r}, {b!r}): the B of a negative pair is a sentence of another document, not of A's own."
        )


def check_many(student: Any, inside: Any, source: Any) -> None:
    """Many calls on documents of one length: labels and negatives by chance, each for itself, and all of them likely.

    As all documents are of one length, it makes no difference whether B is drawn from the sentences of the others, or a
    document first and then one of its sentences.
    """
    texts = documents(*[LENGTH] * TEXTS)
    place = {sentence: index for index, sentence in enumerate(sentence for text in texts for sentence in text)}
    calls = [read_triples(value) for value in inside.repeat(student.make_nsp_pairs, CALLS, texts, source)]
    for triples in calls:
        check_kinds(triples, texts)
    calls = [sorted(triples, key=lambda triple: place[triple[0]]) for triples in calls]
    check_independent(np.array([[is_next for *_, is_next in call] for call in calls]), 0.5, "positive pairs", APART)
    negatives = [[(place[a], place[b]) for a, b, is_next in call if not is_next] for call in calls]
    homes, sentences = np.zeros((TEXTS * LENGTH, TEXTS)), np.zeros((TEXTS, TEXTS * LENGTH))
    for a, b in (pair for call in negatives for pair in call):
        homes[a, b // LENGTH] += 1
        sentences[a // LENGTH, b] += 1
    check_homes(homes, sentences)
    check_pairs_of_negatives(negatives)
    # Two negatives of one call have the same B with probability 1/42, four of five times that in two documents.
    pairs = sum(len(call) * (len(call) - 1) / 2 for call in negatives)
    again = sum(len(call) - len({b for _, b in call}) for call in negatives)
    assert again > 0.4 * pairs / (TEXTS * LENGTH), (
        f"In {CALLS} calls only {again} sentences are the B of a second negative pair; by chance about "
        f"{0.8 * pairs / (TEXTS * LENGTH):.0f} are. {APART}"
    )


def check_every_sentence(student: Any, inside: Any, source: Any) -> None:
    """Every sentence is B of some negative pair, however long its document and that of A are.

    Each is expected 28 times or more, so that a right program misses one of them with probability e^-24.
    """
    sizes = (7, 1, 3, 12, 2)
    calls = inside.repeat(student.make_nsp_pairs, CALLS, documents(*sizes), source)
    drawn = {b for call in calls for _, b, is_next in read_triples(call) if not is_next}
    never = [sentence for text in documents(*sizes) for sentence in text if sentence not in drawn]
    assert not never, (
        f"In {CALLS} calls for documents of {sizes} sentences, {never[0]!r} is never the B of a negative pair; "
        "draw from all sentences of all other documents."
    )


def check_homes(homes: NDArray[np.float64], sentences: NDArray[np.float64]) -> None:
    """How often each A (a sentence) has a B of each document, and each document's A each sentence as B.

    Expected are about 30 and 25 each; a right program misses one of 400 cells with a probability of about 1e-8.
    """
    other = np.arange(TEXTS * LENGTH)[:, None] // LENGTH != np.arange(TEXTS)[None, :]
    has_successor = (np.arange(TEXTS * LENGTH) + 1) % LENGTH != 0
    if (never := np.argwhere(other.T & (sentences == 0))).size:
        home, b = never[0].tolist()
        raise AssertionError(
            f"In {CALLS} calls no negative pair of document {home} has sentence {b % LENGTH} of document {b // LENGTH} "
            "as its B; draw from all sentences of all other documents."
        )
    assert uniform(homes[has_successor][other[has_successor]]) and uniform(sentences[other.T]), (
        "The B of the negative pairs prefer some documents or sentences; in documents of one length each is as likely."
    )


def check_pairs_of_negatives(negatives: list[list[tuple[int, int]]]) -> None:
    """Of two negatives whose A are of one document, how often B is of one document, and how often the same sentence.

    There are about 6700 such pairs, one in five and one in 35 of them by chance.
    """
    together = [
        (b, other)
        for call in negatives
        for (a, b), (c, other) in itertools.combinations(call, 2)
        if a // LENGTH == c // LENGTH
    ]
    for what, cells, equal in [
        ("document", TEXTS - 1, [b // LENGTH == other // LENGTH for b, other in together]),
        ("sentence", (TEXTS - 1) * LENGTH, [b == other for b, other in together]),
    ]:
        assert within(sum(equal), len(equal), 1 / cells), (
            f"Of {len(equal)} pairs of negatives whose A are of one document, {sum(equal)} have the B from the same "
            f"{what}; expected {len(equal) / cells:.0f} ± {radius(len(equal), 1 / cells):.0f}. {APART}"
        )


def read_triples(returned: Any) -> list[Triple]:
    """Triples in any nesting of sequences, or records; the label as a bool, 0 or 1, or the words of the paper."""
    try:
        rows = [row.values() if isinstance(row, dict) else row for row in returned]
        return [(str(a), str(b), says_next(label)) for a, b, label in rows]
    except (TypeError, ValueError):
        raise AssertionError("make_nsp_pairs: expected a list of triples (A, B, is_next).") from None


def says_next(label: Any) -> bool:
    word = str(label).lower().replace("_", "").replace(" ", "")
    if word in ("true", "1", "1.0", "isnext"):
        return True
    if word in ("false", "0", "0.0", "notnext"):
        return False
    raise ValueError(label)
