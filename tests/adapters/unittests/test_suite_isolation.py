"""A suite runs in the student's process: what that can cost, what it cannot, and where it is said."""

import secrets
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.class_exports import inner_zip
from tests.support.course_of_texts import Examined, best_tier, read_by_students
from tests.support.suite_course import DECORATORS, by_test, suite_course
from viva.model import Score, Tier
from viva.plugins.suites.suite_grader import MIXED, SHARED

pytestmark = pytest.mark.long

ANSWER = f"nightingale-{secrets.token_hex(8)}"
HIDDEN = f"nightingale-{secrets.token_hex(8)}"
LIMITS = "limits: {load_s: 2, call_s: 2, test_s: 1, submission_s: 40, memory_mib: 256, disk_mib: 8, output_kib: 64}\n"
TESTS = {
    "test_a.py": DECORATORS
    + """
import solution

class TestA(unittest.TestCase):
    @weight(1)
    def test_a(self):
        self.assertEqual(solution.answer("a"), 1)

    @weight(1)
    def test_b(self):
        self.assertEqual(solution.answer("b"), 1)

class TestB(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        solution.answer("set up")

    @classmethod
    def tearDownClass(cls):
        solution.answer("torn down")

    @weight(1)
    def test_c(self):
        self.assertEqual(solution.answer("c"), 1)

    @weight(1)
    def test_d(self):
        self.assertEqual(solution.answer("d"), 1)
""",
    "test_b.py": DECORATORS
    + """
import solution

class TestC(unittest.TestCase):
    @partial_credit(1)
    def test_e(self, set_score=None):
        set_score(solution.answer("e"))
""",
    "test_hidden.py": DECORATORS
    + f"""
import solution
WANTED = "{HIDDEN}"

class TestHidden(unittest.TestCase):
    @visibility("hidden")
    @weight(5)
    def test_f(self):
        print(WANTED)
        self.assertEqual(solution.answer("f"), WANTED)
""",
}
RIGHT = "def answer(question):\n    return 1\n"
ALL = dict.fromkeys(("test_a", "test_b", "test_c", "test_d", "test_e"), "passed") | {"test_f": "failed"}


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    key = f"ANSWER = {ANSWER!r}\n"
    examined = suite_course(tmp_path_factory.mktemp("suite"), TESTS, settings=LIMITS, beside=key)
    yield examined
    examined.process.close()


def statuses(score: Score) -> dict[str, str]:
    return {name: status for name, (status, _, _) in by_test(score).items()}


def at(question: str, does: str, before: str = "") -> str:
    return f"{before}\ndef answer(question):\n    if question == {question!r}:\n        {does}\n    return 1\n"


@pytest.mark.parametrize(
    ("does", "status"),
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(60)", "timeout"),
        ("import os; os._exit(0)", "error"),
        ("import os; os.kill(os.getpid(), 9)", "error"),
        ("x = [b'x' * (1 << 20) for _ in range(4096)]", "error"),
        ("import sys; sys.exit(0)", "error"),
        ("import threading; threading.Thread(target=lambda: 0).start(); raise KeyboardInterrupt", "error"),
        (
            "import signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(60)",
            "timeout",
        ),
    ],
)
def test_one_test_fails_alone(examined: Examined, does: str, status: str) -> None:
    assert statuses(examined.score(at("b", does))) == ALL | {"test_b": status}


@pytest.mark.parametrize("does", ["while True: pass", "import os; os._exit(0)"])
def test_set_up_does_not_end(examined: Examined, does: str) -> None:
    status = "timeout" if "while" in does else "error"
    expected = ALL | {"test_c": status, "test_d": status}
    assert statuses(examined.score(at("set up", does))) == expected


@pytest.mark.parametrize("does", ["while True: pass", "import os; os._exit(0)", "raise ValueError"])
def test_tear_down_does_not_end(examined: Examined, does: str) -> None:
    assert statuses(examined.score(at("torn down", does))) == ALL


@pytest.mark.parametrize(
    ("at_import", "status", "said"),
    [
        ("while True: pass", "timeout", "did not finish in time"),
        ("import os; os._exit(0)", "error", "ended the Python process while it was imported"),
        ("import sys; sys.exit()", "error", "the code called exit()"),
        ("1 / 0", "error", "ZeroDivisionError"),
        ("def (", "error", "SyntaxError"),
    ],
)
def test_import_fails(examined: Examined, at_import: str, status: str, said: str) -> None:
    score = examined.score(f"{at_import}\n{RIGHT}")
    assert set(statuses(score).values()) == {status}
    assert said in score.notes[0]
    assert "could not be imported together with your submission" in score.entries[0].message


@pytest.mark.parametrize("after_s", [0.001, 0.03, 0.3])
def test_process_ends_later(examined: Examined, after_s: float) -> None:
    """However soon after the import: every test has a verdict, and grading ends."""
    left = f"import os, threading\nthreading.Timer({after_s}, os._exit, [0]).start()\n"
    score = examined.score(left + RIGHT)
    assert len(score.entries) == len(ALL)
    assert set(statuses(score).values()) <= {"passed", "failed", "error"}
    assert examined.score(RIGHT).earned == 5


def test_no_python_file(examined: Examined) -> None:
    score = examined.score({"notes.txt": "later"})
    assert set(statuses(score).values()) == {"error"}
    assert any("no `solution.py` was found in your submission" in note for note in score.notes)
    assert score.environment == ()


FORGED = """
import sys
import unittest

class Lies(unittest.TestCase):
    pass

def run(self, result=None):
    result.startTest(self)
    method = getattr(self, self._testMethodName)
    for holder in (method.__func__, getattr(method, "__wrapped__", method.__func__)):
        holder.__score__, holder.__weight__ = 10 ** 9, 10 ** 9
    result.addSuccess(self)
    result.stopTest(self)

unittest.TestCase.run = run
def answer(question): return 0
"""
WORKER = """
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "UnittestRunner":
        thing.run = lambda request: {FORGED}
        type(thing).run = lambda self, request: {FORGED}
def answer(question): return 0
"""


@pytest.mark.parametrize(
    "program",
    [
        FORGED,
        WORKER.replace("{FORGED}", "{'events': [['success', '', None]], 'score': 10 ** 30, 'printed': ''}"),
        WORKER.replace("{FORGED}", "{'events': [['success', '', None]] * 10 ** 4, 'score': float('inf')}"),
    ],
)
def test_forged_verdicts(examined: Examined, program: str) -> None:
    """They can claim passes, which no one can prevent here; every maximum stays the author's."""
    score, honest = examined.score(program), examined.score(RIGHT)
    assert score.points == honest.points == 10
    assert score.earned <= 10
    assert [(e.test_id, e.name, e.points) for e in score.entries] == [
        (e.test_id, e.name, e.points) for e in honest.entries
    ]
    assert all(Fraction(0) <= e.earned <= e.points for e in score.entries)


@pytest.mark.parametrize(
    "claimed",
    [
        "None", "7", "[]", "{'events': 3}", "{'events': [[]]}", "{'events': [[{}, [], 5]]}",
        "{'events': None, 'score': 1}", "{'events': [['passed', '', None]], 'score': 1}",
        "{'events': [['error', None, {'type': 5, 'frames': [1, [2]], 'message': b'x'}]], 'printed': 3}",
        "{'events': [['skip', {}, None]]}", "{'events': [['passed', '', None]]}",
        "{'events': [['success', '', None]], 'score': 'all', 'leader': []}",
    ],
)  # fmt: skip
def test_odd_claims(examined: Examined, claimed: str) -> None:
    score = examined.score(WORKER.replace("{FORGED}", claimed))
    won = {e.test_id for e in score.entries if e.earned}
    assert won <= {e.test_id for e in score.entries if "score" in claimed and "success" in claimed}
    assert "grader_error" not in statuses(score).values()
    assert examined.score(RIGHT).earned == 5


LOOKS = """
import glob, os, sys
FOUND = []
for folder, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if f not in ("proc", "sys", "usr", "lib", "nix", "lib64", "bin", "dev", ".pyenv")]
    for name in names:
        try:
            if os.path.getsize(os.path.join(folder, name)) < 1 << 20:
                text = open(os.path.join(folder, name), errors="replace").read()
                if "night" + "ingale-" in text:
                    FOUND.append(text)
        except OSError:
            pass
print(FOUND)
def answer(question):
    print(FOUND)
    assert not FOUND, FOUND
    return 1
"""


@pytest.mark.skipif(best_tier() < Tier.T1, reason="T0 has no walls: everything of the user can be read")
def test_key_and_hidden_files_are_out_of_reach(examined: Examined) -> None:
    """A file of hidden tests alone comes only into a box from which no text reaches the student."""
    score = examined.score(LOOKS)
    assert "nightingale-" not in read_by_students(score)
    assert statuses(score) == ALL
    assert all(ANSWER not in e.staff_message for e in score.entries)


def test_hidden_test_does_not_leak(examined: Examined) -> None:
    program = "import test_hidden\n" if best_tier() < Tier.T1 else ""
    score = examined.score(f"{program}def answer(question):\n    raise ValueError(question)\n")
    assert HIDDEN not in read_by_students(score)
    hidden = next(e for e in score.entries if e.test_id.endswith("test_f"))
    assert hidden.message == "This test is hidden: what it asks and what went wrong is not shown."
    assert HIDDEN in hidden.staff_message


def test_no_network(examined: Examined) -> None:
    if best_tier() < Tier.T1:
        pytest.skip("T0 has no walls")
    connects = "import socket; socket.create_connection(('127.0.0.1', 9), 0.5)"
    assert statuses(examined.score(at("a", connects)))["test_a"] == "error"


def test_long_output(examined: Examined) -> None:
    score = examined.score(at("a", "print('x' * 10 ** 6); return 2"))
    entry = score.entries[0]
    assert entry.status == "failed" and len(entry.message) <= 4000


def test_submitted_suite_is_ignored(examined: Examined) -> None:
    forged = "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): pass\n"
    honest = statuses(examined.score(at("a", "return 2")))
    handed = {"solution.py": at("a", "return 2"), "tests/test_a.py": forged, "tests/solution.py": RIGHT}
    score = examined.score(handed)
    assert statuses(score) == honest == ALL | {"test_a": "failed"}
    assert any("tests/test_a.py was left out" in note for note in score.notes)
    assert statuses(examined.score({"solution.py": RIGHT, "tests": "in the way"})) == ALL


def test_archive_in_a_submission_is_unpacked(examined: Examined) -> None:
    files = {"hw1/solution.py": "from other import answer\n", "hw1/other.py": RIGHT, "tests/test_a.py": "1 / 0\n"}
    packed = inner_zip({name: text.encode() for name, text in files.items()})
    assert statuses(examined.score({"hw1.zip": packed})) == ALL


def test_isolation_note(examined: Examined) -> None:
    score = examined.score(RIGHT)
    assert SHARED.format(kind="unittest") in score.isolation.missing and MIXED not in score.isolation.missing
    assert score.signature["suite"] == "unittest"


def test_mixed_file_note(tmp_path: Path) -> None:
    """They cannot be kept from the submission, and every result says so; nor can a file that others import."""
    mixed = TESTS["test_hidden.py"] + "\n    def test_g(self): pass\n"
    examined = suite_course(tmp_path / "mixed", {"test_mixed.py": mixed})
    assert MIXED in examined.score(RIGHT).isolation.missing
    examined.process.close()
    imports = {**TESTS, "test_b.py": "import test_hidden\n" + TESTS["test_b.py"]}
    examined = suite_course(tmp_path / "imported", imports)
    score = examined.score(RIGHT)
    examined.process.close()
    assert MIXED in score.isolation.missing and statuses(score) == ALL


def test_same_score_every_time(examined: Examined) -> None:
    draws = "import random\ndef answer(question):\n    print(random.random())\n    return 1\n"
    first, second = examined.score(draws), examined.score(draws)
    assert [e.message for e in first.entries] == [e.message for e in second.entries]
    assert first.entries[0].message


def test_one_test_alone(examined: Examined) -> None:
    score = examined.score(RIGHT, "TestB::test_d")
    assert statuses(score) == {"test_d": "passed"}
