"""Nothing of one student reaches another, nothing of a hidden question the student."""

import json
import textwrap
from typing import Final

import pytest

from tests.support.course_of_texts import (
    Examined,
    by_name,
    examiner_fixture,
    read_by_students,
    statuses,
    without_times,
)
from viva.model import Score, Status

KEY = """
import numpy as np

def double(x):
    return 2 * np.asarray(x)

def shout(text):
    return text.upper()
"""

TESTS = '''
"""Visible and hidden questions about the same functions; one visible test is asked after a hidden one."""
import contextlib
import numpy as np
import pytest
from viva.grading import agree, leaderboard, visibility, weight

SECRET = "canary-of-the-hidden-test"
NUMBERS = [271828.25, 314159.5]

@pytest.fixture(scope="session")
def kept(student):
    return []

@weight(1)
def test_double(student, key, rng):
    x = rng.normal(size=3)
    agree(student.double(x), key.double(x))

@weight(1)
def test_shout(student, key):
    agree(student.shout("abc"), key.shout("abc"))

@weight(1)
@visibility("hidden")
def test_hidden_double(student, key):
    agree(student.double(NUMBERS), key.double(NUMBERS))

@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("text", [SECRET, SECRET + " again"])
def test_hidden_shout(student, key, text):
    agree(student.shout(text), key.shout(text))

@weight(1)
@visibility("hidden")
@leaderboard("loudness")
def test_hidden_race(student, set_leaderboard_value):
    set_leaderboard_value(student.shout(SECRET))

@weight(1)
@pytest.mark.depends("test_hidden_first")
def test_visible_after_hidden(student, key):
    agree(student.shout("abc"), key.shout("abc"))

@weight(0)
@visibility("hidden")
def test_hidden_first(student):
    with contextlib.suppress(Exception):
        student.double(NUMBERS)
    with contextlib.suppress(Exception):
        student.shout(SECRET)
'''

HONEST = """
import numpy as np

def double(x):
    return 2 * np.asarray(x)

def shout(text):
    return text.upper()
"""

SETTINGS = "limits: {call_s: 0.5, load_s: 2, test_s: 3, submission_s: 30, memory_mib: 256}\n"
HIDDEN = ("canary-of-the-hidden-test", "CANARY-OF-THE-HIDDEN-TEST", "271828", "314159")


examined = examiner_fixture(tests=TESTS, key=KEY, settings=SETTINGS)


# --- from one student to the next

ADAS = {
    "raises": """
        MARK = "canary-of-ada"
        print(MARK)
        def double(x): raise ValueError(MARK)
        def shout(text): return MARK
        """,
    "leaves things behind": """
        import builtins, json, numpy, os, sys, tempfile, threading
        builtins.MARK = "canary-of-ada"
        numpy.MARK = json.MARK = sys.MARK = os.environ["MARK"] = "canary-of-ada"
        numpy.set_printoptions(precision=1)
        numpy.seterr(all="raise")
        numpy.asarray = lambda x: "canary-of-ada"
        str.__doc__
        for place in (".", tempfile.gettempdir(), "/tmp", "/dev/shm"):
            try:
                open(os.path.join(place, "canary-of-ada"), "w").write("canary-of-ada")
            except OSError:
                pass
        threading.Thread(target=lambda: print("canary-of-ada")).start()
        def double(x): return "canary-of-ada"
        def shout(text): print("canary-of-ada"); return text.upper()
        """,
    "is wrong": "MARK = 'canary-of-ada'\ndef double(x): return [MARK]\ndef canary_of_ada(): pass\n",
    "ends": "import os\nprint('canary-of-ada', flush=True)\nos._exit(7)\n",
}
LOOKS_AROUND = """
import builtins, gc, json, numpy, os, sys, tempfile

def found():
    seen = [vars(m).get("MARK") for m in list(sys.modules.values()) if hasattr(m, "__dict__")]
    seen += [os.environ.get("MARK"), getattr(builtins, "MARK", None), getattr(sys, "MARK", None)]
    for place in (".", tempfile.gettempdir(), "/dev/shm"):
        seen += os.listdir(place) if os.path.isdir(place) and os.access(place, os.R_OK) else []
    seen += [t for t in gc.get_objects() if isinstance(t, dict) and "MARK" in t and t is not globals()][:3]
    return [repr(s) for s in seen if "ada" in repr(s)]

def double(x):
    raise ValueError(found() + [numpy.geterr(), numpy.get_printoptions()])

def shout(text):
    return found()
"""


@pytest.mark.parametrize(
    "ada",
    [pytest.param(source, id=name, marks=[pytest.mark.long] * (name == "ends")) for name, source in ADAS.items()],
)
def test_submissions_in_turn_share_nothing(examined: Examined, ada: str) -> None:
    source = textwrap.dedent(ada)
    alone = {name: without_times(examined.score(text)) for name, text in (("b", LOOKS_AROUND), ("honest", HONEST))}
    first = examined.score(source)
    second, honest = examined.graded(LOOKS_AROUND, record=True), examined.score(HONEST)
    third = examined.score(source)
    assert without_times(first) == without_times(third)
    assert without_times(second.score) == alone["b"]
    assert without_times(honest) == alone["honest"]
    everything = json.dumps([without_times(second.score), second.questions, without_times(honest)], default=str)
    assert "ada" not in everything and "canary" not in everything.replace(HIDDEN[0], "").replace(HIDDEN[1].lower(), "")


# --- from a hidden question to the student

REMEMBERS = """
import os, sys, tempfile

seen = []
places = [os.path.join(p, "seen") for p in (".", tempfile.gettempdir(), "/dev/shm", "/var/tmp")]
for place in places:
    try:
        seen.append(open(place).read())
    except OSError:
        pass
print(seen)


def remember(x):
    seen.append(repr(x) + str(x))
    for place in places:
        try:
            with open(place, "a") as file:
                file.write(seen[-1])
        except OSError:
            pass
    text = " ".join(seen)
    print(text)
    sys.stderr.write(text)
    os.write(1, text.encode())
    globals()[text.replace(" ", "_")] = text
    return text
"""

TELLS = {
    "by raising": "def double(x): raise ValueError(remember(x))\nshout = double\n",
    "by returning": "def double(x): return remember(x)\nshout = double\n",
    "by the type of an exception": "def double(x): raise type(remember(x), (Exception,), {})()\nshout = double\n",
    "by the repr of an object": """
class Told:
    def __repr__(self): return " ".join(seen)
def double(x):
    remember(x)
    return Told()
shout = double
""",
    "by a name that is missing": "def double(x): raise AttributeError(remember(x), name=remember(x))\nshout = double\n",
    "by a missing module": "def double(x): raise ModuleNotFoundError(remember(x), name=remember(x))\nshout = double\n",
    "by the source of a line": """
def double(x):
    text = remember(x)
    code = compile("raise ValueError  # " + text.replace(chr(10), ""), text[:200], "exec")
    import linecache
    linecache.cache[text[:200]] = (1, None, ["raise ValueError  # " + text + chr(10)], text[:200])
    exec(code, {})
shout = double
""",
    "by ending with a message": "def double(x):\n    remember(x)\n    os._exit(3)\nshout = double\n",
    "by a new name": """
def double(x):
    remember(x)
    globals().pop("shout", None)
    return 1
def shout(x): return remember(x)
""",
    "while it is loaded again": """
if any("canary" in text for text in seen):
    raise ValueError(seen)
def double(x):
    remember(x)
    if "canary" in " ".join(seen):
        os._exit(1)
    return [0]
def shout(x):
    remember(x)
    os._exit(1)
""",
    "by hanging": """
def double(x):
    remember(x)
    while "271828" in " ".join(seen): pass
    return [0]
def shout(x): raise ValueError(remember(x))
""",
}


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(source, id=name, marks=[pytest.mark.long] * (name == "by hanging"))
        for name, source in TELLS.items()
    ],
)
def test_hidden_inputs_reach_no_student(examined: Examined, how: str) -> None:
    for _ in range(2):
        score = examined.score(REMEMBERS + how)
        nothing_hidden_is_shown(score)
        assert score.earned == 0


def test_hidden_inputs_reach_staff(examined: Examined) -> None:
    """The same text is in what staff read, so that the tests above look for something that was there."""
    score = examined.score(REMEMBERS + TELLS["by raising"])
    entries = by_name(score)
    assert HIDDEN[0] in entries["test_hidden_shout"].staff_message
    assert "271828" in entries["test_hidden_double"].staff_message
    assert "ValueError: 'abc'abc" in entries["test_visible_after_hidden"].message


def test_visible_test_after_hidden_one(examined: Examined) -> None:
    """Also where the box had died before, and the hidden test itself opened the fresh one."""
    calm = REMEMBERS + "def double(x): return remember(x)\ndef shout(x): return remember(x)\n"
    mortal = calm + "def double(x):\n    remember(x)\n    os._exit(1)\n"
    for source in (calm, mortal):
        score = examined.score(source, "test_visible_after_hidden")
        assert set(statuses(score)) == {"test_visible_after_hidden", "test_hidden_first"}
        found = by_name(score)["test_visible_after_hidden"]
        assert found.status is Status.FAILED and "abc" in found.message
        nothing_hidden_is_shown(score)


def test_hidden_cases_have_no_label(examined: Examined) -> None:
    for entry in examined.score("def shout(text): return text\ndef double(x): return 0\n").entries:
        if entry.visibility != "visible":
            assert {case.label for case in entry.cases} == {""}
            assert entry.message == "" or entry.message.count("\n") == 0


def nothing_hidden_is_shown(score: Score) -> None:
    """Not one of the hidden inputs is in any text that a student reads."""
    shown = read_by_students(score)
    assert [text for text in HIDDEN if text in shown] == []
    assert [leader.value for leader in score.leaderboard if isinstance(leader.value, str)] == []


KEPT_TESTS: Final = """
import numpy as np
from hypothesis import strategies as st
from viva.grading import agree, agree_on


def test_unit(student, key):
    agree(student.year(), key.year_of(student.when()))


def table_of(student):
    return np.array([(1.0, 2.0)], dtype=[(name, "f8") for name in student.columns()])


def test_fields(student, key):
    agree(student.paid(), key.paid_in(table_of(student)))


def test_examples(student, key):
    table = table_of(student)
    agree_on(student.add_paid, lambda number: number + key.paid_in(table), st.integers(0, 9))
"""
KEPT_KEY: Final = """
def year_of(day):
    return day.year

def paid_in(table):
    return float(table["paid"].sum())
"""
DATED: Final = """
import numpy as np

def when():
    return np.datetime64(50, "{unit}")

def year():
    return 2020

def columns():
    return ["{first}", "{second}"]

def paid():
    return 1.0

def add_paid(number):
    return number + 1.0
"""
ACCOMPLICE: Final = DATED.format(unit="Y", first="paid", second="due")
FORGER: Final = DATED.format(unit="M", first="due", second="paid")
"""The same bytes with another unit and in other columns, so that its own answers are wrong."""


forgetful = examiner_fixture(tests=KEPT_TESTS, key=KEPT_KEY)


# --- what the examiner computes from one submission


@pytest.mark.parametrize("test", ["test_unit", "test_fields", "test_examples"])
def test_accomplice_before_earns_nothing(forgetful: Examined, test: str) -> None:
    alone = forgetful.entry(FORGER, test)
    for extra in ("", "# another submission\n"):
        assert forgetful.entry(ACCOMPLICE + extra, test).status == "passed"
    after = forgetful.entry(FORGER + "# and another\n", test)
    assert alone.status == after.status == "failed"
    assert alone.message == after.message
