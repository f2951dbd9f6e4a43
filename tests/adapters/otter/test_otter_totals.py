"""An imported otter assignment gives what otter gives: recorded here, and run next to it in a long test."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import environment
from bench.small_course import notebook
from tests.support.imported_course import ImportedCourse, entry, points_by_question
from tests.support.otter_class import (
    ANSWERS,
    CLASS,
    FILE,
    POINTS,
    RECORDED,
    autograder,
    graded_by_otter,
    handed_in,
    submission,
)
from viva.model import Status
from viva.plugins.suites.otter.otter_import import import_otter

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImportedCourse]:
    folder = tmp_path_factory.mktemp("otter")
    course = ImportedCourse(folder / "course", import_otter(autograder(folder)))
    yield course
    course.process.close()


@pytest.mark.parametrize("name", CLASS)
def test_points_equal_those_of_otter(old: ImportedCourse, name: str) -> None:
    won = points_by_question(old.score({FILE: submission(name)}))
    assert [won[question] for question in POINTS] == list(RECORDED[name])


@pytest.mark.nightly
@pytest.mark.skipif(bool(environment.missing()), reason="otter-grader is not installed in .venv/others")
@pytest.mark.parametrize("name", CLASS)
def test_recorded_points(tmp_path: Path, name: str) -> None:
    theirs = graded_by_otter(tmp_path / "one", autograder(tmp_path), submission(name))
    assert tuple(theirs[question] for question in POINTS) == RECORDED[name]


@pytest.mark.nightly
@pytest.mark.skipif(bool(environment.missing()), reason="otter-grader is not installed in .venv/others")
def test_module_and_seed_variable(tmp_path: Path) -> None:
    tests = {
        "q": "OK_FORMAT = True\ntest = {'name': 'q', 'points': 2, 'suites': [{'cases': [{'code': '>>> seen\\n9'}]}]}"
    }
    archive = autograder(tmp_path, tests, {"seed": 9, "seed_variable": "rng_seed"})
    course = ImportedCourse(tmp_path / "course", import_otter(archive))
    with course.process:
        for number, text in enumerate(("rng_seed = 1\nseen = rng_seed", "seen = rng_seed", "seen = 9")):
            theirs = graded_by_otter(tmp_path / str(number), archive, text, "hw.py")
            assert points_by_question(course.score({"hw.py": text})) == theirs
            theirs = graded_by_otter(tmp_path / f"n{number}", archive, notebook(handed_in(x=text)), FILE)
            assert points_by_question(course.score({FILE: notebook(handed_in(x=text))})) == theirs


def test_total_points(old: ImportedCourse) -> None:
    score = old.score({FILE: submission("right")})
    assert float(score.points) == sum(POINTS.values())
    assert (old.course.root / "graders").joinpath(old.assignment.name, "words.txt").read_text() == "a b\n"


def test_hidden_cases(old: ImportedCourse) -> None:
    score = old.score({FILE: submission("partly")})
    shown = {e.test_id: (str(e.status), float(e.earned), e.visibility) for e in score.entries if e.number == "q1"}
    assert shown == {
        "tests/q1.py::1": ("passed", 1, "visible"),
        "tests/q1.py::2": ("passed", 1.5, "hidden"),  # a case that does not say so is hidden
        "tests/q1.py::3": ("failed", 0, "hidden"),
    }


def test_all_or_nothing(old: ImportedCourse) -> None:
    score = old.score({FILE: submission("half_shout")})
    assert [(e.test_id, str(e.status), float(e.points)) for e in score.entries if e.number == "q3"] == [
        ("tests/q3.py::1", "passed", 0),
        ("tests/q3.py::2", "failed", 0),
        ("tests/q3.py::all", "failed", 1),
    ]


def test_author_messages(old: ImportedCourse) -> None:
    right, wrong = old.score({FILE: submission("right")}), old.score({FILE: submission("missing_names")})
    assert entry(right, "tests/q1.py::1").message == "squared!"
    assert "how many words?" in entry(wrong, "tests/q2.py::1").message
    raising = entry(old.score({FILE: submission("raises")}), "tests/q1.py::1").message
    assert "look at the power" in raising and "ValueError: 2" in raising


def test_hidden_case_does_not_leak(old: ImportedCourse) -> None:
    spy = (
        "import gc\nfound = [x for x in gc.get_objects() if type(x) is dict and 'squ' + 'are(1.5)' in str(x)[:9999]]\n"
        "def square(x):\n    raise ValueError(str(found) + str(x))"
    )
    score = old.score({FILE: notebook(handed_in(square=spy))})
    read = [*score.notes, *(f"{e.message} {c.message}" for e in score.entries for c in e.cases)]
    assert not [text for text in read if "square(1.5)" in text or "ValueError: []1.5" in text]


def test_token_is_never_copied(old: ImportedCourse) -> None:
    files = [p for p in old.course.root.rglob("*") if p.is_file()]
    assert not [p for p in files if b"not to be copied" in p.read_bytes()]
    config = json.loads((old.assignment.graders / "otter_config.json").read_text("utf-8"))
    assert config == {"seed": 7}


def test_points_possible(tmp_path: Path) -> None:
    course = ImportedCourse(tmp_path / "course", import_otter(autograder(tmp_path, config={"points_possible": 100})))
    with course.process:
        score = course.score({FILE: submission("right")})
        total = sum(RECORDED["right"]) - 3  # without the seed the numbers drawn are others
        assert score.points == 100
        drawn = points_by_question(score)["q4"]
        assert float(score.earned) - drawn == pytest.approx(100 * total / sum(POINTS.values()))


@pytest.mark.parametrize("ending", ["import os\nos._exit(0)", "raise SystemExit", "del grader"])
def test_cell_ends_its_process(old: ImportedCourse, ending: str) -> None:
    cells = handed_in(shout=ending)
    won = points_by_question(old.score({FILE: notebook(cells)}))
    assert (won["q1"], won["q3"], won["q4"]) == (4, 0, 3)


def test_test_ends_its_process(old: ImportedCourse) -> None:
    square = "import os\ndef square(x):\n    return os._exit(0) if x == 10 else x ** 2"
    cells = handed_in(square=square, without=("check1", "check2", "check3", "check5"))
    score = old.score({FILE: notebook(cells)})
    won = points_by_question(score)
    assert (won["q1"], won["q2"], won["q3"], won["q4"]) == (4, 0, 1, 3)
    assert entry(score, "tests/q2.py::1").status is Status.ERROR


def test_package_is_not_needed(old: ImportedCourse) -> None:
    imports = (
        ANSWERS["start"] + "\nfrom otter import Notebook\nassert Notebook('x.ipynb', tests_dir='y').to_pdf() is None"
    )
    assert points_by_question(old.score({FILE: notebook(handed_in(start=imports))}))["q1"] == 4
