"""Run a solved notebook from top to bottom, and keep the arguments of every call of its functions and methods."""

import ast
import contextlib
import copy
import functools
import inspect
import io
import random
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from viva.compare.normalize import is_tensor
from viva.grading.functions import keep_source
from viva.plugins.authoring.source.source_cells import Cell
from viva.submissions.code_names import Definition, statement_names, used_names

MOST_CALLS: Final = 60
CELL: Final = "<cell "
"""Begins the name of the file of a cell's code."""
_MOST_COMPARED: Final = 5
"""Calls whose arguments are compared with the variables of the notebook."""
_MOST_OBJECTS: Final = 5000
_SHARED: Final = (bool, int, float, complex, str, bytes)
SPECIAL_METHODS: Final = (
    "__len__", "__bool__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "__call__", "__str__",
    "__repr__", "__add__", "__sub__", "__mul__", "__matmul__",
)  # fmt: skip
"""Methods that Python itself calls, and that tests can call too."""
_RECORD: Final = "__viva_recorded__"
_MAGIC: Final = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
_TIMES: Final = ("%%time", "%%timeit", "%%capture")
"""Magics of a whole cell whose code is Python."""


@dataclass(slots=True)
class Recorded:
    """The result of running the notebook."""

    namespace: dict[str, Any]
    calls: dict[str, list[inspect.BoundArguments]] = field(default_factory=dict)
    """By function, and by `Class.method`."""
    raised: dict[str, list[inspect.BoundArguments]] = field(default_factory=dict)
    """Those of them that raised an exception."""
    failed: list[tuple[int, str]] = field(default_factory=list)
    """Cells that raised, and what."""
    originals: dict[str, Any] = field(default_factory=dict)
    """The functions and classes themselves."""
    written: frozenset[str] = frozenset()
    """The names that students write: functions, classes and values."""
    read_and_passed: dict[str, tuple[Callable[..., Any], str, str]] = field(default_factory=dict)
    """Functions that read a variable of the notebook which is also passed to them, and as which argument."""
    made: dict[int, tuple[object, inspect.BoundArguments]] = field(default_factory=dict)
    """By identity, the objects of the notebook's classes, and what each was made from."""
    is_running: bool = True
    """Whether the notebook or an example in a docstring runs: what the trials call later is not recorded."""

    def copied(self, call: inspect.BoundArguments) -> inspect.BoundArguments:
        """Return a copy of the arguments of a call; of the objects in it, too, it is known what they were made from."""
        memo: dict[int, Any] = {}
        for name, value in call.arguments.items():
            if is_tensor(value) and not value.is_leaf:  # torch copies no result of a calculation
                call.arguments[name] = value.detach()
        copied = copy.deepcopy(call, memo)
        for original in self.made.keys() & memo.keys():
            self.note(memo[original], self.made[original][1])
        return copied

    def note_variables(self, name: str, function: Callable[..., Any], call: inspect.BoundArguments) -> None:
        """Note if a function reads a variable that holds the very object which is passed to it."""
        try:
            read = used_names(source_of(function))
        except SyntaxError:
            return
        for variable in read & self.namespace.keys():
            value = self.namespace[variable]
            if isinstance(value, _SHARED) or callable(value) or value is None:
                continue  # equal numbers and texts are often one object
            for parameter, given in call.arguments.items():
                if given is value:
                    self.read_and_passed.setdefault(name, (function, variable, parameter))

    def note(self, made: object, arguments: inspect.BoundArguments) -> None:
        """Note what an object was made from."""
        if len(self.made) < _MOST_OBJECTS:
            self.made.setdefault(id(made), (made, arguments))  # kept alive, so that no other gets its identity


class Recorder:
    """Replaces functions by ones that keep the arguments they are called with."""

    def __init__(self, recorded: Recorded, names: frozenset[str]) -> None:
        self._recorded, self._names = recorded, names

    def __call__(self, name: str, defined: Any) -> Any:
        """Return what the notebook is to use in place of a function or class."""
        if isinstance(defined, type):
            self._note_objects(defined)
        if name not in self._names:
            return defined
        self._recorded.originals[name] = defined
        if isinstance(defined, type):
            for method, function in list(vars(defined).items()):
                is_called = method in ("__init__", *SPECIAL_METHODS) or not method.startswith("_")
                if inspect.isfunction(function) and is_called:
                    setattr(defined, method, self._kept(f"{name}.{method}", function))
            return defined
        return self._kept(name, defined) if callable(defined) else defined

    def _note_objects(self, cls: type) -> None:
        """Note what the objects of a class are made from."""
        constructor = vars(cls).get("__init__")
        if not inspect.isfunction(constructor):
            return
        recorded = self._recorded

        @functools.wraps(constructor)
        def noting(made: Any, *args: Any, **kwargs: Any) -> None:
            if recorded.is_running:
                with contextlib.suppress(Exception):  # what cannot be copied is not kept
                    call = inspect.signature(constructor).bind(None, *args, **kwargs)
                    recorded.note(made, recorded.copied(call))
            constructor(made, *args, **kwargs)

        type.__setattr__(cls, "__init__", noting)

    def _kept(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        kept = self._recorded.calls.setdefault(name, [])
        raised = self._recorded.raised.setdefault(name, [])
        is_method = "." in name

        @functools.wraps(function)
        def calling(*args: Any, **kwargs: Any) -> Any:
            call = None
            if self._recorded.is_running and len(kept) < MOST_CALLS:
                with contextlib.suppress(Exception):  # what cannot be copied is not kept
                    call = inspect.signature(function).bind(*args, **kwargs)
                    if len(kept) < _MOST_COMPARED:
                        self._recorded.note_variables(name, function, call)
                    own = next(iter(call.arguments.items())) if is_method else None
                    call.arguments.update([(own[0], None)] if own else [])
                    call = self._recorded.copied(call)
                    call.arguments.update([own] if own else [])  # which object it was is all that matters
                    kept.append(call)
            try:
                return function(*args, **kwargs)
            except Exception:
                if call is not None:
                    raised.append(call)
                raise

        return calling


def run(cells: Sequence[Cell], names: frozenset[str]) -> Recorded:
    """Run the code cells in one namespace, without showing anything.

    Args:
        cells: the cells of the notebook.
        names: the functions and classes whose calls are kept.
    """
    recorded = Recorded({"__name__": "__main__", "display": lambda *_, **__: None})
    recorded.namespace[_RECORD] = Recorder(recorded, names)
    _without_windows()
    for cell in cells:
        if cell.kind != "code" or not cell.source.strip():
            continue
        try:
            _run_cell(cell, names, recorded)
        except Exception as error:
            recorded.failed.append((cell.number, _last_line(error)))
    recorded.is_running = False
    return recorded


def source_of(function: Callable[..., Any]) -> str:
    """Return the source code of a function; empty if there is none."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def seeded(number: int) -> None:
    """Give the global random generators a state."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def _run_cell(cell: Cell, names: frozenset[str], recorded: Recorded) -> None:
    source, file = _plain(cell.source), f"{CELL}{cell.number}>"
    keep_source(source, file)
    tree = ast.parse(source)
    statements: list[ast.stmt] = []
    for node in tree.body:
        statements.append(node)
        if isinstance(node, ast.ClassDef) or (isinstance(node, Definition) and node.name in names):
            text = f"{node.name} = {_RECORD}({node.name!r}, {node.name})"
            statements += [ast.copy_location(added, node) for added in ast.parse(text).body]
    is_test = bool(cell.nbgrader and cell.nbgrader.get("grade") and not cell.nbgrader.get("solution"))
    known = len(recorded.failed)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for part in _parts(statements, each=is_test):
            code = compile(ast.fix_missing_locations(ast.Module(part, [])), file, "exec")
            try:
                exec(code, recorded.namespace)  # noqa: S102  # the author's own notebook
            except Exception as error:
                is_import = isinstance(error, ImportError) and isinstance(part[-1], ast.Import | ast.ImportFrom)
                if not is_test and not is_import:
                    raise
                if is_test and is_import:
                    recorded.namespace.update(dict.fromkeys(next(statement_names(part[-1:])).binds, _Absent()))
                if not is_test or len(recorded.failed) == known:  # what follows from the first failure says nothing
                    recorded.failed.append((cell.number, _last_line(error)))


def _parts(statements: Sequence[ast.stmt], *, each: bool) -> list[list[ast.stmt]]:
    """Return the statements in parts; what fails in one does not keep the next one from running.

    Args:
        statements: those of a cell.
        each: whether each is a part, as in a cell of tests; otherwise a part ends with an import.
    """
    parts: list[list[ast.stmt]] = [[]]
    for node in statements:
        parts[-1].append(node)
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        if (each or is_import) and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            parts.append([])
    return [part for part in parts if part]


class _Absent:
    """Replaces what a cell of tests imports and nothing here provides, so that its calls of the solution run."""

    def __call__(self, *args: object, **kwargs: object) -> "_Absent":
        return self

    def __getattr__(self, name: str) -> "_Absent":
        return self

    def __enter__(self) -> "_Absent":
        return self

    def __exit__(self, *raised: object) -> bool:
        return True


def _plain(source: str) -> str:
    """Return a cell without shell lines and magics; nothing of a cell in another language."""
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        return rest if first.split()[0] in _TIMES else ""
    return _MAGIC.sub(r"\1pass", source)


def _without_windows() -> None:
    with contextlib.suppress(ImportError):
        import matplotlib as mpl

        mpl.use("Agg")


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()
