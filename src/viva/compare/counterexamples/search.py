"""`agree_on` searches for arguments on which the student's function and the key's disagree, and shows the smallest.

A right answer costs one call for each example. Only when one of them disagrees does hypothesis search and shrink,
within a budget of calls and seconds.
"""

import copy
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final, final

from viva.compare.agree import difference, disagreement
from viva.compare.context import Context
from viva.compare.counterexamples.examples import (
    Errors,
    Example,
    NotAsked,
    Raised,
    ask_key,
    examples_for,
    only_from_strategies,
    quiet_settings,
    seed_of_examples,
)
from viva.compare.counterexamples.kinds_of_input import share_of_kinds
from viva.compare.counterexamples.shrinking import shrinks
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hint_evidence import MIN_EXPLAINED, is_second_look, is_telling
from viva.compare.hint_recording import hints_of_function
from viva.compare.hints import matching_hints
from viva.compare.normalize import plain
from viva.compare.show import as_written, show, show_two
from viva.model.errors import GraderError, StudentRaised
from viva.proxies.proxies import Caller

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SEARCH_CALLS: Final = 400
"""Calls of the student's function that shrinking may cost."""
SEARCH_S: Final = 3.0
"""Seconds after which shrinking stops."""
EVIDENCE: Final = 30
"""Examples besides the smallest on which a common mistake must give the student's answers."""
_SHORT: Final = 60
_RAISED: Final = 300


def agree_on(  # noqa: PLR0913  # the options of one comparison, each by its name
    student: Callable[..., object],
    key: Callable[..., object],
    *strategies: "SearchStrategy[object]",
    examples: int = 50,
    hints: Mapping[str, Callable[..., object]] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    up_to: str | Collection[str] = (),
    errors: Errors = "fault",
    partial_credit: bool = False,
) -> None:
    """Pass if both functions agree on every example that is drawn from the strategies, one strategy per argument.

    Args:
        student: the student's function, `student.f`, or the author's function that calls it.
        key: the key's function of the same arguments.
        strategies: hypothesis strategies, `viva.grading.strategies` has some; the same ones give the same examples.
        examples: how many examples are asked at most.
        hints: known mistakes: what to call them, and a function of the same arguments that makes the mistake.
        rtol: as in `agree`.
        atol: as in `agree`.
        up_to: as in `agree`.
        errors: what an exception of the key means: "fault", the author has to look; "skip", such arguments are not
            asked; "expect", the student's function has to raise too, whatever it raises.
        partial_credit: give the share of the kinds of inputs that are all answered right: ordinary ones, empty ones,
            and those with missing values (None or NaN), as far as the strategies give them.

    Raises:
        Disagreement: with the smallest counter-example that was found.
        StudentRaised: the student's function ran out of time; any other exception in the student's code is a
            counter-example.
        BoxError: the box ended; the search ends with it.
        GraderError: the key raised, or the strategies give nothing.
        ValueError: the author passed a wrong argument.
    """
    context = Context.of(rtol, atol, up_to)
    if not strategies or examples < 1:
        raise ValueError("agree_on: expected at least one strategy after the two functions, and at least one example.")
    if wrong := [name for name, hint in (hints or {}).items() if not callable(hint)]:
        raise ValueError(
            f"agree_on: the hint {wrong[0]!r} is not a function of the arguments of the student's function."
        )
    student_function = _StudentFunction(student, context)
    known = examples_for(strategies, key, examples, errors)
    hints = hints_of_function(hints, [example.arguments for example in known])
    if is_second_look():  # evidence for the hints of this comparison comes from many examples anyway
        return
    for position, example in enumerate(known):
        found = student_function.about(example)
        if found is not None:
            evidence = _Evidence(student_function, known[:position], [found])
            if hints:
                evidence.gather(known[position + 1 :])
            smallest = found
            if position and shrinks():  # the first example is the simplest one that the strategies draw
                smallest = _search(student_function, partial(ask_key, key, errors=errors), strategies, examples, found)
            if student_function.unanswered:  # by a recorded key, which knows only these examples
                evidence.gather(known[position + 1 :])
                smallest = min([smallest, *evidence.wrong], key=_size)
            share = None
            if partial_credit:
                share = share_of_kinds(known, lambda example: student_function.about(example) is None)
            raise _sentence(student_function, smallest, evidence, hints, share)


@final
@dataclass(frozen=True, slots=True)
class CounterExample:
    """One example on which the two functions disagree."""

    example: Example
    answer: object
    raised: StudentRaised | None
    found: Difference | None

    @property
    def can_shrink(self) -> bool:
        """Return False where every further call could cost as much as the limit that was reached."""
        return self.raised is None or self.raised.limit not in ("memory", "time")


class _StudentFunction:
    """Calls the student's function and compares; counts the calls."""

    def __init__(self, student: Callable[..., object], context: Context) -> None:
        self._student = student
        self._copies = not isinstance(student, Caller)
        self._context = context
        self.calls = 0
        self.unanswered = 0
        """Examples that the key could not answer."""
        self.name = getattr(student, "__name__", "your function")
        if not self.name.replace(".", "_").isidentifier():
            self.name = "your function"

    def about(self, example: Example) -> CounterExample | None:
        """Return the counter-example, or None if the student's answer agrees with the expected one."""
        self.calls += 1
        # A box receives a copy; a function in this process could change its arguments, which are stored.
        arguments = copy.deepcopy(example.arguments) if self._copies else example.arguments
        try:
            answer = self._student(*arguments)
        except StudentRaised as error:
            if error.limit == "time":
                raise
            return None if isinstance(example.expected, Raised) else CounterExample(example, None, error, None)
        if isinstance(example.expected, Raised):
            return CounterExample(example, answer, None, None)
        found = difference(answer, example.expected, self._context)
        return None if found is None else CounterExample(example, answer, None, found)

    def agrees(self, answer: object, expected: object) -> bool:
        """Return whether an answer agrees with what a common mistake gives."""
        return difference(answer, expected, self._context) is None


class _Enough(BaseException):
    """Ends a search from inside; hypothesis does not catch it."""


class _Wrong(Exception):
    """Tells hypothesis that an example is a counter-example."""


class _Evidence:
    """What is known about the student's function, used to find which mistake it makes."""

    def __init__(
        self, student_function: _StudentFunction, right: Sequence[Example], wrong: list[CounterExample]
    ) -> None:
        self._student_function, self.right, self.wrong = student_function, list(right[-EVIDENCE:]), wrong

    def gather(self, rest: Sequence[Example]) -> None:
        """Try a few more examples."""
        for example in rest[:EVIDENCE]:
            counter = self._student_function.about(example)
            if counter is None:
                self.right.append(example)
            elif not counter.can_shrink:
                return
            else:
                self.wrong.append(counter)

    def shows(self, mistake: Callable[..., object]) -> bool:
        """Return whether the student's function does on every example what the mistake does."""
        answers = [(c.example, c.answer) for c in self.wrong if c.raised is None]
        different = {repr(example.arguments) for example, _ in answers}
        if len(different) < MIN_EXPLAINED and not any(is_telling(plain(answer)) for _, answer in answers):
            return False
        agrees = all(
            self._student_function.agrees(answer, _mistaken_answer(mistake, example)) for example, answer in answers
        )
        return agrees and all(self._agrees_where_right(mistake, example) for example in self.right)

    def _agrees_where_right(self, mistake: Callable[..., object], example: Example) -> bool:
        if isinstance(example.expected, Raised):
            return True
        try:
            return self._student_function.agrees(example.expected, _mistaken_answer(mistake, example))
        except ArithmeticError:  # the author's version of a mistake need not work everywhere
            return True


def _mistaken_answer(mistake: Callable[..., object], example: Example) -> object:
    return mistake(*copy.deepcopy(example.arguments))


def _search(
    student_function: _StudentFunction,
    expected: Callable[[tuple[object, ...]], object],
    strategies: Sequence["SearchStrategy[object]"],
    examples: int,
    start: CounterExample,
) -> CounterExample:
    """Return the smallest counter-example that hypothesis finds; `start` if it finds none.

    Args:
        student_function: asked about the arguments that are drawn.
        expected: returns the expected answer.
        strategies: what the arguments are drawn from.
        examples: how many were drawn before.
        start: the counter-example that was found among them.
    """
    if not start.can_shrink:
        return start
    from hypothesis import given, seed
    from hypothesis.strategies import tuples

    best = start
    problem: Exception | None = None
    calls_end, time_end = student_function.calls + examples + SEARCH_CALLS, time.monotonic() + SEARCH_S

    @quiet_settings(examples, shrink=True)
    @seed(seed_of_examples())
    @given(tuples(*strategies))
    def ask(arguments: tuple[object, ...]) -> None:
        nonlocal best, problem
        if student_function.calls >= calls_end or time.monotonic() > time_end:
            raise _Enough
        try:
            example = Example(arguments, expected(copy.deepcopy(arguments)))
        except NotAsked:
            return
        except GraderError:  # a recorded key knows only the examples
            student_function.unanswered += 1
            return
        try:
            counter = student_function.about(example)
        except Exception as error:  # the box ended, which is no counter-example
            problem = error
            raise _Enough from None
        if counter is not None:
            best = counter
            raise _Wrong

    try:
        with only_from_strategies():
            ask()
    except (_Enough, Exception):
        # The last counter-example is the smallest: shrinking only tries smaller ones. Hypothesis raises an error of its
        # own for functions that are not the same twice; the first counter-example is valid in any case.
        if problem is not None:
            raise problem from None
    return best


def _size(counter: CounterExample) -> int:
    """Return how much a student has to read."""
    return len(repr(counter.example.arguments))


def _sentence(
    student_function: _StudentFunction,
    smallest: CounterExample,
    evidence: _Evidence,
    hints: Mapping[str, Callable[..., object]] | None,
    share: Fraction | None,
) -> Disagreement:
    arguments = smallest.example.arguments
    call = f"{student_function.name}({', '.join(show(a) for a in arguments)})"
    if smallest.raised is not None:
        raised, expected = as_written(str(smallest.raised), _RAISED), show(smallest.example.expected)
        text = f"{call} raised {raised}{_where_raised(smallest.raised)}; expected {expected}."
        return Disagreement(text, actual=raised, expected=expected, share=share)
    evidence.wrong.append(smallest)
    named, notes = matching_hints({name: partial(evidence.shows, hint) for name, hint in (hints or {}).items()}, bool)
    return disagreement(_difference_of_call(call, smallest), "", named, notes, share=share)


def _difference_of_call(call: str, counter: CounterExample) -> Difference:
    """Return the difference as a call: "bleu(['a'], [['b']]) gave 1.0, expected 0.0."."""
    found, expected = counter.found, counter.example.expected
    if isinstance(expected, Raised):
        seen = show(counter.answer)
        return Difference(f"{call} gave {seen}, expected an exception ({expected.kind}).", "", seen, expected.kind)
    assert found is not None
    seen, wanted = show_two(counter.answer, expected)
    if max(len(seen), len(wanted)) <= _SHORT and seen != wanted:
        text = f"gave {seen}, expected {wanted}."
    else:
        text = f"gave a wrong answer. {found.sentence('the answer')}"
    return Difference(f"{call} {text}", "", found.actual, found.expected, found.advice)


def _where_raised(raised: StudentRaised) -> str:
    """Return where the student's code raised, and with which library, if that is known."""
    details = [f"{as_written(frame.file)}, line {frame.line}" for frame in raised.frames[-1:]]
    if (missing := raised.missing_attribute) is not None:
        details.append(f"graded with {as_written(missing.where)}, which has no `{as_written(missing.name)}`")
    return f" ({'; '.join(details)})" if details else ""
