"""A small course on disk, to be broken in many ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the course's folder; the course has two assignments, `masks` and `lora`."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    write_file("grader.yaml", "course: nlp\nassignments: [masks, lora]\n")
    write_file("assignments/masks/assignment.yaml", "title: Masks\n")
    write_file("assignments/lora/assignment.yaml", "title: LoRA\n")
    return write_file
