"""Where results go: files and folders, old ones, disks that are full or read-only, readers that leave."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ci_log import runner
from tests.support.course_of_texts import SECRET, handed_in
from tests.support.course_of_texts import write_course as write_text_course
from tests.support.run_command import Viva, program, scores_in, without_warning
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in
from viva.formats.atomic_write import write_atomically
from viva.formats.results_json import load_results
from viva.model.errors import UsageError

pytestmark = pytest.mark.usefixtures("ada_and_bob")


def left_over(folder: Path) -> list[Path]:
    """Files that a writer would leave behind if it were ended in between."""
    return [path for path in folder.rglob("*") if path.name.startswith(".") or path.suffix == ".part"]


def test_one_result_goes_into_a_file(viva: Viva) -> None:
    ran = viva("grade", "class/ada", "-o", "new/folder/ada.json")
    assert ran.status == 0 and ran.out.endswith("written: new/folder/ada.json\n")
    assert load_results(Path("new/folder/ada.json")).score == 9


def test_command_imports_nothing_heavy() -> None:
    """Where one submission is graded, whatever the command imports is waited for."""
    code = (
        f"import sys\nfrom viva.cli.main import run\nrun({program('grade', 'class/ada', '-o', 'ada.json')[3:]})\n"
        "print([name for name in ('numpy', 'torch', 'sqlalchemy', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and load_results(Path("ada.json")).score == 9, done.stderr


@pytest.mark.slow
def test_several_results_go_below_a_folder(viva: Viva) -> None:
    """By their paths as given; a second run replaces what it writes, and nothing else."""
    ran = viva("grade", "class", "-o", "graded")
    assert ran.status == 0 and "written: 2 results" in ran.out
    assert scores_in("graded/class") == {"ada": 9, "bob": 3}
    Path("graded/class/ada/notes.txt").write_text("looks fine", "utf-8")
    Path("graded/class/bob/results.json").write_text("garbage", "utf-8")
    hand_in(Path("class/ada"), KEEPS_CASE)
    assert viva("grade", "class", "-o", "graded").status == 0
    assert scores_in("graded") == {"ada": 3, "bob": 3}
    assert Path("graded/class/ada/notes.txt").read_text("utf-8") == "looks fine"
    assert left_over(Path("graded")) == []
    os.chdir("class")
    assert viva("grade", "../class/ada", "./bob", "-o", "../again").status == 0
    assert sorted(str(p) for p in Path("../again").rglob("results.json")) == [
        "../again/_/class/ada/results.json",
        "../again/bob/results.json",
    ]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("class/ada/solution.py", "a folder on the way to it is a file"),
        ("/proc/nowhere/x.json", "cannot be written"),
    ],
)
def test_unwritable_output_is_said_before_grading(viva: Viva, output: str, said: str) -> None:
    before = Path("class/ada/solution.py").read_bytes()
    ran = viva("grade", "class/ada", "-o", output)
    assert (ran.status, ran.out) == (1, "")
    assert output in ran.sentence() and said in ran.sentence()
    assert Path("class/ada/solution.py").read_bytes() == before
    assert left_over(Path("class")) == []


# --- disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 KiB: two results, not ten."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this host lets nobody mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_full_disk(viva: Viva, small_disk: Path) -> None:
    assert viva("grade", "class/ada", "-o", small_disk / "ada.json").status == 0
    before = (small_disk / "ada.json").read_bytes()
    with (small_disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        for _ in range(1 << 11):
            filler.write(bytes(512))
    ran = viva("grade", "class/bob", "-o", small_disk / "ada.json")
    assert ran.status == 1
    assert "ada.json cannot be written: the disk is full; what was there before is unchanged" in ran.sentence()
    assert (small_disk / "ada.json").read_bytes() == before
    assert left_over(small_disk) == []


@pytest.mark.slow
def test_disk_that_fills_up_in_the_middle(viva: Viva, small_disk: Path) -> None:
    for index in range(20):
        hand_in(Path("many") / f"s{index:02}")
    ran = viva("grade", "many", "-o", small_disk, "--workers", "1")
    assert ran.status == 1 and "the disk is full" in ran.sentence()
    written = [load_results(path) for path in sorted(small_disk.rglob("results.json"))]
    assert 1 <= len(written) < 20 and left_over(small_disk) == []
    assert written[0].extra_data.complete


def test_disk_that_fails_at_the_last_moment(viva: Viva, monkeypatch: pytest.MonkeyPatch) -> None:
    """The final state of a result could not be written and the command ended with 0."""

    def fail_at_the_end(path: Path, data: bytes, *, durable: bool = True) -> None:
        if durable:
            raise UsageError(f"{path} cannot be written: the disk is full; what was there before is unchanged.")
        write_atomically(path, data, durable=durable)

    monkeypatch.setattr("viva.pipeline.results_writer.write_atomically", fail_at_the_end)
    ran = viva("grade", "class", "-o", "graded")
    assert ran.status == 1 and "the disk is full" in ran.err and "written" not in ran.out
    assert not any(load_results(path).extra_data.complete for path in Path("graded").rglob("results.json"))


# --- readers that leave


def run_in_shell(line: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False, env=dict(os.environ)
    )


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["schema"], ["grade", "class/ada", "-o", "ada.json"], ["--help"]])
def test_reader_that_leaves(arguments: list[str]) -> None:
    line = " ".join(program(*arguments))
    ran = run_in_shell(f"{line} | true")
    assert ran.returncode in (0, 141) and without_warning(ran.stderr) == ""
    ran = run_in_shell(f"{line} | head -n 2")
    assert ran.returncode in (0, 141) and without_warning(ran.stderr) == "" and len(ran.stdout.splitlines()) == 2
    if "grade" in arguments:
        assert load_results(Path("ada.json")).extra_data.complete


def test_standard_output_that_cannot_be_written() -> None:
    ran = run_in_shell(f"{' '.join(program('schema'))} > /dev/full")
    assert ran.returncode == 1
    assert ran.stderr == "viva: the output cannot be written: No space left on device.\n"


# --- what is printed


@pytest.mark.slow
def test_as_student_shows_what_the_result_shows(viva: Viva) -> None:
    ran = viva("grade", "class/bob", "--as-student", "-o", "bob.json")
    shown = " ".join(ran.out.split())
    for test in load_results(Path("bob.json")).tests:
        if test.visibility == "visible":
            assert test.name in shown and " ".join(test.output.split()) in shown
        else:
            assert test.name not in shown
    assert "for staff" not in shown and "isolation" not in shown and "and 1 hidden test" in shown


def test_only_asks_what_is_named(viva: Viva) -> None:
    ran = viva("grade", "class/bob", "--only", "1.2", "--only", "test_choice", "-o", "bob.json")
    assert ran.status == 0 and "3 of 3 points" in ran.out and ran.err == ""
    assert [t.extra_data.test_id for t in load_results(Path("bob.json")).tests] == [
        "test_words.py::test_total",
        "test_words.py::test_choice",
    ]
    ran = viva("grade", "class/bob", "--only", "9.9")
    assert ran.status == 1 and "no test '9.9'" in ran.sentence() and "1.1, 1.2, 2.1, 2.2" in ran.sentence()


def test_visible_only_needs_no_secret(viva: Viva, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIVA_SECRET")
    ran = viva("grade", "class/ada", "--visible-only", "-o", "ada.json")
    assert (ran.status, ran.err) == (0, "")
    assert {test.visibility for test in load_results(Path("ada.json")).tests} == {"visible"}
    assert "VIVA_SECRET" not in os.environ


# --- the same score, however often and in whatever order


RAISES = RIGHT.replace("result += number", "result += number.real.nothing")
COUNTS_CALLS = (
    RIGHT + "\ncalls = []\n_total = total\ndef total(n):\n    calls.append(1)\n    return _total(n) + len(calls) - 1\n"
)
# Several of these give other answers from run to run unless the sandbox is seeded for each test.
CLASS = {
    "right": RIGHT,
    "keeps_case": KEEPS_CASE,
    "random": RIGHT.replace("return counts", "import random; return counts if random.random() < .5 else {}"),
    "numpy_random": RIGHT.replace("return counts", "import numpy; return counts if numpy.random.rand() < .5 else {}"),
    "set_order": RIGHT.replace("return result", "return result + ord(list({'a', 'b', 'c', 'd', 'e', 'f'})[0])"),
    "counts_calls": COUNTS_CALLS,
    "raises": RAISES,
    "leaves_the_box": RIGHT.replace("result += number", "import os; os._exit(3)"),
}


def graded(folder: Path) -> dict[str, Any]:
    """Every result by its submission, without times."""
    results = {}
    for path in sorted(folder.rglob("results.json")):
        result = json.loads(path.read_bytes())
        del result["execution_time"]
        for test in result["tests"]:
            del test["extra_data"]["wall_s"]
        results[path.parent.name] = result
    return results


@pytest.mark.long
def test_serial_and_parallel_runs_are_identical(viva: Viva, tmp_path: Path) -> None:
    """Not only the scores: the whole results, but for the times; alone, and among others in another order."""
    folders = [hand_in(tmp_path / "class" / name, source) for name, source in CLASS.items()]
    runs = []
    for index, workers in enumerate([1, 2, 2]):
        submissions = sorted(folders, reverse=index == 2)
        assert viva("grade", *submissions, "-o", f"run{index}", "--workers", workers).status == 0
        runs.append(graded(Path(f"run{index}")))
    assert len(runs[0]) == len(CLASS)
    assert runs[0] == runs[1] == runs[2]
    assert viva("diff", "run0", "run1").out == "0 of 8 results differ.\n"
    viva("grade", tmp_path / "class/counts_calls", "-o", "alone")
    assert graded(Path("alone"))["counts_calls"] == runs[0]["counts_calls"]


# --- a CI system obeys lines of a log: nothing that a student wrote may be such a line


AGREE = """
from viva.grading import agree

def test_f(student, key):
    agree(student.f(), key.f())
"""
SAID = "x\\n::add-mask::1\\n  ::error::no\\r::stop-commands::t\\nsee ##[error]bad ##vso[task.complete]done"


@pytest.mark.parametrize("command", [["grade"], ["check"], ["grade", "--as-student"]])
def test_log_holds_no_command_of_a_student(command: list[str], tmp_path: Path) -> None:
    course = write_text_course(tmp_path / "course", tests=AGREE, key="def f(): return 1\n")
    submission = tmp_path / "work" / "solution.py"
    submission.parent.mkdir()
    submission.write_bytes(handed_in(f"def f():\n    raise ValueError('{SAID}')\n").files[0].data)
    done = subprocess.run(
        [sys.executable, "-m", "viva", *command, str(submission), "--course", str(course.root), "-a", "small"],
        env={"PATH": "/usr/bin:/bin", "VIVA_SECRET": SECRET.hex() * 3, "GITHUB_ACTIONS": "true"},
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    log = (done.stdout + done.stderr).decode()
    assert "add-mask" in log and "task.complete" in log, log
    assert runner(log) == [] and "##vso[" not in log
