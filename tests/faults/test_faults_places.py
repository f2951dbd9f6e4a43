"""Where things lie: names with spaces and pictures, results of others in the way, folders that change meanwhile."""

import os
import shutil
import subprocess
import sysconfig
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.faulty_host import (
    COMMAND_S,
    PAUSING,
    RIGHT_POINTS,
    WRONG_POINTS,
    grade,
    linux_only,
    patient_course,
    result,
    start,
)
from tests.support.run_command import best_tier
from tests.support.wait_until import wait_until
from tests.support.words_course import hand_in

pytestmark = [linux_only, pytest.mark.long]
ODD = "ein Kurs 🎓 'of' \"two\" $HOME; né"


def test_names_with_spaces_and_pictures_everywhere(tmp_path: Path) -> None:
    """Course, submission, results, temporary files, and the interpreter itself."""
    home = tmp_path / ODD
    course = patient_course(home / "the course")
    hand_in(home / "the class" / "Zoë 🎓 Müller")
    (home / "temporary files").mkdir()
    venv.create(home / "an environment", symlinks=True)
    packages = next((home / "an environment" / "lib").glob("python*/site-packages"))
    ours = {sysconfig.get_path("purelib"), *(str(Path(str(m.__file__)).parents[1]) for m in _libraries())}
    (packages / "ours.pth").write_text("\n".join(sorted(ours)) + "\n", "utf-8")
    command = [home / "an environment/bin/python", "-m", "viva", "grade", "the class/Zoë 🎓 Müller"]
    done = subprocess.run(
        [*map(str, command), "-o", "the results/Zoë.json", *best_tier("grade", [])],
        cwd=home,
        env={**os.environ, "VIVA_COURSE": str(course), "TMPDIR": str(home / "temporary files")},
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_S,
    )
    assert done.returncode == 0, done.stderr
    graded = result(home / "the results/Zoë.json")
    assert graded.score == RIGHT_POINTS and graded.extra_data.submission == "the class/Zoë 🎓 Müller"
    assert list((home / "temporary files").iterdir()) == []


def _libraries() -> list[ModuleType]:
    import msgpack
    import numpy

    import viva

    return [msgpack, numpy, viva]


def test_two_graders_in_one_folder() -> None:
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda _: grade("class", "-o", "graded"), range(2))
    for ran in (first, second):
        assert (ran.status, ran.err) == (0, "")
    assert result(Path("graded/class/ada/results.json")).score == RIGHT_POINTS
    assert result(Path("graded/class/bob/results.json")).score == WRONG_POINTS
    assert all(result(path).extra_data.complete for path in Path("graded").rglob("results.json"))
    assert sorted(path.name for path in Path("graded").rglob("*") if path.is_file()) == ["results.json"] * 2


def test_broken_results_are_replaced() -> None:
    for name, made in {"ada": b"\0\xff{", "bob": b""}.items():
        Path("graded/class", name).mkdir(parents=True)
        Path("graded/class", name, "results.json").write_bytes(made)
    ran = grade("class", "-o", "graded")
    assert (ran.status, ran.err) == (0, "")
    assert result(Path("graded/class/ada/results.json")).score == RIGHT_POINTS
    assert result(Path("graded/class/bob/results.json")).score == WRONG_POINTS


def test_results_that_are_links(tmp_path: Path) -> None:
    """A link to somewhere is followed, as every program does; one in a circle is said; nothing else is touched."""
    Path("to_nowhere.json").symlink_to(tmp_path / "new" / "target.json")
    assert grade("class/ada", "-o", "to_nowhere.json").status == 0
    assert Path("to_nowhere.json").is_symlink() and result(tmp_path / "new" / "target.json").score == RIGHT_POINTS
    Path("circle.json").symlink_to("circle.json")
    ran = grade("class/ada", "-o", "circle.json")
    assert ran.status == 1 and "circle.json cannot be written: Too many levels of symbolic links" in ran.sentence()


def start_two() -> "subprocess.Popen[str]":
    """Two submissions are graded in turn; the first has its result."""
    for name in ("a", "b"):
        hand_in(Path("pausing", name), PAUSING)
    process = start("pausing", "-o", "graded", "--workers", "1")
    wait_until(Path("graded/pausing/a/results.json").exists)
    return process


def both_are_right(process: "subprocess.Popen[str]") -> None:
    _, said = process.communicate(timeout=COMMAND_S)
    assert process.returncode == 0, said
    for name in ("a", "b"):
        assert result(Path("graded/pausing", name, "results.json")).score == RIGHT_POINTS


def test_results_folder_is_deleted() -> None:
    """What is finished later is there; what was deleted was the deleter's."""
    process = start_two()
    shutil.rmtree("graded")
    both_are_right(process)


def test_course_changes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run asks what was there when it began: a key that is edited under it changes no mark."""
    course = patient_course(tmp_path / "own")
    monkeypatch.setenv("VIVA_COURSE", str(course))
    process = start_two()
    for path in (course / "graders/words").glob("*.py"):
        path.write_text("raise RuntimeError('half written')", "utf-8")
    (course / "assignments/words/assignment.yaml").write_text("title: [", "utf-8")
    both_are_right(process)
