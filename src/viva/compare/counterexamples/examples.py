"""The examples that `agree_on` tries, and the key's answers to them.

The same strategies always give the same examples: the seed is fixed, nothing is read from or written to disk, and
neither time nor the imported modules matter. They are generated again for each submission, because a strategy may be
made from an answer of the student.
"""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, final

from viva.model.errors import BoxError, GraderError, StudentRaised
from viva.proxies.key import NotMade

if TYPE_CHECKING:
    from hypothesis import settings
    from hypothesis.strategies import SearchStrategy

_SEED: ContextVar[int] = ContextVar("seed of the examples", default=0)
"""What the examples are drawn from; the same for all, so that a released test asks the same."""
_NOTHING: Final = "agree_on: the strategies give no example; are their conditions impossible to meet?"


Errors = Literal["fault", "skip", "expect"]
"""What an exception of the key means: a fault of the author's, arguments that are not asked, or the right answer."""


@final
@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as the expected answer: any exception is as good."""

    kind: str
    """The name of its type."""


@final
@dataclass(frozen=True, slots=True)
class Example:
    """The arguments of one call, and the expected answer."""

    arguments: tuple[object, ...]
    expected: object


def examples_for(
    strategies: Sequence["SearchStrategy[object]"], key: Callable[..., object], count: int, errors: Errors = "fault"
) -> tuple[Example, ...]:
    """Return at most `count` different examples with the key's answers.

    Raises:
        GraderError: the strategies give nothing, or the key raised on an example.
    """
    examples = []
    for arguments in generate_arguments(strategies, count):
        with suppress(NotAsked):
            examples.append(Example(arguments, ask_key(key, copy.deepcopy(arguments), errors)))
    if all(isinstance(example.expected, Raised) for example in examples):
        raise GraderError("agree_on: the key answers none of the examples; it raises on all of them.")
    return tuple(examples)


def generate_arguments(strategies: Sequence["SearchStrategy[object]"], count: int) -> list[tuple[object, ...]]:
    """Return at most `count` different lists of arguments, or one empty list where there is no strategy.

    Raises:
        GraderError: the strategies give nothing.
    """
    if not strategies:
        return [()]
    arguments = _draw(strategies, count)
    if not arguments:
        raise GraderError(_NOTHING)
    return arguments


@contextmanager
def drawing_from(number: int) -> Iterator[None]:
    """Draw the examples of the block from another seed."""
    token = _SEED.set(number)
    try:
        yield
    finally:
        _SEED.reset(token)


def seed_of_examples() -> int:
    """Return what the examples are drawn from."""
    return _SEED.get()


KEY_RAISED: Final = "agree_on: the key raised"


class NotAsked(Exception):
    """The key raised on arguments that are then not asked."""


def ask_key(key: Callable[..., object], arguments: tuple[object, ...], errors: Errors = "fault") -> object:
    """Return the key's answer, or the exception that it raised if that is the answer.

    Raises:
        GraderError: the key raised, which is the author's fault.
        NotAsked: the key raised, and such arguments are left out; or an argument could not be made.
    """
    try:
        return key(*arguments)
    except (BoxError, GraderError):
        raise
    except NotMade as error:
        raise NotAsked from error
    except Exception as error:
        if errors == "skip" or (errors == "fault" and _SEED.get()):  # the author has seen none of these arguments
            raise NotAsked from error
        if errors == "expect":
            return Raised(error.type_name if isinstance(error, StudentRaised) else type(error).__name__)
        shown = ", ".join(" ".join(repr(a).split())[:200] for a in arguments)
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise GraderError(f"{KEY_RAISED} {said}; it was asked about ({shown}).") from error


def quiet_settings(count: int, *, shrink: bool) -> "settings":
    """Return settings of hypothesis without database, deadlines, health checks, printing and randomness."""
    from hypothesis import HealthCheck, Phase, Verbosity, settings

    return settings(
        max_examples=count,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        database=None,
        deadline=None,
        derandomize=True,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )


@contextmanager
def only_from_strategies() -> Iterator[None]:
    """Let examples depend only on the strategies, and let hypothesis write nothing.

    Hypothesis also tries constants that it finds in the source of every imported module, and keeps them in files; which
    modules are imported differs from run to run. It has no setting for that, so the finder is replaced where this
    version has it. Its table of Unicode categories goes to a folder that cannot exist.
    """
    from hypothesis import configuration
    from hypothesis.internal.conjecture import providers

    name, home = "_get_local_constants", getattr(configuration, "__hypothesis_home_directory", None)
    finder, constants = getattr(providers, name, None), getattr(providers, "_local_constants", None)
    if finder is not None and constants is not None:
        setattr(providers, name, type(constants))
    configuration.set_hypothesis_home_dir(Path(os.devnull) / "hypothesis")
    try:
        yield
    finally:
        configuration.set_hypothesis_home_dir(home)
        if finder is not None:
            setattr(providers, name, finder)


def _draw(strategies: Sequence["SearchStrategy[object]"], count: int) -> list[tuple[object, ...]]:
    from hypothesis import given, seed
    from hypothesis.errors import HypothesisException
    from hypothesis.strategies import tuples

    drawn: list[tuple[object, ...]] = []

    @quiet_settings(count, shrink=False)
    @seed(_SEED.get())
    @given(tuples(*strategies))
    def collect(arguments: tuple[object, ...]) -> None:
        drawn.append(arguments)

    try:
        with only_from_strategies():
            collect()
    except HypothesisException as error:
        raise GraderError(f"agree_on: the strategies cannot be used: {error}") from error
    return drawn
