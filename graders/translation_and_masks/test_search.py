"""Question 1.3: greedy and beam search."""

import itertools
import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from viva.grading import Unreadable, agree, agree_number, number, visibility, weight

Nodes = list[tuple[list[str], dict[str, float]]]

TREE: Nodes = [
    ([], {"A": 0.5, "B": 0.4, "C": 0.1}),
    (["A"], {"D": 0.4, "E": 0.35, "F": 0.25}),
    (["B"], {"D": 0.9, "E": 0.06, "F": 0.04}),
    (["C"], {"D": 0.5, "E": 0.3, "F": 0.2}),
    (["A", "D"], {"G": 0.55, "H": 0.3, "I": 0.15}),
    (["A", "E"], {"G": 0.9, "H": 0.06, "I": 0.04}),
    (["B", "D"], {"G": 0.5, "H": 0.26, "I": 0.24}),
    (["A", "F"], {"G": 0.41, "H": 0.32, "I": 0.27}),
    (["B", "E"], {"G": 0.36, "H": 0.33, "I": 0.31}),
    (["B", "F"], {"G": 0.5, "H": 0.3, "I": 0.2}),
    (["C", "D"], {"G": 0.4, "H": 0.35, "I": 0.25}),
    (["C", "E"], {"G": 0.6, "H": 0.23, "I": 0.17}),
    (["C", "F"], {"G": 0.45, "H": 0.3, "I": 0.25}),
]
"""The tree of the handout; no two of its paths of one length are equally probable, so no order is left open."""


@number("1.3")
@weight("1/2")
def test_greedy_search_by_hand(submission: Any, key: Any) -> None:
    """The path that greedy search takes through the tree of question 1.3."""
    idea = "Reread what greedy search looks at when it chooses a token."
    agree_paths([submission.answers["1.3.greedy"]], [key.answers["1.3.greedy"]], idea)


@number("1.3")
@weight(1)
def test_beam_search_by_hand(submission: Any, key: Any) -> None:
    """The two paths that beam search with k = 2 ends with."""
    idea = "Reread which hypotheses beam search keeps after each step, and what it compares them by."
    agree_paths(submission.answers["1.3.beam"], key.answers["1.3.beam"], idea)


@number("1.3")
@weight("1/2")
def test_probability_by_hand(submission: Any, key: Any) -> None:
    """The probability of the best path that beam search finds."""
    best = key.answers["1.3.probability"]
    hints = {"this is the path of greedy search": 0.11, "the last step is missing": 0.36}
    agree_number(submission.answers["1.3.probability"], best, atol=5e-4, accept=[math.log(best)], hints=hints)


@number("1.3")
@weight(1)
def test_greedy_search(student: Any, key: Any, inside: Any) -> None:
    """Greedy search takes the most probable token at every step."""
    for nodes, steps in [(TREE, 3), (TREE, 2), (TREE, 1)]:
        step = inside.step_function.keep(nodes)
        [expected] = key.best_paths(nodes, 1, steps)
        agree_hypotheses(
            [student.greedy_search(step, steps)], [expected], f"greedy_search with {steps} steps in 1.3's tree"
        )


@number("1.3")
@weight(2)
def test_beam_search(student: Any, key: Any, inside: Any) -> None:
    """Beam search keeps the k most probable hypotheses at every step, best first."""
    step = inside.step_function.keep(TREE)
    for beam_size, steps in [(2, 3), (1, 3), (3, 2), (9, 2), (27, 3)]:
        name = f"beam_search with k = {beam_size} and {steps} steps in the tree of question 1.3"
        expected = key.best_paths(TREE, beam_size, steps)
        hints = {
            "only the last step counts; multiply the probabilities of all steps": partial(forgetful, beam_size, steps)
        }
        agree_hypotheses(student.beam_search(step, beam_size, steps), expected, name, hints)


@number("1.3")
@weight(2)
@visibility("after_published")
def test_beam_search_on_random_trees(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random trees; a beam as wide as the tree finds every path, a narrow one what it can.

    Try a beam of 1, a beam that is wider than the tree, and paths of different lengths.
    """
    for vocabulary, steps in [("abc", 3), ("wxyz", 2), ("ab", 4)]:
        nodes = random_tree(rng, vocabulary, steps)
        step = inside.step_function.keep(nodes)
        sizes = (2, 3, len(vocabulary) ** steps)
        found = student.beam_search.each([(step, beam_size, steps) for beam_size in sizes])
        for beam_size, hypotheses in zip(sizes, found, strict=True):
            agree_hypotheses(hypotheses, key.best_paths(nodes, beam_size, steps), f"beam_search, k = {beam_size}")
        agree_hypotheses([student.greedy_search(step, steps)], key.best_paths(nodes, 1, steps), "greedy_search")


def agree_hypotheses(
    actual: Any, expected: list[tuple[tuple[str, ...], float]], name: str, hints: Mapping[str, Any] | None = None
) -> None:
    """Tokens may be a string or any sequence; a score may be the log-probability or the probability."""
    assert isinstance(actual, list | tuple), f"{name} returned {type(actual).__name__}; expected hypotheses."
    assert all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in actual), (
        f"{name}: expected each hypothesis as a pair (tokens, log-probability)."
    )
    found = ["".join(map(str, tokens)) for tokens, _ in actual]
    agree(
        found, ["".join(tokens) for tokens, _ in expected], hints=hints, name=f"the list of token sequences of {name}"
    )
    scores = np.array([score for _, score in actual], dtype=float)
    if (scores > 0).all():
        agree(scores, [math.exp(score) for _, score in expected], name=f"the probabilities of {name}")
    else:
        agree(scores, [score for _, score in expected], name=f"the log-probabilities of {name}")


def random_tree(rng: np.random.Generator, vocabulary: str, depth: int) -> Nodes:
    """Every prefix shorter than `depth` with random probabilities for the next token; ties have probability zero."""
    return [
        (list(prefix), dict(zip(vocabulary, rng.dirichlet(np.ones(len(vocabulary))).tolist(), strict=True)))
        for length in range(depth)
        for prefix in itertools.product(vocabulary, repeat=length)
    ]


def forgetful(beam_size: int, steps: int) -> list[str]:
    """Return the mistake to rank hypotheses by the probability of their last token alone."""
    table = {"".join(prefix): probabilities for prefix, probabilities in TREE}
    beam = [""]
    for _ in range(steps):
        grown = [(text + token, p) for text in beam for token, p in table[text].items()]
        beam = [text for text, _ in sorted(grown, key=lambda pair: -pair[1])[:beam_size]]
    return beam


def agree_paths(answers: list[str], expected: list[str], idea: str) -> None:
    """Compare paths written by hand, in any order; the message says how many are right, but not which."""
    found = [path_of(answer) for answer in answers]
    right = len(set(found) & set(expected))
    read = " and ".join(found)
    assert sorted(found) == sorted(expected), (
        f"Your answer was read as {read}; of what is expected, {right} of {len(expected)} is there. {idea}"
    )


def path_of(answer: str) -> str:
    """Return the three letters of a path: "BDG" for "B D G", "b-d-g" and "B, D, G".

    Raises:
        Unreadable: there are other letters, or not three.
    """
    letters = "".join(filter(str.isalpha, answer)).upper()
    if not re.fullmatch("[A-I]{3}", letters):
        raise Unreadable("write three letters for a path, such as A D G", answer)
    return letters
