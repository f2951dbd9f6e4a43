"""Names that Moodle makes: folders or flat, text that was entered, teams, blind assignments, and a login in front."""

from pathlib import Path

import pytest

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read, names


def test_folders_with_a_worksheet(read: Read) -> None:
    found = read(exports.MOODLE, roster=exports.MOODLE_WORKSHEET)
    assert found.source == "moodle"
    assert {d.name: ([s.id for s in d.students], d.team, names(d.path)) for d in found.attempts} == {
        "Ada Lovelace_301": (["M1"], "", ["data/x.txt", "onlinetext.html", "solution.py"]),
        "Zoë Müller_302": (["M2"], "", ["hw.ipynb"]),
        "noa נועה לוי_303": (["M3"], "", ["solution.py"]),
        "ليلى حداد_304": (["M4"], "", ["onlinetext.html"]),
        "Jo Smith_305": (["M5"], "", ["solution.py"]),
        "Jo Smith_306": (["M6"], "", ["solution.py"]),
        # 9 is the number of the team, and of Grace Hopper, who is in it: the name decides
        "Team Rocket_9": (["M9", "M8"], "Team Rocket", ["solution.py"]),
    }
    assert [s.id for s in found.missing] == ["M10"]
    assert not found.unmatched and not found.notes


def test_a_team_that_no_list_knows_is_nobody_else(read: Read) -> None:
    """Its number is that of a participant: without the column of groups it must not become hers."""
    worksheet = exports.MOODLE_WORKSHEET.replace("Team Rocket", "")
    found = read(exports.MOODLE, roster=worksheet)
    assert {d.name: [s.id for s in d.students] for d in found.attempts}["Team Rocket_9"] == ["9"]
    assert [(u.name, u.reason) for u in found.unmatched] == [("Team Rocket_9", "is not in the roster")]
    assert {"M8", "M9"} <= {s.id for s in found.missing}


def test_flat_files_and_a_blind_participant(read: Read) -> None:
    found = read(exports.MOODLE_FLAT)
    assert {d.name: names(d.path) for d in found.attempts} == {
        "Ada Lovelace_301": ["helper.py", "onlinetext.html", "solution.py"],
        "Participant_307": ["hw.ipynb"],
    }
    blind = found.attempts[1].students[0]
    assert (blind.id, blind.name, blind.also) == ("307", "", {"moodle": "307"})


def test_a_blind_worksheet_has_no_names(read: Read) -> None:
    worksheet = (
        "Identifier,Status,Grade,Maximum grade,Grade can be changed,Last modified (grade)\n"
        "Participant 307,Submitted for grading,,10,Yes,-\nParticipant 308,Submitted for grading,,10,Yes,-\n"
    )
    found = read(exports.MOODLE_FLAT, roster=worksheet)
    assert {d.name: [(s.id, s.name) for s in d.students] for d in found.attempts}["Participant_307"] == [("307", "")]
    assert [s.id for s in found.missing] == ["308"]


@pytest.mark.parametrize(
    ("who", "name"),
    [("Ada_Lovelace", "Ada Lovelace"), ("adal_Ada Lovelace", "Ada Lovelace"), ("Ada Lovelace", "Ada Lovelace"),
     ("ADA   LOVELACE", "ADA LOVELACE")],
)  # fmt: skip
def test_underscores_and_a_login_in_front(read: Read, who: str, name: str) -> None:
    files = {f"{who}_301_assignsubmission_file_/x.py": CODE}
    assert read(files).attempts[0].students[0].name == name
    with_list = read(files, roster="id,name,login\nM1,Ada Lovelace,adal\nM2,Bo Else,bo\n")
    assert [s.id for s in with_list.attempts[0].students] == ["M1"]


def test_a_single_word_as_name_and_a_login(read: Read) -> None:
    found = read({"wang01_王伟_301_assignsubmission_file/x.py": CODE}, roster="id,login\nM1,wang01\n")
    assert [s.id for s in found.attempts[0].students] == ["M1"]


def test_what_has_another_name_is_listed(read: Read, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "Eve_303_assignsubmission_file").symlink_to("/etc")
    found = read({"A B_301_assignsubmission_file/x.py": CODE, "notes.txt": b"", "A_9_assignsubmission_file_x.py": CODE})
    assert {u.name for u in found.unmatched} == {"notes.txt", "Eve_303_assignsubmission_file"}
    assert {d.name for d in found.attempts} == {"A B_301", "A_9"}
