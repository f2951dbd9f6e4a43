"""What the starter says where students write in words: its questions and placeholders are not part of an answer."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from viva.submissions.answers_file import is_answers_file, read_answers, written_in
from viva.submissions.notebook_cells import Notebook, NotebookError, read_notebook

_BETWEEN: Final = re.compile(r"\n[ \t]{0,99}\n\s{0,999}")
"""What separates paragraphs. Every repetition is bounded: the text is a student's."""


@lru_cache(maxsize=16)
def starter_prose(folder: Path) -> "StarterProse":
    """Return the prose of an assignment's starter, read once in this process; there may be none."""
    return StarterProse(folder)


class StarterProse:
    """The prose of the notebooks and of the answers file in a starter."""

    def __init__(self, folder: Path) -> None:
        """Read the files that can hold prose."""
        paths = [path for path in sorted(folder.iterdir()) if path.is_file()] if folder.is_dir() else []
        self._notebooks = [*_notebooks(paths)]
        self._answers = [read_answers(path.read_bytes()).written for path in paths if is_answers_file(path.name)]

    def without(self, number: str, text: str) -> str:
        """Return the text that a student wrote for a question, without paragraphs that are the starter's."""
        texts = [written_in(notebook, number) for notebook in self._notebooks]
        given = {
            _same(part) for known in (*texts, *(a.get(number, "") for a in self._answers)) for part in _parts(known)
        }
        parts = _parts(text)
        own = [part for part in parts if _same(part) not in given]
        return text if len(own) == len(parts) else "\n\n".join(own)


def _notebooks(paths: list[Path]) -> Iterator[Notebook]:
    for path in paths:
        if path.suffix == ".ipynb":
            try:
                yield read_notebook(path.read_bytes())
            except NotebookError:
                continue


def _parts(text: str) -> list[str]:
    return [part for part in _BETWEEN.split(text) if part.strip()]


def _same(part: str) -> str:
    return " ".join(part.split())
