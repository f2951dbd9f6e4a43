"""`viva.check` at a bare prompt of IPython: what it says, what it leaves as it was, and what hostile code can do."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viva
from tests.support.words_course import KEEPS_CASE, RIGHT
from viva.config import load_course
from viva.model import Entry, Status, Tier
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.selfcheck.check_report import Report
from viva.plugins.selfcheck.live_check import CheckRefused
from viva.submissions import open_submission
from viva.submissions.examples import lay_out

SOON_S = 60.0


def entries(report: Report) -> dict[str, Entry]:
    """The listed tests by the name of their function."""
    return {entry.test_id.split("::")[1]: entry for entry in report.entries}


def run(shell: Any, cell: str) -> Any:
    """Run a cell as a person does; what it raises is raised here."""
    done = shell.run_cell(cell, store_history=True)
    done.raise_error()
    return done.result


def test_right_answers_earn_points(shell: Any) -> None:
    report = run(shell, "import viva; viva.check()")
    assert {name for name, e in entries(report).items() if e.status is Status.PASSED} == {
        "test_word_counts", "test_total", "test_choice", "test_sorted", "test_scaled", "test_first_line",
    }  # fmt: skip
    assert (report.earned, report.points) == (Fraction(12), Fraction(25))
    assert report.not_run == (
        "Not included: 2 points of hidden tests, 7 points of tests that need a GPU, 5 points of tests that train "
        "(`viva.check(training=True)` runs them), 1 point graded by hand."
    )
    assert "test_random_texts" not in str(report) and "12 of 12 points" in str(report)


def test_mistake_names_cell(shell: Any) -> None:
    run(shell, KEEPS_CASE)
    report = viva.check("1.1")
    (entry,) = report.entries
    assert entry.status is Status.FAILED and "word_counts('The cat and the hat')" in entry.message
    assert entry.message.endswith("`word_counts` is defined in In [3], line 1.")
    assert "other questions" not in report.not_run and "questions that you did not ask for" in report.not_run


def test_exception_names_cell_and_line(shell: Any) -> None:
    run(shell, "def total(numbers):\n    return numbers[99]")
    message = viva.check("1.2").entries[0].message
    assert "IndexError" in message and "In [3], line 2, in total" in message and "return numbers[99]" in message


def test_mended_function(shell: Any) -> None:
    run(shell, KEEPS_CASE)
    assert viva.check("1.1").earned == 0
    run(shell, RIGHT)
    assert viva.check("1.1").earned == 4


def test_variables_stay(shell: Any, folder: Path) -> None:
    run(shell, "mine = [3, 1]; log.append('before')")
    names, log = dict(shell.user_ns), shell.user_ns["log"]
    viva.check()
    after = shell.user_ns
    assert {n: id(v) for n, v in after.items()} == {n: id(v) for n, v in names.items()}
    assert log == ["before"] and after["scale"] == 3 and after["mine"] == [3, 1]
    assert list(folder.iterdir()) == []  # what tests put went elsewhere


def test_process_state_stays(shell: Any, folder: Path) -> None:
    torch = pytest.importorskip("torch")
    run(
        shell,
        "import os, sys, random, warnings, builtins, decimal, numpy as np, torch\n"
        "def total(numbers):\n"
        "    random.seed(0); np.random.seed(0); torch.manual_seed(0); np.seterr(all='raise')\n"
        "    torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); os.chdir('/')\n"
        "    sys.path.insert(0, '/nowhere'); os.environ['LEFT'] = '1'; warnings.simplefilter('ignore')\n"
        "    builtins.sorted = None; builtins.extra = 1; sys.setrecursionlimit(777); decimal.getcontext().prec = 3\n"
        "    sys.stdout = None\n"
        "    return sum(numbers)\n",
    )
    np.seterr(divide="raise")
    alarm = signal.signal(signal.SIGALRM, signal.SIG_IGN)

    def state() -> list[Any]:
        numbers = [repr(random.getstate()), repr(np.random.get_state()), torch.get_rng_state().tolist()]
        places = [Path.cwd(), list(sys.path), dict(os.environ), list(warnings.filters), sys.stdout]
        handlers = [signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)]
        return [*numbers, *places, *handlers, sys.getrecursionlimit()]

    before = state()
    try:
        assert viva.check("1.2").earned == 2
        assert np.geterr()["divide"] == "raise" and np.geterr()["over"] == "warn"
        assert state() == before
    finally:
        np.seterr(divide="warn")
        signal.signal(signal.SIGALRM, alarm)
    assert sorted([2, 1]) == [1, 2] and "extra" not in vars(sys.modules["builtins"])
    assert torch.get_default_dtype() is torch.float32 and torch.is_grad_enabled()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.long
@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "while True:\n        try: numbers[0] += 1\n        except: pass",
        "__import__('time').sleep(1000)",
    ],
    ids=["bare", "swallows everything once", "sleeps"],
)
def test_endless_loop(shell: Any, loop: str) -> None:
    run(shell, f"def total(numbers):\n    {loop}")
    began = time.monotonic()
    report = viva.check()
    assert time.monotonic() - began < SOON_S
    found = entries(report)
    assert found["test_total"].status is Status.TIMEOUT and found["test_word_counts"].status is Status.PASSED
    assert found["test_scaled"].status is Status.PASSED  # asked after it


def test_check_after_ctrl_c(shell: Any) -> None:
    run(shell, "def total(numbers):\n    __import__('time').sleep(0.5)\n    return 0")
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    viva.check("2.1")  # warm
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            viva.check("1.2")
        assert time.monotonic() - began < SOON_S
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    run(shell, RIGHT)
    assert viva.check("1.2").earned == 2


@pytest.mark.parametrize(
    "cell",
    [
        "print = len = list = sum = sorted = None",
        "class Bad:\n    def __repr__(self): raise RuntimeError\n    __str__ = __eq__ = __repr__\nbad = [Bad()]",
        "class Meta(type):\n    def __getattribute__(cls, n): raise RuntimeError\nclass Odd(metaclass=Meta): pass",
        "__name__ = 5; answers['x'] = object()",
    ],
)
def test_odd_names_cost_nothing_else(shell: Any, cell: str) -> None:
    run(shell, cell)
    assert viva.check("1.1").earned == 4


def test_functions_print_nothing_below_cell(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        shell,
        "from IPython.display import display\n"
        "def total(numbers):\n    print('noise ' * 10**6); display('noise')\n    return sum(numbers)",
    )
    capsys.readouterr()
    assert viva.check("1.2").earned == 2
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_huge_answer_is_wrong(shell: Any) -> None:
    run(shell, "def total(numbers):\n    return 'x' * (20 << 20)")
    report = viva.check()
    assert entries(report)["test_total"].status in (Status.FAILED, Status.ERROR)
    assert entries(report)["test_scaled"].status is Status.PASSED
    assert len(str(report)) < 20_000


def test_markdown_of_known_file(shell: Any, folder: Path) -> None:
    unseen = viva.check("2.2")
    assert any("was not found" in note for note in unseen.notes)
    assert not any("Nothing written" in note for note in unseen.notes)
    assert "were not looked at" in unseen.entries[0].message and "not written" not in unseen.entries[0].message
    text = '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": "## 2.2\\nBecause."}], "metadata": {}}'
    (folder / "work.ipynb").write_text(text)
    shell.user_ns["__vsc_ipynb_file__"] = str(folder / "work.ipynb")
    report = viva.check("2.2")
    assert report.entries[0].written == "Because." and any("as it was last saved" in note for note in report.notes)
    (folder / "work.ipynb").write_text(text.replace("Because.", ""))
    assert "in work.ipynb as it was last saved" in viva.check("2.2").entries[0].message


def test_answer_sheet_counts_first(shell: Any, folder: Path) -> None:
    (folder / "answers.yaml").write_text('"2.1": A\n')
    assert viva.check("2.1").earned == 0
    (folder / "answers.yaml").write_text('"2.1": B\n')
    assert viva.check("2.1").earned == 1


def test_file_that_is_not_imported(shell: Any, folder: Path) -> None:
    (folder / "helper.py").write_text(RIGHT)
    run(shell, "del word_counts")
    (entry,) = viva.check("1.1", assignment="words").entries
    assert entry.earned == 0 and "`word_counts` is not defined" in entry.message


def test_what_cannot_be_checked_is_one_sentence(shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(CheckRefused, match=r"no visible test '9\.9'") as caught:
        viva.check("9.9")
    assert caught.value._render_traceback_() == [f"viva: {caught.value}"]
    with pytest.raises(CheckRefused, match="lists no assignment `masks`"):
        viva.check(assignment="masks")
    monkeypatch.delenv("VIVA_COURSE")
    with pytest.raises(CheckRefused, match="No course was found"):
        viva.check()
    with pytest.raises(AttributeError, match="has no attribute 'chek'"):
        _ = viva.chek


def test_function_that_checks(shell: Any) -> None:
    run(shell, "def total(numbers):\n    import viva\n    return viva.check()")
    found = entries(viva.check())
    assert found["test_total"].status is Status.ERROR and "A check is running already" in found["test_total"].message
    assert found["test_scaled"].status is Status.PASSED


def test_variables_of_own_modules_stay(shell: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "own_helper.py").write_text("calls = []\ncount = 0\n\n\ndef total(n):\n    global count\n"
                                          "    count += 1\n    calls.append(n)\n    return n[99]\n")  # fmt: skip
    monkeypatch.syspath_prepend(str(folder))
    run(shell, "from own_helper import total; import own_helper")
    try:
        (entry,) = viva.check("1.2").entries
        helper = sys.modules["own_helper"]
        assert (vars(helper)["calls"], vars(helper)["count"]) == ([], 0)
        assert "own_helper.py, line 9, in total" in entry.message
        assert "`total` is defined in own_helper.py, line 5." in entry.message
    finally:
        del sys.modules["own_helper"]


@pytest.mark.parametrize("name", ["str", "len", "type", "isinstance", "set", "print"])
def test_builtins_are_given_back(shell: Any, name: str) -> None:
    run(shell, f"def total(numbers):\n    import builtins\n    builtins.{name} = None\n    return 7")
    original = vars(sys.modules["builtins"])[name]
    found = entries(viva.check())
    assert vars(sys.modules["builtins"])[name] is original
    assert found["test_total"].status in (Status.FAILED, Status.ERROR)
    assert found["test_scaled"].status is Status.PASSED


SHAPE = Path(__file__).parents[1] / "platforms" / "shape.py"


def test_modules_without_posix(tmp_path: Path) -> None:
    """No module for POSIX alone, no fork, no timer of signals: as on Windows, which shape.py plays elsewhere."""
    program = tmp_path / "live.py"
    program.write_text(
        "import sys, viva.plugins.selfcheck.live_check, viva.examiner.fixtures.submission_fixture\n"
        "print([name for name in sys.modules if name.startswith('viva.sandbox.host')])\n",
        "utf-8",
    )
    shape = [str(SHAPE), "windows"] if os.name == "posix" else []
    command = [sys.executable, *shape, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


ROOT = Path(__file__).parents[2]


def verdicts_of(entries: tuple[Entry, ...]) -> dict[str, tuple[str, Any]]:
    return {entry.test_id: (str(entry.status), entry.earned) for entry in entries}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")  # of the student's cells
@pytest.mark.parametrize(
    "work",
    [
        "translation_and_masks/submissions/accepted/numpy_vectorised",
        "translation_and_masks/submissions/wrong/transposed_mask",
        "translation_and_masks/submissions/partial/first_half",
        "attention_theory/submissions/accepted/numpy_vectorised",
        "bert_lora_fudge/submissions/accepted/plain_loops",
        "transfer_learning/submissions/accepted/torch_module",
    ],
)
def test_live_and_from_a_file(folder: Path, bare: Any, monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    monkeypatch.setenv("VIVA_COURSE", str(ROOT))
    lay_out(ROOT / "fixtures" / work, folder)
    name = work.split("/", maxsplit=1)[0]
    course = load_course(ROOT)
    assignment, wanted = course.assignment(name), GradeOptions(visible_only=True, training=False)
    secret = course.secret_or_public(os.environ)
    with ExaminerProcess(course, assignment, secret, BoxOptions(Tier.T0, ready=1)) as examiner:
        from_file = examiner.grade(GradeRequest(open_submission(folder, "mine"), wanted)).score
    bare.run_cell((folder / "solution.py").read_text("utf-8"), store_history=True).raise_error()
    live = viva.check(assignment=name)
    assert verdicts_of(live.entries) == verdicts_of(from_file.entries)
    assert live.earned == from_file.earned


def test_dropped_question_counts_as_decided(
    shell: Any, live_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = shutil.copytree(live_course, tmp_path / "course")
    monkeypatch.setenv("VIVA_COURSE", str(course))
    declaration = next(course.rglob("assignment.yaml"))
    declaration.write_text(declaration.read_text("utf-8") + "dropped: {'1.1': give}\n", "utf-8")
    run(shell, KEEPS_CASE)
    report = viva.check("1.1")
    assert report.entries and all(entry.status is Status.PASSED for entry in report.entries)


def test_no_module_of_the_course_stays_loaded(shell: Any) -> None:
    run(shell, RIGHT)
    before = set(sys.modules)
    viva.check("1.1")
    added = set(sys.modules) - before
    assert not [name for name in added if name.partition(".")[0] in ("graders", "inside") or "viva_key" in name]
