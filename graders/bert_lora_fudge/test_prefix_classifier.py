"""Questions 3e and 3f: the prefixes that a classifier learns from, and what a trained one is good for."""

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import number, visibility, weight

Array = NDArray[np.floating[Any]]
Prefix = tuple[str, ...]
Nodes = list[tuple[list[str], dict[str, float]]]


@number("3e")
@weight(2)
def test_make_prefix_dataset(student: Any, key: Any) -> None:
    """Every prefix of one token or more, the whole sentence included, once for each sentence, with its label."""
    for sentences, labels in [
        ([["a", "b"]], [1]),
        ([["not", "a", "good", "film"], ["not", "a", "bad", "film"]], [0, 1]),
        ([["good"], ["good", "film"], ["good"]], [1, 0, 1]),
        ([["film"], [], ["film", "bad"]], [1, 1, 0]),  # a sentence without words has no prefix of one token
    ]:
        check_examples(student.make_prefix_dataset(sentences, labels), key, sentences, labels)


@number("3e")
@weight(1)
@visibility("after_published")
def test_make_prefix_dataset_of_random_sentences(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sentences, some of them equal and with different labels.

    Try sentences of one token, equal sentences, and equal sentences with different labels.
    """
    questions = [random_corpus(rng, size) for size in (2, 12, 40)]
    for actual, question in zip(student.make_prefix_dataset.each(questions), questions, strict=True):
        check_examples(actual, key, *question)


@number("3f")
@weight(3)
def test_a_trained_classifier_raises_the_rate(student: Any, key: Any, inside: Any) -> None:
    """Trained on 300 labelled sentences, your classifier lifts the share of sentences with the attribute by 0.25."""
    nodes = film_reviews()
    p_lm = key.sentences(nodes, 4)
    has = {x: float(x.count("good") > x.count("bad")) for x in p_lm}
    corpus = np.random.default_rng(7).choice(len(p_lm), size=300, p=list(p_lm.values()))
    sentences = [list(list(p_lm)[int(index)]) for index in corpus]
    examples = key.make_prefix_dataset(sentences, [int(has[tuple(sentence)]) for sentence in sentences])
    prefixes = [x for length in range(1, 5) for x in itertools.product(("good", "bad", "film"), repeat=length)]
    said = inside.learned(student.train_prefix_classifier, examples, [list(prefix) for prefix in prefixes])
    probabilities = np.asarray(said, dtype=float)
    assert ((probabilities >= 0) & (probabilities <= 1)).all(), (
        "The classifier's answers are no probabilities from 0 to 1."
    )
    base = rate(p_lm, has)
    reached = guided_rate(key, nodes, has, prefixes, probabilities)
    turned = guided_rate(key, nodes, has, prefixes, 1 - probabilities)
    because = " It returns the probability of label 0; return that of label 1." if turned > base + 0.25 else ""
    assert reached > base + 0.25, (
        f"With your classifier the share of sentences with the attribute is {reached:.2f}, without one {base:.2f}; "
        f"expected at least {base + 0.25:.2f}.{because}"
    )
    apart = [(["x", "z"], 0), (["y", "z"], 1)] * 400
    low, high = inside.learned(student.train_prefix_classifier, apart, [["x", "z"], ["y", "z"]])
    assert low < high, (
        "Trained on 400 examples (['x', 'z'], 0) and 400 examples (['y', 'z'], 1), the classifier gives the first "
        f"prefix the probability {low:.2f} of label 1 and the second {high:.2f}; expected less for the first."
    )
    examples = [(["x", "z"], label) for label in [1, 1, 1, 0]] * 100
    (often,) = inside.learned(student.train_prefix_classifier, examples, [["x", "z"]])
    assert 0.6 < often < 0.9, (
        f"Trained on 300 examples (['x', 'z'], 1) and 100 examples (['x', 'z'], 0), the classifier gives this prefix "
        f"{often:.2f}. Return the probability of label 1, here about 0.75."
    )
    few, turned_round = apart[:40], [(prefix, 1 - label) for prefix, label in apart[:40]]
    asked = [["x", "z"], ["y", "z"], ["x", "y"] * 5]
    low, high, long = inside.learned(student.train_prefix_classifier, few, asked, turned_round)
    assert low < high, "A classifier says something else once another one was trained; each keeps what it has learned."
    assert 0 <= long <= 1, f"Of a prefix that is longer than all examples the classifier says {long:.2g}."


def film_reviews() -> Nodes:
    """Return a language model of four words: "good" after "bad" is rarer than after anything else."""
    nodes: Nodes = []
    for length in range(4):
        for prefix in itertools.product(("good", "bad", "film"), repeat=length):
            good = 0.12 if prefix[-1:] == ("bad",) else 0.24
            nodes.append((list(prefix), {"good": good, "bad": 0.3, "film": 0.7 - good}))
    return nodes


def random_corpus(rng: np.random.Generator, size: int) -> tuple[list[list[str]], list[int]]:
    """Sentences of one to five tokens and a long one; the first of them twice, with both labels."""
    sentences = [rng.choice(list("abc"), int(length)).tolist() for length in [*rng.integers(1, 6, size - 1), 150]]
    return [sentences[0], *sentences], [0, 1, *rng.integers(2, size=size - 1).tolist()]


def check_examples(returned: Any, key: Any, sentences: list[list[str]], labels: list[int]) -> None:
    """Compare pairs (prefix, label) in any order; the message shows the first that is missing or too many."""
    name = f"make_prefix_dataset({sentences}, {labels})" if len(sentences) < 4 else "make_prefix_dataset"
    actual = Counter(pairs_of(returned))
    expected = Counter(pairs_of(key.make_prefix_dataset(sentences, labels)))
    if actual == expected:
        return
    whole = Counter((tuple(s), y) for s, y in zip(sentences, labels, strict=True))
    empty = Counter(((), y) for y in labels)
    reversed_labels = Counter({(prefix, 1 - label): count for (prefix, label), count in expected.items()})
    mistakes = {
        "the whole sentences are missing; they are prefixes as well": expected - whole,
        "the empty prefix is in it": expected + empty,
        "the empty prefix is in it and the whole sentences are missing": expected + empty - whole,
        "only the whole sentences are in it": whole,
        "a prefix that several sentences share stands there once; keep it once for each": Counter(set(expected)),
        "the labels are turned round": reversed_labels,
    }
    named = next((f" It equals a known mistake: {what}." for what, pairs in mistakes.items() if pairs == actual), "")
    missing, extra = expected - actual, actual - expected
    prefix, label = next(iter(missing or extra))
    raise AssertionError(
        f"{name} returned {actual.total()} pairs, expected {expected.total()}: "
        f"{(list(prefix), label)} is {'missing' if missing else 'there too often'}.{named}"
    )


def pairs_of(returned: Any) -> list[tuple[Prefix, int]]:
    """Pairs (prefix, label), or a list of prefixes and a list of labels."""
    try:
        pairs = list(returned)
        if len(pairs) == 2 and all(np.ndim(label) == 0 for label in pairs[1]):
            pairs = list(zip(*pairs, strict=True))
        return [(tuple(str(token) for token in prefix), int(label)) for prefix, label in pairs]
    except (TypeError, ValueError):
        raise AssertionError("make_prefix_dataset: expected a list of pairs (prefix, label).") from None


def guided_rate(
    key: Any, nodes: Nodes, has: Mapping[Prefix, float], prefixes: list[Prefix], probabilities: Array
) -> float:
    """That probability under FUDGE with a classifier's answers; never exactly 0, so that every step has a candidate."""
    table = dict(zip(prefixes, np.maximum(probabilities, 1e-12).tolist(), strict=True))
    return rate(key.guided_sentences(nodes, table, 4), has)


def rate(distribution: Mapping[Prefix, float], has: Mapping[Prefix, float]) -> float:
    """Return the probability of a sentence with the attribute."""
    return sum(p * has[x] for x, p in distribution.items())
