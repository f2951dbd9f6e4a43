"""What was asked and answered is kept, and answers again: the same marks without the student's program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, SECRET, best_tier, by_name, handed_in, without_times, write_course
from viva.config import load_course
from viva.model import Status, Submission, Tier
from viva.model.errors import UsageError
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.replay.call_log import CallLog
from viva.replay.call_log.call_log import LOADING

KEY = """
import math

def half(x): return x / 2
def third(x): return x / 3
def root(x): return math.sqrt(x)
def table(n): return [[i * j for j in range(n)] for i in range(n)]
def numbers(n): return list(range(n))
"""
TESTS = '''
import numpy as np
import pytest
from hypothesis import strategies as st
from viva.grading import agree, agree_on, visibility, weight


@pytest.fixture(scope="module")
def counter(student):
    return student.Counter.keep(3)


@weight(2)
def test_half(student, key, rng):
    """Halves numbers."""
    for x in [1, 4.0, *rng.normal(size=3).tolist()]:
        agree(student.half(x), key.half(x))


def test_third(student, key):
    """Divides by three."""
    agree(student.third(9), key.third(9), rtol=1e-9)


@weight(3)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_table(student, key, n):
    """Multiplies."""
    agree(student.table(n), key.table(n))


def test_counter(counter):
    """Counts."""
    counter.step()
    assert counter.step() == 5


@pytest.mark.depends("test_counter")
def test_counter_again(counter):
    """Counts on."""
    assert counter.step() == 6


@visibility("hidden")
def test_root(student, key):
    """Takes roots."""
    agree_on(student.root, key.root, st.floats(0, 100))


def test_missing(student):
    """Is there."""
    student.nothing_of_this_name()


def test_hang(student):
    """Ends."""
    student.hang()


def test_exit(student):
    """Stays."""
    student.leave()


def test_after(student):
    """Goes on."""
    assert student.half(8) == 4
'''
WORK = """
import os

def half(x): return x * 0.5
def third(x): return x / 3 + 1e-6
def root(x): return x ** 0.5
def table(n): return [[i * j for j in range(n)] for i in range(n)] if n < 4 else "too large"
def hang():
    while True: pass
def leave(): os._exit(3)

class Counter:
    def __init__(self, n): self.n = n
    def step(self):
        self.n += 1
        return self.n
"""
SETTINGS = "limits: {call_s: 0.5}\n"


class _Course:
    """A course on disk, and one submission of it that was graded with a call log."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = handed_in(WORK)
        write_course(root, tests=TESTS, key=KEY, settings=SETTINGS)
        self.first = self.grade(self.work)

    def grade(self, work: Submission) -> Graded:
        course = load_course(self.root)
        with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier())) as examiner:
            return examiner.grade(GradeRequest(work, GradeOptions(call_log=True)))

    def replay(self, call_log: bytes = b"", only: tuple[str, ...] | None = None) -> Graded:
        """The marks that the call log has by what the course says now; no box can be made."""
        course = load_course(self.root)
        with ExaminerProcess(
            course, course.assignment(NAME), SECRET, BoxOptions(Tier.T3, replay_only=True)
        ) as examiner:
            return examiner.grade(
                GradeRequest(self.work, GradeOptions(only=only), replayed=call_log or self.first.call_log)
            )

    def change(self, name: str, old: str, new: str) -> None:
        """Write another text into a file of the course."""
        path = next(self.root.rglob(name))
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> _Course:
    return _Course(tmp_path_factory.mktemp("call_logs") / "course")


@pytest.fixture
def course(graded: _Course) -> Iterator[_Course]:
    texts = {path: path.read_text() for path in graded.root.rglob("*") if path.suffix in (".py", ".yaml")}
    yield graded
    for path, text in texts.items():
        path.write_text(text)


def test_the_same_course_gives_the_same_score(course: _Course) -> None:
    again = course.replay()
    assert again.changed == []
    assert without_times(again.score) == without_times(course.first.score)
    statuses = {name: str(entry.status) for name, entry in by_name(again.score).items()}
    assert statuses == {
        "test_half": "passed",
        "test_third": "failed",
        "test_table": "partial",
        "test_counter": "passed",
        "test_counter_again": "passed",
        "test_root": "passed",
        "test_missing": "failed",
        "test_hang": "timeout",
        "test_exit": "error",
        "test_after": "passed",
    }


def test_it_can_be_read(course: _Course) -> None:
    kept = CallLog.from_bytes(course.first.call_log)
    assert len(kept.loads) == 4, "the first, the second tries of two tests, and one after a call ended that"
    asked = kept.cases["test_course.py::test_exit[]"]
    assert all(b"leave" in exchange.question for exchange in asked)
    assert [exchange.ending for exchange in asked if exchange.ending] == ["died", "died"], "tried a second time"
    assert LOADING not in kept.cases


def test_another_tolerance_needs_nobody(course: _Course) -> None:
    course.change("test_course.py", "rtol=1e-9", "rtol=1e-3, atol=1e-3")
    again = course.replay()
    assert again.changed == []
    assert by_name(again.score)["test_third"].status is Status.PASSED


@pytest.mark.long
def test_an_answer_that_is_right_now_is_followed_by_questions_that_were_never_asked(course: _Course) -> None:
    """A test ends with the first wrong answer."""
    course.change("key.py", "return x / 2", "return x")
    wrong = course.grade(course.work)
    course.change("key.py", "return x\n", "return x / 2\n")
    assert course.replay(wrong.call_log).changed == ["test_course.py::test_half"]


def test_other_points_need_nobody(course: _Course) -> None:
    course.change("test_course.py", "@weight(3)", "@weight(30)")
    again = course.replay()
    assert again.changed == [] and by_name(again.score)["test_table"].earned == 20


def test_another_key_needs_nobody(course: _Course) -> None:
    course.change("key.py", "return x / 3", "return x / 3 + 1e-6")
    again = course.replay()
    assert again.changed == [] and by_name(again.score)["test_third"].status is Status.PASSED


def test_other_questions_are_to_be_asked_again(course: _Course) -> None:
    course.change("test_course.py", "[1, 4.0,", "[1, 5.0,")
    again = course.replay()
    assert again.changed == ["test_course.py::test_half"]
    assert without_times(again.score)["entries"][1:] == without_times(course.first.score)["entries"][1:]


def test_one_new_case_is_to_be_asked(course: _Course) -> None:
    course.change("test_course.py", "[0, 1, 4]", "[0, 1, 4, 2]")
    assert course.replay().changed == ["test_course.py::test_table"]


def test_what_depends_on_a_changed_test_is_asked_with_it(course: _Course) -> None:
    course.change("test_course.py", "    counter.step()\n    assert", "    counter.n\n    assert")
    assert set(course.replay().changed) >= {"test_course.py::test_counter", "test_course.py::test_counter_again"}


def test_a_new_test_is_to_be_asked(course: _Course) -> None:
    course.change(
        "test_course.py", "def test_after(", "def test_new(student):\n    student.half(7)\n\n\ndef test_after("
    )
    assert course.replay().changed == ["test_course.py::test_new"]


def test_a_removed_test_takes_nothing_along(course: _Course) -> None:
    path = next(course.root.rglob("test_course.py"))
    text = path.read_text()
    at, end = text.index("def test_hang"), text.index("def test_exit")
    path.write_text(text[:at] + text[end:])
    again = course.replay()
    assert again.changed == []
    kept = {e["test_id"]: e for e in without_times(course.first.score)["entries"]}
    assert [*without_times(again.score)["entries"]] == [e for i, e in kept.items() if "test_hang" not in i]


def test_another_version_draws_other_inputs(course: _Course) -> None:
    course.change("assignment.yaml", "title: Small\n", "title: Small\nversion: 2\n")
    changed = course.replay().changed
    assert "test_course.py::test_half" in changed


def test_a_test_that_catches_everything_does_not_hide_the_change(course: _Course) -> None:
    course.change(
        "test_course.py",
        "    assert student.half(8) == 4",
        "    try:\n        student.half(9)\n    except BaseException:\n        pass",
    )
    assert course.replay().changed == ["test_course.py::test_after"]


def test_questions_with_functions_are_passed_over_in_a_search_for_names(course: _Course) -> None:
    passes = "    agree_on(lambda f: student.apply(f, 2), lambda f: f(2), functions(lambda x: x + 1))\n"
    course.change(
        "test_course.py", "def test_after(student):", f"def test_pass(student):\n{passes}\n\ndef test_after(student):"
    )
    course.change(
        "test_course.py", "import numpy as np\n", "import numpy as np\nfrom viva.grading.strategies import functions\n"
    )
    work, course.work = course.work, handed_in(f"{WORK}\ndef apply(f, x): return f(x)\n")
    try:
        first = course.grade(course.work)
        assert by_name(first.score)["test_pass"].status is Status.PASSED
        for test in ("test_pass", "test_after", "test_table", "test_root"):
            alone = course.replay(first.call_log, only=(test,))
            assert alone.changed == [] and by_name(alone.score)[test].earned == by_name(first.score)[test].earned
    finally:
        course.work = work


def test_a_test_alone_asks_for_names_that_another_one_has_asked_for(course: _Course) -> None:
    """The first question about a name brings all functions, and no one asks for the list of names a second time."""
    looks = "    assert submission.answers.get('1') is None\n"
    course.change("test_course.py", "def test_third(student, key):", "def test_third(student, key, submission):")
    course.change("test_course.py", "    agree(student.third(9)", f"{looks}    agree(student.third(9)")
    course.change("test_course.py", "def test_table(student, key, n):", "def test_table(student, key, n, submission):")
    course.change("test_course.py", "    agree(student.table(n)", f"{looks}    agree(student.table(n)")
    first = course.grade(course.work)
    for test in ("test_table", "test_counter_again", "test_root", "test_after"):
        alone = course.replay(first.call_log, only=(test,))
        assert alone.changed == [], test
        ours = by_name(alone.score)[test]
        assert ours.earned == by_name(first.score)[test].earned, test


def test_a_test_alone_runs_a_file_that_another_one_has_run(course: _Course) -> None:
    """The first test that looks for a name runs the other files, whichever that is, and in whichever box."""
    work = course.work
    course.work = handed_in({"solution.py": WORK, "more.py": "answer_1 = 'a'", "yet_more.py": "raise OSError"})
    course.change("test_course.py", "def test_third(student, key):", "def test_third(student, key, submission):")
    course.change("test_course.py", '    """Divides by three."""', "    assert submission.answers['1'] == 'a'")
    course.change("test_course.py", "def test_after(student):", "def test_after(student, submission):")
    course.change("test_course.py", '    """Goes on."""', "    assert submission.answers['1'] == 'a'")
    try:
        first = course.grade(course.work)
        assert by_name(first.score)["test_after"].status is Status.PASSED
        for test in ("test_half", "test_third", "test_missing", "test_after"):
            alone = course.replay(first.call_log, only=(test,))
            assert alone.changed == [], test
            assert by_name(alone.score)[test].status is by_name(first.score)[test].status, test
    finally:
        course.work = work


def test_a_test_alone_names_the_same_objects(course: _Course) -> None:
    """Objects of earlier tests do not count, so that a call log answers a test that keeps some."""
    course.change("test_course.py", '    """Divides by three."""', "    student.Counter.keep(1).step()")
    course.change("test_course.py", "    assert student.half(8) == 4", "    assert student.Counter.keep(8).step() == 9")
    first = course.grade(course.work)
    alone = course.replay(first.call_log, only=("test_after",))
    assert alone.changed == []
    assert by_name(alone.score)["test_after"].status is Status.PASSED


def test_a_submission_that_is_loaded_in_another_way_is_not_replayed(course: _Course) -> None:
    """An examiner that replays several goes on to the next."""
    helpers = next(course.root.rglob("test_course.py")).parent / "inside.py"
    helpers.write_text("X = 1\n")
    try:
        again = course.replay()
    finally:
        helpers.unlink()
    assert again.finished and not again.ended
    assert again.changed == [entry.test_id for entry in course.first.score.entries]


def test_no_outcome_depends_on_other_submissions(course: _Course) -> None:
    """Three submissions are replayed by one examiner: each gets its own score, whichever came before it."""
    works = [course.work, handed_in(WORK.replace("x / 3 + 1e-6", "x / 3")), handed_in(WORK.replace("n < 4", "n < 5"))]
    looks = "    agree(submission.answers['1'], 'a')\n    assert student.half(8) == 4"
    course.change("test_course.py", "    assert student.half(8) == 4", looks)
    course.change("test_course.py", "def test_after(student):", "def test_after(student, submission):")
    works += [handed_in({"solution.py": WORK, "answers.yaml": text}) for text in ('"1": a\n', '"1": b\n')]
    graded = [course.grade(work) for work in works]
    read = load_course(course.root)
    with ExaminerProcess(read, read.assignment(NAME), SECRET, BoxOptions(Tier.T3, replay_only=True)) as examiner:
        for order in (works, works[::-1]):
            for work in order:
                first = graded[works.index(work)]
                again = examiner.grade(GradeRequest(work, GradeOptions(), replayed=first.call_log))
                assert again.changed == []
                assert without_times(again.score) == without_times(first.score)


@pytest.mark.parametrize("data", [b"", b"no call log", b"\x78\x9c"])
def test_what_is_no_call_log_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="A call log cannot be read"):
        CallLog.from_bytes(data)


def test_a_notebook_that_fails_to_load_is_told_the_same_way(course: _Course) -> None:
    work = handed_in("raise SystemExit(1)\n")
    first = course.grade(work)
    course.work, kept = work, course.work
    try:
        again = course.replay(first.call_log)
    finally:
        course.work = kept
    assert again.changed == [] and without_times(again.score) == without_times(first.score)
