"""Measured thresholds, stored with what right and wrong implementations reach.

A threshold lies at least 4.3 sample deviations from the mean of 20 right runs: the factor of the one-sided tolerance
interval that holds 99.9 % of a normal distribution with 95 % confidence, for n = 20 (the noncentral t distribution's
quantile t(.95; 19, z(.999)√20) / √20 = 4.32). From the mean of each wrong one it lies at least 3.3 deviations, the
99.95 % quantile of a normal distribution; the median of three seeds leaves less.

What right runs reach is not always normal: one in twenty may start badly. Then one of three runs is enough, and 100
right runs show that three miss it in less than one case in a thousand, with 95 % confidence.
"""

import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.model.errors import CourseError

RIGHT_RUNS: Final = 20
RIGHT_RUNS_IF_ONE_IS_ENOUGH: Final = 100
WRONG_RUNS: Final = 8
RIGHT_DEVIATIONS: Final = 4.3
WRONG_DEVIATIONS: Final = 3.3
DIRECTIONS: Final = ("at least", "at most")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A value that separates right from wrong implementations, with the runs that show it."""

    name: str
    """What is measured, as the student reads it: "the gap after one epoch"."""
    value: float
    direction: str
    """"at least" or "at most"."""
    right: tuple[float, ...]
    """What right implementations reached, one value for each seed."""
    wrong: Mapping[str, tuple[float, ...]]
    """The same for each wrong implementation that this threshold must detect."""
    script: str
    """What measured them, from the course's folder."""
    guess: str = ""
    """Why it is only a guess, a clause: "it was measured on a CPU alone". A person then decides what rests on it."""
    one_is_enough: bool = False
    """Whether the best of three runs decides; otherwise the first run decides, or the median of three."""

    def met_by(self, value: float) -> bool:
        """Return whether the value is on the right side; False for NaN."""
        return value >= self.value if self.direction == "at least" else value <= self.value

    @property
    def distances(self) -> dict[str, float]:
        """Return sample deviations from the threshold to the mean of the right runs ("right") and of each wrong one's.

        A distance is negative on the wrong side, and infinite where the runs do not differ.
        """
        sign = 1 if self.direction == "at least" else -1
        found = {}
        if self.right:
            found["right"] = _deviations(sign * (statistics.fmean(self.right) - self.value), self.right)
        for name, values in self.wrong.items():
            found[name] = _deviations(sign * (self.value - statistics.fmean(values)), values)
        return found

    def complaints(self) -> list[str]:
        """Return why this threshold is not meaningful, a sentence each; empty if it is, or says that it is a guess."""
        if self.guess:
            return []
        found = []
        right_runs = RIGHT_RUNS_IF_ONE_IS_ENOUGH if self.one_is_enough else RIGHT_RUNS
        runs = {"right": (self.right, right_runs), **{n: (v, WRONG_RUNS) for n, v in self.wrong.items()}}
        for name, distance in self.distances.items():
            values, least = runs[name]
            wanted = RIGHT_DEVIATIONS if name == "right" else WRONG_DEVIATIONS
            if len(values) < least:
                found.append(f"{self.name}: {name} has {len(values)} runs; expected at least {least}.")
            if name == "right" and self.one_is_enough:
                misses = sum(not self.met_by(value) for value in values)
                if share_at_most(misses, len(values)) ** 3 > 1e-3:
                    found.append(f"{self.name}: {misses} of {len(values)} right runs miss {self.value:g}: too many.")
            elif distance < wanted:
                found.append(
                    f"{self.name}: {self.value:g} is {distance:.2f} deviations from {name!r}; expected {wanted:g}."
                )
        return found


def share_at_most(count: int, of: int) -> float:
    """Return the upper end of the one-sided 95 % interval of Clopper and Pearson (1934) for a share.

    It is the share at which so few or fewer are found in 5 % of cases; 1 if `count` is `of`.
    """

    def probability(share: float) -> float:
        return sum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(count + 1))

    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if probability(middle) > 0.05 else (low, middle)
    return high


def thresholds(file: str) -> dict[str, Threshold]:
    """Return the thresholds of a file in the folder `thresholds` next to the calling grader, by name.

    Raises:
        CourseError: it is missing or not as `read_thresholds` expects it.
    """
    caller = Path(sys._getframe(1).f_globals["__file__"])
    return read_thresholds(caller.parent / "thresholds" / file)


def read_thresholds(path: Path) -> dict[str, Threshold]:
    """Read `{"script": …, "thresholds": {name: {"value", "direction", "right": […], "wrong": {name: […]}}}}`.

    A threshold that no one has measured has `"guess": "why"` instead of `right` and `wrong`; one for which the best of
    three runs decides has `"one_is_enough": true`.

    Raises:
        CourseError: it cannot be read, or something in it is not as expected; the message says what and where.
    """
    try:
        written = json.loads(path.read_text("utf-8"), parse_constant=lambda name: None)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CourseError(f"{path} is not valid JSON: {error}.") from None
    stated = written.get("thresholds") if isinstance(written, dict) else None
    if not isinstance(stated, dict) or not isinstance(written.get("script"), str):
        raise CourseError(f'{path}: expected {{"script": "…", "thresholds": {{name: {{…}}}}}}.')
    return {name: _threshold(path, name, entry, written["script"]) for name, entry in stated.items()}


def _threshold(path: Path, name: str, entry: object, script: str) -> Threshold:
    where = f"{path}: {name}"
    fields = entry if isinstance(entry, dict) else {}
    if fields.get("direction") not in DIRECTIONS:
        raise CourseError(f"{where}: direction is {fields.get('direction')!r}; expected {' or '.join(DIRECTIONS)}.")
    value = _values([fields.get("value")], f"{where}: value", least=1)[0]
    if "guess" in fields:
        why = fields["guess"]
        if not isinstance(why, str) or not why.strip() or "right" in fields or "wrong" in fields:
            raise CourseError(f"{where}: guess is {why!r}; expected a clause that says why, without right and wrong.")
        return Threshold(name, value, fields["direction"], (), {}, script, why.strip().rstrip("."))
    if not isinstance(one_is_enough := fields.get("one_is_enough", False), bool):
        raise CourseError(f"{where}: one_is_enough is {one_is_enough!r}; expected true or false.")
    wrong = fields.get("wrong")
    if not isinstance(wrong, dict) or not wrong:
        raise CourseError(f"{where}: expected wrong: {{name: [values]}} with at least one wrong implementation.")
    return Threshold(
        name=name,
        value=value,
        direction=fields["direction"],
        right=_values(fields.get("right"), f"{where}: right"),
        wrong={n: _values(values, f"{where}: wrong: {n}") for n, values in wrong.items()},
        script=script,
        one_is_enough=one_is_enough,
    )


def _values(written: object, where: str, *, least: int = 2) -> tuple[float, ...]:
    if not isinstance(written, list) or len(written) < least or not all(_is_number(value) for value in written):
        raise CourseError(f"{where} is {written!r}; expected {'a list of ' * (least > 1)}finite numbers.")
    return tuple(float(value) for value in written)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _deviations(distance: float, values: Sequence[float]) -> float:
    deviation = statistics.stdev(values)
    return distance / deviation if deviation else math.copysign(math.inf, distance)
