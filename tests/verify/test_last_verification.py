"""What a verification found is used by a release right after it, and never once anything has changed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.release_course import SECRET, write_course
from viva.config import Course, load_course
from viva.model import Score, Tier
from viva.plugins.verify.last_verification import FOLDER, LastVerification
from viva.plugins.verify.verify_course import Finding, verify

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Finding]]:
    """A course and what its verification found."""
    course = write_course(tmp_path_factory.mktemp("verified") / "course")
    assignment = course.assignment("sums")
    ((_, findings),) = verify(course, [assignment], Tier.T0, SECRET, with_mutants=False)
    return course.root, findings


@pytest.fixture
def course(original: tuple[Path, list[Finding]], tmp_path: Path) -> Course:
    shutil.copytree(original[0], tmp_path / "course")
    found = load_course(tmp_path / "course")
    last(found).remember(original[1])
    return found


def last(course: Course, tier: Tier = Tier.T0, secret: bytes = SECRET) -> LastVerification:
    read = load_course(course.root)
    return LastVerification(read, read.assignment("sums"), tier, secret)


def recalled(course: Course, tier: Tier = Tier.T0, secret: bytes = SECRET) -> dict[str, Score] | None:
    return last(course, tier, secret).recall()


def test_recalled_verification_is_that_of_the_last_run(course: Course, original: tuple[Path, list[Finding]]) -> None:
    found = {f.what: f.score for f in original[1] if f.score is not None}
    assert recalled(course) == found and {"key", "starter", "accepted/plain"} <= found.keys()
    kept = course.root / FOLDER
    assert (kept / "sums").stat().st_mode & 0o077 == 0 and (kept / ".gitignore").read_text() == "*\n"


def add(path: str) -> Callable[[Path], object]:
    return lambda root: (root / path).write_text((root / path).read_text("utf-8") + "\n# changed\n", "utf-8")


@pytest.mark.parametrize(
    "change",
    [
        *map(add, ["graders/sums/test_sums.py", "graders/sums/key.py", "reference/sums.py", "grader.yaml"]),
        add("assignments/sums/assignment.yaml"),
        add("fixtures/sums/submissions/accepted/other/solution.py"),
        lambda root: (root / "helpers.py").write_text("x = 1\n"),
        lambda root: (root / "graders/conftest.py").write_text("x = 1\n"),
        lambda root: shutil.rmtree(root / "fixtures/sums/submissions/accepted/other"),
        lambda root: (root / FOLDER / "sums").write_bytes(b"damaged"),
        lambda root: (root / FOLDER / "sums").write_bytes((root / FOLDER / "sums").read_bytes()[:-9]),
        lambda root: (root / FOLDER / "sums").unlink(),
        lambda root: (root / FOLDER / "sums").chmod(0o666),
        lambda root: (root / FOLDER / "sums").rename(root / "x") and (root / FOLDER / "sums").symlink_to(root / "x"),
    ],
)
def test_changed_course(course: Course, change: Callable[[Path], object]) -> None:
    change(course.root)
    assert recalled(course) is None


def test_other_secret_or_level(course: Course) -> None:
    assert recalled(course, secret=b"a different secret") is None
    assert recalled(course, tier=Tier.T1) is None


def test_unwritable_course(course: Course, original: tuple[Path, list[Finding]]) -> None:
    shutil.rmtree(course.root / FOLDER)
    (course.root / FOLDER).write_text("in the way")
    last(course).remember(original[1])
    assert recalled(course) is None and (course.root / FOLDER).is_file()


def test_change_during_a_verification(course: Course, original: tuple[Path, list[Finding]]) -> None:
    before = last(course)
    add("graders/sums/key.py")(course.root)
    before.remember(original[1])
    assert recalled(course) is None
