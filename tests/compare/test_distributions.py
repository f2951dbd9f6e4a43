"""Functions that draw at random: right ones pass, and each kind of wrong joint behaviour is noticed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.compare.distributions import bound, statistic
from viva.grading import Disagreement, agree_in_distribution
from viva.model.errors import GraderError


class Student:
    """`student.f`: many calls in one request."""

    __name__ = "sample"

    def __init__(self, function: Callable[..., Any], seed: int = 0) -> None:
        self._function, self._rng = function, np.random.default_rng(seed)

    def each(self, questions: Any) -> list[Any]:
        return [self._function(self._rng, *question) for question in questions]


def masked(n: int) -> list[bool]:
    """The key: each of n positions is masked with probability 0.3."""
    return [bool(drawn < 0.3) for drawn in np.random.random(n)]


SIZE = st.integers(6, 6)


def compare(
    function: Callable[..., Any],
    key: Callable[..., Any] = masked,
    strategy: st.SearchStrategy[Any] = SIZE,
    seed: int = 0,
) -> None:
    agree_in_distribution(Student(function, seed), key, strategy, rng=np.random.default_rng(seed), examples=1)


def test_right_function() -> None:
    for seed in range(60):
        compare(lambda rng, n: [bool(rng.random() < 0.3) for _ in range(n)], seed=seed)


def test_wrong_function() -> None:
    wrong = {
        "another probability": lambda rng, n: rng.random(n) < 0.6,
        "a fixed count": lambda rng, n: rng.permutation([True] * 2 + [False] * (n - 2)),
        "all or none": lambda rng, n: [bool(rng.random() < 0.3)] * n,
        "never the first": lambda rng, n: [False, *(rng.random(n - 1) < 0.35)],
        "one too few": lambda rng, n: rng.random(n - 1) < 0.3,
        "always the same": lambda rng, n: [True, False, False, True, False, False],
        "texts": lambda rng, n: ["mask"] * n,
    }
    with Rows() as row:
        for name, function in wrong.items():
            with row(name), pytest.raises(Disagreement, match="draws from another distribution"):
                compare(function)


def test_text_that_is_never_drawn_is_noticed() -> None:
    words = ["a", "b", "c"]

    def key(n: int) -> Any:
        return str(np.random.choice(words))

    compare(lambda rng, n: str(rng.choice(words)), key)
    with pytest.raises(Disagreement, match=r"expected '[abc]' in"):
        compare(lambda rng, n: str(rng.choice(words[:2])), key)


def test_key_is_seeded() -> None:
    before: Any = np.random.get_state(legacy=True)
    state = before[1].copy()
    seen = []

    def key(n: int) -> Any:
        seen.append(np.random.random())
        return 0

    for _ in range(2):
        agree_in_distribution(Student(lambda rng, n: 0), key, SIZE, rng=np.random.default_rng(1), draws=5)
    assert seen[:5] == seen[5:]
    after: Any = np.random.get_state(legacy=True)
    assert (after[1] == state).all()


def test_failing_key() -> None:
    with pytest.raises(GraderError, match="the key raised ZeroDivisionError"):
        compare(lambda rng, n: 0, lambda n: 1 // 0)
    with pytest.raises(ValueError, match="two draws"):
        agree_in_distribution(Student(lambda rng: 0), lambda: 0, rng=np.random.default_rng(0), draws=1)


def test_statistic_and_bound() -> None:
    """By hand, and by simulation: a tenth of pairs of samples exceeds the bound for a tenth, or fewer."""
    assert statistic([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5
    assert statistic([0, 0, 1], [0, 0, 1]) == 0
    rng = np.random.default_rng(0)
    beyond = sum(
        statistic(rng.random(200).tolist(), rng.random(200).tolist()) > bound(200, 200, 0.1) for _ in range(400)
    )
    assert 10 <= beyond <= 60
