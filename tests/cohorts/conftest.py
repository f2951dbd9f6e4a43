"""Reading a class in a test."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.class_exports import Files, Read, laid_out
from viva.plugins.cohorts.exports.read_class import read_class
from viva.submissions.class_export import ClassExport


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(files)`: lays the files out as a folder and reads it; `roster=` is the text of a list."""

    def call(files: Files, *, roster: str | None = None, folder: str = "class", **options: Any) -> ClassExport:
        listed = None
        if roster is not None:
            listed = tmp_path / "roster.csv"
            listed.write_text(roster, "utf-8")
        return read_class(laid_out(tmp_path / folder, files), roster=listed, into=tmp_path / "into", **options)

    return call
