"""Load the student's modules and the author's helpers.

A submitted file is loaded in the same way whether the examiner requests it or another submitted file
imports it: once, statement by statement after one raises, and definitions only if the assignment says so.
"""

from __future__ import annotations

import ast
import builtins
import codecs
import getpass
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import tokenize
import types
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

from ..process import alarm
from ..values.printed import Printed
from ..values.raised import Raised, describe
from . import devices, import_denylist, sources
from .author_helpers import AuthorHelpers
from .namespaces import Namespaces
from .statements import Namespace, Ran, Source

if TYPE_CHECKING:
    from ..transport.message_types import BeginModule, LoadInside, LoadModule, NextStatement

_spec_for, _from_spec = importlib.util.spec_from_file_location, importlib.util.module_from_spec
_chdir = os.chdir
_LATIN_1 = "viva.latin-1"
_IMPORT_SHARE = 0.75
"""The share of the remaining time that an imported file may take: the file that imports it needs some as well."""
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))
_RELATIVE_IMPORT = re.compile(r"^[ \t]*from[ \t]*\.", re.MULTILINE)
_find_in_folders = importlib.machinery.PathFinder.find_spec


class Loading:
    """How files are loaded in this box; finds the student's own modules for `import`."""

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces = namespaces
        self._only_definitions = False
        self._is_requested = False
        """Whether the next file that runs is the one that the examiner requested."""
        self._limit_s: Optional[float] = None
        self._ran: Dict[str, Ran] = {}
        self._is_stepped = False
        """Whether the next file that runs only begins, so that its statements are requested one by one."""
        self._begun: Optional[Tuple[Source, List[ast.stmt], Namespace]] = None

    def load_module(self, request: LoadModule) -> Dict[str, object]:
        """Run the file `path` as a module of its name, for at most `file_s` seconds; after that, only its definitions.

        Returns:
            `{"errors": [Raised and "line"], "skipped": [str], "printed": str, "forbidden": [str]}`.
        """
        path = request.path
        self.prepare(request)
        self._is_requested, self._limit_s = True, request.file_s
        with Printed() as printed:
            errors = self._load(path)
        ran = self._ran.get(sources.path_of(path), Ran([], []))
        return {
            "errors": errors + ran.problems,
            "skipped": ran.skipped,
            "printed": printed.text(),
            "forbidden": import_denylist.tried(),
        }

    def begin_module(self, request: BeginModule) -> Dict[str, object]:
        """Prepare to run the file `path`; `next_statement` then runs one of its statements at a time.

        Returns:
            `{"errors": as `load_module`, "lines": [int]}`, the first line of each statement.
        """
        path = request.path
        self.prepare(request)
        self._is_stepped, self._begun = True, None
        errors = self._load(path)
        self._is_stepped = False
        if self._begun is None:
            return {"errors": errors, "lines": []}
        source, statements, _ = self._begun
        return {"errors": errors + source.broken(), "lines": [node.lineno for node in statements]}

    def next_statement(self, request: NextStatement) -> Dict[str, object]:
        """Run the statement `index` of the module that was begun; return what `load_module` does, but no `printed`."""
        if self._begun is None:
            raise RuntimeError("no module was begun")
        source, statements, namespace = self._begun
        node, self._only_definitions = statements[request.index], request.mode == "definitions"
        with Printed():
            ran = source.run_statement(node, namespace, only_definitions=self._only_definitions, limit_s=request.file_s)
        return {"errors": ran.problems, "skipped": ran.skipped, "forbidden": import_denylist.tried()}

    def load_inside(self, request: LoadInside) -> None:
        """Run the author's helpers, `sources` by file name; an error in them is the author's and raises here."""
        self._namespaces.add_inside(AuthorHelpers(request.sources).load())

    def prepare(self, request: LoadModule) -> None:
        """Make the process look as if the student had started the file in its folder."""
        path = request.path
        import_denylist.forbid(list(request.forbid))
        self._namespaces.note_starter(path, request.starter)
        devices.use(request.device)
        self._only_definitions, self._is_requested = request.mode == "definitions", False
        if not any(finder is self for finder in sys.meta_path):
            sys.meta_path.insert(0, self)
        folder = sources.live_in(path)
        _chdir(folder)
        for import_path in (folder, sources.folder().rstrip(os.sep)):
            if import_path not in sys.path:
                sys.path.insert(0, import_path)
            sys.path_importer_cache.pop(import_path, None)  # files have been added since it was read
            if not path.endswith(".ipynb"):  # a kernel has imported the standard library before the first cell
                _uncover(import_path)
        sys.argv = [path]
        builtins.input = getpass.getpass = _no_input
        sys.breakpointhook = _no_debugger

    def _load(self, path: str) -> List[Raised]:
        """Load the file unless an import already has; return the errors that kept it from running at all."""
        filename = sources.path_of(path)
        if filename in self._ran:
            return []
        name = _module_name(filename)
        known = sys.modules.get(name)
        try:
            if "." in name:
                __import__(name.rpartition(".")[0])
            spec = _spec_for(name, filename, loader=_Loader(name, filename, self))
            if spec is None:
                raise ImportError(f"{path} cannot be loaded")
            module = _from_spec(spec)
            if known is None or sources.shown_name(str(getattr(known, "__file__", ""))):
                sys.modules[name] = module  # otherwise it has the name of a library that others need
            self.execute(module, filename)
        except BaseException as error:
            self._namespaces.add(_relative(filename), {"__name__": name})
            return [{**describe(error), "line": _line(error)}]
        return []

    def execute(self, module: types.ModuleType, filename: str) -> None:
        """Run a submitted file as `module`.

        Raises:
            SyntaxError, ValueError, OSError: The file cannot be read or is not Python.
        """
        if self._is_stepped:
            self._is_stepped = False
            source = Source(_text(filename), filename)
            self._begun = source, source.statements(), vars(module)
            self._namespaces.add(_relative(filename), vars(module))
            self._ran[filename] = Ran([], [])
            return
        limit_s = self._time_for_this_file()
        source = Source(_text(filename), filename)
        self._namespaces.add(_relative(filename), vars(module))
        self._ran[filename] = source.run(vars(module), only_definitions=self._only_definitions, limit_s=limit_s)

    def _time_for_this_file(self) -> Optional[float]:
        """Return the limit of the file: a requested file has its own; an imported one must leave its importer time."""
        if self._is_requested:
            self._is_requested = False
            return self._limit_s
        left_s = alarm.left_s()
        return None if left_s is None else left_s * _IMPORT_SHARE

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: object = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """Find the student's own files, and text in place of widgets. Part of the import system."""
        if name == _TextProgressBars.name:
            return importlib.util.spec_from_loader(name, _TextProgressBars())  # type: ignore[arg-type]  # by its methods
        work = sources.folder()
        folders = [entry for entry in (sys.path if path is None else path) if (entry + os.sep).startswith(work)]
        spec = _find_in_folders(name, folders) if folders else None
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return spec if spec is not None and spec.loader is not None else None
        spec.loader = _Loader(name, spec.loader.path, self)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Executes a student's file through `Loading`."""

    def __init__(self, name: str, path: str, loading: Loading) -> None:
        super().__init__(name, path)
        self._loading = loading

    def exec_module(self, module: types.ModuleType) -> None:
        self._loading.execute(module, self.path)


class _TextProgressBars:
    """Makes `tqdm.notebook` from tqdm's bars for terminals: its own are widgets, which only a browser shows."""

    name = "tqdm.notebook"

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let Python make the module as usual. Part of the import system."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Fill the module. Part of the import system."""
        bars = importlib.import_module("tqdm.std")
        vars(module).update(tqdm=bars.tqdm, trange=bars.trange, tqdm_notebook=bars.tqdm, tnrange=bars.trange)


def _uncover(folder: str) -> None:
    """Let files of this folder be found by imports that name a module of the standard library, as Python does.

    It only concerns modules that Python itself does not need to start.
    """
    for entry in os.listdir(folder):
        name = entry[:-3] if entry.endswith(".py") else ""
        spec = getattr(sys.modules.get(name), "__spec__", None)
        origin = "built-in" if spec is None else str(spec.origin)
        is_own = sources.shown_name(origin) is not None
        if name in _STANDARD and origin not in ("built-in", "frozen") and not is_own:
            del sys.modules[name]


def _no_debugger(*_args: object, **_kwargs: object) -> None:
    """Do nothing at `breakpoint()`: no one can use a debugger here."""


def _no_input(*_prompt: object, **_options: object) -> str:
    alarm.note_input()
    caller = sys._getframe(1).f_locals.get("self")
    if "bdb" in sys.modules and isinstance(caller, sys.modules["bdb"].Bdb):
        return "continue"  # the student left `pdb.set_trace()` in the code
    raise RuntimeError("input() cannot be used here: no one is there to answer; put the value into the code")


def _module_name(filename: str) -> str:
    """Return the dotted name: packages, then the stem. The work directory itself is never a package.

    A folder is a package if it says so with an `__init__.py`, or if the file uses a relative import (`from .parts`).
    """
    folder, base = os.path.split(filename)
    parts = [os.path.splitext(base)[0]]
    top = sources.folder().rstrip(os.sep) + os.sep
    relative = folder.startswith(top) and _RELATIVE_IMPORT.search(_readable(filename)) is not None
    while folder.startswith(top) and (os.path.isfile(os.path.join(folder, "__init__.py")) or relative):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _relative(filename: str) -> str:
    return (sources.shown_name(filename) or filename).replace(os.sep, "/")


def _line(error: BaseException) -> Optional[int]:
    line = error.lineno if isinstance(error, SyntaxError) else None
    return line if type(line) is int else None


def _text(filename: str) -> str:
    """Read a source file in the encoding that it declares, or in UTF-16, which some editors write.

    Each byte that is not valid UTF-8 is read as Latin-1, so that a name in a comment does not make the file unreadable.
    """
    with open(filename, "rb") as file:
        start = file.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        with open(filename, encoding="utf-16") as text:
            return text.read()
    try:
        with tokenize.open(filename) as text:
            return text.read()
    except (SyntaxError, UnicodeDecodeError):
        with open(filename, encoding="utf-8-sig", errors=_LATIN_1) as text:
            return text.read()


def _readable(filename: str) -> str:
    try:
        return _text(filename)
    except (OSError, ValueError):
        return ""  # running it says why


def _as_latin_1(error: UnicodeError) -> Tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN_1, _as_latin_1)
