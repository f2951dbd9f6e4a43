"""How to draw numbers and texts like those that a notebook passes."""

import math
from collections.abc import Sequence
from typing import Final

from viva.plugins.authoring.solved.forms import Form, Forms, Slot, code

MOST_CHOICES: Final = 4
LARGEST: Final = 50
LARGE: Final = 10
"""Numbers are drawn from a small range as well where they reach so far."""
_SAMPLES: Final = 3
_LINES: Final = 5


class Undrawable(Exception):
    """A value that viva cannot draw; the text says what it is."""


def integers_form(values: Sequence[int], forms: Forms, *, alone: bool = False) -> Form:
    """Return how to draw integers; `alone` means that they are not elements of a list or an array."""
    low, high = min(values), max(values)
    if high > 10 * LARGEST:
        return [Slot([f"integers({low}, {high})"])]
    wide = max(high + 2, min(2 * high, LARGEST))
    options = [f"integers({low}, {high})", f"integers({low}, {wide})"]
    if low >= 1:
        options += [f"integers(1, {wide})", f"integers(0, {wide})"]
    if alone and low >= 0 and forms.refuses:
        options.append(f"integers(-2, {wide})")
    return [Slot(list(dict.fromkeys(options)))]


def floats_form(values: Sequence[float], name: str) -> Form:
    """Return how to draw numbers; `name` is the argument's.

    Raises:
        Undrawable: a number is not finite.
    """
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < len(values):
        raise Undrawable(f"`{name}` (numbers that are not finite)")
    low, high = min(finite), max(finite)
    if low >= 0 and high <= 1:
        inner = "numbers(0.1, 0.9)" if low > 0 and high < 1 else "numbers(0, 1)"
        return [Slot([inner, "numbers(0, 1)"] if low > 0 else [inner])]
    if low >= 0:
        top = math.ceil(max(high, 3))
        if top > LARGE:
            return [f"numbers(0, 3) | numbers(0, {top})"]
        return [Slot([f"numbers({'0.5' if low > 0 else 0}, {top})", f"numbers(0, {top})"])]
    bound = math.ceil(max(high, -low, 3))
    small = "numbers() | " if bound > LARGE else ""
    return [f"{small}numbers({-bound}, {bound})"]


def strings_form(values: Sequence[str], forms: Forms, name: str) -> Form:
    """Return how to draw texts: choices, words, sentences or lines; `name` is the argument's.

    Raises:
        Undrawable: all texts are empty.
    """
    different = sorted(set(values))
    if forms.vocabulary.issuperset(different):
        different = sorted(forms.drawn.intersection(different)) or sorted(forms.drawn)
    named = [value for value in different if value in forms.texts]
    if named and len(named) == len(different):
        most = max(MOST_CHOICES, len(forms.drawn))
        choices = sorted(forms.texts) if len(forms.texts) <= most else different
        return [Slot([f"sampled_from({code(different)})", f"sampled_from({code(choices)})"])]
    samples = ", ".join(map(code, sorted(different, key=len)[-_SAMPLES:]))
    if any("\n" in value.strip() for value in different):
        seen = dict.fromkeys(line for value in different for line in value.splitlines())
        return [f"lines({', '.join(map(code, list(seen)[:_LINES]))})"]
    if any(" " in value for value in different):
        low = 0 if "" in different else 1
        options = [f"texts({samples}, low={low})"] if low else [f"texts({samples})"]
        return [Slot([*options, *([f"texts({samples})"] if low else [])])]
    if not any(different):
        raise Undrawable(f"`{name}` (an empty text)")
    shown = ", ".join(map(code, [v for v in sorted(different, key=len) if v][-_SAMPLES:]))
    return [f"words({shown})"]
