"""agree_on: the same examples every time, and the smallest counter-example in the message."""

import importlib
import inspect
import os
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

import viva
from tests.support.hypothesis_constants import FINDER
from viva.compare.counterexamples import examples as kept
from viva.compare.counterexamples import search
from viva.compare.counterexamples.kinds_of_input import kind_of
from viva.compare.counterexamples.shrinking import shrinking
from viva.grading import Disagreement, agree_on, with_other_arguments
from viva.grading import strategies as ready
from viva.model.errors import BoxDied, BoxTimeout, Frame, GraderError, MissingAttribute, StudentRaised


def overlap(candidate: list[str], reference: list[str]) -> float:
    """The key: the share of the candidate's tokens that the reference has, each counted as often as it is there."""
    left = list(reference)
    hits = 0
    for token in candidate:
        if token in left:
            left.remove(token)
            hits += 1
    return hits / len(candidate) if candidate else 0.0


def unclipped(candidate: list[str], reference: list[str]) -> float:
    return sum(t in reference for t in candidate) / len(candidate) if candidate else 0.0


def compare(student: Callable[..., Any], key: Callable[..., Any] = overlap, **how: Any) -> None:
    agree_on(student, key, ready.token_lists(), ready.token_lists(), **how)


class Counting:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls, self.__name__ = function, 0, "overlap"

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self.function(*args)


def test_shrinking_switched_off() -> None:
    calls: dict[bool, int] = {}
    for on in (True, False):
        student = Counting(unclipped)
        with shrinking(on=on), pytest.raises(Disagreement):
            compare(student, examples=30)
        calls[on] = student.calls
    assert calls[False] <= 30 < calls[True]


def test_calls_of_a_right_answer() -> None:
    student = Counting(overlap)
    compare(student, examples=30)
    assert 20 <= student.calls <= 30


def test_smallest_counterexample() -> None:
    with pytest.raises(Disagreement) as raised:
        compare(Counting(unclipped))
    assert str(raised.value).startswith("overlap(['a', 'a'], ['a']) gave 1, expected 0.5.")


def test_same_message_every_time() -> None:
    messages = set()
    for _ in range(3):
        random.seed(os.urandom(8))
        with pytest.raises(Disagreement) as raised:
            compare(unclipped)
        messages.add(str(raised.value))
    assert len(messages) == 1


def test_random_state() -> None:
    random.seed(7)
    np.random.seed(7)
    wanted = random.random(), np.random.random()
    random.seed(7)
    np.random.seed(7)
    with pytest.raises(Disagreement):
        compare(unclipped)
    assert (random.random(), np.random.random()) == wanted


WRITES_NOTHING = """
from pathlib import Path
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal import charmap
from viva.grading import Disagreement, agree_on, with_other_arguments
try:
    agree_on(len, lambda text: len(text) + (len(text) > 3), st.text(max_size=9))
except Disagreement:
    print("disagreed", [str(p) for p in Path().rglob("*")])
charmap._charmap = None
charmap.charmap()
print([str(p) for p in Path().glob("*")])
"""


@pytest.mark.long
def test_no_files_are_written(tmp_path: Path) -> None:
    """Neither examples, constants nor Unicode tables: a grader may run where nothing can be written."""
    paths = [str(Path(viva.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", WRITES_NOTHING]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    # The second line is what hypothesis writes when left alone: the table was compare for, and the folder can be made.
    assert ran.stdout.splitlines() == ["disagreed []", "['.hypothesis']"]


def test_examples_do_not_depend_on_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis would draw constants from the source of other modules."""
    monkeypatch.setattr(providers, "_get_local_constants", FINDER)
    strategy = [st.integers()]
    before = kept._draw(strategy, 100)
    module = tmp_path / "somebodys_grader.py"
    module.write_text("MAGIC = [" + ", ".join(str(10**9 + 7 * i) for i in range(500)) + "]\n")
    monkeypatch.syspath_prepend(tmp_path)
    module_of_an_author: Any = importlib.import_module("somebodys_grader")
    assert module_of_an_author.MAGIC[0] == 10**9
    assert kept._draw([st.integers()], 100) == before


def test_hint_must_explain_every_example() -> None:
    hints = {
        "the counts are not clipped": unclipped,
        "always one": lambda candidate, reference: 1.0,  # right for the smallest example, not for the others
    }
    with pytest.raises(Disagreement) as raised:
        compare(Counting(unclipped), hints=hints)
    assert raised.value.hint == "the counts are not clipped"
    assert "always one" not in str(raised.value)


def test_failing_hint() -> None:
    hints = {"division": lambda candidate, reference: 1 / 0, "the counts are not clipped": unclipped}
    with pytest.raises(Disagreement) as raised:
        compare(unclipped, hints=hints)
    assert raised.value.hint == "the counts are not clipped"
    assert any("ZeroDivisionError" in note for note in raised.value.__notes__)


MAYBE = st.lists(st.sampled_from([1.0, 2.0, float("nan")]), max_size=3)


@pytest.mark.parametrize(
    ("wrong_for", "share"),
    [("empty", "2/3"), ("missing values", "2/3"), ("ordinary", "2/3"), ("empty missing values", "1/3")],
)
def test_partial_credit_by_kinds_of_inputs(wrong_for: str, share: str) -> None:
    """A function that is wrong only for empty lists has ordinary ones and missing values right."""

    def student(values: list[float]) -> int:
        return len(values) + (kind_of([values]) in wrong_for)

    with pytest.raises(Disagreement) as raised:
        agree_on(student, len, MAYBE, partial_credit=True)
    assert raised.value.share == Fraction(share)
    with pytest.raises(Disagreement) as raised:
        agree_on(student, len, MAYBE)
    assert raised.value.share is None


def test_partial_credit_where_the_sandbox_ends() -> None:
    """It ends for the empty list alone, after a wrong answer; only missing values are right."""

    def student(values: list[float]) -> int:
        if not values:
            raise BoxDied("it has ended")
        return len(values) + (values == [1.0])

    with pytest.raises(Disagreement) as raised:
        agree_on(student, len, st.sampled_from([[1.0], [float("nan")], []]), partial_credit=True)
    assert raised.value.share == Fraction(1, 3)


def test_exception_is_a_counterexample() -> None:
    def student(candidate: list[str], reference: list[str]) -> Any:
        if not candidate:
            raise StudentRaised("ZeroDivisionError", "division by zero", [Frame("solution.py", 12, "f", "x / 0")])
        return overlap(candidate, reference)

    with pytest.raises(Disagreement, match=r"your function|student") as raised:
        compare(student)
    message = str(raised.value)
    assert "([], []) raised ZeroDivisionError: division by zero (solution.py, line 12); expected 0." in message


def test_exception_text_is_escaped() -> None:
    def student(candidate: list[str], reference: list[str]) -> Any:
        raise StudentRaised("Error", "\x1b[31m\u202e" + "x\n" * 5000, [Frame("a\x07.py", 1, "f", "")])

    with pytest.raises(Disagreement) as raised:
        compare(student)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize("error", [BoxDied("memory limit"), BoxTimeout("10 s"), GraderError("ours")])
@pytest.mark.parametrize("at", [0, 3, 40])
def test_dead_sandbox(error: Exception, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first question, later, and in the middle of shrinking, however slow the machine is."""
    monkeypatch.setattr("viva.compare.counterexamples.search.SEARCH_S", 1e9)
    calls = 0

    def student(candidate: list[str], reference: list[str]) -> Any:
        nonlocal calls
        calls += 1
        if calls > at:
            raise error
        return overlap(candidate, reference) if at < 20 else unclipped(candidate, reference)

    with pytest.raises(type(error)) as raised:
        compare(student)
    assert raised.value is error
    assert calls == at + 1


def test_timeout_is_not_repeated() -> None:
    """Every further call of a function that hangs would cost its whole time limit."""
    calls: list[list[str]] = []

    def student(candidate: list[str], reference: list[str]) -> Any:
        calls.append(candidate)
        raise StudentRaised("SoftTimeout", "", limit="time")

    with pytest.raises(StudentRaised):
        compare(student)
    assert len(calls) == 1


def test_missing_attribute() -> None:
    def student(candidate: list[str], reference: list[str]) -> Any:
        missing = MissingAttribute("numpy", "2.4.0", "product")
        raise StudentRaised("AttributeError", "no product", [Frame("a.py", 3, "f", "x")], missing_attribute=missing)

    with pytest.raises(Disagreement, match=r"\(a\.py, line 3; graded with numpy 2\.4\.0, which has no `product`\)"):
        compare(student)


def test_memory_error_is_not_repeated() -> None:
    def student(candidate: list[str], reference: list[str]) -> Any:
        if candidate:
            raise StudentRaised("MemoryError", "", limit="memory")
        return 0.0

    counting = Counting(student)
    with pytest.raises(Disagreement, match="MemoryError"):
        compare(counting)
    assert counting.calls < 5


def test_random_function() -> None:
    chance = random.Random(1)
    with pytest.raises(Disagreement):
        compare(lambda candidate, reference: chance.random())


def test_bounded_shrinking() -> None:
    counting = Counting(lambda rows: float(rows.sum()) + 1)
    with pytest.raises(Disagreement):
        agree_on(counting, lambda rows: float(rows.sum()), ready.matrices((1, 30), (1, 30)), examples=20)
    assert counting.calls <= 20 + 20 + search.SEARCH_CALLS + 1


def test_slow_function(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(10_000))
    monkeypatch.setattr("viva.compare.counterexamples.search.time.monotonic", lambda: float(next(now)))
    counting = Counting(unclipped)
    with pytest.raises(Disagreement):
        compare(counting)
    assert counting.calls < 60


def test_changed_arguments() -> None:
    def student(candidate: list[str], reference: list[str]) -> Any:
        result = overlap(candidate, reference)
        candidate.clear()
        reference.append("x")
        return result

    compare(student, examples=25)
    compare(overlap, examples=25)


def test_options_reach_the_comparison() -> None:
    agree_on(lambda t: t[::-1], lambda t: t, ready.token_lists(), up_to="order")
    agree_on(lambda n: n + 0.4, lambda n: n, ready.lengths(), atol=0.5)
    with pytest.raises(Disagreement):
        agree_on(lambda n: n + 0.6, lambda n: n, ready.lengths(), atol=0.5)


def test_invalid_use() -> None:
    with pytest.raises(ValueError, match="at least one strategy"):
        agree_on(overlap, overlap)
    with pytest.raises(ValueError, match="at least one example"):
        compare(overlap, examples=0)
    with pytest.raises(ValueError, match="not a function"):
        compare(overlap, hints={"a number": 3})
    with pytest.raises(ValueError, match="up_to"):
        compare(overlap, up_to="direction")
    with pytest.raises(GraderError, match="the key raised ZeroDivisionError"):
        agree_on(lambda n: 0, lambda n: 1 // n, ready.lengths())
    with pytest.raises(GraderError, match="strategies"):
        agree_on(lambda n: 0, lambda n: 0, ready.lengths().filter(lambda n: False))


def test_recorded_key() -> None:
    """In a bundle for students the key answers from a record; shrinking then stays among what was recorded."""
    recorded: dict[int, int] = {}

    def live(n: int) -> int:
        recorded[n] = n * n
        return n * n

    agree_on(lambda n: n * n, live, ready.lengths(0, 1000), examples=20)

    def replayed(n: int) -> int:
        if n not in recorded:
            raise GraderError("not recorded")
        return recorded[n]

    with pytest.raises(Disagreement, match="expected"):
        agree_on(lambda n: n * n + (n > 9), replayed, ready.lengths(0, 1000), examples=20)


def positive_root(n: int) -> Any:
    if n < 0:
        raise ValueError("below zero")
    return n**0.5


def test_exceptions_of_the_key() -> None:
    arguments: list[float] = []

    def student(n: int) -> Any:
        arguments.append(n)
        return n**0.5 if n >= 0 else "none"

    agree_on(student, positive_root, st.integers(-9, 9), errors="skip")
    assert min(arguments) == 0
    with pytest.raises(Disagreement, match=r"gave 'none', expected an exception \(ValueError\)"):
        agree_on(student, positive_root, st.integers(-9, 9), errors="expect")
    agree_on(raising, positive_root, st.integers(-9, 9), errors="expect")
    with pytest.raises(Disagreement, match="raised"):
        agree_on(always_raising, positive_root, st.integers(-9, 9), errors="expect")
    for errors in ("skip", "expect"):
        with pytest.raises(GraderError, match="answers none of the examples"):
            agree_on(raising, positive_root, st.integers(-9, -1), errors=errors)


def raising(n: int) -> Any:
    """As a box does: any exception of the student's is as good."""
    if n < 0:
        raise StudentRaised("KeyError", "other")
    return n**0.5


def always_raising(n: int) -> float:
    raise StudentRaised("KeyError", "other")


def other_arguments(test: Callable[..., None], seed: int) -> list[int]:
    """Return the arguments of the hidden repetition of a test, which follow from the course's secret."""
    arguments: list[int] = []

    def student(n: int) -> int:
        arguments.append(n)
        return n

    test(student=student, rng=np.random.default_rng(seed))
    return arguments


def test_hidden_repetition() -> None:
    def test_f(student: Callable[[int], int]) -> None:
        """The number is returned."""
        agree_on(student, lambda n: n, st.integers(0, 10**9))

    test_f.__weight__ = 2  # type: ignore[attr-defined]  # what @weight sets
    hidden = with_other_arguments(test_f)
    visible: list[int] = []
    test_f(lambda n: visible.append(n) or n)  # type: ignore[func-returns-value]  # append returns None
    first, second, same = (other_arguments(hidden, seed) for seed in (1, 2, 1))
    assert first == same != second and len(set(visible) & set(first)) < len(visible) / 2
    assert list(inspect.signature(hidden).parameters) == ["student", "rng"]
    attributes: Any = hidden
    assert (attributes.__name__, attributes.__weight__, attributes.__visibility__) == ("test_f_again", 2, "hidden")
    assert not hasattr(test_f, "__visibility__")


def test_hidden_repetition_skips_what_the_key_refuses() -> None:
    def test_f(student: Callable[[int], int]) -> None:
        agree_on(student, lambda n: n + 0 // (n - 3), st.integers(0, 9))

    with pytest.raises(GraderError):
        test_f(lambda n: n)
    arguments = other_arguments(with_other_arguments(test_f), 1)
    assert arguments and 3 not in arguments


def test_hidden_repetition_of_no_function() -> None:
    with pytest.raises(TypeError, match="expected a test function"):
        with_other_arguments("test_f")  # type: ignore[arg-type]  # a name, as authors may write
