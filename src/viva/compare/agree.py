"""`agree` compares the student's value with the key's: lenient about form, strict about value."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from viva.compare import hint_evidence
from viva.compare.common_mistakes import common_mistake
from viva.compare.containers import compare
from viva.compare.context import Context
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hint_recording import hints_of_answer
from viva.compare.hints import matching_hints, mistakes_sentence
from viva.compare.masks import find_convention
from viva.compare.normalize import plain
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
