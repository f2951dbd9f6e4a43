"""The author's helpers, `inside.py` or a package `inside/`, as the folder of graders holds them."""

from viva.config import Assignment
from viva.model.errors import CourseError


def helpers_of(assignment: Assignment) -> dict[str, str]:
    """Return the author's helpers by file name: `inside.py` or the package `inside/`; empty if there are none.

    Raises:
        CourseError: there are both, or the package lacks its `__init__.py`.
    """
    file, folder = assignment.graders / "inside.py", assignment.graders / "inside"
    if not folder.is_dir():
        return {file.name: file.read_text("utf-8")} if file.is_file() else {}
    if file.is_file():
        raise CourseError(f"{file} is next to {folder}: expected one of them; move the file into the folder.")
    if not (folder / "__init__.py").is_file():
        raise CourseError(f"{folder} has no __init__.py: write one that imports what tests may ask for.")
    paths = sorted(folder.rglob("*.py"))
    return {path.relative_to(assignment.graders).as_posix(): path.read_text("utf-8") for path in paths}
