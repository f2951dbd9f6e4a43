"""What the zip holds, what it does not, and that it is refused where a right submission would not get its points."""

import fnmatch
import io
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.gradescope_course import RIGHT, SECRET, TESTS, write, write_course
from viva.model import Tier
from viva.model.errors import CourseError, UsageError
from viva.plugins.release.gradescope.measure import MemorySampler
from viva.plugins.release.gradescope.package import Autograder, derived_secret, right_submission, zipped
from viva.plugins.release.gradescope.requirements import pinned, vendored
from viva.plugins.release.wheel import wheel
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.host.limits.uids import FIRST_UID

pytestmark = pytest.mark.long

BEST = next(report.tier for report in detect_tiers() if report.available)
needs_isolation = pytest.mark.skipif(BEST is Tier.T0, reason="this host has no isolation to try it in")


def autograder(root: Path, **changes: Any) -> Autograder:
    course = write_course(root, **changes)
    return Autograder(course, course.assignment("sums"), SECRET, None)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What is packed for a course that no test changes."""
    return dict(autograder(tmp_path_factory.mktemp("packed")).files()[0])


def test_packed_files(files: dict[str, bytes]) -> None:
    own = {name.removeprefix("course/") for name in files if name.startswith("course/")}
    assert own == {
        *("grader.yaml", "secret", "assignments/sums/assignment.yaml", "graders/sums/key.py"),
        *("graders/sums/test_sums.py", "reference/__init__.py", "reference/sums.py", "reference/deeper/__init__.py"),
        *("reference/deeper/steps.py", "fixtures/sums/data/numbers.txt"),
    }
    beside = {name for name in files if not name.startswith("course/") and not name.endswith(".whl")}
    assert beside == {"setup.sh", "run_autograder", "Dockerfile", "requirements.txt", "gradescope.json"}


def test_packed_programs(files: dict[str, bytes]) -> None:
    """They are bash, and install the wheel that is packed."""
    (pattern,) = re.findall(r'"\$source"/(\S+\.whl)', files["setup.sh"].decode())
    assert fnmatch.filter(files, pattern) == [wheel()[0]]
    for name in ("setup.sh", "run_autograder"):
        done = subprocess.run(["bash", "-n"], input=files[name], capture_output=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr


def test_exceptions_are_not_packed(tmp_path: Path) -> None:
    more = {
        "assignments/sums/exceptions.yaml": "exceptions: [{students: ada, excused: true, by: W, reason: illness}]\n"
    }
    files, _ = autograder(tmp_path, more=more).files()
    assert "course/assignments/sums/assignment.yaml" in files
    assert not any(
        "exceptions" in name or (name.startswith("course/") and b"illness" in data) for name, data in files.items()
    )


def test_secret_is_not_packed(files: dict[str, bytes]) -> None:
    for shown in (SECRET, SECRET.hex().encode()):
        assert not any(shown in data for data in files.values())
    assert files["course/secret"] == derived_secret(SECRET, "sums") != derived_secret(SECRET, "other")
    assert files["course/secret"] != derived_secret(SECRET + b"!", "sums")


def test_modes_and_bytes_of_the_zip(files: dict[str, bytes]) -> None:
    data = zipped(files)
    assert data == zipped(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    assert modes["course/secret"] == modes["course/graders/sums/key.py"] == 0o600
    assert files["run_autograder"].startswith(b"#!/") and files["setup.sh"].startswith(b"#!/usr/bin/env bash")
    assert not any(b"@" + name in files["setup.sh"] + files["run_autograder"] for name in (b"PYTHON", b"UV", b"LAST"))


def test_wheel_is_reproducible_and_runs(tmp_path: Path) -> None:
    name, data = wheel()
    assert wheel() == (name, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(tmp_path)
    script = (
        "import viva.plugins.release.gradescope.harness as run, importlib.metadata as m; "
        "print(run.__file__, m.version('viva-grader'))"
    )
    places = [str(tmp_path), *(path for path in sys.path if path.endswith("-packages"))]
    said = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {places!r}; {script}"],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    ).stdout.split()  # fmt: skip
    assert said[0].startswith(str(tmp_path)) and name.startswith(f"viva_grader-{said[1]}-")


def test_pinned_requirements(tmp_path: Path) -> None:
    import numpy

    source = tmp_path / "x.py"
    source.write_text("import os, sympy.core\nfrom reference import a\nfrom . import b\n")
    course = write_course(tmp_path / "course", settings="submission: {notebook: null}\n")
    pins = pinned(course.assignment("sums"), [source])
    assert pins["numpy"] == numpy.__version__ and {"pytest", "msgpack", "sympy", "mpmath", "pluggy"} <= pins.keys()
    assert pins.keys().isdisjoint({"viva", "ipython", "torch", "colorama", "reference"})
    assert not any("+" in version for version in pins.values())
    with_notebooks = write_course(tmp_path / "other").assignment("sums")
    assert {"ipython", "matplotlib", "traitlets"} <= pinned(with_notebooks, []).keys()


def test_vendored_wheels(tmp_path: Path) -> None:
    pins = {"numpy": "2.4.6", "torch": "2.13.0"}
    for name in ("numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl", "other-1-py3-none-any.whl", "rubbish.whl"):
        write(tmp_path / name, "x")
    with pytest.raises(UsageError, match=r"no wheel of torch==2.13.0; get them with\n.*pip download .* torch==2.13.0"):
        vendored(tmp_path, pins)
    write(tmp_path / "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", "x")
    assert len(vendored(tmp_path, pins)) == 2


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("[missing.txt]", "`missing.txt` is not a file"),
        ("[../outside.txt]", "is not a file"),
        ("[graders]", "is not a file"),
    ],
)
def test_invalid_files(tmp_path: Path, listed: str, said: str) -> None:
    write(tmp_path / "outside.txt", "x")
    with pytest.raises(CourseError, match=said):
        autograder(tmp_path / "course", settings=f"release: {{gradescope: {{files: {listed}}}}}\n").files()


READS = f"""{TESTS}
from pathlib import Path

OTHER = Path(__file__).parents[2] / "fixtures" / "other" / "data" / "table.txt"


@weight(1)
def test_table(student, key):
    "A table of another assignment."
    agree(student.total([4]), int(OTHER.read_text()))
"""


@needs_isolation
def test_memory_sampler() -> None:
    """A box belongs to a user of its own; one that ends before a sample is taken counts as nothing."""
    sampler = MemorySampler(os.getpid())
    try:
        with subprocess.Popen(["sleep", "60"], user=FIRST_UID) as box:
            while not sampler.box:
                time.sleep(0.01)
            box.kill()
    finally:
        sampler.stop()
    assert 0 < sampler.box < sampler.rest


@needs_isolation
def test_file_of_another_assignment(tmp_path: Path) -> None:
    more = {"graders/sums/test_sums.py": READS, "fixtures/other/data/table.txt": "4"}
    made = autograder(tmp_path / "course", more=more)
    with pytest.raises(CourseError, match=r"test_table is .*may be missing.\n.*speaks of `other`"):
        made.to(tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()
    listed = "release: {gradescope: {files: [fixtures/other/data/table.txt]}}\n"
    made = autograder(tmp_path / "again", more=more, settings=listed)
    measured = made.to(tmp_path / "a.zip")
    assert measured is not None and not made.warnings
    assert measured.results["score"] == 7 and measured.rest_mib > 0
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert f'"rest_mib": {measured.rest_mib}' in archive.read("gradescope.json").decode()
    assert (tmp_path / "a.zip").stat().st_mode & 0o777 == 0o600


def test_interpreter_is_not_packed(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=f"python: {re.escape(sys.executable)} is an interpreter"):
        autograder(tmp_path, settings=f"python: {sys.executable}\n").files()


def test_right_submission(tmp_path: Path) -> None:
    made = autograder(tmp_path)
    known = right_submission(made.course, made.assignment)
    assert known.name == "accepted/plain" and known.submission.files[0].data == RIGHT.encode()
    (tmp_path / "fixtures/sums/submissions/accepted/plain/solution.py").unlink()
    (tmp_path / "fixtures/sums/submissions/accepted/plain").rmdir()
    assert right_submission(made.course, made.assignment).name == "key"
