"""Question 1e: the receptive field of argmax attention."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from viva.grading import agree, agree_formula, agree_number, number, show_call, visibility, weight

Mistakes = dict[str, Callable[[], Any]]
Pointers = list[list[list[int]]]

BY_HAND = {
    "one": {
        "the residual connection is missing: a node sees itself as well as where its head points": "1 + 0*n",
        "each level multiplies the field; here it only adds to it": "n + 1",
        "the inputs are level 0, so level 1 sees two of them": "2**(n - 1)",
        "this adds up the fields of all levels": "2**(n + 1) - 1",
        "base and exponent are exchanged": "n**2",
    },
    "two": {
        "the residual connection is missing: a node sees itself as well as where its heads point": "2**n",
        "each level multiplies the field; here it only adds to it": "2*n + 1",
        "the inputs are level 0, so level 1 sees three of them": "3**(n - 1)",
        "two heads reach three nodes, themselves included, not four": "4**n",
        "base and exponent are exchanged": "n**3",
    },
    "k": {
        "the residual connection is missing: a node sees itself as well as where its heads point": "k**n",
        "each level multiplies the field; here it only adds to it": "k*n + 1",
        "the inputs are level 0, so level 1 sees k + 1 of them": "(k + 1)**(n - 1)",
        "k heads reach k + 1 nodes, not 2k or 2^k": "2**(k*n)",
        "base and exponent are exchanged": "n**(k + 1)",
    },
}


@number("1e")
@weight(3)
@pytest.mark.parametrize("heads", ["one", "two", "k"])
def test_receptive_field_by_hand(submission: Any, key: Any, heads: str) -> None:
    """How many inputs a node at level n can depend on, as a formula in n (and k)."""
    letters = {"n": (1.0, 7.0), "k": (2.0, 6.0), "T": (1e7, 2e7)}  # so long a sequence that min(T, …) is the other term
    agree_formula(submission.answers[f"1e.{heads}"], key.answers[f"1e.{heads}"], letters, hints=BY_HAND[heads])


@number("1e")
@weight(1)
def test_receptive_field_of_a_short_sequence(submission: Any, key: Any) -> None:
    """The largest receptive field with T = 8 positions, n = 2 levels and k = 2 heads."""
    hints = {
        "(k + 1)^n counts paths, and no field is larger than the sequence": 9,
        "the residual connection is missing, and k^n is no bound": 4,
    }
    agree_number(submission.answers["1e.bound"], key.answers["1e.bound"], hints=hints)


@number("1e")
@weight(3)
def test_argmax_receptive_field(student: Any, key: Any) -> None:
    """A node's receptive field is the union of its own one level below and of those its heads point at."""
    for T, n, k, pointers in [
        (3, 2, 1, [[[0], [0], [1]]] * 2),
        (3, 0, 2, []),
        (9, 2, 2, key.spreading_pointers(9, 2, 2)),
        (40, 3, 2, key.spreading_pointers(40, 3, 2)),
        (8, 2, 2, key.spreading_pointers(8, 2, 2)),  # more heads than positions to see
        (7, 2, 2, [[[(i + 1) % 7] * 2 for i in range(7)]] * 2),
        (3, 2, 1, [[[0], [1], [2]]] * 2),
        (6, 3, 2, [[[0, 0]] * 6] * 3),
        (300, 2, 16, key.spreading_pointers(300, 2, 16)),  # beyond 255 inputs
        (4, 2, 1, [[[1], [2], [3], [3]], [[2], [2], [2], [2]]]),  # levels that differ
    ]:
        name = show_call("argmax_receptive_field", T=T, n=n, k=k, pointers=pointers)
        if np.size(pointers) > 100:  # too many for a message
            formula = f"(i + (h + 1)·{k + 1}^l) mod {T}"
            name = f"argmax_receptive_field({T}, {n}, {k}, pointers) with pointers[l][i][h] = {formula}"
        hints = field_mistakes(key, T, n, k, pointers)
        agree(student.argmax_receptive_field(T, n, k, pointers), sizes(key, T, n, k, pointers), hints=hints, name=name)


@number("1e")
@weight(2)
@visibility("after_published")
def test_receptive_field_on_random_pointers(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random pointers; no field is larger than min(T, (k + 1)^n), and distinct pointers reach it.

    Try pointers to the same token, no layers, and more layers than tokens.
    """
    questions = []
    for n, k in [(1, 2), (2, 1), (2, 2), (3, 1), (4, 3)]:
        T = int(rng.integers(10, 30))
        questions.append((T, n, k, rng.integers(T, size=(n, T, k)).tolist()))
    for n, k in [(5, 1), (2, 4)]:
        T = (k + 1) ** n + int(rng.integers(9))
        questions.append((T, n, k, key.spreading_pointers(T, n, k)))
    for actual, question in zip(student.argmax_receptive_field.each(questions), questions, strict=True):
        agree(actual, sizes(key, *question))
        assert max(actual) <= key.receptive_field_bound(*question[:3])


def sizes(key: Any, T: int, n: int, k: int, pointers: Pointers) -> Any:
    return key.argmax_receptive_field(T, n, k, pointers)


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def field_mistakes(key: Any, T: int, n: int, k: int, pointers: Pointers) -> Mistakes:
    def without_residual() -> list[int]:
        fields = [{i} for i in range(T)]
        for level in pointers:
            fields = [set().union(*(fields[j] for j in level[i])) for i in range(T)]
        return [len(field) for field in fields]

    def turned() -> list[int]:
        fields = [{i} for i in range(T)]
        for level in reversed(pointers):
            fields = [fields[i].union(*(fields[j] for j in range(T) if i in level[j])) for i in range(T)]
        return [len(field) for field in fields]

    mistakes: Mistakes = {
        "the residual connection is missing: a node also depends on itself one level below": without_residual,
        "(k + 1)^n counts paths; several of them end at one input": lambda: [(k + 1) ** n] * T,
        "min(T, (k + 1)^n) is a bound; look where the pointers lead": lambda: [key.receptive_field_bound(T, n, k)] * T,
        "the levels are walked in the wrong order: pointers[0] leads from level 1 to the inputs": lambda: sizes(
            key, T, n, k, pointers[::-1]
        ),
        "this counts how many nodes of level n see each input": turned,
        "only the first level is followed": lambda: sizes(key, T, min(n, 1), k, pointers[:1]),
    }
    if k > 1:
        mistakes["k^n does not look at the pointers, and the residual connection is missing"] = lambda: [k**n] * T
    return mistakes
