"""Questions 1a.i and 1f: who sees whom, and what that means for the probability of a sentence."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]
Mistakes = dict[str, Callable[[], Any]]
Distribution = dict[str, float]

WORDS = ("ships", "sail", "home")
LENGTH = 3
UNDERFLOW = {"the product of the probabilities is smaller than any float; add their logarithms": -math.inf}
SENTENCES = [list(sentence) for sentence in itertools.product(WORDS, repeat=LENGTH)]


@number("1a.i")
@weight(1)
def test_self_attention(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Without the causal mask every token attends to every token, with it to no later token."""
    for n, d, d_k, d_v, causal in [(3, 2, 2, 2, False), (3, 2, 2, 2, True), (5, 4, 3, 2, False), (6, 4, 3, 5, True)]:
        weights = layer(rng, n, d, d_k, d_v)
        if n == 3:  # small enough to be shown
            X, W_Q, W_K, W_V = (np.round(array, 1) for array in weights)
            weights = X, W_Q, W_K, W_V
        expected, hints = key.self_attention(*weights, causal), attention_mistakes(key, *weights, causal)
        actual = student.self_attention(*weights, True) if causal else student.self_attention(*weights)
        name = f"self_attention of {n} tokens {'with' if causal else 'without'} causal"
        if n == 3:
            name += f" for X, W_Q, W_K, W_V = {', '.join(str(array.tolist()) for array in weights)}"
        agree(actual, expected, hints=hints, name=name)
    for n, d, d_k, causal in [(1, 3, 2, False), (1, 3, 2, True), (5, 3, 4, False), (6, 3, 4, True)]:
        weights = far_apart(rng, n, d, d_k) if n > 1 else layer(rng, n, d, d_k, 9)  # of nine, not all are near 0
        actual = student.self_attention(*weights, causal)
        name = f"self_attention of {n} token{'s, with scores in the tens of thousands,' * (n > 1)} and causal={causal}"
        agree(actual, key.self_attention(*weights, causal), name=name)


@number("1a.i")
@weight(1)
@visibility("after_published")
def test_who_sees_a_later_token(student: Any, key: Any, rng: np.random.Generator) -> None:
    """A changed token changes every other token's output in BERT, and only the later ones' under a causal mask.

    Try changing the last token, and compare all other outputs before and after.
    """
    X, *weights = layer(rng, 7, 4, 4, 4)
    other = X.copy()
    while not seen_by_all(key, X, other, weights):
        other[4] = rng.standard_normal(4)
    questions = [(x, *weights, causal) for causal in (False, True) for x in (X, other)]
    outputs = student.self_attention.each(questions)
    agree(outputs, [key.self_attention(*question) for question in questions])
    agree(np.asarray(outputs[3])[:4], np.asarray(outputs[2])[:4])


@number("1f")
@weight(1)
def test_log_likelihood(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """The log-probability of a sentence under a causal model is the sum over its tokens, each given those before."""
    nodes = causal_model(rng)
    step = inside.step_function.keep(nodes)
    for tokens in (["ships", "sail", "home"], ["home", "home", "ships"], ["sail"]):
        expected = key.causal_log_probability(nodes, tokens)
        hints = {
            "this is the probability; take its natural logarithm": math.exp(expected),
            "this is the logarithm to base 2": expected / math.log(2),
            "the sign is turned round: a log-probability is not positive": -expected,
            "this is the mean over the tokens; take the sum": expected / len(tokens),
            "the first token is left out; it is predicted from the empty list": (
                expected - key.causal_log_probability(nodes, tokens[:1])
            ),
        }
        table = {tuple(prefix): probabilities for prefix, probabilities in nodes}
        name = f"log_likelihood of {' '.join(tokens)!r}" + show_probabilities(
            table[tuple(tokens[:t])][x] for t, x in enumerate(tokens)
        )
        agree(student.log_likelihood(step, tokens), expected, hints=hints, name=name)
    tokens, rare = unlikely_sentence(rng)
    beginnings = [(tokens[:t], row) for t, row in enumerate(rare)]
    actual = student.log_likelihood(inside.step_function.keep(beginnings), tokens)
    expected = key.causal_log_probability(beginnings, tokens)
    agree(actual, expected, hints=UNDERFLOW, name=f"log_likelihood of {len(tokens)} tokens, each of them unlikely")


@number("1f")
@weight(1)
def test_pseudo_log_likelihood(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """The pseudo-log-likelihood masks one token after the other and predicts it from all the others."""
    sentences = [["ships", "sail", "home"], ["home", "home", "ships"]]
    rows, values = masked_model_of(key, rng, sentences)
    fill, table = inside.fill_function.keep(rows), {tuple(sentence): probabilities for sentence, probabilities in rows}
    for tokens, expected in zip(sentences, values, strict=True):
        hints = pseudo_mistakes(rows, tokens) | {
            "this is the pseudo-likelihood; take its natural logarithm": math.exp(expected),
            "the sign is turned round: a log-probability is not positive": -expected,
            "this is the mean over the tokens; take the sum": expected / len(tokens),
        }
        alone = ((*tokens[:t], "[MASK]", *tokens[t + 1 :]) for t in range(len(tokens)))
        name = f"pseudo_log_likelihood of {' '.join(tokens)!r}" + show_probabilities(
            table[masked][t][tokens[t]] for t, masked in enumerate(alone)
        )
        agree(student.pseudo_log_likelihood(fill, tokens), expected, hints=hints, name=name)
    tokens, rare = unlikely_sentence(rng)
    masked = [([*tokens[:t], "[MASK]", *tokens[t + 1 :]], rare) for t in range(len(tokens))]
    actual = student.pseudo_log_likelihood(inside.fill_function.keep(masked), tokens)
    expected = key.masked_log_probability(masked, tokens)
    name = f"pseudo_log_likelihood of {len(tokens)} tokens, each of them unlikely"
    agree(actual, expected, hints=UNDERFLOW, name=name)


@number("1f")
@weight(1)
@visibility("after_published")
def test_sums_over_all_sentences(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Over all sentences the causal probabilities sum to 1; the pseudo-likelihoods of a masked model do not.

    Try a vocabulary of three words and sentences of three tokens, and add up all probabilities.
    """
    nodes, causal_values = causal_model_of(key, rng, SENTENCES)
    rows, masked_values = masked_model_of(key, rng, SENTENCES)
    step, fill = inside.step_function.keep(nodes), inside.fill_function.keep(rows)
    causal = student.log_likelihood.each([(step, tokens) for tokens in SENTENCES])
    agree(causal, causal_values)
    agree(np.exp(np.asarray(causal, dtype=float)).sum(), 1.0)
    masked = student.pseudo_log_likelihood.each([(fill, tokens) for tokens in SENTENCES])
    agree(masked, masked_values)
    total = float(np.exp(np.asarray(masked, dtype=float)).sum())
    assert abs(total - 1) > 0.05, f"the pseudo-likelihoods sum to {total:.3f}"


def show_probabilities(probabilities: Iterable[float]) -> str:
    """Return the part of a message that tells the probability of each token given what the model may see."""
    return f", whose tokens have the probabilities {', '.join(f'{p:.4f}' for p in probabilities)}"


def layer(rng: np.random.Generator, n: int, d: int, d_k: int, d_v: int) -> tuple[Array, Array, Array, Array]:
    """X (n, d), W_Q and W_K (d, d_k), W_V (d, d_v), of a size that leaves every token some weight."""
    X, W_Q, W_K, W_V = (rng.standard_normal(shape) for shape in ((n, d), (d, d_k), (d, d_k), (d, d_v)))
    return X, W_Q / np.sqrt(d), W_K / np.sqrt(d), W_V


def far_apart(rng: np.random.Generator, n: int, d: int, d_k: int) -> tuple[Array, Array, Array, Array]:
    """Return a layer whose scores are in the tens of thousands, and of which a causal mask hides far larger ones.

    Minus 10,000, in the place of a hidden score or added to it, hides nothing here. The largest visible score of each
    row is clearly the largest, so that rounding to float32 changes nothing.
    """
    while True:
        X, W_Q, W_K, W_V = layer(rng, n, d, d_k, d_k)
        W_Q *= 40_000
        scores = (X @ W_Q) @ (X @ W_K).T / math.sqrt(d_k)
        seen = [*scores, *(scores[t, : t + 1] for t in range(n))]
        clear = all(len(row) < 2 or np.diff(np.sort(row)[-2:])[0] > 100 for row in seen)
        hidden = [(scores[t, t + 1 :].max(), scores[t, : t + 1].max()) for t in range(n - 1)]
        added = any(later - visible > 12_000 for later, visible in hidden)
        if clear and added and any(visible < -12_000 for _, visible in hidden):
            return X, W_Q, W_K, W_V


def seen_by_all(key: Any, X: Array, other: Array, weights: list[Array]) -> bool:
    """Return whether every token's output in a bidirectional layer clearly tells the two inputs apart."""
    difference = key.self_attention(X, *weights) - key.self_attention(other, *weights)
    return bool((np.abs(difference).max(axis=1) > 1e-3).all())


def causal_model(rng: np.random.Generator) -> list[tuple[list[str], Distribution]]:
    """Return the probabilities of the next token after every prefix."""
    prefixes = [list(prefix) for size in range(LENGTH) for prefix in itertools.product(WORDS, repeat=size)]
    return list(zip(prefixes, distributions(rng, len(prefixes)), strict=True))


def causal_model_of(
    key: Any, rng: np.random.Generator, sentences: Sequence[Sequence[str]]
) -> tuple[list[tuple[list[str], Distribution]], list[float]]:
    """Return a causal model, and the log-probability of each sentence."""
    nodes = causal_model(rng)
    return nodes, [key.causal_log_probability(nodes, tokens) for tokens in sentences]


def masked_model_of(
    key: Any, rng: np.random.Generator, sentences: Sequence[Sequence[str]]
) -> tuple[list[tuple[list[str], list[Distribution]]], list[float]]:
    """Return a masked model, and the pseudo-log-likelihood of each sentence."""
    rows = masked_model(rng)
    return rows, [key.masked_log_probability(rows, tokens) for tokens in sentences]


def masked_model(rng: np.random.Generator) -> list[tuple[list[str], list[Distribution]]]:
    """The probabilities at each position of every sentence with any of its tokens masked; what it sees it repeats.

    Drawn until the pseudo-likelihoods of all sentences sum to something that is clearly not 1.
    """
    sentences = [list(tokens) for tokens in itertools.product((*WORDS, "[MASK]"), repeat=LENGTH)]
    while True:
        drawn = iter(distributions(rng, len(sentences) * LENGTH))
        rows = [(tokens, [repeating(token, next(drawn)) for token in tokens]) for tokens in sentences]
        table = {tuple(tokens): probabilities for tokens, probabilities in rows}
        total = sum(
            math.prod(table[(*x[:t], "[MASK]", *x[t + 1 :])][t][token] for t, token in enumerate(x)) for x in SENTENCES
        )
        if abs(total - 1) > 0.1:
            return rows


def repeating(token: str, guess: Distribution) -> Distribution:
    """What a masked language model says at a position: a guess where it is masked, else mostly the token itself."""
    if token == "[MASK]":
        return guess
    return {word: 0.1 * probability + 0.9 * (word == token) for word, probability in guess.items()}


def unlikely_sentence(rng: np.random.Generator) -> tuple[list[str], list[Distribution]]:
    """Return a sentence and the probabilities at each of its positions: their product is below the smallest float."""
    tokens = [str(word) for word in rng.choice(WORDS, 60)]
    small = (10.0 ** rng.uniform(-20, -6, 60)).tolist()
    rest = len(WORDS) - 1
    return tokens, [
        {word: p if word == token else (1 - p) / rest for word in WORDS} for token, p in zip(tokens, small, strict=True)
    ]


def distributions(rng: np.random.Generator, count: int) -> list[Distribution]:
    """Over the words; none is nearly 0."""
    rows = 0.9 * rng.dirichlet(np.ones(len(WORDS)), size=count) + 0.1 / len(WORDS)
    return [dict(zip(WORDS, row, strict=True)) for row in rows.tolist()]


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def attention_mistakes(key: Any, X: Array, W_Q: Array, W_K: Array, W_V: Array, causal: bool) -> Mistakes:
    attention = key.self_attention
    return {
        "`causal` is not used": lambda: attention(X, W_Q, W_K, W_V, False),
        "`causal` is not used; the future is always hidden": lambda: attention(X, W_Q, W_K, W_V, True),
        "`causal` is used the other way round": lambda: attention(X, W_Q, W_K, W_V, not causal),
        "the causal mask is transposed: it hides the past and shows the future": lambda: attention(
            X[::-1], W_Q, W_K, W_V, causal
        )[::-1],
        "the scale 1/√d_k is missing": lambda: attention(X, W_Q * math.sqrt(W_Q.shape[1]), W_K, W_V, causal),
        "the scale is 1/√d, with the size of the tokens; it is 1/√d_k, with that of queries and keys": lambda: (
            attention(X, W_Q * math.sqrt(W_Q.shape[1] / W_Q.shape[0]), W_K, W_V, causal)
        ),
        "queries and keys are swapped": lambda: attention(X, W_K, W_Q, W_V, causal),
        "softmax is taken over the queries (axis 0), not over the keys": lambda: softmax_over_queries(
            X, W_Q, W_K, W_V, causal
        ),
    }


def softmax_over_queries(X: Array, W_Q: Array, W_K: Array, W_V: Array, causal: bool) -> Array:
    scores = (X @ W_Q) @ (X @ W_K).T / math.sqrt(W_Q.shape[1])
    if causal:
        scores = np.where(np.triu(np.ones(scores.shape), 1) == 1, -np.inf, scores)
    exponentials = np.exp(scores - scores.max())
    output: Array = exponentials / exponentials.sum(axis=0, keepdims=True) @ (X @ W_V)
    return output


def pseudo_mistakes(rows: list[tuple[list[str], list[Distribution]]], tokens: list[str]) -> Mistakes:
    table = {tuple(sentence): probabilities for sentence, probabilities in rows}
    masks = ["[MASK]"] * len(tokens)

    def reading(context: Callable[[int], list[str]]) -> Callable[[], float]:
        return lambda: sum(math.log(table[tuple(context(t))][t][token]) for t, token in enumerate(tokens))

    return {
        "the token is not masked while it is predicted, so the model reads it off": reading(lambda t: tokens),
        "all tokens are masked at once; mask one at a time": reading(lambda t: masks),
        "the later tokens are masked as well; the model may see both sides": reading(lambda t: tokens[:t] + masks[t:]),
    }
