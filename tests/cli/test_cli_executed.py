"""`executed.ipynb` next to results, and the pages for students that show it."""

import json
from pathlib import Path

import nbformat
import pytest

from tests.support.run_command import Viva
from tests.support.words_course import RIGHT, hand_in, hand_in_notebook
from viva.formats.executed_file import FILE

WORK = ("print('put' + '-out')", RIGHT, "word_counts('a b a')")


def executed(folder: Path) -> list[Path]:
    return sorted(folder.rglob(FILE))


def test_it_lies_beside_the_result_of_a_notebook(viva: Viva, tmp_path: Path) -> None:
    hand_in_notebook(tmp_path / "ada", *WORK)
    hand_in(tmp_path / "eve")
    assert viva("grade", "ada", "eve", "-o", "out").status == 0
    assert executed(tmp_path / "out") == [tmp_path / "out" / "ada" / FILE]
    data = (tmp_path / "out" / "ada" / FILE).read_text("utf-8")
    nbformat.validate(nbformat.reads(data, as_version=4))
    said = json.loads((tmp_path / "out/ada/results.json").read_text())["extra_data"]
    assert json.loads(data)["metadata"]["viva"]["content_hash"] == said["content_hash"]
    assert json.loads(data)["cells"][2]["outputs"][0]["data"] == {"text/plain": "{'a': 2, 'b': 1}"}


def test_grading_again_writes_the_same_bytes_and_takes_away_what_belongs_to_other_work(
    viva: Viva, tmp_path: Path
) -> None:
    hand_in_notebook(tmp_path / "ada", *WORK)
    viva("grade", "ada", "-o", "out")
    first = (tmp_path / "out" / "ada" / FILE).read_bytes()
    viva("grade", "ada", "-o", "out")
    assert (tmp_path / "out" / "ada" / FILE).read_bytes() == first
    (tmp_path / "ada" / "work.ipynb").unlink()
    hand_in(tmp_path / "ada")
    viva("grade", "ada", "-o", "out")
    assert executed(tmp_path / "out") == []


def test_a_single_file_of_results_has_none_beside_it(viva: Viva, tmp_path: Path) -> None:
    hand_in_notebook(tmp_path / "ada", *WORK)
    assert viva("grade", "ada", "-o", "ada.json").status == 0
    assert executed(tmp_path) == []


def test_nothing_is_written_into_the_submission(viva: Viva, tmp_path: Path) -> None:
    """The next run would take it for one of the student's notebooks."""
    hand_in_notebook(tmp_path / "ada", *WORK)
    viva("grade", "ada", "-o", ".")
    assert (tmp_path / "ada" / "results.json").is_file() and executed(tmp_path) == []
    (tmp_path / "ada" / FILE).write_text("the student's own")
    viva("grade", "ada", "-o", ".")
    assert (tmp_path / "ada" / FILE).read_text() == "the student's own"


def test_a_score_that_was_kept_needs_none(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    with (own_course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    hand_in_notebook(tmp_path / "class" / "ada", *WORK)
    viva("grade", "class", "-o", "out")
    (there,) = executed(tmp_path / "out")
    assert "not again" in viva("grade", "class", "-o", "out").out and there.is_file()
    there.unlink()
    assert "not again" in viva("grade", "class", "-o", "out").out and executed(tmp_path / "out") == []
    viva("grade", "class", "-o", "out", "--again")
    assert executed(tmp_path / "out") == [there]


def test_a_notebook_that_cannot_be_written_costs_no_score(viva: Viva, tmp_path: Path) -> None:
    hand_in_notebook(tmp_path / "ada", *WORK)
    (tmp_path / "out" / "ada" / FILE).mkdir(parents=True)
    done = viva("grade", "ada", "-o", "out")
    assert done.status == 1 and f"{FILE} cannot be written: it is a folder" in done.sentence()
    assert json.loads((tmp_path / "out/ada/results.json").read_text())["extra_data"]["complete"] is True


@pytest.mark.slow
def test_the_page_of_a_student_shows_what_the_course_has_executed(viva: Viva, tmp_path: Path) -> None:
    for name in ("class/ada", "class/bob"):
        hand_in_notebook(tmp_path / name, "print('put-' + 'out')", RIGHT.replace("'a'", name))
    hand_in(tmp_path / "class" / "eve")
    viva("grade", "class/ada", "class/bob", "class/eve", "-o", "results")
    (bobs,) = [path for path in executed(tmp_path / "results") if "bob" in str(path)]
    other = json.loads(bobs.read_bytes())
    other["metadata"]["viva"]["content_hash"] = "0" * 64
    bobs.write_text(json.dumps(other))
    done = viva("report", "results", "--feedback")
    assert done.status == 0, done.err
    pages = {p.stem: p.read_text("utf-8") for p in (tmp_path / "results/report/feedback").rglob("*.html")}
    assert "executed by the course" in pages["ada"] and "put-out" in pages["ada"]
    assert "put-out" not in pages["bob"] and "were not executed" in pages["bob"], "made of other bytes"
    assert "notebook" not in pages["eve"]


@pytest.mark.slow
def test_pages_of_kept_scores_show_it_as_well(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    with (own_course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    hand_in_notebook(tmp_path / "class" / "ada", *WORK, "print('put-' + 'out')")
    viva("grade", "class", "-o", "graded")
    pages = []
    for options in ((), ("--results", "graded")):
        done = viva("report", "words", "--feedback", "-o", "pages", *options)
        assert done.status == 0, done.err
        (page,) = (tmp_path / "pages" / "feedback").rglob("*.html")
        pages.append(page.read_text("utf-8"))
    assert "were not executed" in pages[0] and "executed by the course" not in pages[0]
    assert "executed by the course" in pages[1] and "put-out" in pages[1]
    done = viva("report", "graded", "--feedback", "--results", "graded")
    assert done.status == 1 and "--results is for scores that the course keeps" in done.sentence()
