"""What an assignment asks for besides code, and what of an answer is still the starter's own text."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from viva.submissions.answers_file import answers_in_code, as_text, read_answers
from viva.submissions.decode_text import decode
from viva.submissions.file_names import is_answers_file
from viva.submissions.notebook_cells import Notebook, NotebookError, read_notebook
from viva.submissions.notebook_prose import Number, Questions, number_of
from viva.submissions.starter_code import starter_paths

_BETWEEN: Final = re.compile(r"\n[ \t]{0,99}\n\s{0,999}")
"""Separates paragraphs. Every repetition is bounded, because students write the text."""


@lru_cache(maxsize=16)
def starter_prose(folder: Path, tested: frozenset[str], by_hand: frozenset[str]) -> "StarterProse":
    """Return the prose of an assignment's starter, read once in this process; there may be none."""
    return StarterProse(folder, tested, by_hand)


class StarterProse:
    """The questions of an assignment as its starter words them, and the answers for which it has a place."""

    def __init__(
        self, folder: Path, tested: frozenset[str] = frozenset(), by_hand: frozenset[str] = frozenset()
    ) -> None:
        """Read the files of the starter.

        Args:
            folder: where they are; it may not exist.
            tested: the numbers of all tests.
            by_hand: the numbers of the questions that a person grades.
        """
        paths = starter_paths(folder)
        notebooks = [*_notebooks(paths)]
        files = [read_answers(path.read_bytes()) for path in paths if is_answers_file(path.name)]
        code = [cell.source for notebook in notebooks for cell in notebook.code]
        code += [decode(path.read_bytes()) for path in paths if path.suffix == ".py"]
        self.numbers = {*map(number_of, tested | by_hand)}
        self.by_hand = {*map(number_of, by_hand)}
        self.questions = Questions(tested, by_hand, notebooks)
        self.answers = {name: value for file in files for name, value in file.answers.items()} | answers_in_code(code)
        """What it says for each answer that is not a text, mostly None."""
        self.written = dict.fromkeys(name for file in files for name in file.written)
        """The names of the answers in words for which its answers file has a place."""
        texts = [pair for notebook in notebooks for pair in self.questions.texts(notebook).items()]
        named = [pair for table in (self.answers, *(file.written for file in files)) for pair in table.items()]
        self._given: dict[Number, set[str]] = defaultdict(set)
        for number, text in [*texts, *((number_of(name), as_text(value)) for name, value in named)]:
            self._given[number] |= {_same(part) for part in _parts(text)}

    def without(self, number: Number, text: str) -> str:
        """Return the text that a student wrote for a question, without paragraphs that are the starter's."""
        given, parts = self._given.get(number, ()), _parts(text)
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
