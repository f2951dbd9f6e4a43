"""The executed notebook as grading brings it back: what was submitted, what it put out, and nothing of the tests."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import nbformat
import pytest

from tests.support.course_of_texts import NAME, Examined, best_tier, handed_in, without_times, write_course
from tests.support.replays import RECORDED, changed, replay_of
from tests.support.words_course import cell, notebook
from viva.config import Assignment
from viva.examiner.boxes.load import LoadReport
from viva.examiner.executed import MOST_BYTES, executed_notebook
from viva.model import Tier
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.model.submission import Submission
from viva.pipeline.process.settings import BoxOptions
from viva.submissions.notebook_cells import about, read_notebook

Files = str | dict[str, str]
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


def work(*sources: str, **fields: Any) -> str:
    """A notebook with a heading and code cells."""
    return notebook(cell("# Größe", "markdown"), *(cell(source, **fields) for source in sources))


def valid(data: bytes) -> Any:
    """The notebook, after nbformat has found nothing wrong with it."""
    read = json.loads(data)
    nbformat.validate(read)
    return read


def outputs(data: bytes) -> list[list[dict[str, Any]]]:
    return [cell["outputs"] for cell in valid(data)["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    settings = "limits: {load_s: 3, call_s: 1}\n"
    root = tmp_path_factory.mktemp("executed") / "course"
    written = write_course(root, tests=TESTS, key=KEY, preload="numpy, IPython", settings=settings)
    with Examined(written, BoxOptions(best_tier(), notebooks=True)) as examiner:
        yield examiner


def graded(course: Examined, files: Files, options: GradeOptions | None = None) -> Graded:
    return course.grade(files, options or GradeOptions(notebook=True))


def test_notebook_with_outputs(course: Examined) -> None:
    result = graded(course, {"work/a.ipynb": work("x = 1", "", "print(x)\nx + 1", "1 / 0", "x", execution_count=99)})
    found = valid(result.notebook)
    assert [cell["source"] for cell in found["cells"]] == ["# Größe", "x = 1", "", "print(x)\nx + 1", "1 / 0", "x"]
    assert [cell.get("execution_count") for cell in found["cells"]] == [None, 1, None, 2, 3, 4]
    assert outputs(result.notebook)[2] == [
        {"output_type": "stream", "name": "stdout", "text": "1\n"},
        {"output_type": "execute_result", "execution_count": 2, "data": {"text/plain": "2"}, "metadata": {}},
    ]
    (error,) = outputs(result.notebook)[3]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert found["cells"][4]["metadata"] == {"viva": {"status": "raised"}}
    assert found["metadata"]["viva"] == {
        "content_hash": result.score.content_hash, "assignment": NAME, "version": 1, "notebook": "work/a.ipynb",
        "load": "run",
    }  # fmt: skip
    assert about(result.notebook).content_hash == result.score.content_hash


@pytest.mark.parametrize("only", [None, ("test_hidden",), ("test_hidden", "test_ends", "test_hidden_again")])
def test_hidden_inputs_are_not_in_notebook(course: Examined, only: tuple[str, ...] | None) -> None:
    """The program tells all it hears, in outputs that it changes later; a box is loaded after hidden questions."""
    result = graded(course, {"a.ipynb": work(*WORK)}, GradeOptions(only=only, notebook=True, questions=True))
    assert PLANTED in repr(result.questions), "the box has been asked"
    assert PLANTED not in result.notebook.decode()
    shown = outputs(result.notebook)
    assert shown[0] == [{"output_type": "stream", "name": "stdout", "text": "loaded\n"}]
    assert "double was called with 1" in json.dumps(shown[2])


def test_saved_outputs_are_dropped(course: Examined) -> None:
    saved = [{"output_type": "stream", "name": "stdout", "text": "100 of 100 points"}]
    result = graded(course, {"a.ipynb": work("x = 1", outputs=saved)})
    assert outputs(result.notebook) == [[]]


@pytest.mark.parametrize("files", ["def double(x): return 2 * x\n", {"a.ipynb": "no notebook"}, {"a.txt": "x"}])
def test_no_notebook_without_notebook(course: Examined, files: Files) -> None:
    assert graded(course, files).notebook == b""


def test_call_log_gives_notebook_again(course: Examined) -> None:
    files = {"a.ipynb": work("def double(x): return 2 * x\nprint('put out')", "def leave(): raise ValueError")}
    one = graded(course, files, RECORDED)
    two = graded(course, files, replace(RECORDED, notebook=True))
    with Examined(course.course, BoxOptions(Tier.T3, none=True)) as examiner:
        for call_log in (one.interceptor_output, two.interceptor_output):
            request = replay_of(handed_in(files), call_log, GradeOptions(notebook=True))
            again = examiner.process.grade(request)
            assert changed(again) == [] and again.notebook == two.notebook != b""
            assert without_times(again.score) == without_times(two.score)


@pytest.mark.long
def test_cells_not_run(course: Examined) -> None:
    endless = ["while True: pass"] * 4  # two of them use up the time, of which the third may get a last moment
    result = graded(course, {"a.ipynb": work("print('kept')", *endless, "print('never')")})
    cells = valid(result.notebook)["cells"][1:]
    said = [cell["metadata"].get("viva", {}).get("status") for cell in cells]
    assert said[:3] == [None, "timeout", "timeout"] and said[4:] == ["skipped", "skipped"]
    counts = [cell["execution_count"] for cell in cells]
    assert counts[:3] == [1, 2, 3] and counts[4:] == [None, None]
    assert outputs(result.notebook)[0][0]["text"] == "kept\n" and outputs(result.notebook)[5] == []


def test_later_cell_updates_display(course: Examined) -> None:
    result = graded(course, {"a.ipynb": work("h = display('first', display_id=True)", "1", "h.update('second')")})
    shown = outputs(result.notebook)
    assert shown[0][0]["data"] == {"text/plain": "'second'"} and shown[2] == []


def test_size_is_bounded(course: Examined) -> None:
    flood = "for i in range(40): print(('\\x1b' + str(i)) * 10_000)"
    result = graded(course, {"a.ipynb": work(*[flood] * 12, "print('last')")})
    assert MOST_BYTES - 300_000 < len(result.notebook) <= MOST_BYTES
    assert all(cell[-1]["text"] == "[output cut]\n" for cell in outputs(result.notebook)[:12])


# --- made of what a box could claim, without one


@pytest.fixture(scope="module")
def assignment(course: Examined) -> Assignment:
    return course.course.assignment(NAME)


def report(claimed: Any, *sources: str) -> LoadReport:
    read = read_notebook(work(*sources).encode())
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
def test_any_claim_gives_notebook(assignment: Assignment, claimed: Any) -> None:
    data = executed_notebook(report(claimed, "x = '\ud800\x00'", "2"), assignment, "0" * 64)
    assert [cell["source"] for cell in valid(data)["cells"]] == ["# Größe", "x = '\ufffd\x00'", "2"]
    assert "script" not in data.decode()


@pytest.mark.parametrize("most", [500, 2000, 5000, 100_000])
def test_file_size_limit(assignment: Assignment, most: int) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "é\n\x1b" * 300}
    told = [{"number": n, "status": "ok", "outputs": [stream] * 4} for n in range(1, 6)]
    data = executed_notebook(report(told, *"12345"), assignment, "0" * 64, most)
    assert len(data) <= most and (not data) == (most == 500)
    if data:
        cut = [cell for cell in outputs(data) if cell[-1]["text"] == "[output cut]\n"]
        assert len(cut) == (0 if most == 100_000 else 5)


def test_unreadable_submission_has_no_notebook(course: Examined) -> None:
    broken = Submission("somebody", (), "0" * 64, "It is empty.")
    assert course.process.grade(GradeRequest(broken, GradeOptions(notebook=True))).notebook == b""
