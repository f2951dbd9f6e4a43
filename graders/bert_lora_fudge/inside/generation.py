"""Language models and classifiers as tables, for pseudo-likelihoods and constrained generation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def fill_function(rows: list[tuple[list[str], list[dict[str, float]]]]) -> Callable[[Sequence[str]], Any]:
    """Return a masked language model as a table: from a sentence to the probabilities of each of its tokens."""
    table = {tuple(tokens): probabilities for tokens, probabilities in rows}

    def fill(tokens: Sequence[str]) -> list[dict[str, float]]:
        return [dict(row) for row in _look_up(table, tokens, "fill_fn", "pass the sentence with one token masked")]

    return fill


def step_function(nodes: list[tuple[list[str], dict[str, float]]]) -> Callable[[Sequence[str]], dict[str, float]]:
    """A language model as a table: from the tokens so far, in any sequence, to the probability of each next token."""
    table = {tuple(prefix): probabilities for prefix, probabilities in nodes}

    def step(prefix: Sequence[str]) -> dict[str, float]:
        return dict(_look_up(table, prefix, "step_fn", "pass all tokens so far"))

    return step


def classifier(probabilities: list[tuple[list[str], float]]) -> Callable[[Sequence[str]], float]:
    """A prefix classifier as a table: from the tokens so far, in any sequence, to the probability of the attribute."""
    table = {tuple(prefix): probability for prefix, probability in probabilities}

    def classify(prefix: Sequence[str]) -> float:
        advice = "pass all tokens so far and one that may come next"
        probability: float = _look_up(table, prefix, "prefix_classifier", advice)
        return probability

    return classify


def _look_up(table: Mapping[tuple[str, ...], Any], tokens: Sequence[str], name: str, advice: str) -> Any:
    if tuple(tokens) not in table:
        raise ValueError(f"{name}({list(tokens)}): no text of this test begins like this; {advice}.")
    return table[tuple(tokens)]


def learned(
    train: Callable[..., Any],
    examples: Sequence[tuple[list[str], int]],
    prefixes: Sequence[list[str]],
    later: Sequence[tuple[list[str], int]] = (),
) -> list[float]:
    """What a classifier that the student trained says about each prefix, perhaps after another one was trained."""
    trained = train([(list(prefix), label) for prefix, label in examples])
    if later:
        train([(list(prefix), label) for prefix, label in later])
    return [float(trained(list(prefix))) for prefix in prefixes]
