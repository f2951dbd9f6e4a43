"""Make an assignment from a solved notebook or module: its questions, its tests, and what the author has to decide."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from viva.config import Course, load_course
from viva.formats.atomic_write import write_atomically
from viva.model.child_process import NoAnswer, ask_child
from viva.model.errors import UsageError
from viva.plugins.authoring.new_assignment import adding, in_words
from viva.plugins.authoring.solved.comment_headings import questions_in
from viva.plugins.authoring.solved.new_files import Made, write_tests
from viva.plugins.authoring.solved.proposal import Proposal
from viva.plugins.authoring.solved.questions import Question, has_markers, parsed
from viva.plugins.authoring.solved.solution_regions import (
    BEGIN,
    END,
    with_headings,
    with_markers,
    with_nbgrader_regions,
)
from viva.plugins.authoring.solved.solved_assignment import make
from viva.plugins.authoring.source.solution_markers import Unbalanced
from viva.plugins.authoring.source.source_cells import Cell, without_solutions
from viva.plugins.authoring.source.starter import notebook_of, read_source
from viva.submissions.code_imports import imported
from viva.submissions.code_names import NOT_PYTHON

LONGEST_S: Final = 600.0
LARGEST_DATA: Final = 64 << 20


def from_solution(course: Course, name: str, source: Path, title: str | None = None) -> Made:
    """Write the folder of the assignment, and everything that is made from it.

    Args:
        course: the course that gets the assignment.
        name: the assignment's.
        source: the solved notebook or module.
        title: what students read; None for the notebook's first heading.

    Raises:
        UsageError: the source or a test in it cannot be used, or the name is taken.
        CourseError: the source cannot be read.
    """
    cells = with_own_marks(_read(source))
    try:
        without_solutions(cells)
    except Unbalanced as error:
        raise UsageError(f"{source}: {error}.") from None
    questions = questions_in(cells)
    if not questions:
        if broken := _syntax_error(cells):
            raise UsageError(f"{source}: {broken}.")
        raise UsageError(
            f"{source}: viva found no question. Write headings with numbers, such as `## 2.1 Softmax (5 points)`, "
            "above the cells that students are to write."
        )
    if not has_markers(cells):
        cells = with_markers(cells, questions)
    if source.suffix == ".ipynb":
        cells = with_headings(with_nbgrader_regions(cells), questions)
    found, failed, opened = _proposed(cells, questions, source.absolute().parent)
    named = [name for name in _texts(cells) if Path(name).as_posix() not in opened["written"]]
    modules = [
        f"{name.partition('.')[0]}.py" for cell in cells if cell.kind == "code" for name in imported(cell.source)
    ]
    needed = _data([*opened["read"], *named, *modules], source.absolute().parent)
    data = [path for path in needed if (source.absolute().parent / path).stat().st_size <= LARGEST_DATA]
    made = Made(
        course.root / "assignments" / name,
        title or _title(cells) or in_words(name),
        source.name if source.suffix == ".py" else "",
        cells,
        questions,
        found,
        failed,
        data,
        [path for path in needed if path not in data],
    )
    with adding(course, name) as listed:
        text = notebook_of(cells) if source.suffix == ".ipynb" else _text(source, cells)
        write_atomically(made.folder / f"source{source.suffix}", text)
        for path in data:
            write_atomically(made.folder / path, (source.absolute().parent / path).read_bytes())
        write_tests(made)
        listed()
        make(load_course(course.root), load_course(course.root).assignment(name))
    return made


def _syntax_error(cells: Sequence[Cell]) -> str:
    """Return where the code is not Python; empty if it is."""
    for cell in cells:
        try:
            ast.parse(NOT_PYTHON.sub("", cell.source) if cell.kind == "code" else "")
        except (SyntaxError, ValueError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            return f"cell {cell.number}{line} is not valid Python ({getattr(error, 'msg', error)})"
    return ""


def _read(source: Path) -> list[Cell]:
    if source.suffix not in (".ipynb", ".py"):
        raise UsageError(f"{source}: expected a solved notebook (.ipynb) or module (.py).")
    try:
        return read_source(source)
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{source} cannot be read: it is not UTF-8 ({error}).") from None


def _proposed(
    cells: Sequence[Cell], questions: Sequence[Question], folder: Path
) -> tuple[dict[str, Proposal], list[tuple[int, str]], dict[str, list[str]]]:
    """Run the notebook in another process.

    Returns:
        The proposals by name, the cells that raised, and the files of its folder that were read and written.
    """
    request = {
        "cells": [asdict(cell) for cell in cells],
        "functions": [name for question in questions for name in question.functions],
        "classes": [name for question in questions for name in question.classes],
        "values": [name for question in questions for name in question.values],
    }
    try:
        read = ask_child("viva.plugins.authoring.solved.child", request, timeout_s=LONGEST_S, cwd=folder)
    except TimeoutError:
        late = f"The notebook did not end within {LONGEST_S:g} s; take out what trains for long."
        raise UsageError(late) from None
    except NoAnswer as error:
        if error.status == 1:
            raise RuntimeError(error.stderr) from None
        raise UsageError(f"The notebook ended the process in which it ran (status {error.status}).") from None
    proposals = {each["name"]: _from_plain(each) for each in read["proposals"]}
    return (
        proposals,
        [(number, str(text)) for number, text in read["failed"]],
        {how: list(map(str, read[how])) for how in ("read", "written")},
    )


def _from_plain(plain: Mapping[str, Any]) -> Proposal:
    sets = {name: set(plain[name]) for name in ("imports", "strategies")}
    return Proposal(**{**plain, **sets})


def _title(cells: Sequence[Cell]) -> str:
    for cell in cells:
        heading = r"^#\s+(.+)$" if cell.kind == "markdown" else r"^#[ \t]+#[ \t]+(.+)$"  # in a module, a comment
        found = re.search(heading, cell.source, re.MULTILINE)
        if found:
            return found[1].strip(" #*")
    return ""


def _texts(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the texts in code that may name a file: one that no cell opens, because only a function does."""
    trees = (parsed(cell.source) for cell in cells if cell.kind == "code")
    for node in (node for tree in trees if tree is not None for node in ast.walk(tree)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.endswith(".py"):
            yield node.value


def _data(names: Iterable[str], folder: Path) -> list[str]:
    """Return those names that are files below the notebook's folder; none that is hidden, as tokens of servers are."""
    found = []
    for name in names:
        if not name or len(name) > 200 or name.startswith(("/", "~")) or "\n" in name:
            continue
        if any(part.startswith(".") for part in Path(name).parts):  # `..` too
            continue
        path = folder / name
        if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb":
            found.append(Path(name).as_posix())
    return list(dict.fromkeys(found))


def _text(source: Path, cells: Sequence[Cell]) -> bytes:
    """Return the module; with markers if the author wrote none, which keeps the text of a module that is one cell."""
    text = source.read_text("utf-8")
    if len(cells) == 1:
        return (cells[0].source.rstrip("\n") + "\n").encode()
    for before, after in zip(read_source(source), cells, strict=True):
        if before.source != after.source and before.source.strip():
            text = text.replace(before.source, after.source, 1)
    return text.encode()


_EDGE: Final = re.compile(
    r"^(?P<indent>[ \t]*)#[#*=\- \t]*(?:"
    r"(?P<begin>(?:START|BEGIN)(?: OF)?(?: YOUR)? CODE\b|YOUR CODE (?:STARTS? )?HERE\b)"
    r"|END(?: OF)?(?: YOUR)? CODE\b|YOUR CODE ENDS? HERE\b"
    r"|(?P<solution>SOLUTION[ \t]*$)|(?P<end_of_solution>END SOLUTION\b))",
    re.IGNORECASE,
)


def with_own_marks(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with `### BEGIN SOLUTION` and `### END SOLUTION` in place of other marks.

    A beginning without an end marks nothing: an empty exercise has `# YOUR CODE HERE` too.
    """
    return [replace(cell, source=_with_own_marks(cell.source)) if cell.kind == "code" else cell for cell in cells]


def _with_own_marks(source: str) -> str:
    lines = source.split("\n")
    begin: tuple[int, str, bool] | None = None
    for place, line in enumerate(lines):
        edge = _EDGE.match(line)
        if edge is None:
            continue
        if edge["begin"] or edge["solution"]:
            begin = place, edge["indent"], edge["solution"] is not None
        elif begin is not None and begin[2] == (edge["end_of_solution"] is not None):
            lines[begin[0]], lines[place] = begin[1] + BEGIN, begin[1] + END
            begin = None
    return "\n".join(lines)
