"""`viva report`: a graded class in one folder, with the notebooks that grading has executed."""

import json
from pathlib import Path

import nbformat
import pytest

from tests.support.run_command import Viva
from tests.support.words_course import RIGHT, hand_in, hand_in_notebook
from viva.submissions.notebook_cells import EXECUTED_FILE


@pytest.fixture
def graded(viva: Viva, tmp_path: Path) -> Path:
    """Results of two submissions to the course's assignment."""
    for name, value in (("ada", "1"), ("eve", "2")):
        hand_in(tmp_path / name, f"def one():\n    return {value}\n")
    assert viva("grade", "ada", "eve", "-o", "results").status == 0
    return tmp_path / "results"


def test_report_of_a_class(viva: Viva, graded: Path) -> None:
    """The same bytes each time."""
    done = viva("report", graded, "--feedback")
    assert done.status == 0, done.err
    pages = {path.relative_to(graded / "report").as_posix(): path for path in (graded / "report").rglob("*.*")}
    assert set(pages) == {"report.html", "report.csv", "feedback/ada.html", "feedback/eve.html"}
    assert "2 pages for students" in done.out
    html = pages["report.html"].read_text("utf-8")
    assert 'href="feedback/ada.html"' in html and "needs at least 10" in html
    viva("report", graded, "--feedback", "-o", "again")
    for name, path in pages.items():
        assert Path("again", name).read_bytes() == path.read_bytes()


def test_name_with_a_line_break(viva: Viva, graded: Path) -> None:
    """It ends nobody else's page."""
    hand_in(Path("line\nbreak"))
    viva("grade", "line\nbreak", "-o", graded / "line.json")
    (graded / "line\nbreak").mkdir()
    (graded / "line.json").rename(graded / "line\nbreak" / "results.json")
    done = viva("report", graded, "--feedback")
    assert done.status == 1 and "2 pages for students" in done.out
    assert "viva: line break has no page: The submission" in done.err and done.err.count("\n") == 1


def test_wrong_report(viva: Viva, graded: Path) -> None:
    for arguments, sentence in {
        ("nowhere",): "no such folder",
        (".", "-a", "other"): "holds no results",
        ("results", "-o", "ada/solution.py"): "a folder on the way to it is a file",
    }.items():
        done = viva("report", *arguments)
        assert done.status == 1 and sentence in done.err and done.err.count("\n") == 1


# --- `executed.ipynb` next to results, and the pages that show it


WORK = ("print('put-' + 'out')", RIGHT, "word_counts('a b a')")


def executed(folder: str) -> list[str]:
    return sorted(str(path) for path in Path(folder).rglob(EXECUTED_FILE))


@pytest.fixture(autouse=True)
def _notebook() -> None:
    hand_in_notebook(Path("class/ada"), *WORK)


def test_beside_the_result_of_a_notebook(viva: Viva) -> None:
    """The same bytes each time; that of other work is taken away."""
    hand_in(Path("class/eve"))
    assert viva("grade", "class/ada", "class/eve", "-o", "out").status == 0
    assert executed("out") == [f"out/class/ada/{EXECUTED_FILE}"]
    path = Path("out/class/ada") / EXECUTED_FILE
    data = path.read_text("utf-8")
    nbformat.validate(json.loads(data))
    result = json.loads(path.with_name("results.json").read_text())["extra_data"]
    assert json.loads(data)["metadata"]["viva"]["content_hash"] == result["content_hash"]
    assert json.loads(data)["cells"][2]["outputs"][0]["data"] == {"text/plain": "{'a': 2, 'b': 1}"}
    viva("grade", "class/ada", "-o", "out")
    assert path.read_text("utf-8") == data
    Path("class/ada/work.ipynb").unlink()
    hand_in(Path("class/ada"))
    viva("grade", "class/ada", "-o", "out")
    assert executed("out") == []


def test_none_beside_a_single_file(viva: Viva) -> None:
    assert viva("grade", "class/ada", "-o", "ada.json").status == 0
    assert executed(".") == []


def test_nothing_is_written_into_the_submission(viva: Viva) -> None:
    """The next run would take it for one of the student's notebooks."""
    viva("grade", "class/ada", "-o", ".")
    assert Path("class/ada/results.json").is_file() and executed(".") == []
    Path("class/ada", EXECUTED_FILE).write_text("the student's own")
    viva("grade", "class/ada", "-o", ".")
    assert Path("class/ada", EXECUTED_FILE).read_text() == "the student's own"


def test_kept_score_needs_none(viva: Viva, keeping: Path) -> None:
    viva("grade", "class", "-o", "out")
    (notebook,) = executed("out")
    assert "not again" in viva("grade", "class", "-o", "out").out and executed("out") == [notebook]
    Path(notebook).unlink()
    assert "not again" in viva("grade", "class", "-o", "out").out and executed("out") == []
    viva("grade", "class", "-o", "out", "--again")
    assert executed("out") == [notebook]


def test_unwritable_notebook_costs_no_score(viva: Viva) -> None:
    Path("out/class/ada", EXECUTED_FILE).mkdir(parents=True)
    done = viva("grade", "class/ada", "-o", "out")
    assert done.status == 1 and f"{EXECUTED_FILE} cannot be written: it is a folder" in done.sentence()
    assert json.loads(Path("out/class/ada/results.json").read_text())["extra_data"]["complete"] is True


@pytest.mark.slow
def test_page_of_a_student(viva: Viva) -> None:
    hand_in_notebook(Path("class/bob"), *WORK, "'bob'")
    hand_in(Path("class/eve"))
    viva("grade", "class/ada", "class/bob", "class/eve", "-o", "results")
    (bobs,) = [Path(path) for path in executed("results") if "bob" in path]
    other = json.loads(bobs.read_bytes())
    other["metadata"]["viva"]["content_hash"] = "0" * 64
    bobs.write_text(json.dumps(other))
    done = viva("report", "results", "--feedback")
    assert done.status == 0, done.err
    pages = {p.stem: p.read_text("utf-8") for p in Path("results/report/feedback").rglob("*.html")}
    assert "executed by the course" in pages["ada"] and "put-out" in pages["ada"]
    assert "put-out" not in pages["bob"] and "were not executed" in pages["bob"], "made of other bytes"
    assert "notebook" not in pages["eve"]


@pytest.mark.slow
def test_pages_of_kept_scores(viva: Viva, keeping: Path) -> None:
    viva("grade", "class", "-o", "graded")
    pages = []
    for options in ((), ("--results", "graded")):
        done = viva("report", "words", "--feedback", "-o", "pages", *options)
        assert done.status == 0, done.err
        (page,) = Path("pages/feedback").rglob("*.html")
        pages.append(page.read_text("utf-8"))
    assert "were not executed" in pages[0] and "executed by the course" not in pages[0]
    assert "executed by the course" in pages[1] and "put-out" in pages[1]
    done = viva("report", "graded", "--feedback", "--results", "graded")
    assert done.status == 1 and "--results is for scores that the course keeps" in done.sentence()
