"""What a test draws for its questions is drawn once for a class, and nothing else changes by it."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from viva.grading import once_per_class
from viva.grading.once_per_class import remembering_in
from viva.proxies.key import Key
from viva.proxies.key_memory import KeyMemory, RememberingKey

DRAWN: list[Any] = []


@once_per_class
def question(key: Any, rng: np.random.Generator, size: int, *, low: float = 0.0) -> tuple[Any, list[float]]:
    """Draw until the key says that a question is good."""
    while True:
        DRAWN.append(size)
        values = rng.uniform(low, 1, size)
        if key.good(values):
            return values, values.tolist()


@once_per_class
def of_anything(value: Any) -> Any:
    DRAWN.append(value)
    return [value]


class Asked:
    """A key whose calls are counted, and its memory."""

    def __init__(self) -> None:
        self.calls = 0

        def good(values: Any) -> bool:
            self.calls += 1
            return bool(values.sum() > 0.5 * len(values))

        module = ModuleType("key")
        vars(module)["good"] = good
        self.memory = KeyMemory()
        self.plain = Key(module)
        self.key = RememberingKey(self.plain, self.memory)


@pytest.fixture(autouse=True)
def _nothing_drawn() -> None:
    DRAWN.clear()


def submissions(asked: Asked, draw: Callable[[Any, np.random.Generator], Any], count: int = 3) -> list[Any]:
    """Return what each submission of a class gets: the drawing, and what its generator gives afterwards."""
    found = []
    for number in range(count):
        rng = np.random.default_rng(7)
        with remembering_in(asked.memory):
            drawn = draw(asked.key if number else asked.plain, rng)
        found.append((repr(drawn), rng.random()))
    return found


def test_every_submission_gets_what_it_would_have_drawn_itself() -> None:
    asked = Asked()
    rng = np.random.default_rng(7)
    alone = repr(question(asked.plain, rng, 4)), rng.random()
    tries, calls = len(DRAWN), asked.calls
    assert submissions(asked, lambda key, rng: question(key, rng, 4)) == [alone] * 3
    assert (len(DRAWN), asked.calls) == (2 * tries, 2 * calls)


def test_other_arguments_and_another_state_of_the_generator_are_drawn_from_again() -> None:
    asked = Asked()

    def draw(key: Any, rng: np.random.Generator) -> Any:
        return [question(key, rng, 4), question(key, rng, 5), question(key, rng, 4), question(key, rng, 4, low=0.1)]

    first, *others = submissions(asked, draw)
    assert others == [first] * 2
    assert len({repr(part) for part in draw(asked.plain, np.random.default_rng(7))}) == 4


def test_what_a_test_does_with_a_drawing_changes_no_other() -> None:
    asked = Asked()

    def draw(key: Any, rng: np.random.Generator) -> str:
        values, as_list = question(key, rng, 4)
        before = repr((values, as_list))
        values[:] = 0
        as_list.clear()
        return before

    first, *others = submissions(asked, draw)
    assert others == [first] * 2


def test_each_time_is_drawn_where_nothing_is_remembered() -> None:
    asked = Asked()
    question(asked.plain, np.random.default_rng(7), 4)
    tries = len(DRAWN)
    assert tries > 0
    for times, memory in [(2, None), (3, asked.memory), (4, None), (4, asked.memory)]:
        with remembering_in(memory):
            question(asked.plain, np.random.default_rng(7), 4)
        assert len(DRAWN) == times * tries
    asked.memory.forget()
    with remembering_in(asked.memory):
        question(asked.plain, np.random.default_rng(7), 4)
    assert len(DRAWN) == 5 * tries


@pytest.mark.parametrize("value", [object(), len, np.array([object()])])
def test_arguments_that_may_have_a_state_are_drawn_from_each_time(value: Any) -> None:
    memory = KeyMemory()
    for _ in range(2):
        with remembering_in(memory):
            assert of_anything(value) == [value]
    assert len(DRAWN) == 2


def test_no_answer_of_the_key_is_kept_while_drawing() -> None:
    asked = Asked()
    submissions(asked, lambda key, rng: question(key, rng, 4), count=1)
    asked.memory.forget()
    submissions(asked, lambda key, rng: question(key, rng, 4))
    assert not asked.memory._answers


def test_a_function_within_another_is_refused() -> None:
    def test(limit: int) -> Any:
        @once_per_class
        def draw(rng: np.random.Generator) -> int:
            return int(rng.integers(limit))

        return draw

    with pytest.raises(ValueError, match="@once_per_class belongs above a function at the top level of a module"):
        test(3)
