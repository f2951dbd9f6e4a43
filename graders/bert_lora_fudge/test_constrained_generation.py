"""Questions 3c, 3d and 3f: drawing in proportion, and FUDGE token by token, on models small enough to enumerate."""

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graders.bert_lora_fudge.chances import check_independent
from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]
Prefix = tuple[str, ...]
Nodes = list[tuple[list[str], dict[str, float]]]

REVIEWS: Nodes = [
    ([], {"good": 0.3, "bad": 0.7}),
    (["good"], {"good": 0.4, "bad": 0.6}),
    (["bad"], {"good": 0.25, "bad": 0.75}),
    (["good", "good"], {"good": 0.55, "bad": 0.45}),
    (["good", "bad"], {"good": 0.5, "bad": 0.5}),
    (["bad", "good"], {"good": 0.35, "bad": 0.65}),
    (["bad", "bad"], {"good": 0.2, "bad": 0.8}),
]
SEP, EOS = "[SEP]", "<eos>"
MIDDLE = ["very"] * 10
BRANCHES: Nodes = [
    ([], {SEP: 0.5, EOS: 0.5}),
    *(([first, *MIDDLE[:i]], {MIDDLE[i]: 1.0}) for first in (SEP, EOS) for i in range(len(MIDDLE))),
    ([SEP, *MIDDLE], {"good": 0.6, "bad": 0.4}),
    ([EOS, *MIDDLE], {"bad": 0.2, "film": 0.5, "good": 0.3}),
]
"""Which words may come next depends on the words so far, also on the first of many; no word ends the sentence."""
RARE = 1e-11
DRAWS = 400
MANY = 300
"""More words than programs that keep the likeliest candidates alone may look at."""


@number("3c")
@weight(2)
def test_importance_resample(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Each draw from the pool has a probability proportional to its score, with replacement."""
    pool, scores = ["a film", "good film", "bad film", "very good film"], np.array([0.1, 0.8, 0.05, 0.5])
    source = inside.generator.keep(int(rng.integers(2**32)))
    drawn = student.importance_resample(pool, scores, DRAWS, source)
    assert isinstance(drawn, list | tuple | np.ndarray) and len(drawn) == DRAWS, (
        f"importance_resample: expected a list of {DRAWS} sentences."
    )
    counts = Counter(str(sentence) for sentence in drawn)
    assert set(counts) <= set(pool), (
        f"importance_resample returned {sorted(set(counts) - set(pool))[:2]}, not in the pool."
    )
    for high in (1.0, RARE):
        again = student.importance_resample(["one", "other"], np.array([high, 0.0]), 40, source)
        agree(again, ["one"] * 40, name=f"importance_resample of a pool with scores {high:g} and 0")
    weights = scores / scores.sum()
    mistakes = {
        "every sentence is as likely; use the scores": np.full(4, 0.25),
        "the best sentence is always taken; draw in proportion to the scores": np.eye(4)[scores.argmax()],
        "the scores went through softmax; they are weights already": np.exp(scores) / np.exp(scores).sum(),
    }
    check_counts([counts[sentence] for sentence in pool], weights, mistakes, "importance_resample", pool)
    check_each_draw(student, inside, source)


def check_each_draw(student: Any, inside: Any, source: Any) -> None:
    """A pool that holds a sentence twice, scores above 1, and draws that are independent of each other."""
    pool, scores = ["a film", "good film", "a film", "bad film"], np.array([3.0, 9.0, 3.0, 1.0])
    rule = "Make each draw by itself, from the whole pool, in which a sentence may stand several times."
    for size in (12, 3):  # a sample larger than the pool, and a smaller one
        calls = inside.repeat(student.importance_resample, 400, pool, scores, size, source)
        drawn = np.array([[str(sentence) for sentence in call] for call in calls])
        name = f"importance_resample, 400 calls of size {size}: the shape of what is drawn"
        agree(drawn.shape, (400, size), name=name)
        for sentence, share in [("a film", 6 / 16), ("good film", 9 / 16)]:
            check_independent(drawn == sentence, share, f"draws of {sentence!r}", rule)


@number("3d")
@weight(2)
def test_fudge_step(student: Any, key: Any) -> None:
    """p(x_i | x_{<i}, a) is p(a | x_{≤i}) p(x_i | x_{<i}), divided by its sum over the candidates."""
    for p_next, p_a in [
        ([0.5, 0.3, 0.2], [0.1, 0.4, 0.9]),
        ([0.25, 0.75], [0.8, 0.1]),
        ([0.9, 0.1], [0.0, 0.3]),
        ([0.0, 0.4, 0.6], [0.7, 0.0, 0.2]),
        ([1.0], [0.3]),
        ([0.5, 0.3, 0.2], [RARE, 4 * RARE, 9 * RARE]),  # an attribute that is rare after every candidate
    ]:
        one, other = np.array(p_next), np.array(p_a)
        hints = {
            "the candidates are not normalised: divide by their sum": one * other,
            "the classifier alone decides; multiply by p(x_i | x_{<i})": other / other.sum(),
            "this is p(x_i | x_{<i}): the classifier is not used": one,
            "the two are added; multiply them": (one + other) / (one + other).sum(),
            "a softmax is taken of the product; divide it by its sum": np.exp(one * other) / np.exp(one * other).sum(),
        }
        name = f"fudge_step({p_next}, {p_a})"
        agree(student.fudge_step(one, other), key.fudge_step(one, other), hints=hints, name=name)


@number("3d")
@weight(1)
@visibility("after_published")
def test_the_product_over_the_tokens(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Token by token or at once: the product of the steps is p(x|a) for every one of 81 sentences.

    Try multiplying your probabilities of the single steps, and compare with the probability of the whole sentence.
    """
    nodes, p_a = random_model(rng, "abc", 4)
    prefixes = key.prefix_probabilities(nodes, p_a, 4)
    questions = [
        (np.array(list(following.values())), np.array([prefixes[(*prefix, token)] for token in following]))
        for prefix, following in nodes
    ]
    steps = student.fudge_step.each(questions)
    table = {
        (*prefix, t): p for (prefix, f), step in zip(nodes, steps, strict=True) for t, p in zip(f, step, strict=True)
    }
    p_lm = key.sentences(nodes, 4)
    product = [float(np.prod([table[sentence[: i + 1]] for i in range(4)])) for sentence in p_lm]
    agree(product, key.posterior(list(p_lm.values()), [p_a[sentence] for sentence in p_lm]), rtol=1e-5, atol=1e-7)


@number("3f")
@weight(2)
def test_fudge_decode(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Sentences drawn token by token have the distribution p(x|a)."""
    p_a = {x: [0.05, 0.3, 0.6, 0.95][x.count("good")] for x in key.sentences(REVIEWS, 3)}
    check_decoding(student, key, inside, rng, REVIEWS, p_a)
    by_the_second = {x: 0.9 if x[1] == "good" else 0.1 for x in p_a}
    check_decoding(student, key, inside, rng, REVIEWS, by_the_second)
    # One word is much likelier than ten others: noise of another shape than the draw's shows with many words only.
    likely = dict.fromkeys("bcdefghijk", 0.06) | {"a": 0.4}
    check_decoding(student, key, inside, rng, [([], likely)], dict.fromkeys(itertools.product(likely), 0.3), 1)
    rates = {(SEP, "good"): 0.8, (SEP, "bad"): 0.3, (EOS, "bad"): 0.9, (EOS, "film"): 0.0, (EOS, "good"): 0.5}
    rare = {(first, *MIDDLE, last): RARE * p for (first, last), p in rates.items()}
    check_decoding(student, key, inside, rng, BRANCHES, rare, len(MIDDLE) + 2)
    # The least likely of many words alone has the attribute.
    words = [f"word {number}" for number in range(MANY)]
    shares = dict(zip(words, (2 * np.arange(MANY, 0, -1) / (MANY * (MANY + 1))).tolist(), strict=True))
    one: dict[Prefix, float] = {(word,): float(word == words[-1]) for word in words}
    check_decoding(student, key, inside, rng, [([], shares)], one, 1, 5)


@number("3f")
@weight(1)
@visibility("after_published")
def test_fudge_decode_on_random_models(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random language models and attributes.

    Try an attribute that the best next token of the language model makes impossible, and probabilities of 0.
    """
    check_decoding(student, key, inside, rng, *telling_model(key, rng))


def random_model(rng: np.random.Generator, vocabulary: str, length: int) -> tuple[Nodes, dict[Prefix, float]]:
    """Return a random language model, and p(a|x) of each of its sentences."""
    nodes = [
        (list(prefix), dict(zip(vocabulary, rng.dirichlet(2 * np.ones(len(vocabulary))).tolist(), strict=True)))
        for size in range(length)
        for prefix in itertools.product(vocabulary, repeat=size)
    ]
    return nodes, {x: float(rng.uniform(0.02, 0.98)) for x in itertools.product(vocabulary, repeat=length)}


def check_counts(counts: Any, probabilities: Array, mistakes: Mapping[str, Array], name: str, what: list[str]) -> None:
    """Chi-square; a right sampler fails less than once in a million times, a known mistake always."""
    expected = sum(counts) * probabilities
    never = any(count == 0 and wanted > 20 for count, wanted in zip(counts, expected, strict=True))
    if not never and chi_square(counts, expected) < len(expected) + 45:
        return
    # A mistake that changes nothing in this model is not the cause, and a few draws tell none from another.
    far = {
        mistake: chi_square(counts, sum(counts) * wrong + 1e-9)
        for mistake, wrong in mistakes.items()
        if sum(counts) >= DRAWS and not np.allclose(wrong, probabilities)
    }
    nearest = min(far, key=far.__getitem__, default="")
    because = f" It equals a known mistake: {nearest}." if far and far[nearest] < len(expected) + 45 else ""
    rows = [row for row in zip(what, counts, expected, strict=True) if row[1] or row[2] >= 0.5][:12]
    drawn = ", ".join(f"{sentence!r} {count}" for sentence, count, _ in rows)
    about = ", ".join(f"{value:.0f}" for *_, value in rows)
    raise AssertionError(f"{name}, {sum(counts)} draws: {drawn} times; expected about {about}.{because}")


def chi_square(counts: Any, expected: Array) -> float:
    """Pearson's statistic; at most eight sentences, so at most seven degrees of freedom."""
    seen = np.asarray(counts, dtype=float)
    held = expected > 0
    if seen[~held].any():
        return float("inf")
    return float(((seen - expected)[held] ** 2 / expected[held]).sum())


def check_decoding(
    student: Any,
    key: Any,
    inside: Any,
    rng: np.random.Generator,
    nodes: Nodes,
    p_a: dict[Prefix, float],
    length: int = 3,
    draws: int = DRAWS,
) -> None:
    """Draw sentences with the exact prefix classifier and compare their counts with p(x|a)."""
    prefixes = key.prefix_probabilities(nodes, p_a, length)
    step = inside.step_function.keep(nodes)
    classifier = inside.classifier.keep([(list(prefix), p) for prefix, p in prefixes.items()])
    source = inside.generator.keep(int(rng.integers(2**32)))
    drawn = inside.repeat(student.fudge_decode, draws, step, classifier, length, source)
    sentences = [tuple(str(token) for token in tokens) for tokens in drawn]
    for x in sentences:
        assert len(x) == length, f"fudge_decode returned {list(x)} for max_steps = {length}: draw {length} tokens."
        assert x in prefixes, (
            f"fudge_decode returned {list(x)}; step_fn cannot produce this. Ask it for the next tokens at each step."
        )
    p_lm = key.sentences(nodes, length)
    counts = Counter(sentences)
    shown = ["".join(x) if len(x[0]) == 1 else " ".join(x) for x in p_lm]
    expected = np.array(list(key.guided_sentences(nodes, prefixes, length).values()))
    last_two = key.guided_sentences(nodes, {x: prefixes.get(x[-2:], 1.0) for x in prefixes}, length)
    what = "the classifier is asked about the last two tokens; ask it about the whole prefix"
    mistakes = decoding_mistakes(key, nodes, prefixes, length) | {what: as_array(last_two)}
    first = nodes[0][1]
    name = "fudge_decode"
    if len(first) < 4:
        attribute = {token: float(f"{prefixes[(token,)]:.3g}") for token in first}
        name += f" with step_fn([]) = {first} and p(a | first token) = {attribute}"
    check_counts([counts[x] for x in p_lm], expected, mistakes, name, shown)


def telling_model(key: Any, rng: np.random.Generator) -> tuple[Nodes, dict[Prefix, float]]:
    """Return a random model of sentences of three tokens that tells what is right from known mistakes."""
    while True:
        nodes, p_a = random_model(rng, "xy", 3)
        if is_telling(key, nodes, p_a):
            return nodes, p_a


def is_telling(key: Any, nodes: Nodes, p_a: dict[Prefix, float]) -> bool:
    """Return whether no sentence is rare, and every known mistake shows in 400 draws."""
    prefixes = key.prefix_probabilities(nodes, p_a, 3)
    expected = np.array(list(key.guided_sentences(nodes, prefixes, 3).values()))
    if expected.min() < 0.02:
        return False
    mistakes = decoding_mistakes(key, nodes, prefixes).values()
    return all(chi_square(DRAWS * mistake, DRAWS * expected) > 150 for mistake in mistakes)


def as_array(distribution: Mapping[Prefix, float]) -> Array:
    return np.array(list(distribution.values()))


# What students get wrong, computed for the same question, so that a message can name it.


def decoding_mistakes(key: Any, nodes: Nodes, prefixes: dict[Prefix, float], length: int = 3) -> dict[str, Array]:
    """Return the distributions that known mistakes lead to."""
    p_lm = key.sentences(nodes, length)
    last_only = key.guided_sentences(nodes, {x: p if len(x) == length else 1.0 for x, p in prefixes.items()}, length)
    squared = key.guided_sentences(nodes, {x: p**2 for x, p in prefixes.items()}, length)
    always = dict.fromkeys(prefixes, 1.0)
    table = {tuple(prefix): following for prefix, following in nodes}
    best: Prefix = ()
    for _ in range(length):
        best = max(((*best, t) for t in table[best]), key=lambda x: table[x[:-1]][x[-1]] * prefixes[x])
    uniform = [(prefix, dict.fromkeys(following, 1 / len(following))) for prefix, following in nodes]
    return {
        "the classifier changes nothing; ask it about the prefix that ends in the candidate": as_array(p_lm),
        "the classifier is asked about complete sentences only; ask it at every step": as_array(last_only),
        "the classifier's answer is used twice": as_array(squared),
        "the best token is always taken; draw it": np.array([float(x == best) for x in p_lm]),
        "the classifier alone decides; multiply by the language model": as_array(
            key.guided_sentences(uniform, prefixes, length)
        ),
        "every token is as likely": as_array(key.guided_sentences(uniform, always, length)),
    }
