"""Example submissions are stored as what they change in a right one."""

from pathlib import Path

import pytest
import yaml

from tests.support.words_course import ACCEPTED, KEEPS_CASE, hand_in, write_course
from viva.config import Course, load_course
from viva.model.errors import UsageError
from viva.plugins.authoring.store_example import StoredExample, copy_example, store_example
from viva.submissions import open_submission


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = write_course(tmp_path / "course")
    submissions = root / "fixtures/words/submissions"
    hand_in(submissions / "accepted/plain", ACCEPTED)
    hand_in(submissions / "accepted/other", "import collections\n" * 20)
    return load_course(root)


def store(course: Course, name: str, source: Path, mistake: str = "M.", base: str | None = None) -> StoredExample:
    return store_example(course, course.assignment("words"), name, source, base, mistake)


def test_store_and_open(course: Course, tmp_path: Path) -> None:
    edited = tmp_path / "edited"
    copy_example(course, course.assignment("words"), "accepted/plain", edited)
    code = edited / "solution.py"
    code.write_text(code.read_text("utf-8").replace(".lower()", ""), "utf-8")
    (edited / "weights.bin").write_bytes(b"\xff\x00")
    stored = store(course, "wrong/x", edited)
    assert (stored.base, stored.changed_lines, stored.whole_files) == ("accepted/plain", 2, 1)
    assert {path.name for path in stored.folder.iterdir()} == {"submission.yaml", "mistake.patch", "weights.bin"}
    assert open_submission(stored.folder, "x").files == open_submission(edited, "x").files


def test_expected_verdict_stays(course: Course, tmp_path: Path) -> None:
    edited = hand_in(tmp_path / "edited", KEEPS_CASE)
    stored = store(course, "wrong/x", edited)
    described = stored.folder / "submission.yaml"
    described.write_text(described.read_text("utf-8") + "score: 1/3\nfailing: [test_total]\n", "utf-8")
    hand_in(tmp_path / "edited", KEEPS_CASE + "\n# edited\n")
    store(course, "wrong/x", edited, mistake="")
    told = yaml.safe_load(described.read_text("utf-8"))
    assert told == {"base": stored.base, "mistake": "M.", "score": "1/3", "failing": ["test_total"]}
    assert open_submission(stored.folder, "x").files == open_submission(edited, "x").files


def test_base_of_its_own_copy(course: Course, tmp_path: Path) -> None:
    store(course, "accepted/second", hand_in(tmp_path / "edited", ACCEPTED + "\n# edited\n"))
    stored = store(course, "accepted/plain", hand_in(tmp_path / "edited", ACCEPTED + "\n# edited again\n"))
    assert stored.base is None
    assert [file.data for file in open_submission(stored.folder, "x").files][-1].endswith(b"again\n")
    with pytest.raises(UsageError, match="accepted/second is itself a copy of accepted/plain"):
        store(course, "accepted/plain", tmp_path / "edited", base="accepted/second")


def test_source_is_the_example(course: Course) -> None:
    folder = course.root / "fixtures/words/submissions/accepted/plain"
    with pytest.raises(UsageError, match="is the example itself"):
        store(course, "accepted/plain", folder / "solution.py")
    with pytest.raises(UsageError, match="is the same as accepted/plain"):
        store(course, "wrong/same", folder)
    assert (folder / "solution.py").is_file()


@pytest.mark.parametrize(
    ("name", "mistake", "base", "said"),
    [
        ("x", "M.", None, "'x' is not an example: give a kind and a name"),
        ("wrong/..", "M.", None, "is not an example"),
        ("wrong/x", "", None, "What is wrong with wrong/x"),
        ("wrong/x", "M.", "accepted/plian", "There is no example accepted/plian; did you mean `accepted/plain`"),
    ],
)
def test_invalid_example(course: Course, tmp_path: Path, name: str, mistake: str, base: str | None, said: str) -> None:
    edited = hand_in(tmp_path / "edited", KEEPS_CASE)
    with pytest.raises(UsageError, match=said):
        store(course, name, edited, mistake, base)
    assert not (course.root / "fixtures/words/submissions/wrong").exists()


def test_reserved_file(course: Course, tmp_path: Path) -> None:
    edited = hand_in(tmp_path / "edited", KEEPS_CASE)
    (edited / "submission.yaml").write_text("base: accepted/plain\n", "utf-8")
    with pytest.raises(UsageError, match="has no files of its own called"):
        store(course, "wrong/x", edited)
