"""Whatever is wrong with a command or a course is one sentence on standard error, and exit status 1."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import hand_in
from viva.cli.main import run
from viva.cli.shared.command_table import ALIASES, COMMANDS, GROUPS
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

COMMAND_LINES = [
    ("grade", [], ["Missing argument", "PATH", "`viva grade --help`"]),
    ("grade", ["right", "--nope"], ["--nope", "`viva grade --help`"]),
    ("grade", ["nowhere"], ["nowhere: no such file or folder"]),
    ("grade", ["rihgt"], ["rihgt: no such file", "did you mean right?"]),
    ("grade", ["right", "nowhere"], ["nowhere: no such file or folder"]),
    ("grade", ["right", "other", "-o", "all.json"], ["all.json is one file", "2 submissions", "give a folder"]),
    ("grade", ["loose"], ["ada.py, bo.py answer the same questions", "pass --class"]),
    ("grade", ["right", "--assignment", "wrods"], ["no assignment `wrods`", "did you mean `words`?"]),
    ("grade", ["right", "--course", "nowhere"], ["--course says nowhere, which is not a folder"]),
    ("grade", ["right", "--course", "right"], ["--course says right, but there is no grader.yaml in it"]),
    ("grade", ["right", "--workers", "0"], ["--workers", "0 is not in the range", "`viva grade --help`"]),
    ("grade", ["right", "--tier", "T9"], ["--tier", "T9", "'T3', 'best'", "`viva grade --help`"]),
    ("check", ["nowhere"], ["nowhere: no such file or folder"]),
    ("check", ["--all"], ["--all", "`viva check --help`"]),
    ("verify", ["wrods"], ["no assignment `wrods`", "did you mean `words`?"]),
    ("explain", ["right"], ["Missing argument", "TEST"]),
    ("explain", ["nowhere", "1.1"], ["nowhere: no such file or folder"]),
    ("explain", ["note.json", "1.1"], ["note.json", "not a results.json", "give the submission's path instead"]),
    ("shell", ["nowhere"], ["nowhere: no such file or folder"]),
    ("diff", ["nowhere", "right"], ["nowhere"]),
    ("diff", ["right", "right"], ["right holds no results.json"]),
    ("diff", ["note.json", "right"], ["one is a folder and the other a file"]),
    ("diff", ["note.json", "note.json"], ["note.json is not a results.json of viva"]),
    ("init", ["right"], ["right is not empty", "Give a new folder"]),
    ("init", ["note.json"], ["note.json is not empty"]),
    ("init", ["note.json/new"], ["note.json/new: no course was made", "Not a directory"]),
    ("init", ["/proc/new"], ["/proc/new: no course was made", "No such file or directory"]),
    ("new", ["words"], ["lists an assignment `words` already"]),
    ("new", ["../up"], ["cannot be called '../up'"]),
    ("new-test", ["1.2", "total", "--answer", "choice"], ["Give either FUNCTION or --answer"]),
    ("new-test", [], ["Missing argument", "NUMBER"]),
    ("new-test", ["1.2", "totl"], ["no function 'totl'", "Did you mean total?"]),
    ("gread", ["right"], ["There is no command `gread`", "Did you mean `viva grade`?"]),
    ("frobnicate", [], ["There is no command `frobnicate`", "There are: init, import"]),
]


@pytest.mark.parametrize(("command", "arguments", "said"), COMMAND_LINES)
def test_a_wrong_command_line_is_one_sentence(
    viva: Viva, tmp_path: Path, command: str, arguments: list[str], said: list[str]
) -> None:
    hand_in(tmp_path / "right")
    hand_in(tmp_path / "other")
    (tmp_path / "loose").mkdir()
    for name in ("ada.py", "bo.py"):
        shutil.copy(tmp_path / "right" / "solution.py", tmp_path / "loose" / name)
    (tmp_path / "note.json").write_text("{}", "utf-8")
    ran = viva(command, *arguments)
    assert (ran.status, ran.out) == (1, "")
    for words in said:
        assert words in ran.sentence()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["loose", "note.json", "other", "right"]  # nothing was made


def test_without_a_command_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 1
    listed = capsys.readouterr().out
    assert all(f"\n  {name} " in listed for name in COMMANDS)
    assert run(["--help"]) == 0
    assert capsys.readouterr().out == listed
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("viva, version ")


def test_help_fits_a_terminal_and_shows_each_command_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    shown = [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in COMMANDS]
    assert shown == list(COMMANDS), "one line for each"
    assert {f"{group}:" for group in GROUPS} <= set(lines)
    assert not any(f"  {alias} " in line for alias in ALIASES for line in lines)


@pytest.mark.parametrize("alias", ALIASES)
def test_earlier_names_still_work(viva: Viva, alias: str) -> None:
    assert viva(alias, "--help").out.partition("\n")[2] == viva(ALIASES[alias], "--help").out.partition("\n")[2]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("viva gr", {"grade", "grades"}),
        ("viva grade --ti", {"--tier"}),
        ("viva grades A --to c", {"canvas"}),
    ],
)
def test_the_completion_of_bash_completes(line: str, completed: set[str]) -> None:
    script = (
        'eval "$(_VIVA_COMPLETE=bash_source viva)"; read -ra COMP_WORDS <<< "$1"; '
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _viva_completion viva; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script, "bash", line],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed <= set(done.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(
    shell: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_VIVA_COMPLETE", f"{shell}_source")
    assert run([]) == 0
    assert f"_VIVA_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_says_what_it_does(viva: Viva, command: str) -> None:
    ran = viva(command, "--help")
    assert ran.status == 0 and ran.out.startswith(f"Usage: viva {command}") and ran.err == ""


def test_without_a_course_the_ways_to_name_one_are_told(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIVA_COURSE")
    hand_in(tmp_path / "right")
    ran = viva("grade", "right", "-o", "result.json")
    assert (ran.status, ran.out) == (1, "") and not Path("result.json").exists()
    for words in ("grader.yaml", "--course DIR", "VIVA_COURSE", "`viva init DIR`"):
        assert words in ran.sentence()


def test_a_course_inside_the_submission_is_refused(viva: Viva, own_course: Path) -> None:
    hand_in(own_course)
    ran = viva("grade", own_course, "-o", "result.json")
    assert (ran.status, ran.out) == (1, "") and not Path("result.json").exists()
    assert f"{own_course} is inside the submission" in ran.sentence() and "--course DIR" in ran.sentence()


def test_a_missing_secret_says_how_to_make_one(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(tmp_path / "right")
    monkeypatch.delenv("VIVA_SECRET")
    ran = viva("grade", "right")
    assert ran.status == 1
    assert "VIVA_SECRET" in ran.sentence() and "export VIVA_SECRET=" in ran.sentence()
    monkeypatch.setenv("VIVA_SECRET", "short")
    ran = viva("grade", "right")
    assert ran.status == 1 and "5 bytes, and 16 are the least" in ran.sentence()


# --- isolation


def offered() -> list[Tier]:
    return [report.tier for report in detect_tiers() if report.available]


def test_a_tier_that_the_host_lacks_is_refused_and_those_it_has_are_named(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "right")
    for tier in set(Tier) - set(offered()):
        ran = viva("grade", "right", "--tier", str(tier))
        assert ran.status == 1
        for words in (f"does not offer isolation {tier}", *map(str, offered()), "`viva doctor`"):
            assert words in ran.sentence()


@pytest.mark.parametrize("file", ["grader.yaml", "assignments/words/assignment.yaml"])
def test_less_isolation_than_the_course_asks_for_is_refused(viva: Viva, own_course: Path, file: str) -> None:
    path = own_course / file
    path.write_text(path.read_text("utf-8") + "min_tier: T1\n", "utf-8")
    ran = viva("grade", hand_in(own_course.parent / "right"), "--tier", "T0")
    assert ran.status == 1
    assert "The course asks for isolation T1 or better (min_tier); T0 was asked for." in ran.sentence()


def test_the_weakest_isolation_is_never_used_in_silence(viva: Viva, tmp_path: Path) -> None:
    ran = viva("grade", hand_in(tmp_path / "right"), "--tier", "t0", "-o", "result.json")
    assert ran.status == 0
    assert ran.sentence() == "viva: isolation T0: the key and other submissions are readable by the code you grade."
    assert '"tier": "T0"' in (tmp_path / "result.json").read_text("utf-8")


# --- broken courses


def replace(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / file).read_text("utf-8")
        assert old in text
        (root / file).write_text(text.replace(old, new), "utf-8")

    return change


def remove(file: str) -> Callable[[Path], None]:
    return lambda root: (root / file).unlink()


def add(file: str, text: str) -> Callable[[Path], None]:
    return lambda root: (root / file).write_text(text, "utf-8") and None


YAML = "assignments/words/assignment.yaml"
TESTS = "graders/words/test_words.py"
BROKEN = {
    "unknown key": (replace(YAML, "title", "tilte"), ["assignment.yaml:1: tilte: there is no such key", "`title`"]),
    "wrong value": (replace(YAML, "call_s: 1", "call_s: soon"), ["assignment.yaml:5", "limits.call_s", "`soon`"]),
    "no YAML": (replace(YAML, "preload: [", "preload: [["), ["assignment.yaml", "invalid YAML: "]),
    "no assignment.yaml": (remove(YAML), ["lists the assignment `words`", "does not exist"]),
    "no assignments": (replace("grader.yaml", "[words]", "[]"), ["assignments is empty; list at least one"]),
    "no key": (remove("graders/words/key.py"), ["key.py: there is no answer key"]),
    "key raises": (replace("graders/words/key.py", "def total", "1 / 0\ndef total"), ["cannot be imported: ZeroDiv"]),
    "no test": (remove(TESTS), ["no test was found; expected functions test_"]),
    "test without syntax": (replace(TESTS, "def test_total(", "def test_total"), [f"{TESTS} line 24", "SyntaxError"]),
    "test without module": (replace(TESTS, "from viva", "import nowhere\nfrom viva"), [f"{TESTS} line 1", "'nowhere'"]),
    "negative weight": (replace(TESTS, "weight(2)\n@vis", "weight(-2)\n@vis"), ["weight(-2)", "zero or more"]),
    "unknown preload": (
        replace(YAML, "numpy", "nowhere"),
        ["preload", "has no module `nowhere`", "take it off the list"],
    ),
    "no interpreter": (replace(YAML, "points", "python: nowhere\npoints"), ["python", "`nowhere`", "interpreter"]),
    "broken conftest": (
        lambda root: (root / "graders/words/conftest.py").write_text("1/0"),
        ["cannot be collected", "Zero"],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_course_is_one_sentence(viva: Viva, own_course: Path, case: str) -> None:
    change, said = BROKEN[case]
    change(own_course)
    ran = viva("grade", hand_in(own_course.parent / "right"), "-o", "result.json")
    assert (ran.status, ran.out) == (1, "")
    for words in said:
        assert words in ran.sentence()
    assert not Path("result.json").exists()  # a result would blame the student


def test_points_that_do_not_add_up_are_said_and_the_marks_stand(viva: Viva, own_course: Path) -> None:
    replace(YAML, "points: 10", "points: 12")(own_course)
    ran = viva("grade", hand_in(own_course.parent / "right"))
    assert ran.status == 0 and "9 of 9 points, 1 more pending" in ran.out
    assert "words: the tests add up to 10 points" in ran.sentence() and "says 12" in ran.sentence()


def test_an_examiner_that_cannot_start_is_the_graders_fault(viva: Viva, own_course: Path) -> None:
    replace(TESTS, "from viva", "import os; os._exit(3)\nfrom viva")(own_course)
    ran = viva("grade", hand_in(own_course.parent / "right"), "-o", "result.json")
    assert ran.status == 2 and "ended before it was ready" in ran.sentence()
    assert not Path("result.json").exists()  # it would blame the student


def test_an_examiner_that_is_not_ready_in_time_says_so(
    viva: Viva, own_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for a processor hardly counts; computing and sleeping do."""
    monkeypatch.setattr("viva.pipeline.process.examiner_process.START_S", 0.3)
    replace(TESTS, "from viva", "import time; time.sleep(1000)\nfrom viva")(own_course)
    ran = viva("grade", hand_in(own_course.parent / "right"))
    assert ran.status == 2 and "was not ready within 0.3 s" in ran.sentence()


def test_a_bug_of_our_own_is_a_sentence_too(viva: Viva, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viva.formats.results_json.json_schema", lambda: 1 / 0)
    ran = viva("schema")
    assert ran.status == 2
    assert "a fault of viva's own: ZeroDivisionError" in ran.sentence() and "VIVA_TRACEBACK=1" in ran.sentence()
    monkeypatch.setenv("VIVA_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        viva("schema")
