"""Folders, archives and files that no platform named: one for each student."""

from pathlib import Path

import pytest

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read
from viva.model.errors import UsageError
from viva.submissions import discover


def test_folders_and_archives(read: Read, tmp_path: Path) -> None:
    found = read(exports.FOLDERS, roster="id,name\nada,Ada Lovelace\nb,Bob\nn,נועה לוי\nz,Zed\n")
    assert found.source == "folder"
    assert {d.name: [s.id for s in d.students] for d in found.attempts} == {
        "ada": ["ada"],
        "bob": ["b"],
        exports.HEBREW: ["n"],
    }
    assert [s.id for s in found.missing] == ["z"]
    assert {d.path for d in found.attempts} == set(discover([tmp_path / "class"]))


def test_files_by_their_names(read: Read) -> None:
    found = read(exports.LOOSE, roster=f"id,name,login\n1,{exports.ZOE_C},zoe\n2,Ada,ada\n1003,Cy,cy\n")
    assert {d.name: [s.id for s in d.students] for d in found.attempts} == {
        "1003": ["1003"],
        "ada": ["2"],
        exports.ZOE_C: ["1"],
    }
    assert [u.name for u in found.unmatched] == ["instructions.pdf"]


def test_archives_stay_closed(read: Read) -> None:
    assert [(d.name, d.path.name) for d in read(exports.ARCHIVES).attempts] == [
        ("ada", "ada.zip"),
        ("jo", "jo.tar.gz"),
    ]


def test_two_entries_of_one_student_are_two_attempts(read: Read) -> None:
    found = read(
        {"1001/x.py": CODE, "Ada Lovelace/x.py": CODE, "bo/x.py": CODE},
        roster="id,name\n1001,Bo\n7,Ada Lovelace\n8,Bo\n",
    )
    assert [(d.name, d.students[0].id) for d in found.attempts] == [
        ("1001", "1001"),
        ("Ada Lovelace", "7"),
        ("bo", "bo"),
    ]
    one = read({"7/x.py": CODE, "ada/x.py": CODE}, roster="id,login\n7,ada\n", folder="again")
    assert [(d.name, d.number) for d in one.attempts] == [("7", 1), ("ada", 2)]


def test_a_link_is_a_attempt_whose_result_says_so(read: Read, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "mallory").symlink_to("/etc")
    found = read({"ada/x.py": CODE, "bo/x.py": CODE})
    assert [d.name for d in found.attempts] == ["ada", "bo", "mallory"]


def test_a_class_of_one(read: Read) -> None:
    assert [d.name for d in read({"ada/src/x.py": CODE}).attempts] == ["ada"]


@pytest.mark.parametrize("files", [{}, {"notes.txt": b""}, {"x.py": CODE}, {"ada/": b""}, {"a/b/c/d/e/notes.txt": b""}])
def test_what_is_no_class(read: Read, files: dict[str, bytes]) -> None:
    with pytest.raises(UsageError, match="is not a class in a known format"):
        read(files)
