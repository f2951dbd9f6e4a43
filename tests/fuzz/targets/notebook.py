"""Notebooks: any bytes give cells or a NotebookError, and the prose below any heading is found in bounded time."""

import json
from collections.abc import Iterator

from tests.fuzz.target import Target, expect, expect_sentence, fixtures
from viva.model import File
from viva.plugins.training.audits.split_seeds import audit_seeds
from viva.submissions.content_checks import notes, problem
from viva.submissions.notebook_cells import Notebook, NotebookError, read_notebook
from viva.submissions.notebook_prose import MAX_CHARACTERS, Questions

NUMBERS = ("2.1", "1", "2(a)(ii)", "b)")


def check(data: bytes) -> None:
    """Read it, its prose, and what is said of its file."""
    files = (File("a.ipynb", data), File("A.ipynb", data[:100]))
    for sentence in (problem(files, is_folder=True, shown="a"), problem(files[:1], is_folder=False, shown="a")):
        expect(not sentence or sentence.isprintable(), "no sentence about the file")
    expect(all(note.isprintable() for note in notes(files)), "no sentence about the files")
    try:
        read = read_notebook(data)
    except NotebookError as why:
        expect_sentence(str(why))
        return
    for cell in read.cells:
        cell.source.encode("utf-8")
    numbers = [cell.number for cell in read.code]
    expect(numbers == list(range(1, len(numbers) + 1)), "code cells are counted otherwise than Jupyter counts them")
    texts = Questions(NUMBERS, starter=[read]).texts(read)
    expect(all(len(text) <= MAX_CHARACTERS for text in texts.values()), "more prose than anybody reads")
    expect(read_notebook(written(read)).cells == read.cells, "written out and read again, it is another notebook")
    audit_seeds({"a.ipynb": data.decode("utf-8", "replace"), "b.py": "\n".join(cell.source for cell in read.code)})


def written(notebook: Notebook) -> bytes:
    """The notebook as format 4."""
    cells = [{"cell_type": cell.kind, "source": cell.source.splitlines(keepends=True)} for cell in notebook.cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def seeds() -> Iterator[bytes]:
    """Submissions, and cells of every odd form."""
    yield from fixtures("*.ipynb")
    code = {"cell_type": "code", "source": ["import random\n", "random.shuffle(x)"], "outputs": [], "metadata": {}}
    prose = ["## 2.1 Why?\n", "Because.\n", "### (a)\n", "x\n", "**Question 2.2**\n", "y", "# 1(a)(ii) z\n", "Q3 b) w"]
    yield json.dumps({"nbformat": 4, "cells": [code, {"cell_type": "markdown", "source": prose}]}).encode()
    yield json.dumps({"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "2.1"}]}]}).encode()
    yield json.dumps({"cells": [{"source": 7}, None, {"cell_type": "widget", "source": ["a", 5]}]}).encode()
    yield '{"cells": [{"cell_type": "markdown", "source": "2.1 a\\ud800"}], "cells": [NaN, 1e999]}'.encode("utf-16")
    yield b'{"cells":' + b"[" * 2000 + b"]" * 2000 + b"}"
    yield b'{\n "cells": [\n<<<<<<< HEAD\n 1\n=======\n 2\n>>>>>>> x\n]}'


WORDS = (
    '"cells":[', '"worksheets":[', '"cell_type":"code"', '"cell_type":"markdown"', '"source":', '"input":',
    '"level":', '"heading"', "NaN", "Infinity", "\\ud83d", "\\udc00", "## 2.1 ", "**Question 2**", "### (a)",
    "<<<<<<< ", "\xef\xbb\xbf", "\\n", "import numpy as np", "random_split(", "train_test_split(",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS, longest=8192)
