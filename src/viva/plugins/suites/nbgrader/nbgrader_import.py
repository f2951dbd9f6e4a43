"""nbgrader: `source/<assignment>/*.ipynb`, or the folder of one assignment."""

import ast
import tempfile
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import CourseError, UsageError
from viva.plugins.suites.importing.bundle import read_bundle, select_below
from viva.plugins.suites.importing.new_course import (
    AUTOTEST_TEMPLATES,
    ImportedAssignment,
    format_points,
    make_folder_name,
    make_question,
)
from viva.plugins.suites.importing.student_notebook import (
    Cell,
    read_cell_source,
    read_cells,
    read_language,
    rewrite_notebook,
)
from viva.plugins.suites.nbgrader.autotests import add_tests
from viva.plugins.suites.nbgrader.nbgrader_source import FOLDER, SourceCell, SourceNotebook, has_autotest, read_source
from viva.submissions.code_imports import preloads

CELL_S: Final = 30
"""nbgrader's default time limit for a cell, in seconds."""
_CONFIG: Final = "nbgrader_config.py"
_CHANGE_TOTALS: Final = ("ClearHiddenTests", "ClearSolutions", "OverwriteCells", "Autograde", "ClearMarkScheme")
"""Classes of nbgrader whose settings change what a test is, or its points."""
_TIMEOUTS: Final = ("ExecutePreprocessor.timeout", "Execute.timeout")


def import_nbgrader(path: Path) -> list[ImportedAssignment]:
    """Return every assignment of an nbgrader course, or the one whose folder was given.

    Raises:
        UsageError: there is none, or it uses what cannot be imported.
    """
    files = read_bundle(path)
    settings, notes = _settings(files.get(_CONFIG, b""), path / _CONFIG)
    found = []
    for name, folder, own in _assignments(files, path):
        found.append(_assignment(name, own, files, path, settings))
        found[-1].notes += notes
        found[-1].master = folder if path.is_dir() else None
    if not found:
        raise UsageError(
            f"{path} holds no notebook: expected an nbgrader course (source/<assignment>/*.ipynb) "
            "or the source folder of one assignment."
        )
    return found


def _assignments(files: Mapping[str, bytes], path: Path) -> Iterator[tuple[str, Path, dict[str, bytes]]]:
    """Yield the name of each assignment, its folder and its files."""
    if any(PurePosixPath(p).suffix == ".ipynb" and "/" not in p for p in files):
        yield make_folder_name(path.resolve().name.removesuffix(".zip")), path, dict(files)
        return
    top = select_below(files, FOLDER) or files
    above = path / FOLDER if select_below(files, FOLDER) else path
    for name in sorted({p.partition("/")[0] for p in top if "/" in p}):
        own = select_below(top, name)
        if any(p.endswith(".ipynb") and "/" not in p for p in own):
            yield make_folder_name(name), above / name, own


def _assignment(
    name: str, files: dict[str, bytes], course: Mapping[str, bytes], path: Path, settings: Mapping[str, float]
) -> ImportedAssignment:
    notebooks = {p: data for p, data in files.items() if p.endswith(".ipynb") and "/" not in p}
    for file, data in notebooks.items():
        if b'"nbgrader"' in data and not read_language(data).startswith("python"):
            raise UsageError(
                f"{path}: {file} is written in {read_language(data)}; only notebooks in Python are taken over."
            )
    with tempfile.TemporaryDirectory() as folder:
        for file, data in files.items():
            Path(folder, file).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, file).write_bytes(data)
        for file, data in notebooks.items():
            if any(has_autotest(read_cell_source(cell)) for cell in _code_cells(data, f"{path}: {file}")):
                notebooks[file] = add_tests(file, Path(folder), _templates(files, course, path), f"{path}: {file}")
                Path(folder, file).write_bytes(notebooks[file])
        try:
            read = read_source(Path(folder))
        except CourseError as error:
            raise UsageError(str(error).replace(folder, str(path))) from None
    graded = [n for n in read if n.cells]
    cells = [cell for n in graded for cell in n.cells.values()]
    limit_s = settings.get("timeout", CELL_S)
    total = sum((c.points for c in cells if c.is_test or c.is_graded_by_hand), Fraction(0))
    pattern = graded[0].file if len(graded) == 1 else "*.ipynb"
    texts = [read_cell_source(cell) for each in graded for cell in _code_cells(notebooks[each.file], each.file)]
    imported = ImportedAssignment(
        name,
        {
            "title": name,
            "suite": "nbgrader",
            "submission": {"notebook": pattern, "module": None},
            "points": format_points(total),
            "preload": preloads(texts),
            "limits": {"load_s": limit_s, "test_s": limit_s},
        },
    )
    for each in graded:
        data = notebooks[each.file]
        imported.graders[f"{FOLDER}/{each.file}"] = data
        imported.accepted[each.file] = data
        imported.starter[each.file] = rewrite_notebook(data, partial(_released, notebook=each), each.file)
        imported.rubric |= _rubric(each, imported.rubric)
    imported.add_data({p: data for p, data in files.items() if not p.endswith(".ipynb") and p != _CONFIG})
    return imported


def _code_cells(data: bytes, shown: str) -> list[Cell]:
    return [cell for cell in read_cells(data, shown) if cell.get("cell_type") == "code"]


def _templates(files: Mapping[str, bytes], course: Mapping[str, bytes], path: Path) -> bytes | None:
    """Return the templates of tests: the assignment's, or the course's; None if there are none."""
    for name in AUTOTEST_TEMPLATES:
        for data in (files.get(name), course.get(name)):
            if data is not None:
                return data
        if (above := path.resolve().parent.parent / name).is_file():
            return above.read_bytes()
    return None


def _released(cells: list[Cell], notebook: SourceNotebook) -> list[Cell]:
    """Return the cells as nbgrader's `generate_assignment` would."""
    for cell in cells:
        about = cell["metadata"].get("nbgrader")
        known = notebook.cells.get(about.get("grade_id", "")) if isinstance(about, dict) else None
        if known is not None:
            cell["source"] = known.released
            cell["metadata"] |= {"deletable": False, **({"editable": False} if known.locked else {})}
    return cells


def _rubric(notebook: SourceNotebook, there: Mapping[str, object]) -> dict[str, object]:
    questions: dict[str, object] = {}
    for cell in notebook.cells.values():
        if not cell.is_graded_by_hand:
            continue
        if cell.number in there:
            raise UsageError(f"{notebook.file}: `{cell.grade_id}` is graded by hand in another notebook too.")
        questions[cell.number] = make_question(cell.grade_id, cell.points, cell.mark_scheme, _model_answer(cell))
    return questions


def _model_answer(cell: SourceCell) -> str:
    """Return the author's own answer, for markers; tasks and empty answers have none."""
    return cell.source if cell.solution else ""


def _settings(config: bytes, shown: Path) -> tuple[dict[str, float], list[str]]:
    """Read, as text, what nbgrader_config.py says of time; name or refuse its other settings."""
    try:
        tree = ast.parse(config)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"{shown} is not valid Python; fix it or remove it.") from None
    settings: dict[str, float] = {}
    others: list[str] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
            continue
        name = ast.unparse(node.targets[0]).partition(".")[2]
        if name.partition(".")[0] in _CHANGE_TOTALS:
            raise UsageError(
                f"{shown}, line {node.lineno}: `{name}` changes what nbgrader does with cells, and cannot be "
                "taken over; write the notebooks as nbgrader expects them by default, and take the line out."
            )
        seconds = _seconds(node.value)
        if name in _TIMEOUTS and seconds:
            settings["timeout"] = seconds
        elif not name.startswith("CourseDirectory."):
            others.append(name)
    notes = [f"{_CONFIG} says {', '.join(others)}, which means nothing here."] if others else []
    return settings, notes


def _seconds(node: ast.expr) -> float:
    """Return a time that viva can set as well; 0 for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and 0 < value <= 86_400 else 0
