"""The course that the zip carries: one assignment, with what its graders import and read, and no submission."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from viva.config import Assignment, Course
from viva.config.assignment import EXCEPTIONS_YAML, SOURCES, TESTS
from viva.config.read_config import read_document
from viva.model.errors import CourseError


def packed_course(course: Course, assignment: Assignment) -> dict[str, Path]:
    """Return the files of the course by their path in it.

    Raises:
        CourseError: the assignment asks for what the platform cannot have, or a file that it names does not exist.
    """
    name, root = assignment.name, course.root
    if assignment.python is not None:
        raise CourseError(
            f"{assignment.folder / 'assignment.yaml'}: python: {assignment.python} is an interpreter of this machine; "
            "an autograder has one environment alone. Take the line out, and pin the libraries by what is installed."
        )
    folders = [assignment.folder, assignment.graders, root / "fixtures" / name / "data"]
    left_out = {assignment.folder / name for name in (EXCEPTIONS_YAML, *SOURCES, TESTS)}
    found = {path for folder in folders for path in _files(folder)} - left_out
    found |= {_named(course, assignment, text) for text in assignment.release.gradescope.files}
    found |= set(_modules(root, found))
    return {path.relative_to(root).as_posix(): path for path in sorted(found)}


def settings(course: Course, assignment: Assignment) -> bytes:
    """Return the packed course's grader.yaml; the other settings of the original are about this machine."""
    written: dict[str, object] = {"course": course.title, "secret": "file:secret", "assignments": [assignment.name]}
    if course.min_tier is not None:
        written["min_tier"] = str(course.min_tier)
    return yaml.safe_dump(written, sort_keys=False, allow_unicode=True).encode()


def other_assignments_mentioned(course: Course, assignment: Assignment, files: Iterable[Path]) -> list[str]:
    """Return sentences about graders that mention another assignment, of which nothing is packed."""
    others = [name for name in course.assignments if name != assignment.name]
    packed = {path.relative_to(course.root).parts[1] for path in files if len(path.relative_to(course.root).parts) > 2}
    found = []
    for path in sorted(p for p in files if p.suffix == ".py" and p.is_relative_to(assignment.graders)):
        texts = {node.value for node in ast.walk(_tree(path)) if isinstance(node, ast.Constant)}
        found += [
            f"{path.relative_to(course.root)} speaks of `{other}`: if it reads files from there, list them in "
            "assignment.yaml under release: {gradescope: {files: […]}}."
            for other in others
            if other in texts and other not in packed
        ]
    return found


def _named(course: Course, assignment: Assignment, text: str) -> Path:
    path = course.root / text
    inside = path.resolve().is_relative_to(course.root.resolve())
    if not inside or not path.is_file() or ".." in Path(text).parts:
        where = read_document(assignment.folder / "assignment.yaml")
        raise where.error(("release", "gradescope", "files"), f"`{text}` is not a file of {course.root}.")
    return path


def _modules(root: Path, files: set[Path]) -> Iterator[Path]:
    """Yield the modules of `reference` and `graders` that files import, directly or indirectly, with their packages."""
    pending = [path for path in files if path.suffix == ".py"]
    seen = set(pending)
    while pending:
        path = pending.pop()
        for module in _imports(path, root):
            for found in _places(root, module):
                if found not in seen:
                    seen.add(found)
                    pending.append(found)
                    yield found


def _places(root: Path, module: str) -> Iterator[Path]:
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        path = root.joinpath(*parts[:count])
        for found in (path / "__init__.py", path.with_suffix(".py")):
            if found.is_file():
                yield found


def _imports(path: Path, root: Path) -> Iterator[str]:
    """Yield dotted names; in `from a import b`, b may be a module too."""
    here = path.relative_to(root).parent.parts
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = list(here[: len(here) - node.level + 1]) if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value] if re.fullmatch(r"(reference|graders)(\.\w{1,80}){1,8}", node.value) else []
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] in ("reference", "graders"))


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text("utf-8"))
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path} is not valid Python: {error}.") from error


def _files(folder: Path) -> Iterator[Path]:
    """Yield regular files, so that no link leads out of the course."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            yield path
