"""A solved notebook with an example of each kind of question, for authors who begin with nothing."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.plugins.authoring.source.starter import notebook_of, read_source


def write_example(path: Path, title: str) -> None:
    """Write the notebook, with a title.

    Raises:
        UsageError: there is such a file already.
    """
    if path.exists():
        raise UsageError(f"{path} is there already. If it is your solution, run `viva new {path.stem} --from {path}`.")
    with resources.as_file(resources.files("viva.plugins.authoring") / "templates" / "solved_example.py") as template:
        cells = read_source(template)
    write_atomically(path, notebook_of([replace(cell, source=cell.source.replace("TITLE", title)) for cell in cells]))
