"""An imported nbgrader assignment gives what nbgrader gives: recorded here, and run next to it in a long test."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import environment
from bench.small_course import notebook
from tests.support.imported_course import ImportedCourse, entry, points_by_question
from tests.support.nbgrader_class import (
    CLASS,
    FILE,
    POINTS,
    RECORDED,
    STUB,
    cell,
    graded_by_nbgrader,
    handed_in,
    write_class,
)
from viva.model import Score, Status
from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImportedCourse]:
    folder = tmp_path_factory.mktemp("nbgrader")
    write_class(folder)
    course = ImportedCourse(folder / "course", import_nbgrader(folder))
    yield course
    course.process.close()


def graded(old: ImportedCourse, name: str) -> Score:
    return old.score({FILE: notebook(CLASS[name])})


@pytest.mark.parametrize("name", CLASS)
def test_points_equal_those_of_nbgrader(old: ImportedCourse, name: str) -> None:
    won = points_by_question(graded(old, name))
    assert [won[test] for test in POINTS] == [value or 0 for value in RECORDED[name]]
    assert (won["essay"], won["task"]) == (0, 0)


@pytest.mark.nightly
@pytest.mark.skipif(bool(environment.missing()), reason="nbgrader is not installed in .venv/others")
def test_recorded_points(tmp_path: Path) -> None:
    theirs = graded_by_nbgrader(tmp_path)
    assert {name: tuple(row[test] for test in POINTS) for name, row in theirs.items()} == RECORDED
    answered = {name: row["essay"] for name, row in theirs.items()}
    assert answered == {name: 0 if name == "starter" else None for name in CLASS}


def test_total_points(old: ImportedCourse) -> None:
    score = graded(old, "right")
    assert score.points == old.assignment.points == sum(POINTS.values()) + 5 + 2
    assert [e.test_id for e in score.entries if e.status not in (Status.PASSED, Status.NEEDS_REVIEW)] == []


def test_manually_graded_cells(old: ImportedCourse) -> None:
    right, starter = graded(old, "right"), graded(old, "starter")
    essay = entry(right, f"{FILE}::essay")
    assert (essay.status, essay.rubric) == (Status.NEEDS_REVIEW, "essay")
    assert "associative" in essay.written
    assert entry(starter, f"{FILE}::essay").status is Status.FAILED
    assert entry(starter, f"{FILE}::task").status is Status.NEEDS_REVIEW
    questions = old.assignment.rubric().questions
    assert [(q.number, float(q.points), q.items[0].text) for q in questions][1] == (
        "task",
        2,
        "One point for each axis.",
    )


def test_hidden_part_of_a_test(old: ImportedCourse) -> None:
    score = graded(old, "visible_only")
    given, whole = entry(score, f"{FILE}::test_total#given"), entry(score, f"{FILE}::test_total")
    assert (given.status, float(given.points), given.visibility) == (Status.PASSED, 0, "visible")
    assert (whole.status, float(whole.points), whole.visibility) == (Status.FAILED, 3, "hidden")
    assert [e.test_id for e in score.entries if e.number == "test_words"] == [f"{FILE}::test_words"]


def test_hidden_test_does_not_leak(old: ImportedCourse) -> None:
    """A program prints, raises and shows what it can find of the tests in its process."""
    spy = (
        "import gc, sys\n"
        "found = [x for x in gc.get_objects() if type(x) in (str, list) and 'three ' + 'letters' in str(x)[:20000]]\n"
        "words = str(found)\nprint(words)\nclass Loud(list):\n    def __eq__(self, other):\n"
        "        raise ValueError(words + str(other))"
    )
    for name, source in {"words": f"{spy}\nwords = Loud()", "total": f"{spy}\nraise ValueError(words)"}.items():
        score = old.score({FILE: notebook(handed_in(without=(), **{name: source}))})
        read = [*score.notes, *(f"{e.message} {c.message}" for e in score.entries for c in e.cases)]
        assert not [text for text in read if "three letters" in text]


def test_visible_tests_only(old: ImportedCourse) -> None:
    score = old.score({FILE: notebook(CLASS["visible_only"])}, visible_only=True)
    assert f"{FILE}::test_total#given" in {e.test_id for e in score.entries}
    assert all(e.visibility == "visible" for e in score.entries)


def test_cell_ends_its_process(old: ImportedCourse) -> None:
    """The other cells are run again without it; nbgrader would lose the notebook."""
    won = points_by_question(old.score({FILE: notebook(handed_in(total="import os\nos._exit(0)"))}))
    assert [won[test] for test in POINTS] == [0, 4, 0, 2]


@pytest.mark.parametrize("ending", ["while True: pass", "import re; re.match('(a*)*b', 'a' * 40)"])
def test_cell_hangs(tmp_path: Path, ending: str) -> None:
    """Also where it cannot be interrupted, and its box has to be ended."""
    write_class(tmp_path)
    imported = import_nbgrader(tmp_path)
    imported[0].settings["limits"] = {"load_s": 2, "test_s": 2}
    course = ImportedCourse(tmp_path / "course", imported)
    with course.process:
        score = course.score({FILE: notebook(handed_in(halves=f"def halves(numbers):\n    {ending}"))})
        won = points_by_question(score)
        assert [won[test] for test in POINTS] == [3, 0, 1, 2]
        assert entry(score, f"{FILE}::test_halves").status is Status.TIMEOUT


def test_renamed_notebook(old: ImportedCourse) -> None:
    won = points_by_question(old.score({"homework (2).ipynb": notebook(CLASS["right"])}))
    assert sum(won.values()) == sum(POINTS.values())


def test_no_notebook(old: ImportedCourse) -> None:
    score = old.score({"notes.py": "x = 1"})
    assert score.earned == 0 and {e.status for e in score.entries} == {Status.FAILED}


def test_duplicate_test_cell(old: ImportedCourse) -> None:
    twice = [*CLASS["right"], cell("code", "1 / 0", "test_quiet", grade=True, locked=True, points=1)]
    assert points_by_question(old.score({FILE: notebook(twice)}))["test_quiet"] == 1


def test_starter_has_no_solution(old: ImportedCourse) -> None:
    starter = old.assignment.starter.joinpath(FILE).read_text("utf-8")
    cells = {c["metadata"].get("nbgrader", {}).get("grade_id"): c["source"] for c in json.loads(starter)["cells"]}
    assert cells["total"] == STUB
    assert cells["halves"] == "def halves(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert cells["test_total"] == "assert total([1, 2]) == 3"
    assert (cells["test_words"], cells["essay"], cells["task"]) == ("", "YOUR ANSWER HERE", "Draw the graph of total.")
