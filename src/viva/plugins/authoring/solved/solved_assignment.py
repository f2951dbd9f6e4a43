"""An assignment whose source is one solved notebook: `assignments/NAME/source.ipynb` with `tests.py` next to it.

An author edits at most four files: the notebook, tests.py, assignment.yaml and rubric.yaml. viva makes the answer key,
the starter, the folder of the tests and the accepted submission from these files, whenever one of them has changed.
"""

import ast
import builtins
import hashlib
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import viva
from viva.config import Assignment, Course
from viva.config.assignment import SOURCES, TESTS
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.plugins.authoring.solved.comment_headings import questions_in
from viva.plugins.authoring.solved.questions import parsed
from viva.plugins.authoring.source import starter_from
from viva.plugins.authoring.source.solution_markers import solved
from viva.plugins.authoring.source.source_cells import Cell
from viva.plugins.authoring.source.starter import notebook_of, read_source
from viva.submissions.code_names import Definition, StatementNames, attributes_read, statement_names

MADE: Final = ".made"
"""In the folder of the graders: from what its files were made."""
OWN_HEAD: Final = '"""The model answers, in the API that students use."""\n'


def refresh(course: Course) -> None:
    """Make again what is out of date, for all assignments of a course that have one source.

    Raises:
        CourseError: a source or the settings of such an assignment cannot be read.
    """
    for name in course.assignments:
        folder = course.root / "assignments" / name
        if (folder / TESTS).is_file() and source_of(folder) is not None and not _is_made(course, name):
            make(course, course.assignment(name))


def _is_made(course: Course, name: str) -> bool:
    made = course.root / "graders" / name / MADE
    return made.is_file() and made.read_text("utf-8") == _digest(course.root / "assignments" / name)


def source_of(folder: Path) -> Path | None:
    """Return the solved notebook or module of an assignment's folder; None if it has none."""
    return next((folder / name for name in SOURCES if (folder / name).is_file()), None)


def make(course: Course, assignment: Assignment) -> None:
    """Make key, starter, tests and the accepted submission of one assignment.

    Raises:
        CourseError: the source cannot be read.
    """
    source = source_of(assignment.folder)
    assert source is not None  # `refresh` has looked
    digest = _digest(assignment.folder)
    cells = read_source(source)
    questions = questions_in(cells)
    names = [name for question in questions for name in question.names]
    classes = [name for question in questions for name in question.classes]
    used = attributes_read((assignment.folder / TESTS).read_text("utf-8"), "key")  # such as classes that are given
    networks = {name for name in names if f"outputs_{name}" in used}
    trained = [name for name in names if f"trained_{name}" in used]
    wanted = frozenset(names) | used
    key = key_source(cells, wanted, source=source.name, classes=classes, networks=networks, trained=trained)
    starter = starter_from(assignment) or {}
    _replace(assignment.starter, starter)
    accepted = course.root / "fixtures" / assignment.name / "submissions" / "accepted" / "source"
    name = assignment.submission.module if source.suffix == ".py" else f"{assignment.name}.ipynb"
    _replace(accepted, {name or source.name: _solved(cells, source)})
    write_atomically(assignment.graders / "key.py", key.encode())
    module = "".join(letter if letter.isalnum() else "_" for letter in assignment.name)
    write_atomically(assignment.graders / f"test_{module}.py", (assignment.folder / TESTS).read_bytes())
    write_atomically(assignment.graders / MADE, digest.encode())


def make_large(course: Course, name: str) -> None:
    """Leave everything that was made to the author, and remove what it was made from.

    Raises:
        UsageError: the assignment has no solved notebook with tests.
        CourseError: a source or the settings cannot be read.
    """
    folder = course.root / "assignments" / name
    source = source_of(folder)
    if source is None or not (folder / TESTS).is_file():
        raise UsageError(f"{folder} has no solved notebook and {TESTS} from which the rest was made; nothing to do.")
    assignment = course.assignment(name)
    make(course, assignment)
    key = assignment.graders / "key.py"
    write_atomically(key, key.read_text("utf-8").replace(HEAD.format(source=source.name), OWN_HEAD, 1).encode())
    for path in (assignment.graders / MADE, folder / TESTS, source):
        path.unlink()


def _solved(cells: Sequence[Cell], source: Path) -> bytes:
    """Return the solved notebook as a student would submit it: without tests and marks."""
    kept = [replace(cell, source=without_marks(cell.source)) for cell in cells if cell.kind != "raw"]
    if source.suffix == ".ipynb":
        return notebook_of(kept)
    return "\n\n".join(cell.source for cell in kept if cell.kind == "code").encode() + b"\n"


def without_marks(text: str) -> str:
    """Return a cell with its solutions, without their markers and without hidden tests."""
    lines, hidden = [], False
    for line in text.splitlines():
        if "BEGIN HIDDEN TESTS" in line or "BEGIN MARK SCHEME" in line:
            hidden = True
        elif "END HIDDEN TESTS" in line or "END MARK SCHEME" in line:
            hidden = False
        elif not hidden:
            lines.append(line)
    return solved("\n".join(lines))


def _replace(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a folder, and remove what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in files.items():
        write_atomically(folder / path, data)


def _digest(folder: Path) -> str:
    """Return a hash of what everything else is made from, and of the version of viva that makes it."""
    sha = hashlib.sha256(f"{viva.__version__}\0".encode())
    for name in (*SOURCES, TESTS, "assignment.yaml"):
        path = folder / name
        sha.update(path.read_bytes() if path.is_file() else b"")
        sha.update(b"\0")
    return sha.hexdigest()


_FUTURE: Final = "from __future__"
_BUILTINS: Final = frozenset(dir(builtins))
HEAD: Final = '''"""The model answers, made from {source}; edit that file, not this one."""
'''
PLAYED: Final = '''

def played_{name}(arguments, calls):
    """Return what the methods of one {name} return, or raise, when they are called in order."""
    made = {name}(*arguments)
    answers = []
    for method, *given in calls:
        try:
            answers.append(getattr(made, method)(*given))
        except Exception as error:
            answers.append(("raised", type(error).__name__))
    return answers
'''
OUTPUTS: Final = '''

def outputs_{name}(arguments, inputs):
    """Return what one {name} computes with the weights of a test."""
    from viva.grading.networks import outputs_of

    return outputs_of({name}, arguments, inputs)
'''
TRAINED: Final = '''

def trained_{name}(*arguments):
    """Return what {name} returns, and the weights of the networks that it was given."""
    from viva.grading.networks import trained_of

    return trained_of({name}, *arguments)
'''


@dataclass(slots=True)
class Statement:
    """A top-level statement of a cell."""

    text: str
    node: ast.stmt
    names: StatementNames


def key_source(
    cells: Sequence[Cell],
    names: frozenset[str],
    *,
    source: str,
    classes: Sequence[str],
    networks: Collection[str] = (),
    trained: Sequence[str] = (),
) -> str:
    """Return the source code of the key.

    Args:
        cells: the cells of the solved notebook.
        names: the functions, classes and variables that students write.
        source: the name of the notebook.
        classes: those of `names` that are classes.
        networks: classes and functions of which is compared what the networks compute that they make.
        trained: functions of which is compared what they make of networks.
    """
    kept = needed_statements(cells, names)
    imports = [s.text for s in kept if isinstance(s.node, ast.Import | ast.ImportFrom)]
    future = [text for text in imports if text.startswith(_FUTURE)]
    others = [s for s in kept if not isinstance(s.node, ast.Import | ast.ImportFrom)]
    parts = [HEAD.format(source=source), *(f"{text}\n" for text in dict.fromkeys([*future, *imports]))]
    parts += [f"\n\n{s.text}\n" if isinstance(s.node, Definition) else f"\n{s.text}\n" for s in others]
    parts += [(OUTPUTS if name in networks else PLAYED).format(name=name) for name in classes]
    parts += [OUTPUTS.format(name=name) for name in sorted(frozenset(networks).difference(classes))]
    parts += [TRAINED.format(name=name) for name in trained]
    return "".join(parts).replace('"""\n', '"""\n\n', 1) if imports else "".join(parts)


def needed_statements(cells: Sequence[Cell], names: frozenset[str]) -> list[Statement]:
    """Return the statements that define names, and all that those need, in the order of the notebook."""
    statements = list(_statements(cells))
    uses = list(_uses(statements))
    needed, kept = set(names), [statement.text.startswith(_FUTURE) for statement in statements]
    grows = True
    while grows:
        grows = False
        for place, statement in enumerate(statements):
            if not kept[place] and (statement.names.binds | statement.names.changes) & needed:
                kept[place] = grows = True
                needed |= uses[place]
    if needed - {
        name for statement in statements for name in statement.names.binds
    }:  # `from math import *` may bind it
        kept = [keep or "*" in statement.names.binds for statement, keep in zip(statements, kept, strict=True)]
    return [statement for statement, keep in zip(statements, kept, strict=True) if keep]


def _own_builtins(statements: Iterable[Statement]) -> frozenset[str]:
    """Return the names of builtins that the notebook defines or imports: they mean its own everywhere."""
    own = (s.names.binds for s in statements if isinstance(s.node, Definition | ast.Import | ast.ImportFrom))
    return frozenset(name for names in own for name in names) & _BUILTINS


def _uses(statements: Sequence[Statement]) -> Iterator[frozenset[str]]:
    """Yield the names of the notebook that each statement uses.

    A variable may have the name of a builtin (`sum = 0`): statements before it mean the builtin.
    """
    own = set(_own_builtins(statements))
    for statement in statements:
        yield statement.names.uses - (_BUILTINS - own)
        own |= statement.names.binds & _BUILTINS


def _statements(cells: Sequence[Cell]) -> Iterator[Statement]:
    trees = ((cell, parsed(cell.source)) for cell in cells if cell.kind == "code")
    found = [(cell, node) for cell, tree in trees if tree is not None for node in tree.body]
    for (cell, node), names in zip(found, statement_names(node for _, node in found), strict=True):
        yield Statement(_text(node, cell.source), node, names)


def _text(node: ast.stmt, source: str) -> str:
    """Return the statement as the author wrote it, without markers."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = source.splitlines()[first - 1 : node.end_lineno]
    text = "\n".join(lines)
    alone = node.col_offset == 0 and parsed(text) is not None and len(ast.parse(text).body) == 1
    return solved(text).rstrip() if alone else ast.unparse(node)
