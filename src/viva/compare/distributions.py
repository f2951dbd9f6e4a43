"""`agree_in_distribution` compares functions that draw at random: what they return in many calls, not in one.

Each answer is described by features: its length, its elements, their sum, how many differ, how many neighbours are
equal. Each feature is compared by the two-sample test of Kolmogorov and Smirnov, which assumes nothing about the
distribution. Source of its bound: Knuth, The Art of Computer Programming, volume 2, section 3.3.1 (K), for two samples.
"""

import contextlib
import itertools
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from viva.compare.agree import disagreement
from viva.compare.counterexamples.examples import generate_arguments
from viva.compare.disagreement import Difference
from viva.compare.show import show
from viva.model.errors import GraderError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FALSE_ALARMS: Final = 1e-6
"""How often a right function may be refused by chance, all features of all examples together."""
_ELEMENTS: Final = 8
Features = Mapping[str, object]


def agree_in_distribution(
    student: Any,
    key: Callable[..., object],
    *strategies: "SearchStrategy[object]",
    rng: np.random.Generator,
    examples: int = 3,
    draws: int = 1000,
) -> None:
    """Pass if both functions draw from the same distribution, for every example of their arguments.

    A right function fails once in a million times. Each feature of `draws` answers may differ by about
    4.3 / sqrt(`draws`) in the share of answers below any value: 0.14 for 1,000.

    Args:
        student: `student.f`.
        key: `key.f`.
        strategies: what the arguments are drawn from, as in `agree_on`.
        rng: the fixture of that name; the key's draws follow from it.
        examples: how many lists of arguments are tried.
        draws: how often each function is called with one of them.

    Raises:
        Disagreement: with the arguments and the feature that differs most.
        GraderError: the key raised, or the strategies give nothing.
        ValueError: the author passed a wrong argument.
    """
    if examples < 1 or draws < 2:
        raise ValueError("agree_in_distribution: expected at least one example and two draws.")
    for arguments in generate_arguments(strategies, examples):
        expected = _of_key(key, arguments, draws, rng)
        actual = student.each([arguments] * draws)
        found = _largest(_features(actual), _features(expected), examples)
        if found:
            name = getattr(student, "__name__", "your function")
            call = f"{name}({', '.join(show(argument) for argument in arguments)})"
            text = f"{call}, called {draws} times, draws from another distribution: {found}"
            raise disagreement(Difference(text, "", actual[0], expected[0], ""), "", [], [])


def _of_key(
    key: Callable[..., object], arguments: Sequence[object], draws: int, rng: np.random.Generator
) -> list[object]:
    try:
        with _seeded(int(rng.integers(2**32))):
            return [key(*arguments) for _ in range(draws)]
    except Exception as error:
        raise GraderError(f"agree_in_distribution: the key raised {type(error).__name__}: {error}.") from error


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Give the global generators a state, and restore theirs."""
    torch = sys.modules.get("torch")
    states = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch is not None else None
    random.seed(seed)
    np.random.seed(seed)
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch is not None:
            torch.set_rng_state(states[2])


def _features(answers: Sequence[object]) -> dict[str, list[object]]:
    """Return what is compared of all answers, by name; a feature that some answer lacks is None there."""
    described = [dict(_described(answer)) for answer in answers]
    names = dict.fromkeys(name for each in described for name in each)
    return {name: [each.get(name) for each in described] for name in names}


def _described(answer: object) -> Iterator[tuple[str, object]]:
    if not isinstance(answer, list | tuple | np.ndarray):
        yield "the answer", answer
        return
    items = np.asarray(answer).ravel().tolist() if _is_numeric(answer) else list(answer)
    yield "the number of elements", len(items)
    yield from ((f"element {place} (counted from 0)", item) for place, item in enumerate(items[:_ELEMENTS]))
    if _is_numeric(answer):
        yield "the sum", float(sum(items))
    texts = [repr(item) for item in items]
    yield "how many elements differ", len(set(texts))
    yield "how many neighbours are equal", sum(a == b for a, b in itertools.pairwise(texts))


def _is_numeric(answer: object) -> bool:
    with contextlib.suppress(ValueError):
        return np.asarray(answer).dtype.kind in "biuf"
    return False


def _largest(actual: Mapping[str, Sequence[object]], expected: Mapping[str, Sequence[object]], examples: int) -> str:
    """Return a sentence about the feature that differs most; empty if none differs more than chance explains."""
    names = list(dict.fromkeys([*expected, *actual]))
    found: dict[float, str] = defaultdict(str)
    for name in names:
        mine, other = actual.get(name), expected.get(name)
        if mine is None or other is None:
            return f"{name} is only there in {'the expected answers' if mine is None else 'yours'}."
        first, second = _comparable(mine, other)
        distance = statistic(first, second)
        if distance > bound(len(first), len(second), FALSE_ALARMS / (len(names) * examples)):
            found[distance] = f"{name} is {_typical(mine)}, expected {_typical(other)}."
    return found[max(found)] if found else ""


def _comparable(mine: Sequence[object], other: Sequence[object]) -> tuple[list[float], list[float]]:
    """Return both as numbers; anything but numbers becomes its place among all that was seen."""
    if all(isinstance(v, int | float | np.number) for v in (*mine, *other)):
        return [float(v) for v in mine], [float(v) for v in other]  # type: ignore[arg-type]  # numbers by the check
    places = {text: float(place) for place, text in enumerate(sorted({repr(v) for v in (*mine, *other)}))}
    return [places[repr(v)] for v in mine], [places[repr(v)] for v in other]


def _typical(values: Sequence[object]) -> str:
    if all(isinstance(v, int | float | np.number) for v in values):
        return f"{np.mean([float(v) for v in values]):.3g} on average"  # type: ignore[arg-type]  # as above
    counted = sorted(((values.count(v), repr(v)) for v in set(map(_hashable, values))), reverse=True)
    return f"{counted[0][1][:60]} in {counted[0][0] / len(values):.0%} of the calls" if counted else "missing"


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def statistic(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the largest difference between the two shares of values that are at most x, over all x."""
    at = np.sort(np.concatenate([first, second]))
    shares = [np.searchsorted(np.sort(sample), at, side="right") / len(sample) for sample in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def bound(first: int, second: int, probability: float) -> float:
    """Return the statistic that two samples of these sizes exceed with at most this probability."""
    return math.sqrt(-math.log(probability / 2) / 2 * (first + second) / (first * second))
