"""Proxies for what lives in the box: `Remote` (a name), `Handle` (an object), `Call` (the result of a call).

A test cannot compare them, count them or compute with them by accident: it would then trust a lie of the student's
process. Values cross the connection only through calls, `.value()` and item or attribute access, as plain data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn, Protocol

import numpy as np

import viva.sandbox.guest.transport.message_types as requests
from viva.model import untrusted
from viva.model.errors import ChangedArgument, ProtocolViolation, StudentRaised
from viva.sandbox.guest.transport.wire import Code, Ref

# A handle's own attributes: a handle whose __init__ raised has none of them, and must not ask the box for them.
_HANDLE_ATTRIBUTES = frozenset({"_connection", "_label", "_generation", "_ref"})
# Names that pytest, numpy, IPython and debuggers look up on any object; they must never reach the box.
_PROBES = frozenset(
    {"_pytestfixturefunction", "pytestmark", "_fixture_function", "_fixture_function_marker", "shape", "dtype"}
)


class BoxConnection(Protocol):
    """What handles need from the session that owns the box."""

    @property
    def generation(self) -> int:
        """Return the number of the current box of this submission; an object dies with its box."""
        ...

    def ask(self, request: requests.Request, *, subject: str = "", generation: int | None = None) -> Any:
        """Send one request and return the plain value; raises StudentRaised, MissingName or a BoxError.

        A request about an object names the `generation` of the box that holds it.
        """
        ...

    def asks_twice(self, name: str) -> bool:
        """Return whether the next call of a name must be made twice: the first one in each test is."""
        ...

    def answered_differently(self, name: str) -> None:
        """Note that the second call of a function did not give what the first one gave."""
        ...

    def load_more(self) -> bool:
        """Run one more file of the submission's code; return False when none is left."""
        ...

    def release(self, generation: int, ref_id: int) -> None:
        """Tell the box, with the next request, that an object is no longer needed."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """Everything one call did, as untrusted values from the student's process."""

    value: Any
    args_after: tuple[Any, ...]
    """The positional arguments after the call: they show changes in place."""
    kwargs_after: Mapping[str, Any]
    printed: str
    raised: StudentRaised | None


MOST_OBJECTS: Final = 200
"""The most objects of one answer that are read."""
_NESTED: Final = frozenset({list, tuple, dict})
_MAY_HOLD_REFS: Final = _NESTED | {Ref}
_PLAIN: Final = frozenset({bool, int, float, complex, str, bytes, type(None), np.ndarray})
"""Types of values that mention no object and cross as they are; most long lists hold nothing else."""


class Caller:
    """The base class of `Remote` and `Handle`: the ways to call."""

    __slots__ = ("_connection", "_label")

    def __init__(self, connection: BoxConnection, label: str) -> None:
        self._connection = connection
        self._label = label

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call and return plain data; objects that have no plain form come back as handles.

        In each test, the first call of a name is made twice with the same objects, and the second answer counts.

        Raises:
            ChangedArgument: the arguments are not what they were.
        """
        return self._called(args, kwargs)

    def each(self, questions: Iterable[Sequence[Any]]) -> list[Any]:
        """Call once with each list of arguments, all in one request; return the answers in their order.

        As with a single call, the first time in each test everything is asked twice.

        Raises:
            ChangedArgument: the arguments are not what they were.
        """
        questions = [list(question) for question in questions]
        answers = self._called(questions, {}, each=True)
        if not isinstance(answers, list) or len(answers) != len(questions):
            raise ProtocolViolation("the reply does not hold an answer to each question")
        return answers

    def _called(self, args: Sequence[Any], kwargs: Mapping[str, Any], *, each: bool = False) -> Any:
        connection, label = self._connection, self._label
        if not self._is_name or _holds_object([args, kwargs]) or not connection.asks_twice(label):
            return from_box(connection, self._ask_call(args, kwargs, each=each), label)
        reply = untrusted.table(self._ask_call(args, kwargs, each=each, twice=True))
        if changed := untrusted.rows(reply.get("changed"))[:3]:
            names = ["1"] if each else [untrusted.text(name, 100) for name in changed]
            raise ChangedArgument(label, names)
        if reply.get("differs") is True or reply.get("raised"):
            connection.answered_differently(label)
        if reply.get("raised"):
            raise StudentRaised.from_wire(untrusted.table(reply["raised"]))
        return from_box(connection, reply.get("value"), label)

    def attributes(self, *names: str) -> Callable[..., Any]:
        """Return a function that calls, and reads these attributes of the objects that come back: see `as_dicts`."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return as_dicts(self(*args, **kwargs), names)

        call.__name__ = self._label
        return call

    def keep(self, *args: object, **kwargs: object) -> "Handle":
        """Call and keep the result in the box, whatever it is."""
        return Handle(self._connection, self._ask_call(args, kwargs, keep=True), f"the result of `{self._label}`")

    def call(self, *args: object, **kwargs: object) -> Call:
        """Call and return everything the call did; an exception in the student's code is in `.raised`."""
        full = self._ask_call(args, kwargs, full=True)
        raised = full.get("raised")
        after = full.get("args_after") or [[], {}]
        return Call(
            value=from_box(self._connection, full.get("value"), self._label),
            args_after=tuple(from_box(self._connection, a, self._label) for a in after[0]),
            kwargs_after={str(k): from_box(self._connection, v, self._label) for k, v in dict(after[1]).items()},
            printed=str(full.get("printed", "")),
            raised=StudentRaised.from_wire(raised) if raised else None,
        )

    def _ask_call(self, args: Sequence[Any], kwargs: Mapping[str, Any], **options: Any) -> Any:
        args, kwargs = [to_box(a) for a in args], {k: to_box(v) for k, v in kwargs.items()}
        return self._ask(requests.CallObject(args, kwargs, **self._target(), **options))

    def _ask(self, request: requests.Request) -> Any:
        return self._connection.ask(request, subject=self._label)

    @property
    def _is_name(self) -> bool:
        """Return whether it is a name in the submission, not an object in the box or a helper from the author."""
        return False

    def _target(self) -> dict[str, Any]:
        """Return the fields of a request that name it."""
        raise NotImplementedError

    def _refuse(self, what: str) -> NoReturn:
        raise TypeError(
            f"{what} of `{self._label}`, which lives in the student's process, means nothing here: "
            "compare with agree(...), or fetch it with .value() first."
        )

    def __eq__(self, other: object) -> bool:
        self._refuse("The comparison")

    def __ne__(self, other: object) -> bool:
        self._refuse("The comparison")

    def __lt__(self, other: object) -> bool:
        self._refuse("The comparison")

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> bool:
        self._refuse("The truth")

    def __len__(self) -> int:
        self._refuse("The length")

    def __iter__(self) -> NoReturn:
        self._refuse("The iteration")

    def __contains__(self, item: object) -> bool:
        self._refuse("The membership")

    def __float__(self) -> float:
        self._refuse("The number")

    __int__ = __index__ = __float__

    def __add__(self, other: object) -> NoReturn:
        self._refuse("The arithmetic")

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
    __matmul__ = __rmatmul__ = __add__

    def __neg__(self) -> NoReturn:
        self._refuse("The arithmetic")

    __abs__ = __pos__ = __neg__
    __hash__ = object.__hash__


class Remote(Caller):
    """A name of the submission: `student.bleu`, `student.Model.from_config`. The box is asked only when it is used."""

    __slots__ = ("_handle", "_name", "_space")

    def __init__(self, connection: BoxConnection, space: str, name: str) -> None:
        super().__init__(connection, name)
        self._space = space
        self._name = name
        self._handle: Handle | None = None

    @property
    def __name__(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> "Remote":
        refuse_probe(self, name)
        return Remote(self._connection, self._space, f"{self._name}.{name}")

    def value(self) -> Any:
        """Fetch the object as plain data."""
        return from_box(self._connection, self._ask(requests.Get(**self._target())), self._name)

    def handle(self) -> "Handle":
        """Return the object itself as a handle, to be passed to another call."""
        if self._handle is None or not self._handle.alive:
            self._handle = Handle(self._connection, self._ask(requests.Get(**self._target(), keep=True)), self._name)
        return self._handle

    @property
    def _is_name(self) -> bool:
        return self._space != "inside"

    def _target(self) -> dict[str, Any]:
        return {"space": self._space, "name": self._name}

    def __repr__(self) -> str:
        return f"<{self._name} of the submission>"


class Handle(Caller):
    """An object in the box. Attributes, items, `next`, `with` and calls are forwarded; it dies with its box."""

    __slots__ = ("_generation", "_ref")

    def __init__(self, connection: BoxConnection, ref: object, label: str) -> None:
        super().__init__(connection, label)
        if type(ref) is not Ref:
            raise TypeError(f"the box was asked to keep `{label}` and sent {type(ref).__name__}")
        self._ref = ref
        self._generation = connection.generation

    @property
    def alive(self) -> bool:
        """Return whether the box that holds the object is still the current one."""
        return self._generation == self._connection.generation

    @property
    def type_name(self) -> str:
        """Return the class name that the student's process reports; it may lie."""
        return str(self._ref.type_name)

    @property
    def ref(self) -> Ref:
        """Return the reference that names the object in a request."""
        return self._ref

    def value(self) -> Any:
        """Fetch the object as plain data."""
        return from_box(self._connection, self._ask(requests.Get(ref=self._ref.id)), self._label)

    def __getattr__(self, name: str) -> Any:
        refuse_probe(self, name)
        reply = self._ask(requests.GetAttribute(self._ref.id, name))
        return from_box(self._connection, reply, f"{self._label}.{name}")

    def __getitem__(self, key: object) -> Any:
        reply = self._ask(requests.GetItem(self._ref.id, to_box(key)))
        return from_box(self._connection, reply, f"{self._label}[{key!r}]")

    def __next__(self) -> Any:
        reply = self._ask(requests.NextItem(self._ref.id))
        if reply is STOP:
            raise StopIteration
        return from_box(self._connection, reply, f"the next item of {self._label}")

    def __enter__(self) -> "Handle":
        entered = self._ask(requests.EnterContext(self._ref.id, keep=True))
        return Handle(self._connection, entered, self._label)

    def __exit__(self, *_exception: object) -> None:
        self._ask(requests.ExitContext(self._ref.id))

    def _target(self) -> dict[str, Any]:
        return {"ref": self._ref.id}

    def _ask(self, request: requests.Request) -> Any:
        return self._connection.ask(request, subject=self._label, generation=self._generation)

    def __repr__(self) -> str:
        return f"<{self._ref.type_name[:80]} in the box>"

    def __del__(self) -> None:
        # A handle whose __init__ raised has nothing to release.
        if hasattr(self, "_generation"):
            self._connection.release(self._generation, self._ref.id)


def special_method(owner: Any, name: str) -> Any:
    """Return a method such as `__len__` of an object in the box; of a handle itself, Python would find its own.

    Args:
        owner: a handle, or an object that forwards attributes as one.
        name: the name of the method.
    """
    if type(owner) is not Handle:
        return owner.__getattr__(name)
    reply = owner._ask(requests.GetAttribute(owner.ref.id, name))
    return from_box(owner._connection, reply, f"{owner._label}.{name}")


class Stop:
    """The type of `STOP`, which says that the iterator in the box is exhausted."""


STOP = Stop()


def refuse_probe(owner: Caller, name: str) -> None:
    """Raise AttributeError for names that only tools look up, so that they never reach the box."""
    if name in _HANDLE_ATTRIBUTES:
        raise AttributeError(f"this {type(owner).__name__} was not made")
    if (name.startswith("__") and name.endswith("__")) or name.startswith(("_repr_", "_ipython_")) or name in _PROBES:
        raise AttributeError(f"{type(owner).__name__} does not forward {name!r}")


def to_box(value: Any) -> Any:
    """Convert an argument for a request: handles become references, numpy scalars become Python scalars."""
    kind = type(value)
    if kind is Handle:
        return value.ref if value.alive else _lost(value)
    if kind is Remote:
        return value.handle().ref
    if isinstance(value, np.generic):
        return value.item()
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return kind(value if _PLAIN.issuperset(map(type, value)) else map(to_box, value))
    if kind is dict:
        return {to_box(k): to_box(v) for k, v in value.items()}
    return value


def _lost(handle: Handle) -> NoReturn:
    from viva.model.errors import BoxDied

    raise BoxDied(f"the box that held {handle!r} had ended")


def from_box(connection: BoxConnection, value: Any, label: str) -> Any:
    """Convert a reply for the test: plain data, with handles where an object has no plain form."""
    kind = type(value)
    if kind is Ref:
        return Handle(connection, value, label)
    if kind is list or kind is tuple:
        return kind(from_box(connection, v, label) for v in value) if _holds_ref(value) else value
    if kind is dict:
        return {k: from_box(connection, v, label) for k, v in value.items()} if _holds_ref(value) else value
    return value


def as_dicts(value: Any, names: Sequence[str]) -> Any:
    """Return a value in which each object is a dict of some of its attributes, and so are the objects in these.

    Args:
        value: what a function has returned.
        names: the attributes. In the key's answers, whatever has all of them is such an object.

    Raises:
        StudentRaised: an object in the box lacks an attribute.
    """
    left = iter(range(MOST_OBJECTS))

    def read(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(read, value))
        if isinstance(value, Handle) or (not isinstance(value, dict) and all(hasattr(value, name) for name in names)):
            if next(left, None) is None:
                return f"more than {MOST_OBJECTS} objects"  # a list that ends in itself, for example
            get = value.__getattr__ if isinstance(value, Handle) else partial(getattr, value)
            return {name: read(get(name)) for name in names}
        return value

    return read(value)


def _holds_object(value: Any) -> bool:
    """Return whether arguments mention an object that a call may rightly change: one in the box, or a generator."""
    if isinstance(value, Caller) or (isinstance(value, Code) and value.make is not None):
        return True
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple | set | frozenset):
        return False
    return not _PLAIN.issuperset(map(type, value)) and any(map(_holds_object, value))


def _holds_ref(value: Any) -> bool:
    kind = type(value)
    if kind not in _NESTED:
        return kind is Ref
    items = value.values() if kind is dict else value
    return not _MAY_HOLD_REFS.isdisjoint(map(type, items)) and any(map(_holds_ref, items))
