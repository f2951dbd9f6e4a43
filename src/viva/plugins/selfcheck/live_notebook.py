"""A live notebook: its names, its cells, its file if that can be found, and the files next to it."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from viva.model import File, Submission
from viva.submissions.file_names import is_answers_file
from viva.submissions.notebook_cells import MAX_BYTES
from viva.submissions.open_submission import digest

NOT_FOUND: Final = (
    "The notebook's own file was not found, so answers in its Markdown cells were not looked at; "
    "`viva check` on the saved file sees them."
)
SAVED: Final = "Answers in Markdown cells are read from {name} as it was last saved."
_READ_SUFFIXES: Final = (".py", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".npy", ".npz", ".safetensors")
_MOST_BYTES: Final = 4 << 20
"""The most bytes of one file next to the notebook that goes to the examiner."""
_MOST_TOGETHER: Final = 16 << 20
_CELL: Final = re.compile(r"<ipython-input-(\d{1,9})-[0-9a-f]{1,64}>")


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
        found = {str(name): f"In [{number}]" for name, number in compiled.items()} if type(compiled) is dict else {}
        for code in _codes(self.namespace):
            if (match := _CELL.fullmatch(code)) and code not in found:
                found[code] = f"In [{match[1]}]"
        home = str(self.folder) + os.sep
        for module in self.modules():
            path = str(vars(module)["__file__"])
            found[path] = path[len(home) :].replace(os.sep, "/")
        return found

    def modules(self) -> list[ModuleType]:
        """Return the student's own imported modules: those that are in the notebook's folder."""
        home = str(self.folder) + os.sep

        def is_own(path: object) -> bool:
            return type(path) is str and path.startswith(home) and "site-packages" not in path

        modules = [module for module in list(sys.modules.values()) if type(module) is ModuleType]
        return [module for module in modules if is_own(vars(module).get("__file__"))]

    def submission(self) -> tuple[Submission, list[str]]:
        """Return the files that tests may read, and notes for the student about them."""
        notes: list[str] = []
        files: dict[str, bytes] = {}
        left = _MOST_TOGETHER
        for path in self._nearby_files():
            data = _read(path, min(_MOST_BYTES, left))
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
        name = str(self.file or "this notebook")
        return Submission(name, submitted, digest(submitted)), notes

    def outline(self, submission: Submission) -> Submission:
        """Return the submission with a module that defines the names defined here, to recognise the assignment."""
        text = "".join(f"{name} = 0\n" for name in list(self.namespace) if type(name) is str and name.isidentifier())
        return Submission(submission.name, (*submission.files, File("live.py", text.encode())), "")

    def _nearby_files(self) -> list[Path]:
        try:
            paths = sorted(self.folder.iterdir())
        except OSError:
            return []
        wanted = (path for path in paths if path.suffix in _READ_SUFFIXES or is_answers_file(path.name))
        return [path for path in wanted if not path.name.startswith(".") and not path.is_symlink() and path.is_file()]


def find(environ: Mapping[str, str] = os.environ) -> LiveNotebook:
    """Return the notebook, or the prompt, in which this is called."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    namespace = shell.user_ns if shell is not None else vars(sys.modules["__main__"])
    return LiveNotebook(namespace, shell, Path.cwd(), _file(namespace, environ))


def _file(namespace: Mapping[str, object], environ: Mapping[str, str]) -> Path | None:
    """Return the notebook's file, if VS Code or Jupyter's server names it; Colab does not."""
    for name in (namespace.get("__vsc_ipynb_file__"), namespace.get("__session__"), environ.get("JPY_SESSION_NAME")):
        if type(name) is str and name.endswith(".ipynb") and "\0" not in name:
            path = Path(name)
            if path.is_file():
                return path.absolute()
    return None


def _read(path: Path, most: int) -> bytes | None:
    """Return the bytes of a file; None if it is larger or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None


def _codes(namespace: Mapping[str, object]) -> list[str]:
    """Return the file names of the functions that are defined here."""
    values = list(namespace.values())
    functions = [value for value in values if type(value) is type(_codes)]
    return [function.__code__.co_filename for function in functions]
