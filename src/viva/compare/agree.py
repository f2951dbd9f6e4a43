"""`agree` compares the student's value with the key's: lenient about form, strict about value."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from viva.compare import hint_evidence
from viva.compare.arrays import compare_arrays
from viva.compare.containers import compare
from viva.compare.context import Context
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hint_recording import hints_of_answer
from viva.compare.hints import matching_hints, mistakes_sentence
from viva.compare.masks import VERY_NEGATIVE, find_convention
from viva.compare.normalize import Array, as_array, plain
from viva.compare.show import show
from viva.proxies.proxies import Handle, Remote

Hints = Mapping[str, object]


def agree(
    actual: object,
    expected: object,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    hints: Hints | None = None,
    name: str = "your answer",
    up_to: str | Collection[str] = (),
) -> None:
    """Pass if the two values agree; checks existence, type, shape, dtype kind, finiteness and closeness, in this order.

    Lists, tuples, arrays and tensors of numbers are interchangeable; so are Fraction, Decimal, float, numpy scalars and
    one-element arrays for a number, bool and 0/1, Counter and dict, a date and a datetime at midnight. A string that
    spells a number is not a number, shapes are never broadcast, and NaN agrees only with NaN.

    Args:
        actual: what the student's code returned, or a name or handle of the student's, whose value is fetched.
        expected: the key's value.
        rtol: a tolerance instead of the table's: |actual - expected| <= rtol * |expected| + atol.
        atol: see `rtol`.
        hints: known mistakes: what to call them, and the value that they lead to (or a function of no arguments that
            computes it, called only when the values disagree). A mistake is named only if it gives every answer of the
            test, and at least two wrong ones if they are as simple as 2; a second run of the test checks that.
        name: what the message calls the value.
        up_to: what does not count: "polarity" (convention of a mask), "sign", "order" (of the outermost list, or of the
            rows of a data frame), "spaces" (between the words of a text), "index" (of a data frame or series).

    Raises:
        Disagreement: they do not agree; the message is for the student.
        ValueError: the author passed a wrong argument.
        GraderError: the expected value has no plain form.
        BoxError, StudentRaised, MissingName: fetching the value of a name or handle failed.
    """
    context = Context.of(rtol, atol, up_to)
    hints = hints_of_answer(hints)
    if type(actual) is Remote or type(actual) is Handle:
        actual = actual.value()

    def equals(value: object) -> bool:
        return difference(actual, value, context) is None

    if hint_evidence.looked(hints, equals, expected):
        return
    found = difference(actual, expected, context)
    if found is None:
        hint_evidence.answer_agreed(hints, equals)
        return
    named, notes = matching_hints(hints, equals)
    is_telling = not named or hint_evidence.is_telling(plain(actual))
    raise disagreement(found, name, hint_evidence.not_refuted(named), notes, is_telling=is_telling)


def difference(actual: object, expected: object, context: Context) -> Difference | None:
    """Return the first difference between two values under the author's options; None if they agree."""
    actual = plain(actual)
    inner = replace(context, polarity=False)
    with np.errstate(over="ignore", invalid="ignore"):  # an answer may be too large for the expected dtype
        found = compare(actual, expected, inner)
        if found is None or not context.polarity:
            return found
        return compare(actual, expected, inner, find_convention(actual, expected))


def disagreement(
    found: Difference,
    name: str,
    named: list[str],
    notes: list[str],
    *,
    is_telling: bool = True,
    share: Fraction | None = None,
) -> Disagreement:
    """Return the exception with its message, which names a common mistake or a visible similarity of the values."""
    sentence = found.sentence(name)
    similar = " ".join(filter(None, [sentence, found.advice, common_mistake(found.actual, found.expected)]))
    error = Disagreement(
        sentence + mistakes_sentence(named) if named else similar,
        mistakes=tuple(named),
        naming=lambda fitting: sentence + mistakes_sentence(fitting) if fitting else similar,
        is_telling=is_telling,
        share=share,
        actual=show(found.actual),
        expected=show(found.expected),
    )
    for note in notes:
        error.add_note(note)
    return error


MIN_SIZE: Final = 4
MAX_SIZE: Final = 1_000_000
"""Elements of an array that is looked at."""
_CONTEXT: Final = Context()


def common_mistake(actual: object, expected: object) -> str:
    """Return one sentence about how the values are related; empty if none holds, or more than one does.

    A relation that fits two or three numbers may fit by chance, so it is told of four or more.
    """
    wanted = as_array(expected)
    if wanted is None or not MIN_SIZE <= wanted.size <= MAX_SIZE or not isinstance(actual, list | tuple | np.ndarray):
        return ""
    if len(actual) > wanted.size:  # an array of one item at least for each of these cannot have the expected size
        return ""
    given = as_array(actual)
    if given is None or given.size != wanted.size or "c" in (given.dtype.kind, wanted.dtype.kind):
        return ""
    with np.errstate(all="ignore"):
        fitting = [sentence for relation in _RELATIONS if (sentence := relation(given, wanted))]
        fitting = fitting or [_reordered(given, wanted)]  # which is true of most of the others as well
    return fitting[0] if len(fitting) == 1 else ""


def _transposed(actual: Array, expected: Array) -> str:
    if actual.ndim < 2 or not _same(np.swapaxes(actual, -1, -2), expected):
        return ""
    return "It is the expected one transposed: rows and columns are swapped."


def _reshaped(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape and _same(actual.reshape(expected.shape), expected):
        return "The values and their order are right; only the shape is not."
    return ""


def _swapped(actual: Array, expected: Array) -> str:
    binary = all(bool(np.all((a == 0) | (a == 1))) for a in (actual, expected))
    opposite = binary and bool(np.array_equal(actual != 1, expected == 1))
    return "Every element is the opposite of the expected one." if opposite else ""


def _additive(actual: Array, expected: Array) -> str:
    marks = bool(np.all((actual == 0) | (actual <= VERY_NEGATIVE))) and bool(np.any(actual <= VERY_NEGATIVE))
    if actual.dtype.kind != "b" and marks and bool(np.all((expected == 0) | (expected == 1))):
        return "It is an additive mask (0 and -inf) where one of 0 and 1 is asked."
    return ""


def _negated(actual: Array, expected: Array) -> str:
    return "Every element has the opposite sign." if actual.dtype.kind in "if" and _same(-actual, expected) else ""


def _reversed(actual: Array, expected: Array) -> str:
    return "It is the expected one in reverse order." if _same(actual[::-1], expected) else ""


def _other_axis(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape or expected.ndim < 2 or expected.dtype.kind != "f":
        return ""
    if not bool(np.allclose(expected.sum(-1), 1, atol=1e-5)):
        return ""
    if bool(np.allclose(actual.sum(-1), 1, atol=1e-4)):
        return ""
    if bool(np.allclose(actual.sum(-2), 1, atol=1e-4)):
        return "Its columns sum to 1 where its rows should: the softmax runs along the wrong axis."
    return ""


def _reordered(actual: Array, expected: Array) -> str:
    if actual.shape == expected.shape and _same(np.sort(actual, axis=None), np.sort(expected, axis=None)):
        return "It holds the right numbers in another order."
    return ""


def _same(actual: Array, expected: Array) -> bool:
    if actual.dtype.kind == "O":
        return bool(np.array_equal(actual, expected))
    return actual.shape == expected.shape and compare_arrays(actual, expected, _CONTEXT) is None


_RELATIONS: Final[tuple[Callable[[Array, Array], str], ...]] = (
    _transposed,
    _reshaped,
    _swapped,
    _negated,
    _reversed,
    _additive,
    _other_axis,
)
