"""Which file of a submission counts, name by name, and the sentence about it; a starter defines nothing."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined, handed_in, statuses, write_course
from tests.support.editable_submission import zipped
from tests.support.words_course import notebook
from viva.config.assignment import SubmissionFiles
from viva.examiner.boxes.choice import FileChoice
from viva.submissions.notebook_count import same_answers
from viva.submissions.starter_code import Compared

TESTS = """
from viva.grading import agree

def test_double(student, key):
    agree(student.double(2), key.double(2))

def test_triple(student, key):
    agree(student.triple(2), key.triple(2))
"""
KEY = "def double(n): return 2 * n\ndef triple(n): return 3 * n\n"
STARTER = '''"""Fill in."""


def double(n):
    """Return twice n."""
    raise NotImplementedError


def triple(n):
    raise NotImplementedError
'''
FORMATTED = STARTER.replace("    raise", "\n    # to do\n    raise").replace("(n)", "( n )")
HALF = STARTER.replace("    raise NotImplementedError\n\n\ndef triple", "    return 2 * n\n\n\ndef triple")
WRONG = "def double(n):\n    return 0\n"
OTHER_HALF = "def triple(n):\n    return 3 * n\n"


SOLVED = notebook("%time x = 1", KEY)
SUBMISSIONS = {
    "a starter beside the notebook": {"solution.py": STARTER, "work.ipynb": SOLVED},
    "with other line ends": {"solution.py": STARTER.replace("\n", "\r\n"), "work.ipynb": SOLVED},
    "with comments and spaces": {"solution.py": FORMATTED, "work.ipynb": SOLVED},
    "half of it in each": {"solution.py": HALF, "work.ipynb": notebook(STARTER.replace("double", "other"), OTHER_HALF)},
    "half of it here, the starter's notebook there": {"solution.py": KEY, "work.ipynb": notebook(STARTER)},
    "the other half beside it": {"solution.py": HALF, "more.py": OTHER_HALF},
    "under another name": {"homework (1).py": KEY},
    "a notebook under another name": {"solution.py": STARTER, "Homework (1).ipynb": SOLVED},
    "that notebook alone": {"Homework (1).ipynb": SOLVED},
}


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    settings = "submission: {module: solution.py, notebook: work.ipynb}\n"
    course = write_course(tmp_path_factory.mktemp("starter"), tests=TESTS, key=KEY, settings=settings)
    starter = course.root / "assignments" / course.assignments[0] / "starter"
    starter.mkdir()
    (starter / "solution.py").write_text(STARTER, "utf-8")
    with Examined(course) as examiner:
        yield examiner


@pytest.mark.parametrize("name", SUBMISSIONS)
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zipped"])
def test_own_definitions_count(examined: Examined, name: str, packed: bool) -> None:
    files = SUBMISSIONS[name]
    score = examined.score({"work.zip": zipped(files)} if packed else files)
    assert statuses(score) == {"test_double": "passed", "test_triple": "passed"}, score.notes


@pytest.mark.parametrize(
    ("files", "passed", "said"),
    [
        ({"Homework (1).ipynb": SOLVED}, ["test_double", "test_triple"], "was read from Homework (1).ipynb"),
        ({"a.ipynb": notebook(WRONG), "b.ipynb": SOLVED}, ["test_double", "test_triple"], "defines more names"),
        ({"solution.py": WRONG, "b.ipynb": SOLVED}, ["test_triple"], ""),
        (
            {"solution.py": WRONG, "work.ipynb": SOLVED},
            ["test_triple"],
            "solution.py counts, because the assignment asks for it",
        ),
        ({"work-Copy1.ipynb": notebook(WRONG), "work.ipynb": SOLVED}, ["test_double", "test_triple"], ""),
        (
            {"work-Copy1.ipynb": SOLVED, "work.ipynb": notebook(STARTER)},
            ["test_double", "test_triple"],
            "was read from work-Copy1.ipynb",
        ),
    ],
)
def test_choice_of_graded_submission(examined: Examined, files: dict[str, str], passed: list[str], said: str) -> None:
    score = examined.score(files)
    assert [name for name, status in statuses(score).items() if status == "passed"] == passed
    assert said in score.choice and bool(said) == bool(score.choice)
    assert not said or score.choice in score.notes


def test_starter_alone(examined: Examined) -> None:
    assert statuses(examined.score(STARTER)) == {"test_double": "error", "test_triple": "error"}
    assert statuses(examined.score({"work.zip": zipped({"solution.py": STARTER})})) == statuses(examined.score(STARTER))


def test_files_not_run_are_named(examined: Examined) -> None:
    score = examined.score({"work-Copy1.ipynb": SOLVED, "work.ipynb": notebook(STARTER)})
    assert "work.ipynb was not run, because it is as the course handed it out." in score.notes
    score = examined.score({"work-Copy1.ipynb": notebook(WRONG), "work.ipynb": SOLVED})
    assert "work-Copy1.ipynb was not run, because work.ipynb counts." in score.notes


def test_files_of_several_students(examined: Examined) -> None:
    assignment = examined.course.assignment(examined.course.assignments[0])
    loose = {"ada.py": KEY, "bo.ipynb": SOLVED, "own.py": "def helps(): pass"}
    assert same_answers(handed_in(loose), assignment) == ["ada.py", "bo.ipynb"]
    for files in ({**loose, "solution.py": KEY}, {"ada.py": KEY, "own.py": "x = 1"}, {"a/b.py": KEY, "b/a.py": KEY}):
        assert same_answers(handed_in(files), assignment) == []


BOTH = SubmissionFiles(notebook="*.ipynb", module="solution.py")
NAMED = SubmissionFiles(notebook="work.ipynb", module="solution.py")


class KnownFiles(FileChoice):
    """A choice among files that define these names."""

    def __init__(self, files: Sequence[tuple[str, str]], wanted: SubmissionFiles) -> None:
        given_names = {str(wanted.module), str(wanted.notebook), "hw.ipynb"}
        super().__init__(wanted, given_names, Path("none"), {}, nullcontext)
        self._known = {path: Compared(answers=frozenset(names)) for path, names in files}

    def compare(self, path: str) -> Compared:
        return self._known[path]


FIVE = [("a.ipynb", "abcdef"), ("b.ipynb", "abcdef"), ("c.ipynb", "a"), ("d.ipynb", "b"), ("e.ipynb", "c")]


@pytest.mark.parametrize(
    ("files", "wanted", "counts", "because"),
    [
        ([("solution.py", "fg")], NAMED, "", ""),
        ([("a.ipynb", "fg")], BOTH, "", ""),
        ([("a.ipynb", "f"), ("b.ipynb", "g")], BOTH, "", ""),
        ([("hw1 (1).ipynb", "fg")], NAMED, "was read from hw1 (1).ipynb", "no other notebook or module"),
        ([("solution.py", "f"), ("a.ipynb", "fg")], BOTH, "`f` solution.py", "the assignment asks for it"),
        ([("solution.py", "f"), ("old/solution.py", "f")], BOTH, "`f` solution.py", "in the outermost folder"),
        ([("b.ipynb", "fgh"), ("a.ipynb", "fg")], BOTH, "`f` `g` b.ipynb", "it defines more names"),
        (FIVE, BOTH, "`a` `b` a.ipynb", "its name comes first in the alphabet"),
    ],
)
def test_choice_sentence(files: Sequence[tuple[str, str]], wanted: SubmissionFiles, counts: str, because: str) -> None:
    """It is there only where the names of files do not decide; it names what is defined twice, and the file."""
    sentence = KnownFiles(files, wanted).explain([path for path, _ in files])
    assert because in sentence and bool(because) == bool(sentence)
    if counts.startswith("`"):
        *names, file = counts.split()
        assert all(name in sentence for name in names) and f"{file} counts, because" in sentence
    else:
        assert counts in sentence
