"""Notebooks and folders as students hand them in, through the real command: what is strange costs nothing."""

import io
import json
import tarfile
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.words_course import RIGHT, SECRET, cell, hand_in, hand_in_notebook, notebook, write_course
from viva.cli.main import run
from viva.formats.results_json import Results, load_results

pytestmark = pytest.mark.long

COUNTS, TOTAL, ANSWERS = RIGHT.split("\n\n\n")
ALL = 9
"""Points of 10; the last one is a person's."""

Make = Callable[[Path], object]


def cells(*sources: object, **extra: object) -> Make:
    return lambda folder: hand_in_notebook(folder, *sources, **extra)


def raw(text: str) -> Make:
    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "work.ipynb").write_text(text, "utf-8")

    return make


def old_format(folder: Path) -> None:
    """nbformat 3: worksheets, `input` instead of `source`, headings as cells."""
    code = [
        {"cell_type": "code", "input": text, "language": "python", "outputs": [], "collapsed": False}
        for text in (COUNTS, TOTAL, ANSWERS)
    ]
    heading = {"cell_type": "heading", "level": 1, "source": "2.2"}
    sheet = {"cells": [heading, *code], "metadata": {}}
    raw(json.dumps({"worksheets": [sheet], "metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0}))(folder)


SAVED = [{"output_type": "stream", "name": "stdout", "text": ["99 of 99 points\n"]}]
ERROR = [{"output_type": "error", "ename": "SystemError", "evalue": "left over", "traceback": ["left over"]}]

STRANGE: dict[str, Make] = {
    "wrong_kinds": cells(
        COUNTS, cell("1/0", "spreadsheet"), cell("1/0", "raw"), cell("# text", "markdown"), TOTAL, ANSWERS
    ),
    "no_cells_at_all_between": cells(COUNTS, None, 7, [], {}, {"cell_type": "code"}, TOTAL, {"source": ANSWERS}),
    "no_metadata": raw(json.dumps({"cells": [{"cell_type": "code", "source": RIGHT}]})),
    "odd_metadata": raw(
        json.dumps({"cells": [{"cell_type": "code", "source": RIGHT, "metadata": [1]}], "metadata": 7, "nbformat": "4"})
    ),
    "sources_as_lines": cells(cell(COUNTS.splitlines(keepends=True)), cell(TOTAL.splitlines(keepends=True)), ANSWERS),
    "doubled_ids": cells(cell(COUNTS, id="a"), cell(TOTAL, id="a"), cell(ANSWERS, id=7)),
    "old_format": old_format,
    "byte_order_mark": raw("\ufeff" + notebook(RIGHT)),
    "windows_line_breaks": cells(RIGHT.replace("\n", "\r\n")),
    "tabs_and_trailing_space": cells(COUNTS.replace("    ", "\t") + "\n\t", TOTAL + "   \n", ANSWERS),
    "emoji_and_umlauts": cells("größe = '🦆'\nprint(größe)", COUNTS, TOTAL, ANSWERS),
    "empty_cells": cells("", "   \n", "# only a comment", COUNTS, TOTAL, ANSWERS, ""),
    "cell_raises_in_the_middle": cells(COUNTS, "1 / 0", TOTAL, ANSWERS),
    "cell_exits": cells(COUNTS, "exit()", "raise SystemExit(3)", TOTAL, ANSWERS),
    "cell_is_no_python": cells(COUNTS, "this is no Python (", TOTAL, ANSWERS),
    "cell_asks_for_input": cells(COUNTS, "name = input('your name? ')", TOTAL, ANSWERS),
    "cell_never_ends": cells(COUNTS, "while True:\n    pass", TOTAL, ANSWERS),
    "cell_never_ends_quietly": cells(COUNTS, "import time\ntime.sleep(1000)", TOTAL, ANSWERS),
    "magics": cells(
        "%matplotlib inline\n%load_ext autoreload\n%autoreload 2", "!pip install nothing-of-this-name",
        "%%time\n" + COUNTS,
        "%%bash\nls", TOTAL + "\n%timeit -n1 -r1 total([1])", ANSWERS, "total?", "%no_such_magic",
    ),
    "figures": cells("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", COUNTS, TOTAL, ANSWERS),
    "display": cells(
        "from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))\ndisplay(3)", COUNTS, TOTAL, ANSWERS
    ),
    "top_level_await": cells(
        "import asyncio\nawait asyncio.sleep(0)\nx = await asyncio.sleep(0, 5)", COUNTS, TOTAL, ANSWERS
    ),
    "history": cells("1 + 1", "_ + 1", "Out[1] + _2", COUNTS, TOTAL, ANSWERS),
    "saved_outputs": cells(cell(COUNTS, outputs=SAVED, execution_count=99), cell(TOTAL, outputs=ERROR), ANSWERS),
    "sixty_cells": cells(*(f"x{i} = {i}\nprint(x{i})" for i in range(57)), COUNTS, TOTAL, ANSWERS),
    "redefined_later": cells("def total(n):\n    return 0", COUNTS, TOTAL, ANSWERS),
    "uses_main": cells(COUNTS, TOTAL, ANSWERS, "if __name__ == '__main__':\n    main_ran = total([1])"),
    "prints_a_lot": cells("for i in range(20000):\n    print('x' * 50)", COUNTS, TOTAL, ANSWERS),
    "starter_beside": lambda folder: (hand_in_notebook(folder, RIGHT), hand_in(folder, STARTER)),
}  # fmt: skip
SAID = {
    "no_cells_at_all_between": "unknown kind were not run: 2, 3, 4, 5 (counted over all cells)",
    "wrong_kinds": "unknown kind were not run: 2 (counted over all cells)",
    "cell_raises_in_the_middle": "While loading, cell 2 of work.ipynb: Your code raised ZeroDivisionError",
    "cell_is_no_python": "While loading, cell 2 of work.ipynb: Your code raised SyntaxError",
    "cell_asks_for_input": "cell 2 of work.ipynb",
    "cell_never_ends": "cell 2 of work.ipynb: Your code did not finish in time",
    "cell_never_ends_quietly": "cell 2 of work.ipynb: Your code did not finish in time",
    "cell_exits": "cell 2 of work.ipynb",
    "starter_beside": "solution.py was not run, because it is as the course handed it out.",
}
"""What the student reads; where nothing stands here, nothing is said but that a person grades a point."""
STARTER = (
    "def word_counts(text):\n    raise NotImplementedError\n\n\ndef total(numbers):\n    raise NotImplementedError\n"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Each of them, graded in one run."""
    root = tmp_path_factory.mktemp("notebooks")
    course = write_course(root / "course")
    hand_in(course / "assignments" / "words" / "starter", STARTER)
    for name, make in (STRANGE | FOLDERS).items():
        make(root / "class" / name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VIVA_SECRET", SECRET)
        patched.chdir(root / "class")
        names = sorted(p.name for p in (root / "class").iterdir())
        assert run(["grade", "--course", str(course), "--tier", "best", "-o", str(root / "graded"), *names]) == 0
    return {name: load_results(root / "graded" / name / "results.json") for name in names}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_notebook_earns_what_its_code_is_worth(results: dict[str, Results], name: str) -> None:
    result = results[name]
    assert {t.extra_data.test_id: t.extra_data.status for t in result.tests if t.extra_data.status != "passed"} == {
        "test_words.py::test_reasons": "needs_review"
    }, (result.output, [t.output for t in result.tests])
    assert result.score == ALL
    said = result.output.splitlines()[:-1]
    if name in SAID:
        assert SAID[name] in "\n".join(said)
    else:
        assert said == []


def test_saved_outputs_and_errors_are_not_believed(results: dict[str, Results]) -> None:
    text = results["saved_outputs"].model_dump_json()
    assert "99 of 99" not in text and "left over" not in text


def test_input_is_a_clear_error(results: dict[str, Results]) -> None:
    assert "input" in results["cell_asks_for_input"].output


# --- folders, archives, names


def zipped(folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(folder / "hand in (2).zip", "w") as archive:
        archive.writestr("ada/solution.py", RIGHT)
        archive.writestr("__MACOSX/ada/._solution.py", b"\0\1\2")
        archive.writestr("ada/.DS_Store", b"\0")


def zipped_notebook(folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(folder / "work.zip", "w") as archive:
        archive.writestr("work.ipynb", notebook(COUNTS, TOTAL))
        archive.writestr("answers.yaml", '"2.1": B\n')


def tarred(folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(folder / "work.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("work/solution.py")
        info.size = len(RIGHT.encode())
        archive.addfile(info, io.BytesIO(RIGHT.encode()))


def files(**sources: str) -> Make:
    """Python files by their stem."""

    def make(folder: Path) -> None:
        folder.mkdir()
        for stem, source in sources.items():
            (folder / f"{stem}.py").write_text(textwrap.dedent(source), "utf-8")

    return make


def package(folder: Path) -> None:
    files(solution="from words.counting import word_counts\nfrom words import total, answers")(folder)
    (folder / "words").mkdir()
    (folder / "words" / "__init__.py").write_text(f"{TOTAL}\n\n\n{ANSWERS}", "utf-8")
    (folder / "words" / "counting.py").write_text("from . import total\n" + COUNTS, "utf-8")


def notebook_with_helpers(folder: Path) -> None:
    hand_in_notebook(folder, "from helpers import word_counts", TOTAL, ANSWERS)
    (folder / "helpers.py").write_text(COUNTS, "utf-8")


def reads_a_file_of_its_own(folder: Path) -> None:
    hand_in(folder, COUNTS + "\n\n\n" + TOTAL + "\n\n\nanswers = {'2.1': open('choice.txt').read().strip()}\n")
    (folder / "choice.txt").write_text("B\n", "utf-8")


FOLDERS: dict[str, Make] = {
    "zipped": zipped,
    "zipped_notebook": zipped_notebook,
    "tarred": tarred,
    "several_files": files(solution="from b import *\nfrom c import total", b=COUNTS, c=TOTAL + "\n\n\n" + ANSWERS),
    "in_a_circle": files(
        solution=f"import other\n\n{COUNTS}\n\n{ANSWERS}", other=f"import solution\n\n{TOTAL}"
    ),
    "no_identifier": files(**{"0-bleu": RIGHT}),
    "several_of_other_names": files(part1=COUNTS, part2=TOTAL, part3=ANSWERS),
    "package": package,
    "notebook_with_helpers": notebook_with_helpers,
    "two_notebooks": lambda folder: (
        hand_in_notebook(folder, COUNTS, name="part1.ipynb"),
        hand_in_notebook(folder, TOTAL, ANSWERS, name="part2.ipynb"),
    ),
    "reads_a_file_of_its_own": reads_a_file_of_its_own,
    "prints_and_parses_arguments": files(
        solution=f"import sys\nprint('debug', sys.argv)\nassert len(sys.argv) == 1\n\n{RIGHT}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_or_archive_earns_what_its_code_is_worth(results: dict[str, Results], name: str) -> None:
    result = results[name]
    assert result.score == ALL, (result.output, [t.output for t in result.tests])
    said = result.output.splitlines()[:-1]
    notes = {
        "two_notebooks": "all of them are used",
        "no_identifier": "Your answer was read from 0-bleu.py",
        "zipped": "left out .DS_Store, __MACOSX, because it is not part of the work.",
    }
    assert len(said) == (name in notes) and all(notes[name] in note for note in said)


def test_names_that_are_no_identifiers_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`student["0-bleu"]` is a file's module or a name that only a dictionary can hold."""
    course = write_course(tmp_path / "course")
    (course / "graders/words/test_words.py").write_text(
        'from viva.grading import agree, weight\n\n\n@weight(10)\ndef test_odd(student, submission, key):\n'
        '    """Names that are no identifiers."""\n'
        '    agree(student["0-bleu"](2), 4)\n    agree(submission.module("1-run").f(), 5)\n'
        '    assert "1-run" not in student and "0-bleu" in student\n',
        "utf-8",
    )  # fmt: skip
    odd = {"0-bleu": "globals()['0-bleu'] = lambda x: 2 * x", "1-run": "def f():\n    return 5"}
    files(**odd)(tmp_path / "odd")
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.chdir(tmp_path)
    assert run(["grade", "odd", "--course", "course", "--tier", "best", "-o", "odd.json"]) == 0
    result = load_results(Path("odd.json"))
    assert result.score == 10, [t.output for t in result.tests]
