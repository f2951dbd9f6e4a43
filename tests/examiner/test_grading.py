"""The whole way from bytes to a score, through an examiner's process: every status, and what each one costs."""

import textwrap
from pathlib import Path

import numpy as np
import pytest

from tests.support.course_of_texts import (
    Examined,
    by_name,
    examiner_fixture,
    handed_in,
    statuses,
    write_course,
)
from viva.model import Status
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.model.plain import from_plain, to_plain
from viva.model.score import Score

TESTS = '''
"""One test for each thing that can happen."""
import pytest
from viva.grading import agree, hide_errors, leaderboard, needs_review, number, partial_credit, visibility, weight

@number("1")
@weight(2)
def test_double(student, key):
    """Twice a number."""
    agree(student.double(4), key.double(4))

@pytest.mark.depends("test_double")
@weight(1)
def test_after_double(student, key):
    agree(student.double(student.triple(1)), 6)

@number("2")
@weight(2)
def test_triple(student, key):
    agree(student.triple(4), key.triple(4))

@weight(3)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_counts(student, key, n):
    agree(student.count(n), key.count(n))

@partial_credit(4)
def test_parts(student, set_score):
    set_score(sum(student.double(n) == 2 * n for n in (0, 1, 2, 3)))

@pytest.fixture(scope="module")
def model(student):
    return student.Model.keep(2)

@weight(1)
def test_model_first(model):
    agree(model.forward(1), 3)

@weight(1)
def test_model_again(model):
    agree(model.forward(2), 4)

@weight(1)
@pytest.mark.gpu
def test_on_a_gpu(student):
    agree(student.double(1), 2)

@weight(2)
def test_prose(submission):
    needs_review(submission.written["2.1"], rubric="2.1")

@weight(1)
@hide_errors("Look again at the lecture on strings.")
def test_text(student):
    agree(student.text(), "right")

@weight(1)
def test_form(student):
    assert student.form().upper() == "FORM"

@weight(1)
@leaderboard("speed")
def test_race(student, set_leaderboard_value):
    set_leaderboard_value(student.double(21))

@weight(1)
@visibility("hidden")
def test_hidden(student, key):
    """More doubles.

    Try numbers above three.
    """
    agree(student.double(5), key.double(5))
'''

KEY = """
def double(n):
    return 2 * n

def triple(n):
    return 3 * n

def count(n):
    return list(range(1, n + 1))
"""

RIGHT = """
def double(n):
    return 2 * n

def triple(n):
    return 3 * n

def count(n):
    return list(range(1, n + 1))

def text():
    return "right"

def form():
    return "form"

class Model:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return self.size + x
"""

SETTINGS = """
limits: {load_s: 3, call_s: 0.4, test_s: 2, submission_s: 30, memory_mib: 96}
"""

ALL_RIGHT = {
    "test_double": "passed",
    "test_after_double": "passed",
    "test_triple": "passed",
    "test_counts": "passed",
    "test_parts": "passed",
    "test_model_first": "passed",
    "test_model_again": "passed",
    "test_on_a_gpu": "deferred",
    "test_prose": "needs_review",
    "test_text": "passed",
    "test_form": "passed",
    "test_race": "passed",
    "test_hidden": "passed",
}

HANG = "    while True:\n        pass\n"
DEAF_HANG = (
    "    import signal\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    while True:\n        signal.alarm(0)\n"
)


def but(name: str, body: str) -> str:
    """The right solution with another body for one function."""
    return f"{RIGHT}\n\ndef {name}(*arguments):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


examined = examiner_fixture(tests=TESTS, key=KEY, settings=SETTINGS)


def test_right_submission_gets_all_decidable_points(examined: Examined) -> None:
    score = examined.score(RIGHT)
    assert statuses(score) == ALL_RIGHT
    assert score.earned == 18 and score.points == 21 and score.still_open == 3
    assert score.notes == ()
    assert [(leader.name, leader.value) for leader in score.leaderboard] == [("speed", 42)]
    assert "GPU" in by_name(score)["test_on_a_gpu"].message
    assert by_name(score)["test_prose"].rubric == "2.1"
    assert not score.has_grader_error


@pytest.mark.parametrize("left", ["import viva\nviva.check()", "from viva import check\ncheck('1', training=True)"])
def test_self_check_left_in_does_nothing(examined: Examined, left: str) -> None:
    assert examined.score(f"{left}\n{RIGHT}").earned == examined.score(RIGHT).earned


def test_entries_keep_one_order(examined: Examined) -> None:
    ids = [entry.test_id for entry in examined.score(RIGHT).entries]
    assert len(set(ids)) == len(ids) == len(ALL_RIGHT)
    for other in ("def broken(:", "import os; os._exit(3)", "", but("double", "return None")):
        assert [entry.test_id for entry in examined.score(other).entries] == ids


def test_wrong_answer_skips_dependent_tests(examined: Examined) -> None:
    score = examined.score(but("double", "return arguments[0] * 2 + (arguments[0] > 3)"))
    assert {n: s for n, s in statuses(score).items() if s != ALL_RIGHT[n]} == {
        "test_double": "failed",
        "test_after_double": "skipped",
        "test_hidden": "failed",
    }
    entries = by_name(score)
    assert "expected" in entries["test_double"].message and entries["test_double"].earned == 0
    assert "Twice a number" in entries["test_after_double"].message
    assert "hidden" in entries["test_hidden"].message and "10" not in entries["test_hidden"].message
    assert entries["test_hidden"].message.endswith(" Try numbers above three.")
    assert entries["test_hidden"].name == "More doubles."
    assert "10" in entries["test_hidden"].staff_message


def test_exception_shows_own_lines(examined: Examined) -> None:
    entry = examined.entry(but("triple", "table = {}\nreturn table[arguments[0]]"), "test_triple")
    assert entry.status is Status.ERROR
    assert "KeyError: 4" in entry.message and "return table[arguments[0]]" in entry.message
    assert "solution.py" in entry.message and "worker" not in entry.message and "viva" not in entry.message


@pytest.mark.parametrize(
    "body",
    [pytest.param(HANG, id="a loop"), pytest.param(DEAF_HANG, id="deaf to signals", marks=pytest.mark.long)],
)
def test_hang_costs_one_test(examined: Examined, body: str) -> None:
    score = examined.score(but("triple", body))
    changed = {name: status for name, status in statuses(score).items() if status != ALL_RIGHT[name]}
    assert changed == {"test_triple": "timeout", "test_after_double": "timeout"}
    assert "0.4 s" in by_name(score)["test_triple"].message or "did not finish" in by_name(score)["test_triple"].message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import os; os._exit(3)", "exit status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("x = []\nwhile True:\n    x.append(bytearray(1 << 20))", "memory"),
        ("return triple(*arguments)", "RecursionError"),
    ],
)
def test_program_that_ends_costs_one_test(examined: Examined, body: str, said: str) -> None:
    # With time enough: on a machine under load, touching 96 MiB can take longer than the 0.4 s meant for the loops.
    score = examined.grade(but("triple", body), GradeOptions(call_s=10)).score
    changed = {name: status for name, status in statuses(score).items() if status != ALL_RIGHT[name]}
    assert changed == {"test_triple": "error", "test_after_double": "error"}
    assert said in by_name(score)["test_triple"].message


def test_fixture_of_lost_box_is_made_again(examined: Examined) -> None:
    source = RIGHT.replace("return self.size + x", "while x == 1:\n            pass\n        return self.size + x")
    found = statuses(examined.score(source))
    assert (found["test_model_first"], found["test_model_again"]) == ("timeout", "passed")
    deaf = source.replace("while x == 1:\n            pass", "if x == 1:\n            import os; os._exit(1)")
    found = statuses(examined.score(deaf))
    assert (found["test_model_first"], found["test_model_again"]) == ("error", "passed")


def test_unexpected_form_is_noted_for_staff(examined: Examined) -> None:
    entry = examined.entry(but("form", "return 7"), "test_form")
    assert entry.status is Status.FAILED and "unexpected form" in entry.message
    assert "AttributeError" in entry.staff_message and "AttributeError" not in entry.message


def test_odd_text_comes_through(examined: Examined) -> None:
    odd = "\\ud800 \\x00 \\x1b[2J \\u202e"
    score = examined.score(
        f'NAME = "{odd}"\n' + but("triple", "raise ValueError(NAME)") + "\n\ndef count(n): return NAME\n"
    )
    assert statuses(score)["test_counts"] == "failed" and statuses(score)["test_triple"] == "error"
    named = examined.process.grade(GradeRequest(handed_in(RIGHT, "cl\udcffss/ad\udc80"))).score
    assert named.submission == "cl\udcffss/ad\udc80" and statuses(named) == ALL_RIGHT


def test_hide_errors_shows_author_sentence(examined: Examined) -> None:
    entry = examined.entry(but("text", "raise ValueError('wrong')"), "test_text")
    assert entry.message == "Look again at the lecture on strings."
    assert "ValueError: wrong" in entry.staff_message


# --- loading


def test_load_after_raising_statement(examined: Examined) -> None:
    score = examined.score(f"x = 1 / 0\n{RIGHT}")
    assert statuses(score) == ALL_RIGHT
    assert any("ZeroDivisionError" in note and "line 1" in note for note in score.notes)


def test_missing_module_is_noted(examined: Examined) -> None:
    score = examined.score(f"import sacreblue_of_tomorrow\n{but('triple', 'import vanished; return 1')}")
    changed = {name: status for name, status in statuses(score).items() if status != ALL_RIGHT[name]}
    assert changed == {"test_triple": "error", "test_after_double": "error"}
    assert any("needs the module `sacreblue_of_tomorrow`" in note and "pip install" in note for note in score.notes)
    assert "`vanished`, which is neither in your submission nor installed" in by_name(score)["test_triple"].message


def test_missing_library_name_is_noted(examined: Examined) -> None:
    source = but("triple", "import numpy as np; return np.product([3])")
    score = examined.score(f"import sacreblue_of_tomorrow\nfrom numpy import float\n{source}")
    changed = {name: status for name, status in statuses(score).items() if status != ALL_RIGHT[name]}
    assert changed == {"test_triple": "error", "test_after_double": "error"}
    words = (
        f"Your code was graded with numpy {np.__version__}, which has no `product`: it was written for another version"
    )
    message = by_name(score)["test_triple"].message
    assert message.startswith(words) and "AttributeError" in message and "solution.py, line" in message
    assert any("has no `float`" in note for note in score.notes)
    lacks = f"numpy {np.__version__} lacks"
    assert score.environment == ("sacreblue_of_tomorrow is not installed", f"{lacks} float", f"{lacks} product")
    assert from_plain(Score, to_plain(score)) == score


def test_hidden_missing_module_is_not_noted(examined: Examined) -> None:
    """Whoever reads the results would learn which function a hidden test calls."""
    score = examined.score(but("double", "return 2 * n if n != 5 else __import__('vanished')"))
    assert statuses(score)["test_hidden"] == "error" and score.environment == ()


def test_every_statement_exits_while_loading(examined: Examined) -> None:
    score = examined.score("import os\n" + "os._exit(5)\n" * 4)
    assert score.notes[0] == "Your submission ended the Python process each time it was loaded: exit status 5."
    assert sum("was left out" in note for note in score.notes) == 3
    found = statuses(score)
    assert {found[n] for n in found if n not in ("test_on_a_gpu", "test_prose", "test_after_double")} == {"error"}
    assert found["test_after_double"] == "skipped" and found["test_prose"] == "needs_review"


@pytest.mark.long
def test_program_never_finishes_loading(tmp_path: Path) -> None:
    with Examined(write_course(tmp_path, tests=TESTS, key=KEY, settings="limits: {load_s: 0.5}\n")) as examined:
        loop = examined.score("while True:\n    pass\n")
        assert loop.earned == 0 and not loop.has_grader_error
        assert any("in time" in note for note in loop.notes)
        deaf = examined.score("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass\n")
        assert any("did not finish loading in time" in note for note in deaf.notes)
        assert statuses(deaf)["test_triple"] == "timeout"


def test_until_loss_stops_at_first_loss(examined: Examined) -> None:
    wanted = GradeOptions(until_loss=True)
    score = examined.grade(but("triple", "return 0"), wanted).score
    lost = [name for name, status in statuses(score).items() if status == "failed"]
    assert lost == list(statuses(score))[-1:] and len(score.entries) < len(ALL_RIGHT)
    assert statuses(examined.grade(RIGHT, wanted).score) == ALL_RIGHT


def spin(seconds: float) -> str:
    """Return statements that compute for so long."""
    return f"import time; end = time.process_time() + {seconds}; list(iter(lambda: time.process_time() < end, False))"


def test_call_limit_option(examined: Examined) -> None:
    slow = but("triple", f"{spin(0.3)}; return 3 * arguments[0]")
    for call_s, status in ((None, "passed"), (0.1, "timeout")):
        options = GradeOptions(only=("test_triple",), call_s=call_s)
        assert statuses(examined.grade(slow, options).score) == {"test_triple": status}


@pytest.mark.long
def test_submission_is_finished_when_its_time_is_used_up(tmp_path: Path) -> None:
    """Its eight calls of `double` compute for 4 s, however busy the machine is."""
    settings = "limits: {call_s: 3, test_s: 6, submission_s: 2}\n"
    with Examined(write_course(tmp_path, tests=TESTS, key=KEY, settings=settings)) as examined:
        score = examined.score(but("double", f"{spin(0.5)}; return 2 * arguments[0]"))
    found = statuses(score)
    assert found["test_double"] == "passed" and found["test_hidden"] == "timeout"
    assert found["test_prose"] == "needs_review"  # it calls no program
    assert "used up its 2 s" in by_name(score)["test_hidden"].staff_message
    assert len(score.entries) == len(ALL_RIGHT)


def test_killed_examiner_leaves_result(examined: Examined) -> None:
    names = list(statuses(examined.score(RIGHT)))
    seen = []

    def kill_after_the_second(entry: object) -> None:
        seen.append(entry)
        if len(seen) == 2:
            examined.process.interrupt()

    slow = but("triple", "import time; time.sleep(0.3); return 3 * arguments[0]")
    score = examined.process.grade(GradeRequest(handed_in(slow), GradeOptions()), kill_after_the_second).score
    assert list(statuses(score)) == names
    assert list(statuses(score).values())[:2] == ["passed", "passed"]
    assert list(statuses(score).values())[-1] == "grader_error"
    assert score.has_grader_error and score.points == 21 and score.notes
    assert statuses(examined.score(RIGHT)) == ALL_RIGHT
