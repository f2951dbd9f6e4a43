"""Folders that try to be more than a submission: graded as what they are, never executed or obeyed outside the box."""

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.hostile_course import POINTS, SECRET_FILE, HostileCourse
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

VIVA = Path(sysconfig.get_path("scripts")) / "viva"
COURSE = HostileCourse()

EVIL = """
import os, sys
open({trace!r}, "a").write("executed by " + " ".join(sys.argv) + chr(10))
"""
"""Python code that leaves a trace on the grading machine; no box can reach the place."""


class Folder:
    """A submission folder under construction; its solution is honest."""

    def __init__(self, path: Path, trace: Path, course: Path) -> None:
        self.path, self.trace, self.course = path, trace, course
        self.write("solution.py", COURSE.honest())

    @property
    def evil(self) -> str:
        """Python source that would be found out."""
        return EVIL.format(trace=str(self.trace))

    @property
    def evil_command(self) -> str:
        """The same for a shell."""
        return f"echo executed by a shell >> {self.trace}"

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        """Add a file."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)


def modules_with_the_names_of_libraries(folder: Folder) -> None:
    for name in ("numpy", "json", "random", "typing", "re", "pytest", "yaml", "click", "msgpack", "collections"):
        folder.write(f"{name}.py", folder.evil)


def an_engine_of_its_own(folder: Folder) -> None:
    for name in ("viva", "viva/examiner", "viva/grading", "viva_box", "_pytest", "encodings", "key", "reference"):
        folder.write(f"{name}/__init__.py", folder.evil)
    folder.write("viva/pipeline/process/main.py", folder.evil)


def plugins_and_settings_of_pytest(folder: Folder) -> None:
    folder.write("conftest.py", folder.evil + "\ndef pytest_runtest_makereport(item, call): ...\n")
    folder.write("evil.py", folder.evil)
    folder.write("pytest.ini", "[pytest]\naddopts = -p evil --co\npython_files = *.py\n")
    folder.write("tox.ini", "[pytest]\naddopts = -p evil\n")
    folder.write("test_small.py", folder.evil + "\ndef test_number(): pass\n")


def settings_of_tools(folder: Folder) -> None:
    folder.write("setup.cfg", "[tool:pytest]\naddopts = -p evil\n[options.entry_points]\npytest11 =\n  evil = evil\n")
    folder.write(
        "pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-p evil"\n[project.entry-points.pytest11]\ne="evil"\n'
    )
    folder.write("evil.py", folder.evil)
    folder.write("evil-1.0.dist-info/entry_points.txt", "[pytest11]\nevil = evil\n")
    folder.write("evil-1.0.dist-info/METADATA", "Name: evil\nVersion: 1.0\n")
    folder.write("setup.py", folder.evil)
    folder.write("Makefile", f"all:\n\t{folder.evil_command}\n")
    folder.write("requirements.txt", "-e .\n")


def a_course_of_its_own(folder: Folder) -> None:
    folder.write("grader.yaml", "course: mine\nsecret: env:VIVA_SECRET\nassignments: [small]\nmin_tier: T0\n")
    folder.write("assignments/small/assignment.yaml", "title: Small\npoints: 1000\nsubmission: {module: solution.py}\n")
    folder.write("graders/small/key.py", folder.evil)
    folder.write("graders/small/test_small.py", folder.evil + "\ndef test_number(): pass\n")
    folder.write("graders/small/inside.py", folder.evil)
    folder.write("assignment.yaml", "title: Small\npoints: 1000\n")


def code_for_the_start_of_python(folder: Folder) -> None:
    for name in ("sitecustomize.py", "usercustomize.py", ".pythonrc", "python.pth", "__init__.py", "__main__.py"):
        folder.write(name, folder.evil)
    folder.write("evil.pth", f"import os; open({str(folder.trace)!r}, 'a').write('executed by a .pth file')\n")
    folder.write("pyvenv.cfg", "home = .\n")
    folder.write(".env", "VIVA_COURSE=.\nPYTHONSTARTUP=.pythonrc\n")


def links_to_secrets(folder: Folder) -> None:
    key = folder.course / "graders" / "small" / "key.py"
    for name, target in (("key.py", key), ("notes.txt", "/etc/passwd"), ("data", folder.course), ("me", ".")):
        (folder.path / name).symlink_to(target)
    os.link(folder.course / ".secret", folder.path / "hard.txt")
    folder.write("more/solution.txt", "x")
    (folder.path / "more" / "up").symlink_to("../../../..")


def hard_links_that_are_read(folder: Folder) -> None:
    """As whoever unpacks an archive with hard links in it makes them, without knowing."""
    graders = folder.course / "graders" / "small"
    for name, target in (
        ("a.txt", graders / "key.py"),
        ("b.py", graders / "test_small.py"),
        ("c", folder.course / ".secret"),
    ):
        os.link(target, folder.path / name)
    folder.write("more.txt", "x")
    os.link(folder.path / "more.txt", folder.path / "again.txt")
    told = (
        "raise ValueError(''.join(open(n).read() for n in ('a.txt', 'b.py', 'c') if __import__('os').path.exists(n)))"
    )
    folder.write("solution.py", f"assert open('again.txt').read() == 'x'\ndef number(x):\n    {told}\ntext = number\n")


def a_link_in_place_of_the_solution(folder: Folder) -> None:
    (folder.path / "solution.py").rename(folder.path / "notes.txt")
    (folder.path / "solution.py").symlink_to(folder.course / "graders" / "small" / "key.py")


def a_repository_with_hooks_and_filters(folder: Folder) -> None:
    command = folder.evil_command
    settings = f"[core]\n\tfsmonitor = {command}\n\tpager = {command}\n\tsshCommand = {command}\n"
    settings += f'[filter "x"]\n\tclean = {command}\n\tsmudge = {command}\n[diff]\n\texternal = {command}\n'
    folder.write(".git/config", settings)
    folder.write(".git/HEAD", "ref: refs/heads/main\n")
    for name in ("post-checkout", "pre-commit", "post-merge", "fsmonitor-watchman", "post-index-change"):
        folder.write(f".git/hooks/{name}", f"#!/bin/sh\n{command}\n", 0o755)
    folder.write(".gitattributes", "* filter=x diff=x\n")
    folder.write(".gitmodules", '[submodule "a"]\n\tpath = a\n\turl = ext::sh -c evil\n')


def settings_of_notebooks_and_figures(folder: Folder) -> None:
    folder.write("ipython_config.py", folder.evil)
    folder.write(".ipython/profile_default/startup/00.py", folder.evil)
    folder.write(".jupyter/jupyter_notebook_config.py", folder.evil)
    folder.write("matplotlibrc", "backend: module://evil\n")
    folder.write("evil.py", folder.evil)


def bytecode_that_says_otherwise(folder: Folder) -> None:
    folder.write("solution.py", "def number(x):\n    return 0.0\n")
    folder.write("answers.py", COURSE.honest())
    import py_compile

    cached = folder.path / "__pycache__" / "solution.cpython-311.pyc"
    py_compile.compile(
        str(folder.path / "answers.py"),
        cfile=str(cached),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    shutil.copy(cached, folder.path / "solution.pyc")
    (folder.path / "answers.py").unlink()


def names_that_are_no_names(folder: Folder) -> None:
    for name in ("-rf", "--help", "-c", "a\nb.py", "\x1b[31mred.txt", "$(touch x).txt", "'; true #.py", "…/‮gpj.txt"):
        folder.write(name, "x = 1\n")
    (folder.path / os.fsdecode(b"bytes-\xff.txt")).write_bytes(b"x")


FOLDERS: dict[Callable[[Folder], None], float] = {
    modules_with_the_names_of_libraries: POINTS,
    an_engine_of_its_own: POINTS,
    plugins_and_settings_of_pytest: POINTS,
    settings_of_tools: POINTS,
    a_course_of_its_own: POINTS,
    code_for_the_start_of_python: POINTS,
    links_to_secrets: POINTS,
    a_link_in_place_of_the_solution: 0,
    hard_links_that_are_read: 0,
    a_repository_with_hooks_and_filters: POINTS,
    settings_of_notebooks_and_figures: POINTS,
    bytecode_that_says_otherwise: 0,
    names_that_are_no_names: POINTS,
}
"""How to make each folder, and the score that its own honest or dishonest code deserves."""
STARTED_INSIDE = [
    modules_with_the_names_of_libraries,
    an_engine_of_its_own,
    plugins_and_settings_of_pytest,
    a_course_of_its_own,
    code_for_the_start_of_python,
]

needs_walls = pytest.mark.skipif(
    max(report.tier for report in detect_tiers() if report.available) < Tier.T1,
    reason="without walls a box can write the trace itself",
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The course, where only we can read it."""
    for name, text in COURSE.files().items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (tmp_path / SECRET_FILE).chmod(0o600)
    return tmp_path / "course"


def made(build: Callable[[Folder], None], tmp_path: Path, course: Path) -> Folder:
    """One of the folders above."""
    path = tmp_path / "submissions" / build.__name__
    path.mkdir(parents=True)
    folder = Folder(path, tmp_path / "trace", course)
    build(folder)
    return folder


def graded(course: Path | None, cwd: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command as people run it; without a course, it looks for one."""
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8", **environ}
    named = ["--course", str(course)] if course else []
    command = [str(VIVA), "grade", *named, "--tier", "best", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.long
@needs_walls
def test_folders_are_graded_as_what_they_are(tmp_path: Path, course: Path) -> None:
    folders = [made(build, tmp_path, course) for build in FOLDERS]
    out = tmp_path / "out"
    done = graded(course, tmp_path, "-o", str(out), *[str(folder.path) for folder in folders])
    assert done.returncode == 0, done.stderr
    found = {path.parent.name: json.loads(path.read_text()) for path in out.rglob("results.json")}
    assert {name: result["score"] for name, result in found.items()} == {b.__name__: s for b, s in FOLDERS.items()}
    assert {len(result["tests"]) for result in found.values()} == {POINTS}
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
    everything = json.dumps(found) + done.stdout + done.stderr
    for place in ("key", "secret", "tests", "other", "results"):
        assert COURSE.marks[place] not in everything
    assert "root:x:0" not in everything
    linked = json.dumps(found["links_to_secrets"])
    assert "link" in linked and "key.py" in linked
    assert "Left out: a.txt, b.py, c are links" in json.dumps(found["hard_links_that_are_read"])


@needs_walls
@pytest.mark.long
@pytest.mark.parametrize("build", STARTED_INSIDE, ids=lambda build: build.__name__)
def test_grading_started_inside_folder(tmp_path: Path, course: Path, build: Callable[[Folder], None]) -> None:
    folder = made(build, tmp_path, course)
    done = graded(course, folder.path, "-o", str(tmp_path / "out.json"), ".")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["score"] == POINTS
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()


@pytest.mark.parametrize("arguments", [["."], ["solution.py"]])
def test_handed_in_course_is_not_obeyed(tmp_path: Path, course: Path, arguments: list[str]) -> None:
    folder = made(a_course_of_its_own, tmp_path, course)
    done = graded(None, folder.path, *arguments, VIVA_SECRET="0" * 32)
    assert done.returncode == 1
    assert "the student could have written it" in done.stderr
    assert not (tmp_path / "trace").exists()


def test_the_trace_works(tmp_path: Path, course: Path) -> None:
    """The same code does leave its trace when something outside a box executes it."""
    folder = made(modules_with_the_names_of_libraries, tmp_path, course)
    subprocess.run([shutil.which("python3") or "python3", "-c", "import numpy"], cwd=folder.path, check=False)
    assert "executed by" in (tmp_path / "trace").read_text()
