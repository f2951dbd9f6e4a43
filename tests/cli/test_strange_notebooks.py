"""Notebooks and folders as students hand them in, through the real command: what is strange costs nothing and is said.

How each of them is read and run is shown in tests/submissions, tests/sandbox/guest and tests/deformations.
"""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.words_course import RIGHT, SECRET, TESTS_FILE, cell, hand_in, notebook, write_course
from viva.cli.main import run
from viva.formats.results_json import Results, load_results

pytestmark = pytest.mark.long

COUNTS, TOTAL, ANSWERS = RIGHT.split("\n\n\n")
STARTER = "def word_counts(text):\n    raise NotImplementedError\n\n\ndef total(numbers):\n    return 0\n"
SAVED = [{"output_type": "stream", "name": "stdout", "text": ["99 of 99 points\n"]}]
ERROR = [{"output_type": "error", "ename": "SystemError", "evalue": "left over", "traceback": ["left over"]}]
MAGICS = (
    "%matplotlib inline\n%load_ext autoreload",
    "!pip install nothing-of-this-name",
    "%%bash\nls",
    "%no_such_magic",
)

Make = Callable[[Path], object]


def files(texts: dict[str, str]) -> Make:
    """Files by their paths."""

    def make(folder: Path) -> None:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")

    return make


def between(*cells: object) -> Make:
    """A notebook with these cells after the first function of the right answers."""
    return files({"work.ipynb": notebook(COUNTS, *cells, TOTAL, ANSWERS)})


def zipped(folder: Path) -> None:
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "hand in (2).zip", "w") as archive:
        for path, text in (("ada/solution.py", RIGHT), ("__MACOSX/ada/._solution.py", "\0"), ("ada/.DS_Store", "\0")):
            archive.writestr(path, text)


# What is handed in, and what the student reads; where that is empty, nothing is said.
STRANGE: dict[str, tuple[Make, str]] = {
    "wrong_kinds": (between(cell("1/0", "spreadsheet"), cell("1/0", "raw")), "unknown kind were not run: 2 (counted"),
    "no_cells": (between(None, 7, [], {}, {"cell_type": "code"}), "unknown kind were not run: 2, 3, 4, 5 (counted"),
    "raises": (between("1 / 0"), "While loading, cell 2 of work.ipynb: Your code raised ZeroDivisionError"),
    "exits": (between("exit()", "raise SystemExit(3)"), "cell 2 of work.ipynb"),
    "no_python": (between("this is no Python ("), "cell 2 of work.ipynb: Your code raised SyntaxError"),
    "asks_for_input": (between("name = input('your name? ')"), "input"),
    "never_ends": (between("while True:\n    pass"), "cell 2 of work.ipynb: Your code did not finish in time"),
    "sleeps": (between("import time\ntime.sleep(1000)"), "cell 2 of work.ipynb: Your code did not finish in time"),
    "magics": (between(*MAGICS), ""),
    "prints_a_lot": (between("for i in range(20000):\n    print('x' * 50)"), ""),
    "saved_outputs": (between(cell("x = 1", outputs=SAVED, execution_count=99), cell("y = 2", outputs=ERROR)), ""),
    "starter_beside": (
        files({"work.ipynb": notebook(RIGHT), "solution.py": STARTER}),
        "solution.py was not run, because it is as the course handed it out.",
    ),
    "two_notebooks": (
        files({"part1.ipynb": notebook(COUNTS), "part2.ipynb": notebook(TOTAL, ANSWERS)}),
        "all of them are used",
    ),
    "helpers": (
        files({"work.ipynb": notebook("from helpers import word_counts", TOTAL, ANSWERS), "helpers.py": COUNTS}),
        "",
    ),
    "other_names": (files({"part1.py": COUNTS, "part2.py": TOTAL, "part3.py": ANSWERS}), ""),
    "no_identifier": (files({"0-bleu.py": RIGHT}), "Your answer was read from 0-bleu.py"),
    "zipped": (zipped, "left out .DS_Store, __MACOSX, because it is not part of the work."),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Each of them, graded in one run."""
    root = tmp_path_factory.mktemp("notebooks")
    course = write_course(root / "course")
    hand_in(course / "assignments" / "words" / "starter", STARTER)
    for name, (make, _) in STRANGE.items():
        make(root / "class" / name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VIVA_SECRET", SECRET)
        patched.chdir(root / "class")
        command = ["grade", "--course", str(course), "--tier", "best", "-o", str(root / "graded"), *STRANGE]
        assert run(command) == 0
    return {name: load_results(root / "graded" / name / "results.json") for name in STRANGE}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_work_earns_what_its_code_is_worth(results: dict[str, Results], name: str) -> None:
    result = results[name]
    assert {t.extra_data.test_id: t.extra_data.status for t in result.tests if t.extra_data.status != "passed"} == {
        "test_words.py::test_reasons": "needs_review"
    }, (result.output, [t.output for t in result.tests])
    assert result.score == 9  # of 10; a person gives the last one
    said = "\n".join(result.output.splitlines()[:-1])
    _, note = STRANGE[name]
    assert note in said and bool(note) == bool(said)


def test_saved_outputs_are_not_believed(results: dict[str, Results]) -> None:
    text = results["saved_outputs"].model_dump_json()
    assert "99 of 99" not in text and "left over" not in text


def test_names_that_are_no_identifiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`student["0-bleu"]` is a file's module or a name that only a dictionary can hold."""
    course = write_course(tmp_path / "course")
    (course / TESTS_FILE).write_text(
        'from viva.grading import agree, weight\n\n\n@weight(10)\ndef test_odd(student, submission, key):\n'
        '    """Names that are no identifiers."""\n'
        '    agree(student["0-bleu"](2), 4)\n    agree(submission.module("1-run").f(), 5)\n'
        '    assert "1-run" not in student and "0-bleu" in student\n',
        "utf-8",
    )  # fmt: skip
    modules = {"0-bleu.py": "globals()['0-bleu'] = lambda x: 2 * x", "1-run.py": "def f():\n    return 5"}
    files(modules)(tmp_path / "odd")
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.chdir(tmp_path)
    assert run(["grade", "odd", "--course", "course", "--tier", "best", "-o", "odd.json"]) == 0
    result = load_results(Path("odd.json"))
    assert result.score == 10, [t.output for t in result.tests]
