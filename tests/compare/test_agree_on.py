"""agree_on: the same examples every time, and the smallest counter-example in the message."""

import inspect
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

import viva
from tests.support.hypothesis_constants import FINDER
from viva.compare.counterexamples import examples as kept
from viva.compare.counterexamples import search
from viva.compare.counterexamples.shrinking import shrinking
from viva.grading import Disagreement, agree_on, with_other_arguments
from viva.grading import strategies as ready
from viva.model.errors import BoxDied, BoxTimeout, Frame, GraderError, MissingAttribute, StudentRaised


def overlap(candidate, reference):
    """The key: the share of the candidate's tokens that the reference has, each counted as often as it is there."""
    left = list(reference)
    hits = 0
    for token in candidate:
        if token in left:
            left.remove(token)
            hits += 1
    return hits / len(candidate) if candidate else 0.0


def unclipped(candidate, reference):
    return sum(t in reference for t in candidate) / len(candidate) if candidate else 0.0


def asked(student, key=overlap, **how):
    agree_on(student, key, ready.token_lists(), ready.token_lists(), **how)


class Counting:
    def __init__(self, function):
        self.function, self.calls, self.__name__ = function, 0, "overlap"

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)


def test_a_trial_of_a_mistake_takes_the_first_counter_example():
    calls = {}
    for on in (True, False):
        student = Counting(unclipped)
        with shrinking(on=on), pytest.raises(Disagreement):
            asked(student, examples=30)
        calls[on] = student.calls
    assert calls[False] <= 30 < calls[True]


def test_a_right_answer_costs_one_call_per_example():
    student = Counting(overlap)
    asked(student, examples=30)
    assert 20 <= student.calls <= 30


def test_the_smallest_counter_example_is_shown():
    with pytest.raises(Disagreement) as raised:
        asked(Counting(unclipped))
    assert str(raised.value).startswith("overlap(['a', 'a'], ['a']) gave 1, expected 0.5.")


def test_the_message_is_the_same_every_time():
    messages = set()
    for _ in range(3):
        random.seed(os.urandom(8))
        with pytest.raises(Disagreement) as raised:
            asked(unclipped)
        messages.add(str(raised.value))
    assert len(messages) == 1


def test_random_state_is_left_alone():
    random.seed(7)
    np.random.seed(7)
    wanted = random.random(), np.random.random()
    random.seed(7)
    np.random.seed(7)
    with pytest.raises(Disagreement):
        asked(unclipped)
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
def test_nothing_is_written(tmp_path):
    """Neither examples, constants nor Unicode tables: a grader may run where nothing can be written."""
    paths = [str(Path(viva.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", WRITES_NOTHING]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    # The second line is what hypothesis writes when left alone: the table was asked for, and the folder can be made.
    assert ran.stdout.splitlines() == ["disagreed []", "['.hypothesis']"]


def test_examples_do_not_depend_on_what_is_imported(tmp_path, monkeypatch):
    """Hypothesis would draw constants from the source of other modules."""
    monkeypatch.setattr(providers, "_get_local_constants", FINDER)
    strategy = [st.integers()]
    before = kept._draw(strategy, 100)
    module = tmp_path / "somebodys_grader.py"
    module.write_text("MAGIC = [" + ", ".join(str(10**9 + 7 * i) for i in range(500)) + "]\n")
    monkeypatch.syspath_prepend(tmp_path)
    import somebodys_grader

    assert somebodys_grader.MAGIC[0] == 10**9
    assert kept._draw([st.integers()], 100) == before


def test_a_known_mistake_is_named_when_it_explains_every_example():
    hints = {
        "the counts are not clipped": unclipped,
        "always one": lambda candidate, reference: 1.0,  # right for the smallest example, not for the others
    }
    with pytest.raises(Disagreement) as raised:
        asked(Counting(unclipped), hints=hints)
    assert raised.value.hint == "the counts are not clipped"
    assert "always one" not in str(raised.value)


def test_a_hint_that_raises_is_noted_for_the_author():
    hints = {"division": lambda candidate, reference: 1 / 0, "the counts are not clipped": unclipped}
    with pytest.raises(Disagreement) as raised:
        asked(unclipped, hints=hints)
    assert raised.value.hint == "the counts are not clipped"
    assert any("ZeroDivisionError" in note for note in raised.value.__notes__)


def test_an_exception_is_a_counter_example():
    def student(candidate, reference):
        if not candidate:
            raise StudentRaised("ZeroDivisionError", "division by zero", [Frame("solution.py", 12, "f", "x / 0")])
        return overlap(candidate, reference)

    with pytest.raises(Disagreement, match=r"your function|student") as raised:
        asked(student)
    message = str(raised.value)
    assert "([], []) raised ZeroDivisionError: division by zero (solution.py, line 12); expected 0." in message


def test_the_text_of_an_exception_is_made_safe():
    def student(candidate, reference):
        raise StudentRaised("Error", "\x1b[31m\u202e" + "x\n" * 5000, [Frame("a\x07.py", 1, "f", "")])

    with pytest.raises(Disagreement) as raised:
        asked(student)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize("error", [BoxDied("memory limit"), BoxTimeout("10 s"), GraderError("ours")])
@pytest.mark.parametrize("at", [0, 3, 40])
def test_the_end_of_a_box_ends_the_search(error, at):
    """At the first question, later, and in the middle of shrinking."""
    calls = 0

    def student(candidate, reference):
        nonlocal calls
        calls += 1
        if calls > at:
            raise error
        return overlap(candidate, reference) if at < 20 else unclipped(candidate, reference)

    with pytest.raises(type(error)) as raised:
        asked(student)
    assert raised.value is error
    assert calls == at + 1


def test_a_time_out_is_not_repeated():
    """Every further call of a function that hangs would cost its whole time limit."""
    calls = []

    def student(candidate, reference):
        calls.append(candidate)
        raise StudentRaised("SoftTimeout", "", limit="time")

    with pytest.raises(StudentRaised):
        asked(student)
    assert len(calls) == 1


def test_what_a_library_lacks_is_told_beside_the_example():
    def student(candidate, reference):
        missing = MissingAttribute("numpy", "2.4.0", "product")
        raise StudentRaised("AttributeError", "no product", [Frame("a.py", 3, "f", "x")], missing_attribute=missing)

    with pytest.raises(Disagreement, match=r"\(a\.py, line 3; graded with numpy 2\.4\.0, which has no `product`\)"):
        asked(student)


def test_memory_is_not_exhausted_twice():
    def student(candidate, reference):
        if candidate:
            raise StudentRaised("MemoryError", "", limit="memory")
        return 0.0

    counting = Counting(student)
    with pytest.raises(Disagreement, match="MemoryError"):
        asked(counting)
    assert counting.calls < 5


def test_a_function_that_is_never_the_same_twice_is_still_answered():
    chance = random.Random(1)
    with pytest.raises(Disagreement):
        asked(lambda candidate, reference: chance.random())


def test_shrinking_is_bounded():
    counting = Counting(lambda rows: float(rows.sum()) + 1)
    with pytest.raises(Disagreement):
        agree_on(counting, lambda rows: float(rows.sum()), ready.matrices((1, 30), (1, 30)), examples=20)
    assert counting.calls <= 20 + 20 + search.SEARCH_CALLS + 1


def test_a_slow_function_is_not_shrunk_for_long(monkeypatch):
    now = iter(range(10_000))
    monkeypatch.setattr(search.time, "monotonic", lambda: float(next(now)))
    counting = Counting(unclipped)
    with pytest.raises(Disagreement):
        asked(counting)
    assert counting.calls < 60


def test_the_students_function_cannot_change_the_examples():
    def student(candidate, reference):
        result = overlap(candidate, reference)
        candidate.clear()
        reference.append("x")
        return result

    asked(student, examples=25)
    asked(overlap, examples=25)


def test_missing_return_is_named():
    with pytest.raises(Disagreement, match=r"gave None, expected 0\. Is a `return` missing\?"):
        asked(lambda candidate, reference: None)


def test_arrays_are_described_not_printed():
    with pytest.raises(Disagreement) as raised:
        agree_on(lambda m: m.T, lambda m: m, ready.matrices((2, 4), (2, 4)))
    assert "shape" in str(raised.value) or "differs" in str(raised.value) or "[[" in str(raised.value)
    assert len(str(raised.value)) < 600


def test_up_to_and_tolerances_are_passed_on():
    agree_on(lambda t: t[::-1], lambda t: t, ready.token_lists(), up_to="order")
    agree_on(lambda n: n + 0.4, lambda n: n, ready.lengths(), atol=0.5)
    with pytest.raises(Disagreement):
        agree_on(lambda n: n + 0.6, lambda n: n, ready.lengths(), atol=0.5)


def test_authors_mistakes_are_not_the_students():
    with pytest.raises(ValueError, match="at least one strategy"):
        agree_on(overlap, overlap)
    with pytest.raises(ValueError, match="at least one example"):
        asked(overlap, examples=0)
    with pytest.raises(ValueError, match="not a function"):
        asked(overlap, hints={"a number": 3})
    with pytest.raises(ValueError, match="up_to"):
        asked(overlap, up_to="direction")
    with pytest.raises(GraderError, match="the key raised ZeroDivisionError"):
        agree_on(lambda n: 0, lambda n: 1 // n, ready.lengths())
    with pytest.raises(GraderError, match="strategies"):
        agree_on(lambda n: 0, lambda n: 0, ready.lengths().filter(lambda n: False))


def test_a_key_that_knows_only_the_examples_suffices():
    """In a bundle for students the key answers from a record; shrinking then stays among what was recorded."""
    recorded = {}

    def live(n):
        recorded[n] = n * n
        return n * n

    agree_on(lambda n: n * n, live, ready.lengths(0, 1000), examples=20)

    def replayed(n):
        if n not in recorded:
            raise GraderError("not recorded")
        return recorded[n]

    with pytest.raises(Disagreement, match="expected"):
        agree_on(lambda n: n * n + (n > 9), replayed, ready.lengths(0, 1000), examples=20)


def positive_root(n):
    if n < 0:
        raise ValueError("below zero")
    return n**0.5


def test_what_an_exception_of_the_key_means():
    asked_about = []

    def student(n):
        asked_about.append(n)
        return n**0.5 if n >= 0 else "none"

    agree_on(student, positive_root, st.integers(-9, 9), errors="skip")
    assert min(asked_about) == 0
    with pytest.raises(Disagreement, match=r"gave 'none', expected an exception \(ValueError\)"):
        agree_on(student, positive_root, st.integers(-9, 9), errors="expect")
    agree_on(raising, positive_root, st.integers(-9, 9), errors="expect")
    with pytest.raises(Disagreement, match="raised"):
        agree_on(always_raising, positive_root, st.integers(-9, 9), errors="expect")
    for errors in ("skip", "expect"):
        with pytest.raises(GraderError, match="answers none of the examples"):
            agree_on(raising, positive_root, st.integers(-9, -1), errors=errors)


def raising(n):
    """As a box does: any exception of the student's is as good."""
    if n < 0:
        raise StudentRaised("KeyError", "other")
    return n**0.5


def always_raising(n):
    raise StudentRaised("KeyError", "other")


@settings(suppress_health_check=list(HealthCheck))
@given(st.data())
def test_ready_strategies_give_what_they_promise(data):
    tokens = data.draw(ready.token_lists("xyz", 1, 4))
    assert 1 <= len(tokens) <= 4 and set(tokens) <= set("xyz")
    references = data.draw(ready.reference_lists(most=2))
    assert 1 <= len(references) <= 2 and all(references)
    ids = data.draw(ready.id_lists(5))
    assert all(1 <= i <= 5 for i in ids)
    matrix = data.draw(ready.matrices(2, (1, 3)))
    assert matrix.shape[0] == 2 and 1 <= matrix.shape[1] <= 3 and np.abs(matrix).max() <= 3
    rows = data.draw(ready.probability_rows())
    assert np.allclose(rows.sum(axis=1), 1) and (rows >= 0).all()
    assert 2 <= data.draw(ready.lengths(2, 4)) <= 4


def test_ready_strategies_refuse_what_cannot_be():
    with pytest.raises(ValueError, match="vocabulary"):
        ready.token_lists([])
    with pytest.raises(ValueError, match="smaller one first"):
        ready.lengths(3, 2)


class TestOtherArguments:
    """The hidden repetition of a test, whose examples follow from the course's secret."""

    @staticmethod
    def asked_by(test, seed):
        asked = []

        def student(n):
            asked.append(n)
            return n

        test(student=student, rng=np.random.default_rng(seed))
        return asked

    def test_the_examples_follow_from_the_generator_and_differ_from_the_visible_ones(self):
        def test_f(student):
            """The number is returned."""
            agree_on(student, lambda n: n, st.integers(0, 10**9))

        test_f.__weight__ = 2
        again = with_other_arguments(test_f)
        visible = []
        test_f(lambda n: visible.append(n) or n)
        first, second, same = (self.asked_by(again, seed) for seed in (1, 2, 1))
        assert first == same != second and len(set(visible) & set(first)) < len(visible) / 2
        assert list(inspect.signature(again).parameters) == ["student", "rng"]
        assert (again.__name__, again.__weight__, again.__visibility__) == ("test_f_again", 2, "hidden")
        assert not hasattr(test_f, "__visibility__")
        after = []
        test_f(lambda n: after.append(n) or n)
        assert after == visible

    def test_arguments_on_which_the_key_raises_are_not_asked(self):
        def test_f(student):
            agree_on(student, lambda n: n + 0 // (n - 3), st.integers(0, 9))

        with pytest.raises(GraderError):
            test_f(lambda n: n)
        asked = self.asked_by(with_other_arguments(test_f), 1)
        assert asked and 3 not in asked

    def test_it_takes_a_function(self):
        with pytest.raises(TypeError, match="expected a test function"):
            with_other_arguments("test_f")
