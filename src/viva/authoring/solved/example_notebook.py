"""A solved notebook with an example of each kind of question, for authors who begin with nothing."""

from dataclasses import replace
from importlib import resources

from viva.authoring.source.starter import notebook_of, read_source


def example_notebook(title: str) -> bytes:
    """Return the notebook, with a title."""
    with resources.as_file(resources.files("viva.authoring") / "templates" / "solved_example.py") as path:
        cells = read_source(path)
    return notebook_of([replace(cell, source=cell.source.replace("TITLE", title)) for cell in cells])
