"""Stated accuracies: an accuracy on n rows is k/n for a whole k, and what that says about the run behind it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from viva.compare.answers.number import read_number
from viva.compare.answers.unreadable import Unreadable
from viva.plugins.training.audits.finding import Finding, begin, show

SINGLE_PRECISION: Final = Fraction(1, 10**7)
"""An accuracy that went through float32 is k/n up to this much."""
ROUNDED: Final = Fraction(1, 1000)
"""An accuracy with fewer than three decimals is not reported to equal another one."""
SIGMAS: Final = 3

Runs = Mapping[str, Mapping[str, object]]
"""By a label such as "run 2", what was reported."""


def audit_accuracy(
    value: object, n: int, *, majority: Fraction | None = None, small: int = 10, name: str = "the accuracy"
) -> list[Finding]:
    """Return what a stated accuracy on n rows says about its run.

    Args:
        value: a number between 0 and 1, a percentage or a fraction, as a number or as text.
        n: how many rows it was measured on.
        majority: the share of the largest class, such as Fraction(2033, 3270): what a constant answer gets.
        small: the rows of a small subset on which programs are tried out; a multiple of 1/small is pointed out.
        name: what the sentences call the value.

    Returns:
        Findings of kind "unreadable" (alone), "count" (which k/n it is), "few_digits" (any k could be meant),
        "no_count" (no k fits), "small_subset", "majority" or "not_above_majority" (by less than three standard
        deviations of an accuracy on n rows).
    """
    try:
        accuracy = read_accuracy(value)
    except ValueError as why:
        return [Finding("unreadable", f"{begin(name)} {why}.")]
    findings = [_count(accuracy, n, name)]
    if n != small and 0 < accuracy < 1 and (accuracy * small).denominator == 1:
        findings.append(_small_subset(accuracy, n, small, name))
    if majority is not None:
        findings += _against_majority(accuracy, n, majority, name)
    return findings


def audit_runs(
    runs: Runs,
    sizes: Mapping[str, int],
    *,
    majority: Mapping[str, Fraction] | None = None,
    by: str = "dev",
) -> list[Finding]:
    """Audit every stated accuracy of several runs, then compare the runs.

    Args:
        runs: by a label such as "run 2", what was reported: hyper-parameters, and an accuracy per split.
        sizes: the rows of each split, such as {"dev": 3270, "test": 1427}.
        majority: the share of the largest class in each split, where it is known.
        by: the split on which the best run is chosen.

    Returns:
        The findings of `audit_accuracy`, "missing" for a split that a run does not state, "same_splits" where one run
        has one number for two splits, "repeated" where runs share a number, "tie" where several are best, and
        "none_learned" where no run lies clearly above the majority class.
    """
    majority = majority or {}
    findings = []
    for label, run in runs.items():
        for split, n in sizes.items():
            name = f"{label}: {split} accuracy"
            if run.get(split) is None:
                findings.append(Finding("missing", f"{begin(name)} is not stated."))
            else:
                findings += audit_accuracy(run[split], n, majority=majority.get(split), name=name)
    for split in sizes:
        findings += _repeated(_column(runs, split), split)
    findings += _same_splits(runs, list(sizes))
    chosen = _column(runs, by)
    if len(chosen) > 1:
        findings += _best(chosen, by)
    if by in majority and len(chosen) > 1:
        findings += _none_learned(chosen, sizes[by], majority[by], by)
    return findings


def audit_grid(runs: Runs, grid: Mapping[str, Sequence[object]]) -> list[Finding]:
    """Compare the settings of the runs with those that were asked for: all combinations of the grid's values.

    Returns:
        Findings of kind "not_reported" and "not_asked".
    """
    wanted: list[dict[str, Fraction]] = [{}]
    for name, values in grid.items():
        wanted = [{**setting, name: _number(value)} for setting in wanted for value in values]
    reported = {label: {name: _number_or_none(run.get(name)) for name in grid} for label, run in runs.items()}
    findings = [
        Finding("not_reported", f"No run has {_setting(setting)}, which was asked for.")
        for setting in wanted
        if setting not in reported.values()
    ]
    return findings + [
        Finding("not_asked", f"{begin(label)} has {_setting(setting)}, which is not in the grid that was asked for.")
        for label, setting in reported.items()
        if setting not in wanted
    ]


def right_answers(value: object, n: int) -> int | None:
    """Return the k for which a stated accuracy is k/n, to the digits given; None if there is none or no unique one."""
    try:
        accuracy = read_accuracy(value)
    except ValueError:
        return None
    k, unit = round(accuracy * n), unit_of(accuracy)
    distance = abs(Fraction(k, n) - accuracy)
    return k if distance <= SINGLE_PRECISION or (distance <= unit and 2 * unit < Fraction(1, n)) else None


def read_accuracy(value: object) -> Fraction:
    """Return a stated accuracy as an exact number between 0 and 1; 71.04 and "71.04 %" are 0.7104.

    Raises:
        ValueError: it is not an accuracy; the message continues after the accuracy's name.
    """
    try:
        accuracy = read_number(value)[0]
    except Unreadable as why:
        raise ValueError(f"cannot be read: {why}") from None
    if 1 < accuracy <= 100:
        accuracy /= 100
    if not 0 <= accuracy <= 1:
        raise ValueError(f"is {show(accuracy)}, no share between 0 and 1")
    return accuracy


def _count(accuracy: Fraction, n: int, name: str) -> Finding:
    if (k := right_answers(accuracy, n)) is not None:
        return Finding("count", f"{begin(name)} {show(accuracy)} = {k}/{n}, to the digits given.")
    if 2 * unit_of(accuracy) >= Fraction(1, n):
        about = f"about {round(accuracy * n)}"
        return Finding(
            "few_digits", f"{begin(name)} {show(accuracy)} has too few digits to tell which k/{n} it is ({about})."
        )
    below = math.floor(accuracy * n)
    text = (
        f"{begin(name)} {show(accuracy)} is not a k/{n}: {show(accuracy)} · {n} = {show(accuracy * n)}, and the "
        f"nearest are {below}/{n} = {show(Fraction(below, n))} and {below + 1}/{n} = {show(Fraction(below + 1, n))}."
    )
    return Finding("no_count", text)


def _small_subset(accuracy: Fraction, n: int, small: int, name: str) -> Finding:
    rows = accuracy * n
    on_all = f"{show(accuracy)} · {n} = {show(rows)} is {'a' if rows.denominator == 1 else 'no'} whole number"
    text = f"{begin(name)} {show(accuracy)} = {accuracy * small}/{small}: measured on {small} rows only? ({on_all})"
    return Finding("small_subset", text)


def _against_majority(accuracy: Fraction, n: int, majority: Fraction, name: str) -> list[Finding]:
    k, bound = majority * n, _learned(majority, n)
    if k.denominator == 1 and abs(accuracy - majority) <= max(unit_of(accuracy), SINGLE_PRECISION) <= ROUNDED:
        text = f"{begin(name)} {show(accuracy)} = {k}/{n}: the majority class, one answer for every row."
        return [Finding("majority", text)]
    if accuracy < bound:
        text = (
            f"{begin(name)} {show(accuracy)} is below {show(bound)}, the majority class plus {SIGMAS} standard "
            f"deviations of {n} rows: no sign of learning."
        )
        return [Finding("not_above_majority", text)]
    return []


def _same_splits(runs: Runs, splits: list[str]) -> Iterator[Finding]:
    for label, run in runs.items():
        read = {s: a for s in splits if (a := _accuracy_or_none(run.get(s))) is not None}
        if len(read) > 1 and len(set(read.values())) == 1:
            names, value = " and ".join(read), show(next(iter(read.values())))
            text = f"{begin(label)}: {names} have the same accuracy {value}: were they the same rows?"
            yield Finding("same_splits", text)


def _repeated(column: Mapping[str, Fraction], split: str) -> Iterator[Finding]:
    for value in dict.fromkeys(column.values()):
        labels = [label for label, accuracy in column.items() if accuracy == value]
        if len(labels) > 1:
            together = f"{begin(', '.join(labels))} have the same {split} accuracy {show(value)}"
            text = f"{together}: one constant answer, or a copied number?"
            yield Finding("repeated", text)


def _best(column: Mapping[str, Fraction], by: str) -> Iterator[Finding]:
    highest = max(column.values())
    tied = [label for label, accuracy in column.items() if accuracy == highest]
    if len(tied) > 1:
        text = f"{begin(', '.join(tied))} tie for the best {by} accuracy, {show(highest)}: no setting is the best one."
        yield Finding("tie", text)


def _none_learned(column: Mapping[str, Fraction], n: int, majority: Fraction, by: str) -> Iterator[Finding]:
    bound = _learned(majority, n)
    if all(accuracy < bound for accuracy in column.values()):
        text = (
            f"No {by} accuracy reaches {show(bound)} = {show(majority)} + {SIGMAS} · "
            f"√({show(majority)} · {show(1 - majority)} / {n}): which setting is best cannot be told."
        )
        yield Finding("none_learned", text)


def _learned(majority: Fraction, n: int) -> Fraction:
    """Return the majority class plus three standard deviations of an accuracy on n rows."""
    return majority + SIGMAS * Fraction(math.sqrt(majority * (1 - majority) / n))


def unit_of(accuracy: Fraction) -> Fraction:
    """Return one unit in the last written decimal: the most by which rounding or truncation can move the value."""
    return next((u for d in range(1, 8) if (accuracy / (u := Fraction(1, 10**d))).denominator == 1), SINGLE_PRECISION)


def _column(runs: Runs, split: str) -> dict[str, Fraction]:
    return {label: a for label, run in runs.items() if (a := _accuracy_or_none(run.get(split))) is not None}


def _accuracy_or_none(value: object) -> Fraction | None:
    try:
        return read_accuracy(value)
    except ValueError:
        return None


def _number(value: object) -> Fraction:
    return read_number(value)[0]


def _number_or_none(value: object) -> Fraction | None:
    try:
        return _number(value)
    except Unreadable:
        return None


def _setting(setting: Mapping[str, Fraction | None]) -> str:
    return ", ".join(f"{name} {'unstated' if value is None else show(value)}" for name, value in setting.items())
