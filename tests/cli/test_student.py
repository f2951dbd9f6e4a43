"""`viva student`: a graded class in which one student asks for what is kept, and then for its removal."""

import json
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in


@pytest.fixture
def keeping(viva: Viva, keeping: Path, tmp_path: Path) -> Path:
    """A course that keeps two graded students, `lovelace` and `turing`."""
    for name, source in (("lovelace", RIGHT), ("turing", f"# by Turing\n{KEEPS_CASE}")):
        hand_in(tmp_path / "class" / name, source)
    assert viva("grade", "class", "-o", "out").status == 0
    return keeping


def test_export_holds_what_is_kept_of_one_student(viva: Viva, keeping: Path, tmp_path: Path) -> None:
    ran = viva("student", "export", "Turing", "-o", "turing.json")
    assert (ran.status, ran.out) == (0, "written: turing.json, 1 submission\n")
    assert "--without-hidden leaves that out" in ran.err
    text = (tmp_path / "turing.json").read_text("ascii")
    (attempt,) = json.loads(text)["attempts"]
    assert attempt["scores"][0]["earned"] == "3" and "lovelace" not in text
    assert any("# by Turing" in line for line in attempt["scores"][0]["call_log"])
    assert "test_random_texts" in text and (tmp_path / "turing.json").stat().st_mode & 0o077 == 0
    viva("student", "export", "Turing", "-o", "turing.json", "--without-hidden")
    assert "test_random_texts" not in (tmp_path / "turing.json").read_text("ascii")


def test_delete_removes_every_row_of_one_student(viva: Viva, keeping: Path, tmp_path: Path) -> None:
    before = viva("student", "delete", "turing")
    assert before.status == 1 and before.out.startswith("turing: would be deleted: 1 submission, ")
    assert "1 call log, 1 score" in before.out and "--yes deletes these rows for good" in before.sentence()
    assert "3 of 9" in viva("history", "turing").out
    after = viva("student", "delete", "turing", "--yes", "--by", "grace", "--why", "asked for")
    assert (after.status, after.err) == (0, "") and after.out.startswith("turing: deleted: 1 submission,")
    assert str(tmp_path / "class/turing") in after.out
    assert "hold no score of 'turing'" in viva("history", "turing").sentence()
    for path in keeping.glob("records.db*"):
        assert b"turing" not in path.read_bytes().lower()
    assert "9 of 9" in viva("history", "lovelace").out


WRONG = [
    (("export", "eve", "-o", "x.json"), "hold nothing of 'eve'"),
    (("delete", "eve", "--yes"), "hold nothing of 'eve'"),
    (("delete", "turing", "--yes", "--why", "Turing left"), "names the student"),
    ((), "Missing command"),
    (("forget", "turing"), "No such command 'forget'"),
]


def test_wrong_command(viva: Viva, keeping: Path) -> None:
    for arguments, said in WRONG:
        ran = viva("student", *arguments)
        assert (ran.status, ran.out) == (1, "") and said in ran.sentence()
    assert not Path("x.json").exists() and "3 of 9" in viva("history", "turing").out
