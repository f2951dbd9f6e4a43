"""Remove the starter's own text, its questions and placeholders, from an answer in words."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from viva.submissions.answers_file import is_answers_file, read_answers, written_in
from viva.submissions.notebook_cells import Notebook, NotebookError, read_notebook
from viva.submissions.starter_code import starter_paths

_BETWEEN: Final = re.compile(r"\n[ \t]{0,99}\n\s{0,999}")
"""Separates paragraphs. Every repetition is bounded, because students write the text."""


@lru_cache(maxsize=16)
def starter_prose(folder: Path) -> "StarterProse":
    """Return the prose of an assignment's starter, read once in this process; there may be none."""
    return StarterProse(folder)


class StarterProse:
    """The prose of the notebooks and of the answers file in a starter."""

    def __init__(self, folder: Path) -> None:
        """Read the files that can hold prose."""
        paths = starter_paths(folder)
        self._notebooks = [*_notebooks(paths)]
        self._answers = [read_answers(path.read_bytes()).written for path in paths if is_answers_file(path.name)]
        self._paragraphs: dict[str, frozenset[str]] = {}

    def without(self, number: str, text: str) -> str:
        """Return the text that a student wrote for a question, without paragraphs that are the starter's."""
        given, parts = self._given(number), _parts(text)
        own = [part for part in parts if _same(part) not in given]
        return text if len(own) == len(parts) else "\n\n".join(own)

    def _given(self, number: str) -> frozenset[str]:
        """Return the starter's paragraphs for a question, read once."""
        if number not in self._paragraphs:
            texts = [written_in(notebook, number) for notebook in self._notebooks]
            texts += [answers.get(number, "") for answers in self._answers]
            self._paragraphs[number] = frozenset(_same(part) for text in texts for part in _parts(text))
        return self._paragraphs[number]


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
