"""What was asked and answered is kept, and answers again: the same marks without the student's program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined, by_name, handed_in, without_times, write_course
from tests.support.replays import RECORDED, replay_of
from tests.support.replays import changed as changed_tests
from viva.config import load_course
from viva.model import Status, Submission, Tier
from viva.model.errors import UsageError
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.records.call_log import CallLog

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
        with Examined(load_course(self.root)) as examined:
            return examined.process.grade(GradeRequest(work, RECORDED))

    def replay(self, call_log: bytes = b"", only: tuple[str, ...] | None = None) -> Graded:
        """The marks that the call log has by what the course says now; no box can be made."""
        request = replay_of(self.work, call_log or self.first.interceptor_output, GradeOptions(only=only))
        with self.replaying() as examined:
            return examined.process.grade(request)

    def replaying(self) -> Examined:
        """An examiner that can make no box."""
        return Examined(load_course(self.root), BoxOptions(Tier.T3, none=True))

    def replay_alone(self, first: Graded, *tests: str) -> None:
        """Each of these tests, replayed by itself, is as it was among all."""
        for test in tests:
            alone = self.replay(first.interceptor_output, only=(test,))
            assert changed_tests(alone) == [], test
            one, other = by_name(alone.score)[test], by_name(first.score)[test]
            assert (one.status, one.earned) == (other.status, other.earned), test

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
    work = graded.work
    yield graded
    graded.work = work
    for path, text in texts.items():
        path.write_text(text)


def test_replay_gives_same_score(course: _Course) -> None:
    again = course.replay()
    assert changed_tests(again) == []
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


@pytest.mark.parametrize(
    ("file", "old", "new", "test", "expected"),
    [
        ("test_course.py", "rtol=1e-9", "rtol=1e-3, atol=1e-3", "test_third", (Status.PASSED, 0)),
        ("test_course.py", "@weight(3)", "@weight(30)", "test_table", (Status.PARTIAL, 20)),
        ("key.py", "return x / 3", "return x / 3 + 1e-6", "test_third", (Status.PASSED, 0)),
    ],
    ids=["tolerance", "points", "key"],
)
def test_replay_decides_alone(
    course: _Course, file: str, old: str, new: str, test: str, expected: tuple[Status, int]
) -> None:
    course.change(file, old, new)
    again = course.replay()
    entry = by_name(again.score)[test]
    assert changed_tests(again) == [] and entry.status is expected[0] and entry.earned == expected[1]


HIDES = "    try:\n        student.half(9)\n    except BaseException:\n        pass"
NEW = "def test_new(student):\n    student.half(7)\n\n\ndef test_after("


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("[1, 4.0,", "[1, 5.0,", "test_half"),
        ("[0, 1, 4]", "[0, 1, 4, 2]", "test_table"),
        ("def test_after(", NEW, "test_new"),
        ("    assert student.half(8) == 4", HIDES, "test_after"),
    ],
    ids=["other inputs", "one more case", "a new test", "a test that catches everything"],
)
def test_replay_names_changed_test(course: _Course, old: str, new: str, changed: str) -> None:
    course.change("test_course.py", old, new)
    again = course.replay()
    assert changed_tests(again) == [f"test_course.py::{changed}"]
    others = [entry for entry in again.score.entries if not entry.test_id.endswith(changed)]
    first = {entry.test_id: entry.earned for entry in course.first.score.entries}
    assert all(entry.earned == first[entry.test_id] for entry in others)


@pytest.mark.long
def test_replay_needs_questions_never_asked(course: _Course) -> None:
    """A test ends with the first wrong answer."""
    course.change("key.py", "return x / 2", "return x")
    wrong = course.grade(course.work)
    course.change("key.py", "return x\n", "return x / 2\n")
    assert changed_tests(course.replay(wrong.interceptor_output)) == ["test_course.py::test_half"]


def test_replay_names_dependent_tests(course: _Course) -> None:
    course.change("test_course.py", "    counter.step()\n    assert", "    counter.n\n    assert")
    assert set(changed_tests(course.replay())) >= {"test_course.py::test_counter", "test_course.py::test_counter_again"}


def test_replay_without_removed_test(course: _Course) -> None:
    path = next(course.root.rglob("test_course.py"))
    text = path.read_text()
    at, end = text.index("def test_hang"), text.index("def test_exit")
    path.write_text(text[:at] + text[end:])
    again = course.replay()
    assert changed_tests(again) == []
    kept = {e["test_id"]: e for e in without_times(course.first.score)["entries"]}
    assert [*without_times(again.score)["entries"]] == [e for i, e in kept.items() if "test_hang" not in i]


def test_replay_of_other_version(course: _Course) -> None:
    course.change("assignment.yaml", "title: Small\n", "title: Small\nversion: 2\n")
    changed = changed_tests(course.replay())
    assert "test_course.py::test_half" in changed


def test_replay_alone_beside_functions(course: _Course) -> None:
    passes = "    agree_on(lambda f: student.apply(f, 2), lambda f: f(2), functions(lambda x: x + 1))\n"
    course.change(
        "test_course.py", "def test_after(student):", f"def test_pass(student):\n{passes}\n\ndef test_after(student):"
    )
    course.change(
        "test_course.py", "import numpy as np\n", "import numpy as np\nfrom viva.grading.strategies import functions\n"
    )
    course.work = handed_in(f"{WORK}\ndef apply(f, x): return f(x)\n")
    first = course.grade(course.work)
    assert by_name(first.score)["test_pass"].status is Status.PASSED
    course.replay_alone(first, "test_pass", "test_after", "test_table", "test_root")


def test_replay_alone_asks_for_names(course: _Course) -> None:
    """The first question about a name brings all functions, and no one asks for the list of names a second time."""
    looks = "    assert submission.answers.get('1') is None\n"
    course.change("test_course.py", "def test_third(student, key):", "def test_third(student, key, submission):")
    course.change("test_course.py", "    agree(student.third(9)", f"{looks}    agree(student.third(9)")
    course.change("test_course.py", "def test_table(student, key, n):", "def test_table(student, key, n, submission):")
    course.change("test_course.py", "    agree(student.table(n)", f"{looks}    agree(student.table(n)")
    first = course.grade(course.work)
    course.replay_alone(first, "test_table", "test_counter_again", "test_root", "test_after")


def test_replay_alone_runs_other_files(course: _Course) -> None:
    """The first test that looks for a name runs the other files, whichever that is, and in whichever box."""
    course.work = handed_in({"solution.py": WORK, "more.py": "answer_1 = 'a'", "yet_more.py": "raise OSError"})
    course.change("test_course.py", "def test_third(student, key):", "def test_third(student, key, submission):")
    course.change("test_course.py", '    """Divides by three."""', "    assert submission.answers['1'] == 'a'")
    course.change("test_course.py", "def test_after(student):", "def test_after(student, submission):")
    course.change("test_course.py", '    """Goes on."""', "    assert submission.answers['1'] == 'a'")
    first = course.grade(course.work)
    assert by_name(first.score)["test_after"].status is Status.PASSED
    course.replay_alone(first, "test_half", "test_third", "test_missing", "test_after")


def test_replay_alone_names_same_objects(course: _Course) -> None:
    """Objects of earlier tests do not count, so that a call log answers a test that keeps some."""
    course.change("test_course.py", '    """Divides by three."""', "    student.Counter.keep(1).step()")
    course.change("test_course.py", "    assert student.half(8) == 4", "    assert student.Counter.keep(8).step() == 9")
    first = course.grade(course.work)
    assert by_name(first.score)["test_after"].status is Status.PASSED
    course.replay_alone(first, "test_after")


def test_replay_of_other_load(course: _Course) -> None:
    """An examiner that replays several goes on to the next."""
    helpers = next(course.root.rglob("test_course.py")).parent / "inside.py"
    helpers.write_text("X = 1\n")
    try:
        again = course.replay()
    finally:
        helpers.unlink()
    assert again.finished and not again.ended
    assert changed_tests(again) == [entry.test_id for entry in course.first.score.entries]


def test_replay_of_several_submissions(course: _Course) -> None:
    """Three submissions are replayed by one examiner: each gets its own score, whichever came before it."""
    works = [course.work, handed_in(WORK.replace("x / 3 + 1e-6", "x / 3")), handed_in(WORK.replace("n < 4", "n < 5"))]
    looks = "    agree(submission.answers['1'], 'a')\n    assert student.half(8) == 4"
    course.change("test_course.py", "    assert student.half(8) == 4", looks)
    course.change("test_course.py", "def test_after(student):", "def test_after(student, submission):")
    works += [handed_in({"solution.py": WORK, "answers.yaml": text}) for text in ('"1": a\n', '"1": b\n')]
    graded = [course.grade(work) for work in works]
    with course.replaying() as examined:
        for order in (works, works[::-1]):
            for work in order:
                first = graded[works.index(work)]
                again = examined.process.grade(replay_of(work, first.interceptor_output))
                assert changed_tests(again) == []
                assert without_times(again.score) == without_times(first.score)


@pytest.mark.parametrize("data", [b"", b"no call log", b"\x78\x9c"])
def test_invalid_call_log(data: bytes) -> None:
    with pytest.raises(UsageError, match="A call log cannot be read"):
        CallLog.from_bytes(data)


def test_replay_of_failed_load(course: _Course) -> None:
    course.work = handed_in("raise SystemExit(1)\n")
    first = course.grade(course.work)
    again = course.replay(first.interceptor_output)
    assert changed_tests(again) == [] and without_times(again.score) == without_times(first.score)
