"""The executed notebook as grading brings it back: what was submitted, what it put out, and nothing of the tests."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest

from tests.support.course_of_texts import NAME, SECRET, best_tier, handed_in, without_times, write_course
from viva.config import load_course
from viva.examiner.boxes.load import LoadReport
from viva.examiner.executed import MOST_BYTES, executed_notebook
from viva.formats.executed_file import about
from viva.model import Tier
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.model.submission import Submission
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.submissions.notebook_cells import read_notebook

PLANTED: Final = "zq-hidden-7141"
KEY = "def double(x): return 2 * x\n"
TESTS = f'''
from viva.grading import agree, visibility

@visibility("hidden")
def test_hidden(student, key, submission):
    """Doubles hidden texts."""
    submission.set(later="{PLANTED}-set")
    submission.put("input.txt", b"{PLANTED}-put")
    agree(student.double("{PLANTED}-argument"), key.double("{PLANTED}-argument"))

def test_visible(student, key):
    """Doubles numbers."""
    agree(student.double(4), key.double(4))

def test_ends(student):
    """Ends the box, so that a fresh one is loaded."""
    student.leave()

@visibility("hidden")
def test_hidden_again(student, key):
    """Doubles others."""
    agree(student.double("{PLANTED}-again"), key.double("{PLANTED}-again"))
'''
WORK = [
    "import os, sys, threading, time\nseen = []\nprint('loaded')",
    """
from IPython.display import display
handle = display("first", display_id="watched")

def double(x):
    seen.append(x)
    print("double was called with", x, flush=True)
    os.write(1, repr(x).encode())
    handle.update(repr(seen))
    return 2 * x

def leave(): os._exit(3)

def watch():
    while True:
        handle.update([repr(seen), repr(globals().get("later")), os.listdir()])
        time.sleep(0.01)

threading.Thread(target=watch, daemon=True).start()
""",
    "double(1)",
]


def notebook(*sources: str, **more: Any) -> str:
    """A file with a heading and code cells."""
    code = [{"cell_type": "code", "metadata": {}, "source": source, **more} for source in sources]
    heading = {"cell_type": "markdown", "metadata": {}, "source": "# Größe"}
    return json.dumps({"cells": [heading, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def valid(data: bytes) -> Any:
    """The notebook, after nbformat has found nothing wrong with it."""
    found = nbformat.reads(data.decode(), as_version=nbformat.NO_CONVERT)
    nbformat.validate(found)
    return json.loads(data)


def outputs(data: bytes) -> list[list[dict[str, Any]]]:
    return [cell["outputs"] for cell in valid(data)["cells"] if cell["cell_type"] == "code"]


class _Course:
    def __init__(self, root: Path) -> None:
        self.root = root
        write_course(root, tests=TESTS, key=KEY, preload="numpy, IPython", settings="limits: {load_s: 3, call_s: 1}\n")
        course = load_course(root)
        self.process = ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier(), notebooks=True))

    def graded(self, files: Any, wanted: GradeOptions | None = None) -> Graded:
        return self.process.grade(GradeRequest(handed_in(files), wanted or GradeOptions(notebook=True)))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Course]:
    made = _Course(tmp_path_factory.mktemp("executed") / "course")
    with made.process:
        yield made


def test_it_is_what_was_handed_in_with_what_it_put_out(course: _Course) -> None:
    graded = course.graded({"work/a.ipynb": notebook("x = 1", "", "print(x)\nx + 1", "1 / 0", "x", execution_count=99)})
    found = valid(graded.notebook)
    assert [cell["source"] for cell in found["cells"]] == ["# Größe", "x = 1", "", "print(x)\nx + 1", "1 / 0", "x"]
    assert [cell.get("execution_count") for cell in found["cells"]] == [None, 1, None, 2, 3, 4]
    assert outputs(graded.notebook)[2] == [
        {"output_type": "stream", "name": "stdout", "text": "1\n"},
        {"output_type": "execute_result", "execution_count": 2, "data": {"text/plain": "2"}, "metadata": {}},
    ]
    (error,) = outputs(graded.notebook)[3]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert found["cells"][4]["metadata"] == {"viva": {"status": "raised"}}
    assert found["metadata"]["viva"] == {
        "content_hash": graded.score.content_hash, "assignment": NAME, "version": 1, "notebook": "work/a.ipynb",
        "load": "run",
    }  # fmt: skip
    assert about(graded.notebook).content_hash == graded.score.content_hash


@pytest.mark.parametrize("only", [None, ("test_hidden",), ("test_hidden", "test_ends", "test_hidden_again")])
def test_nothing_of_what_tests_ask_is_in_it(course: _Course, only: tuple[str, ...] | None) -> None:
    """The program tells all it hears, in outputs that it changes later; a box is loaded after hidden questions."""
    graded = course.graded({"a.ipynb": notebook(*WORK)}, GradeOptions(only=only, notebook=True, questions=True))
    assert PLANTED in repr(graded.questions), "the box has been asked"
    assert PLANTED not in graded.notebook.decode()
    shown = outputs(graded.notebook)
    assert shown[0] == [{"output_type": "stream", "name": "stdout", "text": "loaded\n"}]
    assert "double was called with 1" in json.dumps(shown[2])


def test_saved_outputs_are_not_in_it(course: _Course) -> None:
    saved = [{"output_type": "stream", "name": "stdout", "text": "100 of 100 points"}]
    graded = course.graded({"a.ipynb": notebook("x = 1", outputs=saved)})
    assert outputs(graded.notebook) == [[]]


@pytest.mark.parametrize("files", ["def double(x): return 2 * x\n", {"a.ipynb": "no notebook"}, {"a.txt": "x"}])
def test_without_a_notebook_there_is_none(course: _Course, files: Any) -> None:
    assert course.graded(files).notebook == b""


def test_nobody_gets_it_who_does_not_want_it(course: _Course) -> None:
    files = {"a.ipynb": notebook(*WORK)}
    plain, wanted = course.graded(files, GradeOptions()), course.graded(files)
    assert plain.notebook == b"" and wanted.notebook
    assert without_times(plain.score) == without_times(wanted.score)


def test_a_call_log_is_the_same_with_and_without_it_and_gives_it_again(course: _Course) -> None:
    files = {"a.ipynb": notebook("def double(x): return 2 * x\nprint('put out')", "def leave(): raise ValueError")}
    one = course.graded(files, GradeOptions(call_log=True))
    two = course.graded(files, GradeOptions(call_log=True, notebook=True))
    loaded = load_course(course.root)
    with ExaminerProcess(loaded, loaded.assignment(NAME), SECRET, BoxOptions(Tier.T3, replay_only=True)) as examiner:
        for kept in (one.call_log, two.call_log):
            again = examiner.grade(GradeRequest(handed_in(files), GradeOptions(notebook=True), replayed=kept))
            assert again.changed == [] and again.notebook == two.notebook != b""
            assert without_times(again.score) == without_times(two.score)


@pytest.mark.long
def test_cells_that_were_not_run_say_so(course: _Course) -> None:
    endless = ["while True: pass"] * 4  # two of them use up the time, of which the third may get a last moment
    graded = course.graded({"a.ipynb": notebook("print('kept')", *endless, "print('never')")})
    cells = valid(graded.notebook)["cells"][1:]
    said = [cell["metadata"].get("viva", {}).get("status") for cell in cells]
    assert said[:3] == [None, "timeout", "timeout"] and said[4:] == ["skipped", "skipped"]
    counts = [cell["execution_count"] for cell in cells]
    assert counts[:3] == [1, 2, 3] and counts[4:] == [None, None]
    assert outputs(graded.notebook)[0][0]["text"] == "kept\n" and outputs(graded.notebook)[5] == []


def test_a_later_cell_updates_a_display(course: _Course) -> None:
    graded = course.graded({"a.ipynb": notebook("h = display('first', display_id=True)", "1", "h.update('second')")})
    shown = outputs(graded.notebook)
    assert shown[0][0]["data"] == {"text/plain": "'second'"} and shown[2] == []


def test_a_program_that_puts_out_too_much_gets_a_file_of_bounded_size(course: _Course) -> None:
    flood = "for i in range(40): print(('\\x1b' + str(i)) * 10_000)"
    graded = course.graded({"a.ipynb": notebook(*[flood] * 12, "print('last')")})
    assert MOST_BYTES - 300_000 < len(graded.notebook) <= MOST_BYTES
    assert all(cell[-1]["text"] == "[output cut]\n" for cell in outputs(graded.notebook)[:12])


FIDELITY: Final = [
    "print", "both_streams", "carriage_returns", "ansi", "unicode", "numpy_warning", "long_list", "array", "display_id",
    "display_between_prints", "html", "markdown_latex_json", "svg", "image_with_width", "repr_with_metadata", "inline",
    "figure", "error_chain", "syntax_error", "command", "bash", "await_result",
]  # fmt: skip
"""Cells of each kind, of those that the notebook runner is compared with."""


@pytest.mark.long
def test_the_outputs_are_those_of_the_stock_kernel(course: _Course) -> None:
    pytest.importorskip("ipykernel", reason="the stock kernel is what we compare with")
    pytest.importorskip("nbclient")
    from tests.sandbox.notebooks.test_fidelity import compare
    from tests.support.fidelity_cells import CELLS
    from tests.support.stock_kernel import outputs_of

    before = [
        "import sys\nimport numpy as np\nimport base64\nfrom IPython.display import *",
        CELLS["image"],
        CELLS["repr_html"],
    ]
    sources = [*before, *(CELLS[name] for name in FIDELITY)]
    ours = outputs(course.graded({"a.ipynb": notebook(*sources)}).notebook)
    for name, stock, found in zip(FIDELITY, outputs_of(sources)[3:], ours[3:], strict=True):
        compare(name, stock, found)


# --- made of what a box could claim, without one


@pytest.fixture(scope="module")
def assignment(course: _Course) -> Any:
    return load_course(course.root).assignment(NAME)


def report(claimed: Any, *sources: str) -> LoadReport:
    read = read_notebook(notebook(*sources).encode())
    return LoadReport(loaded=["a.ipynb"], notebooks={"a.ipynb": read}, cells={"a.ipynb": claimed})


@pytest.mark.parametrize(
    "claimed",
    [
        [], [{}], [{"number": "1"}], [7, None, []], [{"number": 1, "outputs": [7, None]}],
        [{"number": 1, "status": b"ok", "outputs": 3}], [{"number": 1, "outputs": [{"output_type": "stream"}]}],
        [{"number": 2, "outputs": [{}]}],
        [{"number": 1, "status": "<script>", "outputs": [{"output_type": "error", "traceback": "text"}]}],
    ],
    ids=repr,
)  # fmt: skip
def test_whatever_is_claimed_the_file_is_a_notebook(assignment: Any, claimed: Any) -> None:
    data = executed_notebook(report(claimed, "x = '\ud800\x00'", "2"), assignment, "0" * 64)
    assert [cell["source"] for cell in valid(data)["cells"]] == ["# Größe", "x = '\ufffd\x00'", "2"]
    assert "script" not in data.decode()


@pytest.mark.parametrize("most", [500, 2000, 5000, 100_000])
def test_the_file_is_never_larger_than_it_may_be(assignment: Any, most: int) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "é\n\x1b" * 300}
    told = [{"number": n, "status": "ok", "outputs": [stream] * 4} for n in range(1, 6)]
    data = executed_notebook(report(told, *"12345"), assignment, "0" * 64, most)
    assert len(data) <= most and (not data) == (most == 500)
    if data:
        cut = [cell for cell in outputs(data) if cell[-1]["text"] == "[output cut]\n"]
        assert len(cut) == (0 if most == 100_000 else 5)


def test_another_language_is_named(assignment: Any) -> None:
    other = dataclasses.replace(assignment, kernel="ir")
    found = valid(executed_notebook(report([], "1"), other, ""))
    assert found["metadata"]["kernelspec"] == {"name": "ir", "display_name": "ir"}


def test_a_submission_that_cannot_be_read_has_none(course: _Course) -> None:
    broken = Submission("somebody", (), "0" * 64, "It is empty.")
    assert course.process.grade(GradeRequest(broken, GradeOptions(notebook=True))).notebook == b""
