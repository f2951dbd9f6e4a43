"""FUDGE: Yang and Klein (2021), "FUDGE: Controlled Text Generation With Future Discriminators", equations 1 and 2.

    p(x | a) = Π_i p(x_i | x_{<i}, a)
    p(x_i | x_{<i}, a) ∝ p(a | x_{≤i}) p(x_i | x_{<i})

p(a | x_{≤i}) is the probability that the sentence, once complete, has the attribute: a mean over everything that may
follow. With this very classifier the product over the tokens is exact; with a trained one it is an approximation.
Sentences have a fixed length here, so that all of them can be enumerated.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Prefix = tuple[Any, ...]
StepFunction = Callable[[Prefix], Mapping[Any, float]]
"""From the tokens so far to the probability of each next token."""
PrefixClassifier = Callable[[Prefix], float]
"""From the tokens so far to p(a | prefix)."""
Example = tuple[Prefix, int]


def fudge_step(p_next: ArrayLike, p_a_given_prefix: ArrayLike) -> Array:
    """Return p(x_i | x_{<i}, a) for each candidate token.

    Args:
        p_next: p(x_i | x_{<i}), shape (vocabulary,).
        p_a_given_prefix: p(a | x_{≤i}) of the prefix that ends in each candidate, shape (vocabulary,).

    Raises:
        ValueError: no candidate can lead to the attribute.
    """
    joint = np.asarray(p_next, dtype=np.float64) * np.asarray(p_a_given_prefix, dtype=np.float64)
    if not joint.sum() > 0:
        raise ValueError("no candidate leads to the attribute")
    conditional: Array = joint / joint.sum()
    return conditional


def fudge_decode(
    step: StepFunction, classifier: PrefixClassifier, max_steps: int, rng: np.random.Generator
) -> list[Any]:
    """Draw one sentence of `max_steps` tokens, each from its conditional distribution."""
    prefix: Prefix = ()
    for _ in range(max_steps):
        tokens, probabilities = conditional_step(step, classifier, prefix)
        prefix = (*prefix, tokens[int(rng.choice(len(tokens), p=probabilities))])
    return list(prefix)


def conditional_step(step: StepFunction, classifier: PrefixClassifier, prefix: Prefix) -> tuple[list[Any], Array]:
    """Return the candidates after a prefix and their conditional probabilities."""
    p_next = step(prefix)
    tokens = list(p_next)
    return tokens, fudge_step([p_next[token] for token in tokens], [classifier((*prefix, token)) for token in tokens])


def fudge_distribution(step: StepFunction, classifier: PrefixClassifier, max_steps: int) -> dict[Prefix, float]:
    """Return the probability of every sentence under FUDGE, by multiplying along the tree."""
    sentences: dict[Prefix, float] = {(): 1.0}
    for _ in range(max_steps):
        grown: dict[Prefix, float] = {}
        for prefix, probability in sentences.items():
            if probability == 0:  # after a prefix that is never drawn there is nothing to normalise
                grown |= dict.fromkeys(((*prefix, token) for token in step(prefix)), 0.0)
                continue
            tokens, conditional = conditional_step(step, classifier, prefix)
            grown |= {(*prefix, token): probability * float(p) for token, p in zip(tokens, conditional, strict=True)}
        sentences = grown
    return sentences


def sentence_probabilities(step: StepFunction, max_steps: int) -> dict[Prefix, float]:
    """Return p(x) of every sentence: FUDGE with a classifier that is always 1."""
    return fudge_distribution(step, lambda prefix: 1.0, max_steps)


def exact_prefix_classifier(p_lm: Mapping[Prefix, float], p_a: Mapping[Prefix, float]) -> PrefixClassifier:
    """Return p(a | prefix) = Σ p(a | x) p(x) / Σ p(x), both over the sentences x that begin with the prefix."""
    joint: Counter[Prefix] = Counter()
    total: Counter[Prefix] = Counter()
    for sentence, probability in p_lm.items():
        for length in range(len(sentence) + 1):
            joint[sentence[:length]] += probability * p_a[sentence]  # type: ignore[assignment]
            total[sentence[:length]] += probability  # type: ignore[assignment]
    return lambda prefix: joint[tuple(prefix)] / total[tuple(prefix)]


def make_prefix_dataset(sentences: Sequence[Sequence[Any]], labels: Sequence[int]) -> list[Example]:
    """Return every prefix x_1 … x_i, 1 ≤ i ≤ n, of every sentence with the sentence's label.

    Prefixes that several sentences share occur once for each: their labels' shares are what is to be learned.

    Raises:
        ValueError: not one label for each sentence.
    """
    return [
        (tuple(sentence[:length]), label)
        for sentence, label in zip(sentences, labels, strict=True)
        for length in range(1, len(sentence) + 1)
    ]


def train_prefix_classifier(examples: Sequence[tuple[Sequence[Any], int]], smoothing: float = 1.0) -> PrefixClassifier:
    """Train naive Bayes on the tokens of the prefix, with Laplace smoothing; return a function to p(a = 1 | prefix)."""
    counts: dict[int, Counter[Any]] = {0: Counter(), 1: Counter()}
    prior: Counter[int] = Counter()
    for prefix, label in examples:
        counts[int(label)].update(prefix)
        prior[int(label)] += 1
    vocabulary = set(itertools.chain(*counts.values()))
    log_odds = {
        token: np.log(_share(counts[1], token, vocabulary, smoothing) / _share(counts[0], token, vocabulary, smoothing))
        for token in vocabulary
    }
    bias = float(np.log((prior[1] + smoothing) / (prior[0] + smoothing)))

    def classify(prefix: Sequence[Any]) -> float:
        return float(1 / (1 + np.exp(-bias - sum(log_odds.get(token, 0.0) for token in prefix))))

    return classify


def _share(counts: Counter[Any], token: Any, vocabulary: set[Any], smoothing: float) -> float:
    return (counts[token] + smoothing) / (counts.total() + smoothing * len(vocabulary))
