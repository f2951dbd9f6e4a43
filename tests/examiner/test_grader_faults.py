"""Graders that fail themselves: their tests cost no points, and the others are still decided."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined, by_name, statuses, write_course
from viva.pipeline.process import examiner_process

KEY = """
def double(n):
    return 2 * n

def triple(n):
    return 3 * n
"""

FAULTY = '''
"""Tests that are wrong themselves."""
from viva.grading import agree, visibility, weight

@weight(1)
def test_broken(student, key):
    key.nothing()

@weight(1)
def test_key(student, key):
    agree(key.fails(), student.double(1))

@weight(1)
@visibility("hidden")
def test_hidden_and_broken(student):
    raise RuntimeError("the answer is 42")

@weight(1)
def test_sound(student):
    agree(student.double(1), 2)
'''


def test_grader_fault_costs_no_points(tmp_path: Path) -> None:
    key = KEY + "\n\ndef fails():\n    return [][0]\n"
    with Examined(write_course(tmp_path, tests=FAULTY, key=key)) as examined:
        for source in (KEY, "def double(n):\n    return 0\n"):
            score = examined.score(source)
            found = statuses(score)
            faults = {name for name, status in found.items() if status == "grader_error"}
            assert faults == {"test_broken", "test_key", "test_hidden_and_broken"}
            assert score.still_open == 3 and score.has_grader_error
            for name in faults:
                assert "grader's side" in by_name(score)[name].message
                assert "42" not in by_name(score)[name].message
        assert "IndexError" in by_name(score)["test_key"].staff_message


def test_exiting_examiner_leaves_result(tmp_path: Path) -> None:
    tests = FAULTY + "\n\ndef test_that_takes_it_all_along():\n    import os\n    os._exit(0)\n"
    with Examined(write_course(tmp_path, tests=tests, key=KEY)) as examined:
        score = examined.score(KEY)
        assert statuses(score)["test_sound"] == "passed"
        assert statuses(score)["test_that_takes_it_all_along"] == "grader_error"
        assert len(score.entries) == 5


@pytest.mark.long
def test_hanging_examiner_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examiner_process, "GRACE_S", 0.5)
    tests = FAULTY + "\n\ndef test_that_never_ends():\n    while True:\n        pass\n"
    with Examined(write_course(tmp_path, tests=tests, key=KEY, settings="limits: {submission_s: 1}\n")) as examined:
        score = examined.score(KEY)
        assert statuses(score)["test_sound"] == "passed"
        assert statuses(score)["test_that_never_ends"] == "grader_error"
        assert len(score.entries) == 5 and score.wall_s < 60
        assert statuses(examined.score(KEY, "test_sound")) == {"test_sound": "passed"}


def test_skipped_test_leaves_next_file_alone(tmp_path: Path) -> None:
    """pytest keeps a module set up for the test that follows; that one was not run, and the next file's test failed."""
    first = """
import pytest
from viva.grading import agree, weight


@weight(1)
def test_double(student, key):
    agree(student.double(4), key.double(4))


@weight(1)
@pytest.mark.depends("test_double")
def test_after_double(student, key):
    agree(student.double(5), key.double(5))
"""
    second = (
        first.partition("@weight")[0] + "\n\n@weight(1)\ndef test_triple(student):\n    agree(student.triple(1), 3)\n"
    )
    root = tmp_path / "files"
    course = write_course(root, tests=first, key=KEY)
    (root / "graders" / "small" / "test_more.py").write_text(second, "utf-8")
    with Examined(course) as examined:
        score = examined.score("def double(n):\n    return n\n\n\ndef triple(n):\n    return 3 * n\n")
    assert statuses(score) == {"test_double": "failed", "test_after_double": "skipped", "test_triple": "passed"}


CHECKED_TESTS = '''
def check(value):
    assert value == 4, f"It is {value}."


def test_it(student):
    """It is four."""
    check(student.f())


def test_grader(key):
    """Our own fault."""
    key.nothing_of_this_name()
'''


def test_staff_traceback_begins_in_test(tmp_path: Path) -> None:
    with Examined(write_course(tmp_path, tests=CHECKED_TESTS, key="")) as examined:
        failed, fault = examined.score("def f(): return 5").entries
    assert failed.message == "It is 5."
    for entry, last in ((failed, "It is 5."), (fault, "nothing_of_this_name")):
        lines = entry.staff_message.splitlines()
        assert ", in test_" in lines[1] and f"test_{tmp_path.name.replace('-', '_')}.py" in lines[1]
        assert last in entry.staff_message and "pluggy" not in entry.staff_message
