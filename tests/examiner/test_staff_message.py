"""What the staff reads of a test that failed: where in the author's file, not how pytest came to call it."""

from pathlib import Path

from tests.support.course_of_texts import Examined, write_course

TESTS = '''
def check(value):
    assert value == 4, f"It is {value}."


def test_it(student):
    """It is four."""
    check(student.f())


def test_grader(key):
    """Our own fault."""
    key.nothing_of_this_name()
'''


def test_the_traceback_begins_in_the_authors_test(tmp_path: Path) -> None:
    examined = Examined(write_course(tmp_path, tests=TESTS, key=""))
    with examined.process:
        failed, fault = examined.graded("def f(): return 5").score.entries
    assert failed.message == "It is 5."
    for entry, last in ((failed, "It is 5."), (fault, "nothing_of_this_name")):
        lines = entry.staff_message.splitlines()
        assert ", in test_" in lines[1] and f"test_{tmp_path.name.replace('-', '_')}.py" in lines[1]
        assert last in entry.staff_message and "pluggy" not in entry.staff_message
