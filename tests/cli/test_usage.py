"""Whatever is wrong with a command line is one sentence on standard error, and exit status 1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import RIGHT, SETTINGS_FILE, hand_in
from viva.cli.main import run
from viva.cli.shared.command_table import ALIASES, GROUPS, commands
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

COMMAND_LINES = [
    ("grade", [], ["Missing argument", "PATH", "`viva grade --help`"]),
    ("grade", ["right", "--nope"], ["--nope", "`viva grade --help`"]),
    ("grade", ["rihgt"], ["rihgt: no such file", "did you mean right?"]),
    ("grade", ["right", "nowhere"], ["nowhere: no such file or folder"]),
    ("grade", ["right", "other", "-o", "all.json"], ["all.json is one file", "2 submissions", "give a folder"]),
    ("grade", ["loose"], ["ada.py, bo.py answer the same questions", "pass --class"]),
    ("grade", ["right", "--assignment", "wrods"], ["no assignment `wrods`", "did you mean `words`?"]),
    ("grade", ["right", "--tier", "T9"], ["--tier", "T9", "'T3', 'best'", "`viva grade --help`"]),
    ("grade", ["right", "--on", "tcp://10.0.0.3:8786"], ["submissions and scores would travel in the clear"]),
    ("grade", ["right", "--on", "tcp://127.0.0.1:9", "--tier", "T0"], ["--tier T0 is not for clusters"]),
    ("grade", ["right", "--on", "tls://127.0.0.1:9"], ["tls:// needs certificates: say --tls-ca"]),
    ("grade", ["right", "--worker-course", "/course"], ["belong to --on PLACE"]),
    ("check", ["nowhere"], ["nowhere: no such file or folder"]),
    ("verify", ["-o", "report"], ["-o is for the report of --mutants; pass --mutants as well, or leave out -o."]),
    ("explain", ["note.json", "1.1"], ["note.json", "not a results.json", "give the submission's path instead"]),
    ("diff", ["right", "right"], ["right holds no results.json"]),
    ("diff", ["note.json", "right"], ["one is a folder and the other a file"]),
    ("diff", ["note.json", "note.json"], ["note.json is not a results.json of viva"]),
    ("doctor", ["--gpu", "--records"], ["--records"]),
    ("doctor", ["-a", "words"], ["--gpu"]),
    ("init", ["right"], ["right is not empty", "Give a new folder"]),
    ("init", ["note.json/new"], ["note.json/new: no course was made", "Not a directory"]),
    ("new", ["words"], ["lists an assignment `words` already"]),
    ("new-test", ["1.2", "total", "--answer", "choice"], ["Give either FUNCTION or --answer"]),
    ("new-test", [], ["Missing argument", "NUMBER"]),
    ("new-test", ["1.2", "totl"], ["no function 'totl'", "Did you mean total?"]),
    ("release", ["words"], ["Say either --to DIR, for students, or --for gradescope"]),
    ("release", ["words", "--to", "x", "-o", "y.zip"], ["-o and --wheels belong to --for gradescope"]),
    ("release", ["words", "--for", "gradescope", "--tier", "T0"], ["takes the best isolation of its container"]),
    ("release", ["words", "--for", "gradescope", "-o", "."], ["is a folder"]),
    ("import", ["nbgrader", "right", "--to", "new"], ["holds no notebook"]),
    ("import", ["gradescope", ".", "--to", "new"], ["holds no tests/test*.py"]),
    ("import", ["moodle", ".", "--to", "new"], ["'moodle' is not one of"]),
    ("gread", ["right"], ["There is no command `gread`", "Did you mean `viva grade`?"]),
    ("frobnicate", [], ["There is no command `frobnicate`", "There are: init, import"]),
]


@pytest.mark.parametrize(("command", "arguments", "said"), COMMAND_LINES)
def test_wrong_command_line(viva: Viva, tmp_path: Path, command: str, arguments: list[str], said: list[str]) -> None:
    hand_in(tmp_path / "right")
    hand_in(tmp_path / "other")
    hand_in(tmp_path / "loose", ada=RIGHT, bo=RIGHT)
    (tmp_path / "loose/solution.py").unlink()
    (tmp_path / "note.json").write_text("{}", "utf-8")
    ran = viva(command, *arguments)
    assert (ran.status, ran.out) == (1, "")
    for words in said:
        assert words in ran.sentence()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["loose", "note.json", "other", "right"]  # nothing was made


def test_commands_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([]) == 1
    listed = capsys.readouterr().out
    assert run(["--help"]) == 0
    assert capsys.readouterr().out == listed
    lines = listed.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in commands()] == [
        *commands()
    ]
    assert {f"{group}:" for group in GROUPS} <= set(lines)
    assert not any(f"  {alias} " in line for alias in ALIASES for line in lines)
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("viva, version ")


@pytest.mark.parametrize("alias", ALIASES)
def test_earlier_names_still_work(viva: Viva, alias: str) -> None:
    assert viva(alias, "--help").out.partition("\n")[2] == viva(ALIASES[alias], "--help").out.partition("\n")[2]


@pytest.mark.parametrize("command", commands())
def test_help_of_each_command(viva: Viva, command: str) -> None:
    ran = viva(command, "--help")
    assert ran.status == 0 and ran.out.startswith(f"Usage: viva {command}") and ran.err == ""


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("viva gr", {"grade", "grades"}),
        ("viva grade --ti", {"--tier"}),
        ("viva grades A --to c", {"canvas"}),
    ],
)
def test_bash_completion(line: str, completed: set[str]) -> None:
    script = (
        'eval "$(_VIVA_COMPLETE=bash_source viva)"; read -ra COMP_WORDS <<< "$1"; '
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _viva_completion viva; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-c", script, "bash", line]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
    assert completed <= set(done.stdout.split())


def test_no_course(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIVA_COURSE")
    hand_in(tmp_path / "right")
    ran = viva("grade", "right", "-o", "result.json")
    assert (ran.status, ran.out) == (1, "") and not Path("result.json").exists()
    for words in ("grader.yaml", "--course DIR", "VIVA_COURSE", "`viva init DIR`"):
        assert words in ran.sentence()


def test_course_inside_the_submission(viva: Viva, own_course: Path) -> None:
    hand_in(own_course)
    ran = viva("grade", own_course, "-o", "result.json")
    assert (ran.status, ran.out) == (1, "") and not Path("result.json").exists()
    assert f"{own_course} is inside the submission" in ran.sentence() and "--course DIR" in ran.sentence()


def test_missing_and_short_secret(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(tmp_path / "right")
    monkeypatch.delenv("VIVA_SECRET")
    ran = viva("grade", "right")
    assert ran.status == 1
    assert "VIVA_SECRET" in ran.sentence() and "export VIVA_SECRET=" in ran.sentence()
    monkeypatch.setenv("VIVA_SECRET", "short")
    ran = viva("grade", "right")
    assert ran.status == 1 and "5 bytes, and 16 are the least" in ran.sentence()


def test_guessable_secret(viva: Viva, monkeypatch: pytest.MonkeyPatch, own_course: Path) -> None:
    hand_in(Path("work"))
    assert "could be guessed" not in viva("grade", "work").err
    monkeypatch.setenv("VIVA_SECRET", "ab" * 32)
    ran = viva("grade", "work")
    assert ran.status == 0 and "viva: the course's secret has 64 bits at most" in ran.err
    assert "could be guessed" not in viva("grade", "work", "--visible-only").err
    monkeypatch.setenv("VIVA_COURSE", str(own_course))
    assert "hidden inputs could be guessed" in viva("doctor").out


def test_bug_of_viva_itself(viva: Viva, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viva.formats.results_json.json_schema", lambda: 1 / 0)
    ran = viva("schema")
    assert ran.status == 2
    assert "a fault of viva's own: ZeroDivisionError" in ran.sentence() and "VIVA_TRACEBACK=1" in ran.sentence()
    monkeypatch.setenv("VIVA_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        viva("schema")


# --- isolation


def test_tier_that_the_host_lacks(viva: Viva, tmp_path: Path) -> None:
    offered = [report.tier for report in detect_tiers() if report.available]
    hand_in(tmp_path / "right")
    for tier in set(Tier) - set(offered):
        ran = viva("grade", "right", "--tier", str(tier))
        assert ran.status == 1
        for words in (f"does not offer isolation {tier}", *map(str, offered), "`viva doctor`"):
            assert words in ran.sentence()


@pytest.mark.parametrize(
    ("file", "min_tier", "options"),
    [
        ("grader.yaml", "T1", ["--tier", "T0"]),
        (SETTINGS_FILE, "T1", ["--tier", "T0"]),
        ("grader.yaml", "T3", ["--tier", "T1", "--on", "tcp://127.0.0.1:9"]),
    ],
)
def test_tier_below_min_tier(viva: Viva, own_course: Path, file: str, min_tier: str, options: list[str]) -> None:
    with (own_course / file).open("a") as settings:
        settings.write(f"min_tier: {min_tier}\n")
    ran = viva("grade", hand_in(own_course.parent / "right"), *options)
    assert ran.status == 1
    assert f"asks for isolation {min_tier} or better (min_tier); {options[1]} was asked for." in ran.sentence()


def test_weakest_tier_is_never_used_in_silence(viva: Viva, tmp_path: Path) -> None:
    ran = viva("grade", hand_in(tmp_path / "right"), "--tier", "t0", "-o", "result.json")
    assert ran.status == 0
    assert ran.sentence() == "viva: isolation T0: the key and other submissions are readable by the code you grade."
    assert '"tier": "T0"' in (tmp_path / "result.json").read_text("utf-8")


def test_doctor_names_every_tier(viva: Viva) -> None:
    ran = viva("doctor")
    assert ran.status == 0 and ran.err == ""
    for words in ("T0", "T1", "T2", "T3", "Python 3", "numpy", "The best isolation level here is T"):
        assert words in ran.out
    assert sys.prefix in ran.out.replace("\n", "")
