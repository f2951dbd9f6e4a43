"""Solved notebooks written as modules with `# %%` cells, and a course into which they are taken over."""

from pathlib import Path

from viva.config import load_course
from viva.plugins.authoring.empty_course import make_course
from viva.plugins.authoring.solved.from_solution import from_solution
from viva.plugins.authoring.solved.new_files import Made
from viva.plugins.authoring.source.source_cells import Cell
from viva.plugins.authoring.source.starter import notebook_of, read_source

NOTEBOOKS = Path(__file__).parents[1] / "authoring" / "solved" / "notebooks"


def cells_of(name: str) -> list[Cell]:
    return read_source(NOTEBOOKS / f"{name}.py")


def notebook(name: str, folder: Path) -> Path:
    """The notebook in a folder."""
    path = folder / f"{name}.ipynb"
    path.write_bytes(notebook_of(cells_of(name)))
    return path


def taken_over(name: str, folder: Path, *edits: tuple[str, str]) -> tuple[Path, Made]:
    """A new course in a folder, and what became of the notebook in it, in which texts of code may be replaced."""
    root = folder / "course"
    if not root.exists():
        make_course(root)
    source = notebook(name, folder)
    for was, becomes in edits:
        assert was in source.read_text("utf-8")
        source.write_text(source.read_text("utf-8").replace(was, becomes), "utf-8")
    return root, from_solution(load_course(root), name, source)


VARIANTS = NOTEBOOKS.with_name("variants")
