"""The totals of a suite are those of gradescope_utils' own runner, which is run here on the same files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined
from tests.support.suite_course import DECORATORS, original, suite_course

pytestmark = pytest.mark.long

CALCULATOR = """
class CalculatorException(Exception):
    pass

class Calculator:
    def eval(self, text):
        allowed = set("0123456789+-*/() ")
        if not set(text) <= allowed or "**" in text:
            raise CalculatorException(text)
        return eval(text)

    def loop(self):
        while (line := input("> ")) != "quit":
            print(self.eval(line))

if __name__ == "__main__":
    Calculator().loop()
"""


@dataclass(frozen=True)
class Suite:
    """A suite and the submissions on which it is run."""

    tests: dict[str, str]
    submissions: dict[str, dict[str, str]]
    module: str = "solution.py"
    vanished: dict[str, float] = field(default_factory=dict)
    """Points of tests that the other runner loses though they end as their author wants."""


SUITES = {
    "calculator": Suite(
        {
            "test_simple.py": DECORATORS
            + """
from calculator import Calculator

class TestSimple(unittest.TestCase):
    def setUp(self):
        self.calculator = Calculator()

    @weight(1)
    @number("1.1")
    def test_add(self):
        '''Evaluate 1 + 1'''
        self.assertEqual(self.calculator.eval("1 + 1"), 2)

    @weight(1)
    @number("1.2")
    def test_divide(self):
        '''Evaluate 8 / 4'''
        self.assertEqual(self.calculator.eval("8 / 4"), 2)

    @weight(2)
    def test_whitespace(self):
        '''Evaluate 1+1 (no whitespace)'''
        self.assertEqual(self.calculator.eval("1+1"), 2)

    def test_without_a_weight(self):
        self.assertEqual(self.calculator.eval("2"), 2)
""",
            "test_unknown.py": DECORATORS
            + """
from calculator import Calculator, CalculatorException

class TestEvaluator(unittest.TestCase):
    @weight(2)
    @visibility("after_published")
    def test_power(self):
        '''2 ** 8 should raise an exception'''
        with self.assertRaises(CalculatorException):
            Calculator().eval("2 ** 8")
""",
            "test_integration.py": DECORATORS
            + """
import subprocess
from gradescope_utils.autograder_utils.files import check_submitted_files

class TestIntegration(unittest.TestCase):
    def ask(self, text):
        calculator = subprocess.Popen("python3 -u calculator.py".split(), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf8")
        return calculator.communicate(text, 20)[0], calculator.returncode

    @weight(0)
    def test_files(self):
        '''Check submitted files'''
        self.assertEqual(check_submitted_files(["calculator.py"], base="."), [])

    @weight(2)
    @tags("integration")
    def test_one_line(self):
        '''Evaluate 1 + 1 in the loop'''
        self.assertEqual(self.ask("1 + 1\\nquit\\n")[0], "> 2\\n> ")

    @weight(2)
    @tags("integration")
    def test_quit(self):
        '''Quit the loop'''
        self.assertEqual(self.ask("quit\\n")[1], 0)
""",
        },
        {
            "right": {"calculator.py": CALCULATOR},
            "splits at spaces": {
                "calculator.py": CALCULATOR.replace(
                    "return eval(text)", "a, o, b = text.split(); return eval(f'{a}{o}{b}')"
                )
            },
            "python's own eval": {"calculator.py": CALCULATOR.replace('or "**" in text', "")},
            "never quits": {"calculator.py": CALCULATOR.replace('!= "quit"', "is not None")},
            "syntax error": {"calculator.py": CALCULATOR.replace("class Calculator:", "class Calculator")},
            "no exception class": {"calculator.py": CALCULATOR.replace("class CalculatorException", "class Other")},
            "raises at the end": {"calculator.py": CALCULATOR + "\nraise RuntimeError('not done')\n"},
            "exits while imported": {"calculator.py": "import sys\nsys.exit(0)\n"},
            "another name": {"solution.py": CALCULATOR},
        },
        module="calculator.py",
    ),
    "decorators": Suite(
        {
            "test_decorators.py": DECORATORS
            + """
from solution import value

class TestDecorators(unittest.TestCase):
    @weight(2.5)
    @number(3)
    @tags("one", "two")
    @hide_errors("Not so.")
    def test_hidden_errors(self):
        print("secret")
        self.assertEqual(value(), 1)

    @partial_credit(10)
    def test_part(self, set_score=None):
        set_score(4.2 if value() == 1 else 0)

    @weight(10)
    @partial_credit(5)
    def test_outer_weight(self, **kwargs):
        kwargs["set_score"](5)

    @partial_credit(10.0)
    def test_never_set(self, set_score=None):
        pass

    @partial_credit(6)
    def test_set_then_failed(self, set_score=None):
        set_score(3)
        self.assertEqual(value(), 2)

    @partial_credit(6)
    def test_set_then_raised(self, set_score=None):
        set_score(2)
        raise KeyError(value())

    @partial_credit(0)
    def test_worth_nothing(self, set_score=None):
        set_score(0)

    @leaderboard("speed", "asc")
    def test_leaderboard(self, set_leaderboard_value=None):
        set_leaderboard_value(value() * 3)

    @visibility("hidden")
    @weight(1)
    def test_hidden(self):
        self.assertIn(value(), (1, 2))

    @visibility("after_due_date")
    @weight(1)
    def test_late(self):
        print(value())
""",
        },
        {
            "one": {"solution.py": "def value(): return 1\n"},
            "two": {"solution.py": "def value(): return 2\n"},
            "text": {"solution.py": "def value(): return 'one'\n"},
            "raises": {"solution.py": "def value(): raise ValueError('no value')\n"},
            "exits": {"solution.py": "import sys\ndef value(): sys.exit(3)\n"},
        },
    ),
    "fixtures": Suite(
        {
            "helper.py": "STEPS = []\ndef expected(): return [1, 2, 3]\n",
            "data.txt": "1 2 3\n",
            "test_a.py": DECORATORS
            + """
import pathlib
import helper
from solution import numbers

def setUpModule():
    helper.STEPS.append("module a")

def tearDownModule():
    helper.STEPS.append("end of module a")

class Common:
    '''Inherited by two classes.'''
    @weight(1)
    def test_common(self):
        self.assertEqual(numbers(), self.wanted)

class TestOne(Common, unittest.TestCase):
    wanted = [1, 2, 3]

    @classmethod
    def setUpClass(cls):
        helper.STEPS.append("class one")
        cls.seen = []
        cls.addClassCleanup(helper.STEPS.append, "cleanup of one")

    @classmethod
    def tearDownClass(cls):
        helper.STEPS.append("end of class one")

    def setUp(self):
        self.seen.append(self._testMethodName)
        self.addCleanup(helper.STEPS.append, "cleanup")

    @weight(1)
    def test_second(self):
        self.assertEqual(self.seen, ["test_common", "test_second"])

    @weight(2)
    def test_third(self):
        text = (pathlib.Path(__file__).parent / "data.txt").read_text()
        self.assertEqual(numbers(), [int(word) for word in text.split()])
        self.assertTrue(pathlib.Path("solution.py").exists())

class TestTwo(Common, unittest.TestCase):
    wanted = helper.expected()

    @weight(2)
    def test_steps(self):
        self.assertEqual(helper.STEPS, ["module a", "class one", "cleanup", "cleanup", "cleanup",
                                        "end of class one", "cleanup of one"])
""",
            "test_b.py": DECORATORS
            + """
import sys
import helper
import solution
from test_a import TestOne as Imported

class TestThree(unittest.TestCase):
    def tearDown(self):
        if self._testMethodName == "test_torn_down":
            self.assertEqual(solution.numbers(), [1, 2, 3])

    @weight(3)
    def test_torn_down(self):
        pass

    @weight(1)
    def test_modules(self):
        self.assertIn("end of module a", helper.STEPS)

    @weight(1)
    def test_printed(self):
        print(*solution.numbers())
        self.assertEqual(sys.stdout.getvalue(), "1 2 3\\n")

class TestFour(unittest.TestCase):
    def setUp(self):
        self.numbers = solution.numbers()
        self.numbers.sort()

    @weight(4)
    def test_set_up(self):
        self.assertEqual(self.numbers[0], 1)
""",
            "more/__init__.py": "",
            "more/test_c.py": DECORATORS
            + """
class TestGenerated(unittest.TestCase):
    pass

def make(n):
    @weight(n)
    def test(self):
        f'''Number {n}'''
        from solution import numbers
        self.assertEqual(numbers()[n - 1], n)
    return test

for n in (1, 2, 3):
    setattr(TestGenerated, f"test_{n}", make(n))

def load_tests(loader, tests, pattern):
    return unittest.TestSuite(reversed(list(tests)))
""",
        },
        {
            "right": {"solution.py": "def numbers(): return [1, 2, 3]\n"},
            "changes": {"solution.py": "N = [1, 2, 3]\ndef numbers():\n    N.append(1)\n    return N[:3]\n"},
            "one short": {"solution.py": "def numbers(): return [1, 2]\n"},
            "no list": {"solution.py": "def numbers(): return None\n"},
        },
    ),
    "surroundings": Suite(
        {
            "test_surroundings.py": DECORATORS
            + """
import asyncio
import io
import os
import random
from contextlib import redirect_stdout
from unittest.mock import patch
import queue
import solution

random.seed(7)
DRAWN = [random.random() for _ in range(3)]

class TestSurroundings(unittest.TestCase):
    @weight(1)
    def test_drawn_at_import(self):
        self.assertAlmostEqual(DRAWN[0], 0.32383276483316237)

    @weight(1)
    def test_goes_on_drawing(self):
        self.assertAlmostEqual(random.random(), 0.07243628666754276)

    @weight(1)
    def test_input(self):
        with patch("builtins.input", return_value="Ada"), redirect_stdout(io.StringIO()) as printed:
            solution.greet()
        self.assertEqual(printed.getvalue(), "Hello, Ada!\\n")

    @weight(1)
    def test_queue_of_the_student(self):
        self.assertEqual(queue.Queue().whose, "mine")

    @weight(1)
    def test_file_written(self):
        with open("notes.txt", "w") as file:
            file.write("x")
        self.assertEqual(os.listdir(".").count("notes.txt"), 1)

    @weight(1)
    def test_warning(self):
        with self.assertWarns(DeprecationWarning):
            solution.old()

class TestAsync(unittest.IsolatedAsyncioTestCase):
    @weight(2)
    async def test_later(self):
        await asyncio.sleep(0)
        self.assertEqual(await solution.later(), 5)
""",
        },
        {
            "right": {
                "solution.py": (
                    "import warnings\n"
                    "def greet(): print(f'Hello, {input()}!')\n"
                    "def old(): warnings.warn('old', DeprecationWarning)\n"
                    "async def later(): return 5\n"
                ),
                "queue.py": "class Queue:\n    whose = 'mine'\n",
            },
            "nothing": {"solution.py": "", "queue.py": ""},
        },
    ),
    "without entries": Suite(
        {
            "test_lost.py": DECORATORS
            + """
from solution import value

class TestLost(unittest.TestCase):
    @weight(3)
    def test_subtests(self):
        for n in range(4):
            with self.subTest(n=n):
                self.assertEqual(value(n), n)

    @weight(2)
    def test_skips(self):
        if value(1) != 1:
            self.skipTest("not for this one")

    @weight(5)
    @unittest.skip("not this year")
    def test_left_out(self):
        raise AssertionError

    @weight(4)
    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(value(1), 2)

@unittest.skip("nobody needs it")
class TestLeftOut(unittest.TestCase):
    @weight(7)
    def test_class_left_out(self):
        pass
""",
        },
        {
            "right": {"solution.py": "def value(n): return n\n"},
            "always 2": {"solution.py": "def value(n): return 2\n"},
            "skips": {"solution.py": "import unittest\ndef value(n): raise unittest.SkipTest('mine')\n"},
        },
        vanished={"test_expected": 4},
    ),
}


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Suite, Examined]]:
    suite = SUITES[request.param]
    examined = suite_course(tmp_path_factory.mktemp("course"), suite.tests, module=suite.module)
    yield suite, examined
    examined.process.close()


@pytest.mark.long
def test_totals(suite: tuple[Suite, Examined], tmp_path: Path) -> None:
    """Test by test where it has an entry, and in sum."""
    given, examined = suite
    for name, submission in given.submissions.items():
        original_result, score = original(tmp_path / "original", given.tests, submission), examined.score(submission)
        earned = {e.name: e.earned for e in score.entries}
        if original_result.results is None:
            assert not score.earned, name
            continue
        for test, original_test in original_result.tests.items():
            if test in earned:
                assert float(earned[test]) == pytest.approx(original_test.get("score", 0)), (name, test)
            else:  # a file that cannot be imported stands for all its tests
                assert "_FailedTest" in test and not original_test.get("score"), (name, test)
        won = [e for e in score.entries if e.test_id.rpartition("::")[2] in given.vanished and e.earned]
        assert float(score.earned - sum(e.earned for e in won)) == pytest.approx(original_result.score), name


def test_right_submission(suite: tuple[Suite, Examined]) -> None:
    """In four of the suites the first submission is right; the suite of decorators gives parts on purpose."""
    given, examined = suite
    name, submission = next(iter(given.submissions.items()))
    if name == "right":
        score = examined.score(submission)
        assert [e.test_id for e in score.entries if e.earned != e.points] == []
        assert score.points > 0
