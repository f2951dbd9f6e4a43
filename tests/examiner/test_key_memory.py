"""The key's answers are kept from one submission to the next, and nothing changes by it."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.proxies import key_memory
from viva.proxies.key import Key
from viva.proxies.key_memory import KeyMemory, RememberingKey


class Pair(NamedTuple):
    first: Any
    second: Any


class Counted:
    """A key of one function, with a memory, and how often the function has run."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.calls = 0

        def f(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            return function(*args, **kwargs)

        module = ModuleType("key")
        vars(module)["f"] = f
        self.memory = KeyMemory()
        self.key = RememberingKey(Key(module), self.memory)


QUESTIONS = [
    (1, 2.5, "a"),
    (np.arange(6.0).reshape(2, 3), [np.ones(100), {"x": (1, None)}]),
    (Pair(np.zeros(2), b"x"), Fraction(1, 3), {1, 2}, math.nan),
    (np.array(["a", "b"]), frozenset({(1, 2)})),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
def test_the_next_submission_gets_the_answer_of_the_first(question: tuple[Any, ...]) -> None:
    counted = Counted(lambda *args: [*args])
    answers = []
    for _ in range(3):
        counted.memory.begin("case")
        answers.append((counted.key.f(*question), counted.key.f.call(*question).value))
    assert counted.calls == 2
    assert all(repr(answer) == repr(([*question], [*question])) for answer in answers)
    assert [type(value) for value in answers[2][0]] == [type(value) for value in answers[0][0]]


def test_nothing_is_kept_of_a_submission_that_may_be_the_only_one() -> None:
    memory, key = KeyMemory(), Key(ModuleType("key"))
    assert memory.for_submission(key) is key
    assert all(isinstance(memory.for_submission(key), RememberingKey) for _ in range(2))


def test_a_case_that_asks_again_gets_another_answer_of_a_key_that_draws() -> None:
    drawn: Iterator[int] = iter(range(100))
    counted = Counted(lambda: next(drawn))
    counted.memory.begin("case")
    first = [counted.key.f() for _ in range(5)]
    counted.memory.begin("another case")
    other = counted.key.f()
    counted.memory.begin("case")
    assert [counted.key.f() for _ in range(5)] == first == [0, 1, 2, 3, 4]
    assert other == 5 and counted.key.f() == 6  # a sixth time in the first case, which had asked five times


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ([1], (1,)),
        ("1", b"1"),
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(2), np.zeros(2, dtype=int)),
        (np.zeros(100), -np.zeros(100)),
        (np.zeros((2, 2)), np.zeros((2, 2), order="F")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (Pair(1, 2), (1, 2)),
        (set(), frozenset()),
    ],
)
def test_questions_that_differ_have_answers_of_their_own(one: Any, other: Any) -> None:
    counted = Counted(repr)
    for question in (one, other):
        counted.memory.begin("case")
        counted.key.f(question)
    assert counted.calls == 2


def test_what_a_test_does_with_an_answer_changes_no_other() -> None:
    counted = Counted(lambda: {"a": [np.zeros(2)], "b": Pair([1], {2})})
    for _ in range(3):
        counted.memory.begin("case")
        answer = counted.key.f()
        assert answer["a"][0].tolist() == [0, 0] and answer["b"] == Pair([1], {2})
        answer["a"][0] += 1
        answer["b"].first.append(1)
        answer["b"].second.clear()


def test_changes_in_place_are_answered_too() -> None:
    def f(values: list[int], *, more: list[int]) -> None:
        values.append(1)
        more.clear()
        print("done")

    counted = Counted(f)
    for _ in range(2):
        counted.memory.begin("case")
        did = counted.key.f.call([0], more=[5])
        assert (did.args_after, dict(did.kwargs_after), did.printed) == (([0, 1],), {"more": []}, "done\n")
        did.args_after[0].append(2)
    assert counted.calls == 1


def test_an_exception_is_raised_each_time() -> None:
    counted = Counted(lambda: 1 // 0)
    for _ in range(2):
        counted.memory.begin("case")
        with pytest.raises(ZeroDivisionError):
            counted.key.f()
        raised = counted.key.f.call().raised
        assert raised is not None and raised.type_name == "ZeroDivisionError"
    assert counted.calls == 3


@pytest.mark.parametrize("value", [object(), len, np.array([object()]), iter([1]), np.random.default_rng(0)])
def test_what_may_have_a_state_is_asked_each_time(value: Any) -> None:
    counted = Counted(lambda *_: value)
    for _ in range(2):
        counted.memory.begin("case")
        assert counted.key.f() is value
    assert counted.calls == 2
    asked = Counted(lambda *_: 1)
    for _ in range(2):
        asked.memory.begin("case")
        asked.memory.answer("f", ([value],), {}, vars(asked.key._module)["f"])
    assert asked.calls == 2


def test_memory_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_memory, "_MOST_BYTES", 10_000)
    counted = Counted(lambda number: np.full(500, number))
    for _ in range(2):
        counted.memory.begin("case")
        assert [counted.key.f(number)[0] for number in range(5)] == [0, 1, 2, 3, 4]
    assert counted.calls == 5 + 2
    counted.memory.forget()
    counted.memory.begin("case")
    counted.key.f(0)
    assert counted.calls == 8


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.fractions(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.lists(PLAIN, min_size=1, max_size=6))
def test_any_question_gets_the_answer_that_it_would_get(questions: list[Any]) -> None:
    counted = Counted(lambda value: [repr(value), value])
    for _ in range(2):
        counted.memory.begin("case")
        assert [repr(counted.key.f(value)) for value in questions] == [repr([repr(v), v]) for v in questions]
    assert counted.calls == len(questions)
