"""Solved notebooks written as modules with `# %%` cells, and a course into which they are taken over."""

import contextlib
import copy
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from viva.authoring.empty_course import make_course
from viva.authoring.solved.from_solution import Made, from_solution
from viva.authoring.solved.trial import plain_of
from viva.authoring.source.source_cells import Cell
from viva.authoring.source.starter import notebook_of, read_source
from viva.config import load_course
from viva.model.errors import StudentRaised
from viva.proxies.proxies import Call

NOTEBOOKS = Path(__file__).parent / "notebooks"


def cells_of(name: str) -> list[Cell]:
    return read_source(NOTEBOOKS / f"{name}.py")


def notebook(name: str, folder: Path) -> Path:
    """The notebook in a folder."""
    path = folder / f"{name}.ipynb"
    path.write_bytes(notebook_of(cells_of(name)))
    return path


def taken_over(name: str, folder: Path) -> tuple[Path, Made]:
    """A new course in a folder, and what became of the notebook in it."""
    root = folder / "course"
    if not root.exists():
        make_course(root)
    return root, from_solution(load_course(root), name, notebook(name, folder))


VARIANTS = Path(__file__).parent / "variants"


class InProcess:
    """A right answer that is asked as `student` is, in this process: quick, for answers that do no harm."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        found = self._namespace[name]
        return Asked(found, name) if callable(found) else found


class Asked:
    """A function, a class or a method, with the ways to call it."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self.__name__ = function, name

    def __call__(self, *arguments: Any) -> Any:
        try:
            return plain_of(self._function(*copy.deepcopy(arguments)))
        except Exception as error:
            raise StudentRaised(type(error).__name__, str(error)) from error

    def each(self, questions: Iterable[Sequence[Any]]) -> list[Any]:
        return [self(*question) for question in questions]

    def call(self, *arguments: Any) -> Call:
        given, printed = copy.deepcopy(arguments), io.StringIO()
        value, raised = None, None
        try:
            with contextlib.redirect_stdout(printed):
                value = plain_of(self._function(*given))
        except Exception as error:
            raised = StudentRaised(type(error).__name__, str(error))
        return Call(value, given, {}, printed.getvalue(), raised, 0.0)

    def keep(self, *arguments: Any) -> "Kept":
        return Kept(self._function(*arguments))


class Kept:
    """An object whose methods are asked."""

    def __init__(self, made: object) -> None:
        self._made = made

    def __getattr__(self, name: str) -> Asked:
        return Asked(getattr(self._made, name), name)
