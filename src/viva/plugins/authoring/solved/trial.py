"""Find how to draw a function's arguments: as widely as the solution still answers."""

import contextlib
import copy
import inspect
import io
import math
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from viva.compare.agree import difference
from viva.compare.context import Context
from viva.compare.counterexamples.examples import generate_arguments
from viva.grading import strategies
from viva.grading.built import maker_of, objects_of
from viva.grading.drawings import is_drawing
from viva.grading.functions import compiled
from viva.plugins.authoring.solved.forms import Forms
from viva.plugins.authoring.solved.own_object_forms import parameters
from viva.plugins.authoring.solved.recorded_run import CELL, seeded
from viva.proxies.key import KeyFunction, NotMade, with_objects
from viva.proxies.proxies import as_dicts
from viva.sandbox.guest.transport.library_types import library_type
from viva.sandbox.guest.transport.value_types import KEEP
from viva.sandbox.guest.transport.wire import Code

DRAWN: Final = 40
LONGEST_CALL_S: Final = 2.0
BUDGET_S: Final = 20.0
"""Processor seconds for one function: what is proposed must not depend on how busy the machine is."""
ENOUGH: Final = 0.6
"""The share of drawn arguments that the solution must answer."""
AS_MANY: Final = 0.95
"""A wider form must be answered as often as the narrower one, but for chance."""
_MOST_REFUSED: Final = 0.5
OWN: Final = frozenset(
    {
        "arrays",
        "built",
        "days",
        "distributions",
        "frames",
        "functions",
        "lines",
        "matching",
        "networks",
        "numbers",
        "optimizers",
        "probability_rows",
        "rows",
        "sequences",
        "series",
        "sizes",
        "tensors",
        "texts",
        "words",
    }
)
"""The strategies of viva."""
OTHERS: Final = frozenset(
    {
        "booleans",
        "builds",
        "dictionaries",
        "fixed_dictionaries",
        "integers",
        "just",
        "none",
        "one_of",
        "recursive",
        "sampled_from",
        "sets",
        "tuples",
    }
)
"""Those of hypothesis."""


class TooSlow(BaseException):
    """A call took too long; not an Exception, so that the solution does not catch it."""


@dataclass(slots=True)
class Answers:
    """How the solution answered when it was called with drawn arguments."""

    answered: int = 0
    refused: int = 0
    """Arguments on which the solution raises an exception of its own."""
    drawn: int = 0
    raised: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By type of exception: its text, and the arguments of the first call that raised it."""
    differs: bool = False
    """Whether it gave two results for the same arguments."""
    prints: bool = False
    changes: bool = False
    """Whether it changes its arguments."""
    returns: bool = False
    """Whether it returned something but None."""
    plain: bool = True
    """Whether all results have a plain form."""
    not_made: int = 0
    """How many more were drawn that hold an object which its class refuses."""
    values: list[object] = field(default_factory=list)
    attributes: tuple[str, ...] = ()
    """The attributes by which a test compares the objects that it returns, if their class is the notebook's."""

    @property
    def share(self) -> float:
        """Return the share of the drawn arguments that were answered, or refused where not too many were."""
        decided = self.answered + min(self.refused, _MOST_REFUSED * self.answered)
        return decided / self.drawn if self.drawn else 0.0

    @property
    def made(self) -> float:
        """Return the share of all drawn arguments whose objects could be made."""
        return self.drawn / (self.drawn + self.not_made) if self.drawn else 0.0

    @property
    def odd_type(self) -> str:
        """Return the type of a result without a plain form."""
        return next(type(value).__name__ for value in self.values if not is_plain(value))

    def errors(self, own: frozenset[str]) -> str:
        """Return how a test treats arguments that the solution refuses, as the option `errors` of `agree_on`.

        Args:
            own: types of exceptions that the solution raises itself.
        """
        return "fault" if not self.raised else "expect" if self.raised.keys() <= own else "skip"

    @property
    def enough(self) -> bool:
        """Return whether the solution answers enough of what is drawn."""
        return self.share >= ENOUGH


def fitted(function: Callable[..., object], forms: Forms, own: frozenset[str]) -> Answers:
    """Widen the forms as far as the solution answers enough, and return what it then does.

    Args:
        function: the solution's function.
        forms: how to draw its arguments; changed in place.
        own: types of exceptions that the solution raises itself.
    """
    end = time.process_time() + BUDGET_S
    found = tried(function, forms, own)
    if not found.enough:
        for size in forms.sizes:
            size.fixed = True
        found = tried(function, forms, own)
    if not found.enough:
        return found
    for step, may_be_random in _steps(forms):
        if time.process_time() > end:
            break
        undo = step()
        wider = tried(function, forms, own)
        worse = wider.differs and not (found.differs or may_be_random)
        fewer = wider.share < found.share * AS_MANY or wider.made < found.made * AS_MANY
        if worse or fewer or not wider.raised.keys() <= found.raised.keys() | own:
            undo()
        else:
            found = wider
    return found


def refuses_other_sizes(function: Callable[..., object], forms: Forms, own: frozenset[str]) -> bool:
    """Give all sizes names of their own, and return whether the solution then refuses some arguments by itself."""
    sizes = forms.sizes
    if len({size.group for size in sizes}) == len(sizes):
        return False
    for group, size in enumerate(sizes):
        size.group = group
    found = tried(function, forms, own)
    return bool(found.refused and found.answered) and found.raised.keys() <= own


def _steps(forms: Forms) -> Iterator[tuple[Callable[[], Callable[[], None]], bool]]:
    """Yield ways to widen, each of which returns how to undo it, and whether the answers may become random."""
    for group in dict.fromkeys(size.group for size in forms.sizes if size.fixed):
        yield partial(_set, [size for size in forms.sizes if size.group == group], "fixed", value=False), True
    for size in forms.sizes:
        if not size.fixed and sum(other.group == size.group for other in forms.sizes) > 1:
            yield partial(_set, [size], "group", max(each.group for each in forms.sizes) + 1), True
    for size in forms.sizes:
        if size.fixed:
            yield partial(_set, [size], "fixed", value=False), True
    for size in forms.sizes:
        if size.of_list and sum(other.group == size.group for other in forms.sizes) == 1:
            yield partial(_set, [size], "free", value=True), True
    for choice in forms.choices:
        if choice.more:
            yield partial(_set, [choice], "with_more", value=True), True
    for slot in forms.slots:
        for place in range(1, len(slot.options)):
            yield partial(_set, [slot], "at", place), slot.may_be_random


def _set(owners: Sequence[object], name: str, value: object) -> Callable[[], None]:
    before = [getattr(owner, name) for owner in owners]
    for owner in owners:
        setattr(owner, name, value)

    def undo() -> None:
        for owner, each in zip(owners, before, strict=True):
            setattr(owner, name, each)

    return undo


def tried(function: Callable[..., object], forms: Forms, own: frozenset[str] = frozenset()) -> Answers:
    """Return what the solution does with arguments that are drawn as the forms say."""
    found = Answers()
    try:
        key = Solution(forms.namespace)
        drawn = generate_arguments([evaluated(text, forms.definitions, key) for text in forms.written()], DRAWN)
    except Exception:
        return found  # such forms draw nothing
    names = [(name, keyword) for name, keyword, _ in forms.arguments]
    slow = 0
    for arguments in drawn:
        if slow > 2:
            break
        found.drawn += 1
        slow += not _asked(function, arguments, names, found, own)
    return found


def _asked(
    function: Callable[..., object],
    arguments: Sequence[object],
    names: Sequence[tuple[str, bool]],
    found: Answers,
    own: frozenset[str],
) -> bool:
    """Call twice with the same arguments and note what happens; return False if it took too long."""
    results = []
    for number in (2 * found.drawn, 2 * found.drawn + 1):  # two seeds may give the same result of few
        seeded(number)
        printed = io.StringIO()
        try:
            given = with_objects(copy.deepcopy(arguments))
            positional = [value for value, (_, keyword) in zip(given, names, strict=True) if not keyword]
            by_name = {name: value for value, (name, keyword) in zip(given, names, strict=True) if keyword}
            with within(LONGEST_CALL_S), contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
                value = plain_of(function(*positional, **by_name))
                found.attributes = found.attributes or _attributes(value)
                value = as_dicts(value, found.attributes) if found.attributes else value
        except TooSlow:
            return False
        except NotMade:
            found.drawn -= 1
            found.not_made += 1
            return True
        except Exception as error:
            shown = ", ".join(" ".join(repr(argument).split())[:60] for argument in arguments)
            found.raised.setdefault(type(error).__name__, (_said(error), shown))
            found.refused += type(error).__name__ in own
            return True
        if not is_finite(value):
            return True
        found.prints |= bool(printed.getvalue())
        found.returns |= value is not None
        after, before = _comparable(given), _comparable(with_objects(copy.deepcopy(arguments)))
        found.changes |= difference(after, before, Context.of(0, 0, ())) is not None
        results.append(value)
    if all(map(is_plain, results)):
        found.differs |= difference(results[0], results[1], Context.of(None, None, ())) is not None
    else:
        found.plain = False
    found.values.append(results[0])
    found.answered += 1
    return True


def _said(error: Exception) -> str:
    """Return the text of an exception, and where in the notebook it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(CELL)]
    where = [f"(cell {frame.filename[len(CELL) : -1]}, line {frame.lineno})" for frame in frames[-1:]]
    return " ".join([" ".join(str(error).split())[:200], *where]).strip()


def _attributes(value: object) -> tuple[str, ...]:
    """Return the names of what an object of the notebook's own classes holds; also of the first one in a list."""
    for each in value if isinstance(value, list | tuple) else [value]:
        kind = type(each)
        if kind.__module__ == "__main__" and kind.__class__ is type and not is_plain(each):
            return tuple(parameters(kind, [each]) or ())
    return ()


def _comparable(value: Any) -> Any:
    """Return arguments without what cannot be compared: functions, and objects without a plain form."""
    if type(value) in (list, tuple):
        return [_comparable(item) for item in value]
    if type(value) is dict:
        return {key: _comparable(item) for key, item in value.items()}
    value = plain_of(value)
    return value if type(value) is not Code and is_plain(value) else None


class Solution:
    """Offers the names of a solution as the `key` of a test does: `key.Class`."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> KeyFunction:
        return KeyFunction(self._namespace[name], name)


def evaluated(text: str, definitions: Sequence[str] = (), key: Solution | None = None) -> Any:
    """Return the strategy that a form writes; it also draws objects that their class refuses.

    Args:
        text: the strategy as code.
        definitions: statements that define what it uses besides strategies.
        key: the solution, for objects of its classes.
    """
    import hypothesis.strategies as st

    names = {name: getattr(strategies, name) for name in OWN} | {name: getattr(st, name) for name in OTHERS}
    names |= {"key": key, "built": lambda maker, *given, **named: objects_of(maker_of(maker), given, named)}
    needed = "\n".join(definitions)
    exec(compiled(needed, f"<definitions {hash(needed)}>"), names)  # noqa: S102  # of the author's own notebook
    return eval(compiled(text, f"<strategy {hash(text)}>", "eval"), names)  # noqa: S307  # written by this package


def plain_of(value: Any) -> Any:
    """Return a result as it would cross from a box: tensors as arrays, generators as lists, data frames as frames."""
    row = library_type(type(value))
    if row is not None and not is_drawing(value) and (found := row.plain(value)) is not KEEP:
        return found
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return value.detach().cpu().numpy()
    if inspect.isgenerator(value) or type(value).__name__ in ("map", "filter", "zip"):
        return list(value)
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(plain_of(item) for item in value)
    return value


def is_plain(value: object) -> bool:
    """Return whether a result has a form that a test can compare without more words from the author."""
    if is_drawing(value):
        return False
    from viva.examiner.recorded_key.recorded_values import Unrecordable, packed

    try:
        packed(value)
    except (Unrecordable, RecursionError):
        return False
    return True


def is_finite(value: object) -> bool:
    """Return whether no number in a result is infinite or missing."""
    if isinstance(value, float | np.floating):
        return math.isfinite(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return bool(np.isfinite(value).all())
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    if isinstance(value, Mapping):
        return all(map(is_finite, value.values()))
    return True


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise in the block when it takes longer; only where there are such signals, and in the main thread."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
