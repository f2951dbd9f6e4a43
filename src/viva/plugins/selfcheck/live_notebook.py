"""A live notebook: its names, its cells, its file if that can be found, and the files next to it."""

import os
import re
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from viva.model import Entry, File, Status, Submission
from viva.submissions.file_names import is_answers_file
from viva.submissions.notebook_cells import MAX_BYTES
from viva.submissions.open_submission import digest

NOT_FOUND: Final = (
    "The notebook's own file was not found, so answers in its Markdown cells were not looked at; "
    "`viva check` on the saved file sees them."
)
SAVED: Final = "Answers in Markdown cells are read from {name} as it was last saved."
_READ_SUFFIXES: Final = (".py", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".npy", ".npz", ".safetensors")
_MAX_FILE_BYTES: Final = 4 << 20
"""The most bytes of one file next to the notebook that tests may read."""
_MAX_BYTES: Final = 16 << 20
_MAX_PLACES: Final = 4
_MAX_WRAPPERS: Final = 10
"""Decorators around a function that are looked through."""
_CELL: Final = re.compile(r"<ipython-input-(\d{1,9})-[0-9a-f]{1,64}>")
_members = type.__dict__["__dict__"].__get__
"""Returns what a class defines, whatever its metaclass says."""


@dataclass(frozen=True, slots=True)
class LiveNotebook:
    """A live notebook, or a plain Python prompt."""

    namespace: dict[str, object]
    shell: Any
    """IPython's shell; None at a plain prompt."""
    folder: Path
    """The working directory of the kernel."""
    file: Path | None
    """The notebook's file."""

    def cells(self) -> dict[str, str]:
        """Return the display name of each piece of the student's code (`In [7]`, `helper.py`) by its file name."""
        compiled = getattr(getattr(self.shell, "compile", None), "_filename_map", None)
        cells = {str(name): f"In [{number}]" for name, number in compiled.items()} if type(compiled) is dict else {}
        for value in list(self.namespace.values()):
            if type(value) is types.FunctionType and (match := _CELL.fullmatch(value.__code__.co_filename)):
                cells.setdefault(match.group(), f"In [{match[1]}]")
        home = str(self.folder) + os.sep
        for module in self.modules():
            path = str(vars(module)["__file__"])
            cells[path] = path[len(home) :].replace(os.sep, "/")
        return cells

    def modules(self) -> list[ModuleType]:
        """Return the student's own imported modules: those that are in the notebook's folder."""
        home = str(self.folder) + os.sep
        own = []
        for module in list(sys.modules.values()):
            path = vars(module).get("__file__") if type(module) is ModuleType else None
            if type(path) is str and path.startswith(home) and "site-packages" not in path:
                own.append(module)
        return own

    def read_submission(self) -> tuple[Submission, list[str]]:
        """Return the files that tests may read, and notes for the student about them."""
        notes: list[str] = []
        files: dict[str, bytes] = {}
        left = _MAX_BYTES
        for path in self._list_nearby_files():
            data = _read(path, min(_MAX_FILE_BYTES, left))
            if data is None:
                notes.append(f"{path.name} is large and was not looked into; `viva check` on the folder does.")
            else:
                files[path.name], left = data, left - len(data)
        notebook = _read(self.file, MAX_BYTES) if self.file is not None else None
        if self.file is not None and notebook is not None:
            files[self.file.name] = notebook
            notes.append(SAVED.format(name=self.file.name))
        else:
            notes.append(NOT_FOUND)
        submitted = tuple(File(name, files[name]) for name in sorted(files))
        return Submission(str(self.file or "this notebook"), submitted, digest(submitted)), notes

    def outline(self, submission: Submission) -> Submission:
        """Return the submission with a module that defines the names defined here, to recognize the assignment."""
        text = "".join(f"{name} = 0\n" for name in list(self.namespace) if type(name) is str and name.isidentifier())
        return Submission(submission.name, (*submission.files, File("live.py", text.encode())), "")

    def _list_nearby_files(self) -> list[Path]:
        try:
            paths = sorted(self.folder.iterdir())
        except OSError:
            return []
        wanted = (path for path in paths if path.suffix in _READ_SUFFIXES or is_answers_file(path.name))
        return [path for path in wanted if not path.name.startswith(".") and not path.is_symlink() and path.is_file()]


def find_notebook(environ: Mapping[str, str] = os.environ) -> LiveNotebook:
    """Return the notebook, or the prompt, in which this is called; VS Code and Jupyter name its file."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    namespace = shell.user_ns if shell is not None else vars(sys.modules["__main__"])
    names = (namespace.get("__vsc_ipynb_file__"), namespace.get("__session__"), environ.get("JPY_SESSION_NAME"))
    for name in names:
        if type(name) is str and name.endswith(".ipynb") and "\0" not in name and Path(name).is_file():
            return LiveNotebook(namespace, shell, Path.cwd(), Path(name).absolute())
    return LiveNotebook(namespace, shell, Path.cwd(), None)


def add_places(entry: Entry, called: Iterable[str], namespace: Mapping[str, object], cells: Mapping[str, str]) -> Entry:
    """Return the entry with, if it lost points, a line for each called function: `f` is defined in In [7], line 3.

    Args:
        entry: a result.
        called: names in the submission that the test called.
        namespace: where they are looked up; no student code runs to find out where they are defined.
        cells: the display name of a piece of code, by its file name.
    """
    if not entry.status.is_wrong or not entry.cases:
        return entry
    places = []
    for name in sorted(called):
        code = _find_code(namespace, name)
        if code is not None and (cell := cells.get(code.co_filename)):
            places.append(f"`{name}` is defined in {cell}, line {code.co_firstlineno}.")
    losing = next((case for case in reversed(entry.cases) if case.status is not Status.PASSED), entry.cases[-1])
    message = "\n".join(filter(None, [losing.message, *places[:_MAX_PLACES]]))
    cases = tuple(replace(case, message=message) if case is losing else case for case in entry.cases)
    return replace(entry, cases=cases)


def _find_code(namespace: Mapping[str, object], name: str) -> types.CodeType | None:
    """Return the code of a function, of the function that a decorator wraps, or of the first method of a class."""
    head, *rest = name.split(".")
    value = namespace.get(head)
    for part in rest:
        if not issubclass(type(value), type):
            break
        value = _members(value).get(part)
    if type(value) is staticmethod or type(value) is classmethod:
        value = value.__func__
    if type(value) is types.FunctionType:
        for _ in range(_MAX_WRAPPERS):  # read without running code of the student
            inner = vars(value).get("__wrapped__")
            if type(inner) is not types.FunctionType:
                break
            value = inner
        return value.__code__ if type(value) is types.FunctionType else None
    if issubclass(type(value), type):
        codes = [member.__code__ for member in _members(value).values() if type(member) is types.FunctionType]
        return min(codes, key=lambda code: code.co_firstlineno, default=None)
    return None


def _read(path: Path, most: int) -> bytes | None:
    """Return the bytes of a file; None if it is larger or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None
