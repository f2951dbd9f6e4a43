"""nbgrader's tree of students and assignments, with timestamps that may be missing or wrong."""

from pathlib import Path

import pytest

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, NOTEBOOK, Read


def test_students_and_times(read: Read) -> None:
    found = read(exports.NBGRADER)
    assert found.source == "nbgrader"
    assert {d.name: (d.path.name, str(d.submitted_at)) for d in found.attempts} == {
        "ada": ("ps1", "2026-10-05 11:07:00.250000+02:00"),
        "noa": ("ps1", "2026-10-05 11:07:00+00:00"),
        "王伟": ("ps1", "None"),
        "jo": ("ps1", "None"),
    }
    assert [(u.name, u.reason) for u in found.unmatched] == [("jo/notes.txt", "is not a folder of an assignment")]


@pytest.mark.parametrize("folder", ["submitted", "downloaded"])
def test_the_folder_of_students_itself(read: Read, folder: str) -> None:
    files = {name.removeprefix("submitted/"): data for name, data in exports.NBGRADER.items() if "notes" not in name}
    found = read(files, folder=folder)
    assert (found.source, len(found.attempts)) == ("nbgrader", 4)


def test_several_assignments_are_no_attempts(read: Read) -> None:
    files = {f"submitted/ada/ps{n}/x.ipynb": NOTEBOOK for n in (1, 2)}
    found = read(files)
    assert [(d.name, d.number, d.also["assignment"]) for d in found.attempts] == [
        ("ada_ps1", 1, "ps1"),
        ("ada_ps2", 1, "ps2"),
    ]


def test_one_student_cannot_make_the_class_another_kind(read: Read) -> None:
    files = {f"{who}/src/x.py": CODE for who in ("ada", "bo", "cy")} | {"eve/x/timestamp.txt": b"", "eve/y.py": CODE}
    assert read(files).source == "folder"


def test_a_timestamp_that_is_a_link_is_not_read(read: Read, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("2026-10-05 11:07:00 UTC")
    (tmp_path / "class/submitted/ada/ps1").mkdir(parents=True)
    (tmp_path / "class/submitted/ada/ps1/timestamp.txt").symlink_to(tmp_path / "elsewhere")
    found = read({"submitted/ada/ps1/x.ipynb": NOTEBOOK, "submitted/bo/ps1/timestamp.txt": b"x" * 5000})
    assert [d.submitted_at for d in found.attempts] == [None, None]
