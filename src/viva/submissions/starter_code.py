"""What of a submission is still the starter: whole files, and single definitions in files that were changed.

Two pieces of code are the same if their syntax trees are: line ends, comments and formatting make no difference.
"""

import ast
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from viva.submissions.code_names import NOT_PYTHON, Definition, Parameters, parameters_in, syntax_trees, with_trees
from viva.submissions.decode_text import decode
from viva.submissions.notebook_cells import NotebookError, read_notebook

MOST_BYTES: Final = 4 << 20
"""A larger file is not compared: no starter is as large."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of comparing a file with the starter."""

    is_unchanged: bool = False
    """Whether its code and its prose are exactly those of a starter file."""
    starter_names: frozenset[str] = frozenset()
    """Functions and classes that are the same in the starter."""
    own_names: frozenset[str] = frozenset()
    """Its other functions and classes."""
    answers: frozenset[str] = frozenset()
    """Those of them that the starter asks for; all, if there is no starter."""


@lru_cache(maxsize=16)
def starter_of(folder: Path) -> "StarterCode":
    """Return the starter of an assignment, read once in this process."""
    return StarterCode(folder)


def starter_paths(folder: Path) -> list[Path]:
    """Return the files of a starter, sorted; there may be none."""
    return [path for path in sorted(folder.iterdir()) if path.is_file()] if folder.is_dir() else []


class StarterCode:
    """The files of an assignment's starter."""

    def __init__(self, folder: Path) -> None:
        """Read the starter; there may be none."""
        paths = starter_paths(folder)
        data = [path.read_bytes() for path in paths]
        self._bytes = frozenset(data)
        read = [_read(path.name, content) for path, content in zip(paths, data, strict=True)]
        self._files = frozenset(code.whole for code in read if code.whole)
        self._definitions = frozenset(
            (name, part) for code in read for name, parts in code.definitions.items() for part in parts
        )
        self.names = frozenset(name for name, _ in self._definitions)
        """Its functions and classes."""
        self.parameters = {name: found for code in read for name, found in code.parameters.items()}
        """What its functions and methods take."""

    def compare(self, path: str, data: bytes) -> Compared:
        """Compare a file with the starter: as a whole, and each function and class of it."""
        code = _read(path, data) if len(data) <= MOST_BYTES else _Code()
        whole = data in self._bytes or code.whole in self._files
        found = code.definitions
        unchanged = {name for name, parts in found.items() if all((name, part) in self._definitions for part in parts)}
        own = found.keys() - unchanged
        answers = own & self.names if self._files else own
        return Compared(whole, frozenset(unchanged), frozenset(own), frozenset(answers))


def defined_names(path: str, data: bytes) -> frozenset[str]:
    """Return the names of the functions and classes that a module or notebook defines at its top level."""
    return frozenset(_read(path, data).definitions)


def parameters_of(path: str, data: bytes) -> Mapping[str, Parameters]:
    """Return the parameters of the functions and methods that a module or notebook defines; none if it is too large."""
    return _read(path, data).parameters if len(data) <= MOST_BYTES else {}


@dataclass(frozen=True, slots=True)
class _Code:
    """What is compared of a file's code; syntax trees are hashed."""

    whole: str = ""
    """Empty if the file holds no code."""
    definitions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The top-level functions and classes by name; a name that was defined twice has two."""
    parameters: Mapping[str, Parameters] = field(default_factory=dict)


def _read(path: str, data: bytes) -> _Code:
    """Read the code of a file: a module is one part, each cell of a notebook is one."""
    prose = ""
    if path.endswith(".ipynb"):
        try:
            notebook = read_notebook(data)
        except NotebookError:
            return _Code()
        texts = [NOT_PYTHON.sub("", cell.source) for cell in notebook.code]
        prose = "\n".join(" ".join(cell.source.split()) for cell in notebook.prose)
    elif path.endswith(".py"):
        texts = [decode(data)]
    else:
        return _Code()
    code = with_trees(_read_code, texts, returns=_Code, unreadable=_Code())
    return replace(code, whole=_hash(code.whole + prose)) if prose else code


def _read_code(texts: Sequence[str]) -> _Code:
    parts = syntax_trees(texts)
    definitions: dict[str, list[str]] = {}
    whole = []
    for part in parts:
        statements = part.body if isinstance(part, ast.Module) else []
        dumped = [_text_of(statement) for statement in statements]
        for statement, text in zip(statements, dumped, strict=True):
            if isinstance(statement, Definition):
                definitions.setdefault(statement.name, []).append(_hash(text))
        whole.append(part.strip() if isinstance(part, str) else "\n".join(dumped))
    code = "\n".join(filter(None, whole))  # cells without a statement do not count
    return _Code(_hash(code) if parts else "", definitions, parameters_in(parts))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _text_of(node: ast.AST) -> str:
    try:
        return ast.dump(node)
    except RecursionError:
        return f"nested too deeply at line {getattr(node, 'lineno', 0)}"
