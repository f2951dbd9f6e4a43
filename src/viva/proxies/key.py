"""The `key` fixture: the course's model answers behind the same interface as the student's.

The key runs in the examiner, never in a box. Arguments are copied first, so that a key that changes them in place
cannot change what the student is asked.
"""

import contextlib
import copy
import importlib.util
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from viva.model.errors import CourseError, StudentRaised
from viva.proxies.proxies import Call, Caller, as_dicts, to_box
from viva.sandbox.guest.transport.value_types import STAND_INS
from viva.sandbox.guest.transport.wire import Code, Frame


class Key:
    """`key.f(...)`, `key["0-bleu"](...)`, `key.answers["1.6"]`: whatever `graders/<a>/key.py` defines."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        try:
            value = vars(self._module)[name]
        except KeyError:
            extra = vars(self._module).get("NAMES", {})
            if name not in extra:
                raise CourseError(
                    f"{self._module.__file__} defines no `{name}`; the test asks the key for it."
                ) from None
            value = extra[name]
        return KeyFunction(value, name) if callable(value) else copy.deepcopy(value)

    def __contains__(self, name: object) -> bool:
        return name in vars(self._module)


_UNCHANGING: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})
"""Types whose values are their own copies."""
_STAND_INS: Final = tuple(row.kind for row in STAND_INS)


class NotMade(Exception):
    """A class refuses what an object was to be made from; such arguments are not asked."""


class OfKey:
    """A function or class of a key, or of its record."""


class KeyFunction(OfKey):
    """A function of the key, called with copies; it offers the same ways to call as the student's."""

    def __init__(self, function: Callable[..., object], name: str) -> None:
        self._function = function
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call and return the value."""
        args, kwargs = with_objects(copied(args, kwargs))
        return self._function(*args, **kwargs)

    keep = __call__

    def each(self, questions: Iterable[Sequence[Any]]) -> list[Any]:
        """Call with each list of arguments; return the values in their order."""
        return [self(*question) for question in questions]

    def call(self, *args: object, **kwargs: object) -> Call:
        """Call and return everything the call did."""
        args, kwargs = with_objects(copied(args, kwargs))
        value, raised = None, None
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                value = self._function(*args, **kwargs)
        except Exception as error:
            raised = StudentRaised(type(error).__name__, str(error))
        return Call(value, args, kwargs, printed.getvalue(), raised)

    def attributes(self, *names: str) -> "KeyFunction":
        """Return a function that reads these attributes of the objects that come back: see `as_dicts`."""

        def call(*args: object, **kwargs: object) -> object:
            return as_dicts(self._function(*args, **kwargs), names)

        return self._wrap(call, f"{self.__name__}.attributes({', '.join(names)})")

    @property
    def function(self) -> Callable[..., object]:
        """Return the function itself, which takes no copies and is not recorded."""
        return self._function

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        return self._wrap(value, f"{self.__name__}.{name}") if callable(value) else value

    def _wrap(self, function: Callable[..., object], name: str) -> "KeyFunction":
        return KeyFunction(function, name)


def copied(args: tuple[object, ...], kwargs: Mapping[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return copies of the arguments; numpy scalars become the plain scalars that the student's function gets.

    Raises:
        TypeError: an argument is an object in the student's process.
    """
    if any(isinstance(a, Caller) for a in (*args, *kwargs.values())):
        raise TypeError("the key was asked about an object of the student's process; ask it about plain values only")
    return tuple(map(_copy, args)), {name: _copy(value) for name, value in kwargs.items()}


def _copy(value: Any) -> object:
    """Return a copy; of what the student's code returned as a data frame, one of pandas."""
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return kind(map(_copy, value))
    if kind is dict:
        return {_copy(name): _copy(item) for name, item in value.items()}
    if kind is Frame:
        return value.to_pandas()
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(_copy, value))
    return copy.deepcopy(to_box(value))


def with_objects(value: Any, before: list[object] | None = None) -> Any:
    """Return arguments with new objects in the place of the code that makes them.

    Args:
        value: the arguments.
        before: the objects that were made before; new ones are added.

    Raises:
        NotMade: a class refuses what an object is made from.
    """
    kind, before = type(value), [] if before is None else before
    if kind is Code:
        try:
            before.append(made := value.here(before))
        except Exception as error:
            raise NotMade(str(error)) from error
        return made
    if kind is list or kind is tuple:
        return kind(with_objects(item, before) for item in value)
    return {key: with_objects(item, before) for key, item in value.items()} if kind is dict else value


def has_plain_form(argument: object) -> bool:
    """Return whether an argument can be compared after a call: no function, and no generator of random numbers."""
    if type(argument) is not Code:
        return True
    try:
        return isinstance(argument.here(), _STAND_INS)
    except Exception:
        return False  # it is made from another argument


def load_key(path: Path, course_root: Path) -> ModuleType:
    """Import `key.py`; modules of the course's folder, such as `reference`, can be imported while it loads.

    Raises:
        CourseError: The file is missing or cannot be imported.
    """
    if not path.is_file():
        raise CourseError(f"{path}: there is no answer key; write the model answers there, in the student's API.")
    name = f"viva_key_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CourseError(f"{path}: the answer key cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    if str(course_root) not in sys.path:
        sys.path.append(str(course_root))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(f"{path}: the answer key cannot be imported: {type(error).__name__}: {error}.") from error
    return module
