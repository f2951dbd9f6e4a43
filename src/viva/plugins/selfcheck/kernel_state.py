"""The state of a live kernel, saved before a check and restored after it.

A check calls the student's functions, which may change lists, arrays and models that the notebook still uses. Objects
stay the same objects; their contents are written back. No student code is called: only exact types of Python, numpy
and torch are read, and the attributes of objects whose classes the student wrote.
"""

import builtins
import collections
import contextlib
import decimal
import os
import random
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

MAX_BYTES: Final = 128 << 20
"""The most bytes of all arrays and tensors; a larger one is not saved, and is reported."""
MAX_OBJECTS: Final = 100_000

Undo = Callable[[], object]
Saved = tuple[Undo | None, Iterable[object]]
"""How to restore an object, and which objects it holds."""
_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None), range, type(...), types.BuiltinFunctionType)
_OF_THE_SHELL: Final = frozenset({"In", "Out", "exit", "quit", "get_ipython", "open"})
_OF_SYS: Final = (
    "stdin", "stdout", "stderr", "displayhook", "excepthook", "breakpointhook", "unraisablehook", "argv", "path",
    "meta_path", "path_hooks", "last_value", "last_type", "last_traceback",
)  # fmt: skip
_members = type.__dict__["__dict__"].__get__
"""Returns what a class defines, whatever its metaclass says."""


class Snapshot:
    """The bindings of a namespace, and the contents of what they refer to."""

    def __init__(
        self,
        namespace: dict[str, object],
        *others: dict[str, object],
        max_bytes: int = MAX_BYTES,
        max_objects: int = MAX_OBJECTS,
    ) -> None:
        """Save everything that the names reach.

        Args:
            namespace: the globals of the student's code.
            others: those of the student's modules.
            max_bytes: how many bytes are saved; anything beyond that is listed in `too_large`.
            max_objects: how many objects are saved; anything beyond that is listed in `too_large`.
        """
        self.too_large: list[str] = []
        self._bytes, self._objects = max_bytes, max_objects
        spaces = (namespace, *others)
        self._homes = {str(space.get("__name__", "__main__")) for space in spaces}
        self._seen: dict[int, Any] = {}
        self._undo: list[Undo | None] = [_save_bindings(space) for space in spaces]
        for name, value in [item for space in spaces for item in space.items()]:
            is_own = type(name) is str and not name.startswith("_") and name not in _OF_THE_SHELL
            if is_own and not self._walk(value):
                self.too_large.append(name)

    def restore(self) -> None:
        """Restore everything that can be restored."""
        _run_all(self._undo)

    def _walk(self, value: object) -> bool:
        """Save an object and what it reaches; return False if that was too much."""
        whole = True
        waiting = [value]
        while waiting:
            here = waiting.pop()
            if type(here) in _PLAIN or id(here) in self._seen:
                continue
            if self._objects <= 0:
                return False
            self._objects -= 1
            self._seen[id(here)] = here  # kept alive, so that no other object gets its id
            size = _count_bytes(here)
            if size > self._bytes:
                whole = False
                continue
            self._bytes -= size
            undo, inner = self._save(here)
            self._undo.append(undo)
            waiting += inner
        return whole

    def _save(self, here: Any) -> Saved:
        """Return how to restore one object, and which objects it holds."""
        kind = type(here)
        if kind in _SAVERS:
            return _SAVERS[kind](here)
        for base, save in {np.ndarray: _save_array, **_find_torch_savers()}.items():
            if issubclass(kind, base):
                return save(here)
        home = _members(kind).get("__module__")
        if kind is types.FunctionType and here.__module__ in self._homes:
            return _save_function(here)
        if issubclass(kind, type) and _members(here).get("__module__") in self._homes:
            return _save_class(here)
        if home in self._homes:
            return _save_attributes(here)
        return None, ()


def _save_attributes(here: object) -> Saved:
    """Save the dict of an object's attributes."""
    attributes: object = None
    with contextlib.suppress(Exception):  # it has none, or its class overrides it
        attributes = object.__getattribute__(here, "__dict__")
    return None, [attributes]


def _run_all(undos: Iterable[Undo | None]) -> None:
    """Run each; one that fails (a lock on an array, a tensor that was freed) does not block the others."""
    for undo in undos:
        with contextlib.suppress(Exception):
            if undo is not None:
                undo()


def _is_same(now: Iterable[object], before: Iterable[object]) -> bool:
    """Return whether these are the same objects in the same order, without comparing any of them."""
    return [id(item) for item in now] == [id(item) for item in before]


def _save_dict(here: dict[Any, object]) -> Saved:
    before = dict(here)

    def undo() -> None:
        if not _is_same(here.keys(), before.keys()) or not _is_same(here.values(), before.values()):
            here.clear()
            here.update(before)

    return undo, list(before.values())


def _save_bindings(space: dict[str, object]) -> Undo:
    """Save a namespace, which is never empty meanwhile: threads of the student may use it."""
    before = dict(space)

    def undo() -> None:
        for name in [name for name in space if name not in before]:
            space.pop(name, None)
        space.update(before)

    return undo


def _save_counter(here: "collections.Counter[object]") -> Saved:
    before = dict(here)

    def undo() -> None:
        here.clear()
        dict.update(here, before)  # its own method adds

    return undo, list(before.values())


def _save_list(here: Any) -> Saved:
    """Save a list or a deque."""
    before = list(here)

    def undo() -> None:
        if not _is_same(here, before):
            here.clear()
            here.extend(before)

    return undo, before


def _save_set(here: set[object]) -> Saved:
    before = list(here)

    def undo() -> None:
        if not _is_same(here, before):
            here.clear()
            here.update(before)

    return undo, before


def _save_bytearray(here: bytearray) -> Saved:
    before = bytes(here)
    return lambda: here.__setitem__(slice(None), before), ()


def _save_numpy_generator(here: np.random.Generator) -> Saved:
    state = here.bit_generator.state
    return lambda: setattr(here.bit_generator, "state", state), ()


def _save_generator(here: Any) -> Saved:
    """Save a generator of numpy's older kind, or of torch."""
    state = here.get_state()
    return lambda: here.set_state(state), ()


def _save_python_generator(here: random.Random) -> Saved:
    state = here.getstate()
    return lambda: here.setstate(state), ()


def _save_function(here: types.FunctionType) -> Saved:
    """Save defaults that a call may change, attributes, and the variables of the enclosing functions."""
    cells = [(cell, content) for cell in here.__closure__ or () for content in _read_cell(cell)]

    def undo() -> None:
        for cell, content in cells:
            cell.cell_contents = content

    contents = [content for _, content in cells]
    return undo, [*(here.__defaults__ or ()), here.__kwdefaults__, vars(here), *contents]


def _read_cell(cell: types.CellType) -> Iterator[object]:
    with contextlib.suppress(ValueError):  # it is empty
        yield cell.cell_contents


def _save_class(here: type) -> Saved:
    """Save the attributes of a class, such as a counter of its instances."""
    before = _find_class_attributes(here)

    def undo() -> None:
        for name in _find_class_attributes(here).keys() - before.keys():
            type.__delattr__(here, name)
        for name, value in before.items():
            type.__setattr__(here, name, value)

    return undo, list(before.values())


def _find_class_attributes(here: type) -> dict[str, object]:
    members: Mapping[str, object] = _members(here)
    return {name: value for name, value in members.items() if not name.startswith(("__", "_abc_"))}


def _count_bytes(here: Any) -> int:
    if issubclass(type(here), np.ndarray):
        return int(np.ndarray.nbytes.__get__(here))
    torch: Any = sys.modules.get("torch")
    if issubclass(type(here), getattr(torch, "Tensor", ())):
        try:
            return int(here.element_size() * here.nelement())
        except ValueError:  # a parameter of a lazy layer has no size yet, and nothing to restore
            return MAX_BYTES + 1
    return 0


def _save_array(here: Any) -> Saved:
    view = np.ndarray.view(here, np.ndarray)
    before = view.copy()
    objects = before.ravel().tolist() if before.dtype == object else []
    return lambda: np.copyto(view, before), objects  # of one that is read-only, it raises an error


def _save_tensor(here: Any) -> Saved:
    """Save a tensor's numbers and its gradient; the graph that made it is left as it is."""
    torch: Any = sys.modules["torch"]
    before, requires_grad = here.detach().clone(), here.requires_grad
    gradient = here.grad if here.is_leaf else None

    def undo() -> None:
        if not torch.equal(_view_bytes(here), _view_bytes(before)):
            with torch.no_grad():
                here.detach().copy_(before)
        if here.is_leaf:
            here.grad = gradient
            here.requires_grad_(requires_grad)

    return undo, [gradient]


def _find_torch_savers() -> dict[type, Callable[[Any], Saved]]:
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "nn"):
        return {}
    modules = (torch.nn.Module, torch.optim.Optimizer)
    savers = {torch.Tensor: _save_tensor, torch.Generator: _save_generator}
    return {**savers, **dict.fromkeys(modules, _save_attributes)}


def _view_bytes(tensor: Any) -> Any:
    """Return the bytes of a tensor, for which NaN equals itself."""
    return tensor.detach().contiguous().reshape(-1).view(sys.modules["torch"].uint8)


def _save_items(here: Any) -> Saved:
    return None, here


_SAVERS: Final[dict[type, Callable[[Any], Saved]]] = {
    **dict.fromkeys((dict, collections.OrderedDict, collections.defaultdict), _save_dict),
    collections.Counter: _save_counter,
    list: _save_list,
    collections.deque: _save_list,
    set: _save_set,
    bytearray: _save_bytearray,
    tuple: _save_items,
    frozenset: _save_items,
    np.random.Generator: _save_numpy_generator,
    np.random.RandomState: _save_generator,
    random.Random: _save_python_generator,
}


@contextlib.contextmanager
def restore_process(graders: Path) -> Iterator[None]:
    """Let the process look like a fresh one within the block, and restore its settings afterwards.

    Args:
        graders: the folder of the tests; modules that come from there are removed, so that they are read again.
    """
    undos = [*_save_settings(), *_save_modules(graders), *_save_torch(), *_save_signals()]
    with (
        np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"),
        np.printoptions(),
        warnings.catch_warnings(),
        decimal.localcontext(),
    ):
        warnings.simplefilter("ignore")  # no one would see them
        try:
            yield
        finally:
            _run_all(reversed(undos))


def _save_settings() -> Iterator[Undo | None]:
    python, numpy = random.getstate(), np.random.get_state()
    yield lambda: random.setstate(python)
    yield lambda: np.random.set_state(numpy)
    limit = sys.getrecursionlimit()
    yield lambda: sys.setrecursionlimit(limit)
    environment = dict(os.environ)
    yield lambda: os.environ.update(environment)
    yield lambda: [os.environ.pop(name) for name in list(os.environ) if name not in environment]
    trace, profile = sys.gettrace(), sys.getprofile()
    yield lambda: sys.settrace(trace)
    yield lambda: sys.setprofile(profile)
    lists: tuple[Any, ...] = (sys.path, sys.meta_path, sys.path_hooks, sys.argv)
    yield from (_save_list(values)[0] for values in lists)
    settings = {name: getattr(sys, name) for name in _OF_SYS if hasattr(sys, name)}
    yield lambda: vars(sys).update(settings)
    folder = os.getcwd()  # noqa: PTH109  # as os.chdir takes it
    yield lambda: os.chdir(folder)
    names = dict(vars(builtins))
    yield lambda: [vars(builtins).pop(name) for name in list(vars(builtins)) if name not in names]
    yield lambda: vars(builtins).update(names)


def _save_modules(graders: Path) -> Iterator[Undo]:
    """Save which modules are loaded; those of the course, and of its names, are as before afterwards."""
    before = dict(sys.modules)
    named = {name: module for name, module in before.items() if _is_of_course(name)}

    def remove() -> None:
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) if name not in before else None
            if _is_of_course(name) or (isinstance(file, str) and Path(file).is_relative_to(graders)):
                del sys.modules[name]

    yield lambda: sys.modules.update(named)
    yield remove


def _is_of_course(name: str) -> bool:
    """Return whether a module has a name that the author's files use; the student's may have it as well."""
    return name.partition(".")[0] in ("inside", "graders") or name.startswith("viva_key_")


def _save_torch() -> Iterator[Undo]:
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_rng_state"):
        return
    state = torch.get_rng_state()
    yield lambda: torch.set_rng_state(state)
    if torch.cuda.is_initialized():
        cuda = torch.cuda.get_rng_state_all()
        yield lambda: torch.cuda.set_rng_state_all(cuda)
    enabled, dtype, threads = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()
    yield lambda: torch.set_grad_enabled(enabled)
    yield lambda: torch.set_default_dtype(dtype)
    yield lambda: torch.set_num_threads(threads)
    anomaly = torch.is_anomaly_enabled()
    yield lambda: torch.autograd.set_detect_anomaly(anomaly)
    strict, warn = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    yield lambda: torch.use_deterministic_algorithms(strict, warn_only=warn)


def _save_signals() -> Iterator[Undo]:
    """Save the handlers, and the timer that a student may have set; only the main thread can do this."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGINT", "SIGALRM", "SIGTERM"):
        number = getattr(signal, name, None)
        handler = signal.getsignal(number) if number is not None else None
        if number is not None and handler is not None:  # else C code set it
            yield lambda number=number, handler=handler: signal.signal(number, handler)  # type: ignore[misc]
    if hasattr(signal, "getitimer"):
        timer = signal.getitimer(signal.ITIMER_REAL)
        yield lambda: signal.setitimer(signal.ITIMER_REAL, *timer)


@contextlib.contextmanager
def silence_output(shell: Any) -> Iterator[None]:
    """Discard standard output and error, `display` and figures within the block.

    Args:
        shell: IPython's, or None.
    """
    figures = _list_figures()
    with contextlib.ExitStack() as stack:
        null = stack.enter_context(open(os.devnull, "w", encoding="utf-8", errors="backslashreplace"))  # noqa: PTH123
        if shell is not None:
            from IPython.utils.capture import capture_output

            capture: Any = capture_output
            stack.enter_context(capture(stdout=False, stderr=False, display=True))
        stack.enter_context(contextlib.redirect_stdout(null))
        stack.enter_context(contextlib.redirect_stderr(null))
        try:
            yield
        finally:
            for number in _list_figures() - figures:
                sys.modules["matplotlib.pyplot"].close(number)


def _list_figures() -> set[int]:
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return set()
    return set(pyplot.get_fignums())
