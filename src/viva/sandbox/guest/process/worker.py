"""Serve the examiner's requests in the student's process; every reply is an untrusted value.

The loop and what it calls keep their own references to the functions they need, so that a student who replaces parts
of numpy, json, signal or sys breaks only their own program.
"""

from __future__ import annotations

import functools
import os
import socket
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NoReturn, Optional, Union

from ..loading import archives, sources, workdir_files
from ..loading.modules import Loading
from ..loading.namespaces import STUDENT, Missing, Namespaces
from ..notebook.notebooks import Notebooks
from ..transport import message_types as requests
from ..transport import wire
from ..values.plain_data import PlainData
from ..values.printed import Printed
from ..values.raised import describe
from ..values.references import References
from . import alarm, seeding
from .second_call import called_twice
from .snapshots import Snapshots

if TYPE_CHECKING:
    from ..loading.unittest_runner import UnittestRunner
    from ..notebook.cell_by_cell import CellByCell
    from ..transport.encoding import Part

if "IPython" in sys.modules and __name__.startswith("viva_box."):  # not in a live kernel, whose shell is the student's
    try:
        from ..notebook import ipython_shell  # the fork server does it once, not each box
    except ImportError:  # a version of IPython that is too old; cells then run as ordinary Python
        pass
    else:
        ipython_shell.warm_up()

_LOWEST_RECURSION_LIMIT = 500
_CELL_OPERATIONS = ("begin", "run", "check", "take", "resume")
_SUITE_OPERATIONS = ("clear", "begin", "describe", "load", "enter", "leave", "run")
_dump, _transmit, _receive, _end = wire.dump, wire.transmit, wire.receive, os._exit
_get_recursion_limit, _set_recursion_limit = sys.getrecursionlimit, sys.setrecursionlimit


class _Stop(Exception):
    """An iterator from the student's code is exhausted."""


def serve(sock: socket.socket, ready_message: Dict[str, object], policy: requests.Policy) -> NoReturn:
    """Send the ready message, then answer until the examiner closes the connection; never returns.

    Args:
        sock: the connection to the examiner.
        ready_message: the report of the box's trusted code; sent before a student byte is read.
        policy: `work`, the work directory; `seed`, the first seed; `gpu`, whether its sums must be repeatable.
    """
    sources.work_in(str(policy.get("work") or os.getcwd()))
    if policy.get("gpu", {}).get("deterministic"):
        seeding.be_deterministic()
    seeding.reseed(int(policy.get("seed") or 0))
    _install_selfcheck_module()
    flush = _standard_output()

    def resumed() -> NoReturn:
        _transmit(sock, _dump({"ok": True}))
        answer_all()

    def answer_all() -> NoReturn:
        while True:
            try:
                request = _receive(sock, found=worker.refs.mention)
                parts = worker.answer(request)
                flush()
                _transmit(sock, parts)
            except (EOFError, OSError):
                _end(0)

    worker = Worker(snapshots=Snapshots(resumed))
    wire.send(sock, ready_message)
    answer_all()


def _install_selfcheck_module() -> None:
    """Let `viva.check()` that a student left in a notebook do nothing, whether or not viva is installed here."""
    module = types.ModuleType("viva", "viva.check() asks the public tests of a live notebook; here it does nothing.")
    vars(module)["check"] = lambda *_questions, **_options: None
    sys.modules["viva"] = module


def _standard_output() -> Callable[[], None]:
    """Let stdout print any text; return a function that flushes it even if the student replaces sys.stdout."""
    stream: Any = sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")

    def flush() -> None:
        try:
            stream.flush()
        except (OSError, ValueError):
            pass  # the student filled or closed it

    return flush


class Worker:
    """The state of one box, and its operations: a table of functions of the request, by name."""

    def __init__(
        self,
        namespaces: Optional[Namespaces] = None,
        replacements: Optional[Mapping[str, Callable[[Any], object]]] = None,
        snapshots: Optional[Snapshots] = None,
    ) -> None:
        """Make a worker.

        Args:
            namespaces: existing names, in a live kernel; a box starts without any.
            replacements: operations that a live kernel implements differently.
            snapshots: copies of this process; None where it cannot be copied.
        """
        self._snapshots = Snapshots() if snapshots is None else snapshots
        self._suite: Optional[UnittestRunner] = None
        self._cells: Optional[CellByCell] = None
        self._namespaces = Namespaces() if namespaces is None else namespaces
        self.refs = References(functools.partial(self._namespaces.find, STUDENT))
        self._plain = PlainData(self.refs.keep)
        loading = Loading(self._namespaces)
        notebooks = Notebooks(self._namespaces, loading)
        self._operations: Dict[str, Callable[[Any], object]] = {
            "put": workdir_files.put,
            "unpack": archives.unpack,
            "files": workdir_files.listed,
            "read": workdir_files.read,
            "run": workdir_files.run,
            "load_module": loading.load_module,
            "begin_module": loading.begin_module,
            "next_statement": loading.next_statement,
            "begin_notebook": notebooks.begin,
            "next_cell": notebooks.next_cell,
            "load_inside": loading.load_inside,
            "names": lambda request: self._namespaces.names(request.space),
            "find": self._find,
            "get": self._get,
            "call": self._call,
            "set": self._set,
            "attribute": self._attribute,
            "item": self._item,
            "next": self._next,
            "enter": self._enter,
            "exit": self._exit,
            **{f"suite_{name}": functools.partial(self._run_suite_operation, name) for name in _SUITE_OPERATIONS},
            **{f"cells_{name}": functools.partial(self._run_cell_operation, name) for name in _CELL_OPERATIONS},
            **(replacements or {}),
        }

    def answer(self, message: Mapping[str, Any]) -> List[Part]:
        """Return the encoded reply to one request; the soft limit covers encoding: a student's iterator may be slow."""
        fields = dict(message)
        self.refs.release(fields.pop("release", None) or ())
        soft_s = fields.pop("soft_s", None)
        try:
            parts = alarm.within(soft_s, lambda: _dump(self._reply(fields), self._plain))
        except BaseException as error:
            alarm.off()
            parts = _dump({"raised": describe(error)})
        alarm.off()
        self.refs.begin_request()
        if _get_recursion_limit() < _LOWEST_RECURSION_LIMIT:
            _set_recursion_limit(_LOWEST_RECURSION_LIMIT)
        return parts

    def _reply(self, fields: Dict[str, Any]) -> Dict[str, object]:
        seed, operation = fields.pop("seed", None), fields.pop("op")
        if seed is not None:
            seeding.reseed(int(seed))
            self.refs.begin_test(int(seed))
            self._namespaces.undo()
        try:
            return {"ok": self._operations[operation](requests.REQUESTS[operation](**fields))}
        except Missing as missing:
            return {"missing": missing.name, "close": missing.close}
        except _Stop:
            return {"stop": True}

    def _target(self, request: Union[requests.CallObject, requests.Get]) -> Any:
        if request.ref is not None:
            return self.refs[request.ref]
        return self._namespaces.find(request.space, request.name)

    def _value_or_reference(self, value: object, *, keep: bool) -> object:
        return self.refs.keep(value) if keep else value

    def _get(self, request: requests.Get) -> object:
        return self._value_or_reference(self._target(request), keep=request.keep)

    def _attribute(self, request: requests.GetAttribute) -> object:
        return self._value_or_reference(getattr(self.refs[request.ref], request.name), keep=request.keep)

    def _item(self, request: requests.GetItem) -> object:
        return self._value_or_reference(self.refs[request.ref][self.refs.arguments(request.key)], keep=request.keep)

    def _find(self, request: requests.Find) -> Dict[str, object]:
        try:
            value = self._namespaces.find(request.space, request.name)
        except Missing as missing:
            return {"found": False, "callable": False, "kind": "", "close": missing.close}
        more = self._namespaces.functions(request.space) if request.more else []
        return {"found": True, "callable": callable(value), "kind": _kind(value), "close": [], "more": more}

    def _call(self, request: requests.CallObject) -> object:
        function = self._target(request)
        args, kwargs = self.refs.arguments(request.args), self.refs.arguments(request.kwargs)
        if request.each:
            function = functools.partial(_each, function)
        if request.full:
            return self._full_call(request, function, args, kwargs)
        if request.twice:
            return called_twice(function, args, kwargs, encode=self._plain, refs=self.refs)
        return self._value_or_reference(function(*args, **kwargs), keep=request.keep)

    def _full_call(
        self,
        request: requests.CallObject,
        function: Callable[..., object],
        args: List[object],
        kwargs: Dict[str, object],
    ) -> Dict[str, object]:
        value, raised = None, None
        with Printed() as printed:
            try:
                value = self._value_or_reference(function(*args, **kwargs), keep=request.keep)
            except alarm.SoftTimeout:
                raise
            except BaseException as error:
                raised = describe(error)
        return {
            "value": value,
            "args_after": [args, kwargs],
            "printed": printed.text(),
            "raised": raised,
        }

    def _set(self, request: requests.SetNames) -> None:
        self._namespaces.set(request.space, self.refs.arguments(request.names))

    def _next(self, request: requests.NextItem) -> object:
        try:
            value = next(self.refs[request.ref])
        except StopIteration:
            raise _Stop from None
        return self._value_or_reference(value, keep=request.keep)

    def _enter(self, request: requests.EnterContext) -> object:
        manager = self.refs[request.ref]
        return self._value_or_reference(type(manager).__enter__(manager), keep=request.keep)

    def _exit(self, request: requests.ExitContext) -> None:
        manager = self.refs[request.ref]
        type(manager).__exit__(manager, None, None, None)

    def _run_suite_operation(self, operation: str, request: requests.Request) -> object:
        """Run an operation on the author's unittest suite; unittest is imported only if there is one."""
        if self._suite is None:
            from ..loading.unittest_runner import UnittestRunner

            self._suite = UnittestRunner()
        return getattr(self._suite, operation)(request)

    def _run_cell_operation(self, operation: str, request: requests.Request) -> object:
        """Run an operation on a notebook that is run cell by cell with the author's tests."""
        if self._cells is None:
            from ..notebook.cell_by_cell import CellByCell

            self._cells = CellByCell(self._namespaces, self._snapshots)
        return getattr(self._cells, operation)(request)


def _each(function: Callable[..., object], *questions: List[object]) -> List[object]:
    """Call a function with each list of arguments."""
    return [function(*arguments) for arguments in questions]


def _kind(value: object) -> str:
    if issubclass(type(value), types.ModuleType):
        return "module"
    if issubclass(type(value), type):
        return "class"
    functions = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    return "function" if issubclass(type(value), functions) else "value"
