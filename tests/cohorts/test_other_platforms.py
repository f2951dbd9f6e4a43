"""Classes of Brightspace, Moodle, GitHub and nbgrader, and plain folders: who handed in what, and when."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, NOTEBOOK, Read, names
from viva.model.errors import UsageError
from viva.submissions import discover


def test_brightspace_people_and_attempts(read: Read) -> None:
    found = read(exports.BRIGHTSPACE, roster=exports.BRIGHTSPACE_ROSTER)
    assert found.source == "brightspace"
    assert {d.name: ([s.id for s in d.students], d.number, d.also["submitted"]) for d in found.attempts} == {
        "Ada Lovelace_67890": (["B1"], 1, "2026-10-05 11:07:00"),
        "Ada Lovelace_67890-attempt-2": (["B1"], 2, "2026-10-06 00:07:00"),
        "נועה לוי_67889": (["B2"], 1, "2026-10-05 12:10:00"),
        "Σοφία Παπαδοπούλου_67891": (["B3"], 1, "5 Οκτ 2026 1107"),
        "Anne-Marie O'Neil - Jr._67892": (["B4"], 1, "2026-10-05 13:07:00"),
    }
    assert all(d.submitted_at is None for d in found.attempts)
    assert [s.id for s in found.missing] == ["B5"]
    assert not found.unmatched and len(found.notes) == 4


def test_brightspace_zone(read: Read) -> None:
    found = read(exports.BRIGHTSPACE, zone=ZoneInfo("America/Toronto"))
    assert str(found.attempts[0].submitted_at) == "2026-10-05 11:07:00-04:00"


def test_brightspace_flat_files(read: Read) -> None:
    head = "777-5 - Ada Lovelace - Oct 5, 2026 1107 AM"
    found = read(
        {f"{head} - a - b.py": CODE, f"{head} - data.csv": b"1", "777-6 - Bo - Oct 5, 2026 1108 AM - x.py": CODE}
    )
    assert {d.name: sorted(p.name for p in d.path.iterdir()) for d in found.attempts} == {
        "Ada Lovelace_5": ["a - b.py", "data.csv"],
        "Bo_6": ["x.py"],
    }


def test_brightspace_numbers_in_the_other_order(read: Read) -> None:
    """Which of the two is the user's is not told anywhere: two people must not become one."""
    found = read({f"{n}-777 - {who} - Oct 5, 2026 1107 AM/x.py": CODE for n, who in ((5, "Ada"), (6, "Bo"))})
    assert {d.name: d.students[0].id for d in found.attempts} == {"Ada_5": "5", "Bo_6": "6"}


def test_brightspace_number_of_somebody_else(read: Read) -> None:
    found = read(
        {f"777-{n} - {who} - Oct 5, 2026 1107 AM/x.py": CODE for n, who in ((5, "Ada"), (6, "Bo"))},
        roster="OrgDefinedId,Last Name,First Name\n#5,,Bo\n#6,,Ada\n",
    )
    assert {d.name: d.students[0].id for d in found.attempts} == {"Ada_5": "6", "Bo_6": "5"}


def test_brightspace_links_and_other_names(read: Read, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "777-9 - Eve - Oct 5, 2026 1107 AM").symlink_to("/etc")
    found = read({f"777-{n} - P{n} - Oct 5, 2026 1107 AM/x.py": CODE for n in range(3)} | {"x.txt": b""})
    assert {u.name for u in found.unmatched} == {"777-9 - Eve - Oct 5, 2026 1107 AM", "x.txt"}


# --- Moodle: folders or flat, entered text, teams, blind assignments, and a login in front


def test_moodle_folders(read: Read) -> None:
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


def test_moodle_unknown_team(read: Read) -> None:
    """Its number is that of a participant: without the column of groups it must not become hers."""
    worksheet = exports.MOODLE_WORKSHEET.replace("Team Rocket", "")
    found = read(exports.MOODLE, roster=worksheet)
    assert {d.name: [s.id for s in d.students] for d in found.attempts}["Team Rocket_9"] == ["9"]
    assert [(u.name, u.reason) for u in found.unmatched] == [("Team Rocket_9", "is not in the roster")]
    assert {"M8", "M9"} <= {s.id for s in found.missing}


def test_moodle_flat_files(read: Read) -> None:
    found = read(exports.MOODLE_FLAT)
    assert {d.name: names(d.path) for d in found.attempts} == {
        "Ada Lovelace_301": ["helper.py", "onlinetext.html", "solution.py"],
        "Participant_307": ["hw.ipynb"],
    }
    blind = found.attempts[1].students[0]
    assert (blind.id, blind.name, blind.also) == ("307", "", {"moodle": "307"})


def test_moodle_blind_worksheet(read: Read) -> None:
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
def test_moodle_underscores_and_logins(read: Read, who: str, name: str) -> None:
    files = {f"{who}_301_assignsubmission_file_/x.py": CODE}
    assert read(files).attempts[0].students[0].name == name
    with_list = read(files, roster="id,name,login\nM1,Ada Lovelace,adal\nM2,Bo Else,bo\n")
    assert [s.id for s in with_list.attempts[0].students] == ["M1"]


def test_moodle_single_word_as_name(read: Read) -> None:
    found = read({"wang01_王伟_301_assignsubmission_file/x.py": CODE}, roster="id,login\nM1,wang01\n")
    assert [s.id for s in found.attempts[0].students] == ["M1"]


def test_moodle_other_names(read: Read, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "Eve_303_assignsubmission_file").symlink_to("/etc")
    found = read({"A B_301_assignsubmission_file/x.py": CODE, "notes.txt": b"", "A_9_assignsubmission_file_x.py": CODE})
    assert {u.name for u in found.unmatched} == {"notes.txt", "Eve_303_assignsubmission_file"}
    assert {d.name for d in found.attempts} == {"A B_301", "A_9"}


# --- clones of GitHub: the slug, logins and teams; nothing of a student's git is read or run


def test_github_logins_and_teams(read: Read, tmp_path: Path) -> None:
    found = read(exports.GITHUB, roster=exports.CLASSROOM_GRADES)
    assert found.source == "github"
    told = {d.name: ([s.id for s in d.students], d.team, str(d.submitted_at)) for d in found.attempts}
    assert told == {
        "hw1-ada": (["ada@x.edu"], "", "2026-10-05 11:07:00+00:00"),
        "hw1-jo-smith": (["jo@x.edu"], "", "2026-10-06 11:07:00+00:00"),
        "hw1-team-rocket": (["jesse@x.edu", "james@x.edu"], "team-rocket", "2026-10-05 11:07:00+00:00"),
    }
    assert [(u.name, u.reason) for u in found.unmatched] == [
        ("hw2-ada", "is not a repository of this assignment (hw1-…)")
    ]


def test_github_team_that_became_a_slug(read: Read) -> None:
    found = read(exports.GITHUB, roster=exports.CLASSROOM_GRADES.replace('"team-rocket"', '"Team Rocket"'))
    assert [len(d.students) for d in found.attempts] == [1, 1, 2]


def test_github_roster_beside_the_clones(read: Read) -> None:
    roster = {"hw1-submissions/classroom_roster.csv": exports.CLASSROOM_ROSTER.encode()}
    found = read({**exports.GITHUB, **roster})
    assert {d.name: [s.id for s in d.students] for d in found.attempts} == {
        "hw1-ada": ["ada@x.edu"],
        "hw1-jo-smith": ["jo@x.edu"],
        "hw1-team-rocket": ["team-rocket"],
    }
    assert [(s.id, s.name) for s in found.missing] == [("noa@x.edu", exports.HEBREW)]


def test_github_clones_in_any_folder(read: Read) -> None:
    files = {f"nlp-hw1-anna-{who}/x.py": CODE for who in "xy"} | {f"nlp-hw1-anna-{who}/.git/HEAD": b"" for who in "xy"}
    found = read(files)
    assert found.source == "github"
    # the logins begin alike: without a list the longer part is taken for the slug, with one the whole login is found
    assert [d.students[0].id for d in found.attempts] == ["x", "y"]
    listed = read(files, roster="identifier,github_username\n1,anna-x\n2,anna-y\n")
    assert [d.students[0].id for d in listed.attempts] == ["1", "2"]


def test_folders_that_are_no_clones(read: Read) -> None:
    assert read({"hw-ada/x.py": CODE, "hw-bo/x.py": CODE}).source == "folder"


def test_one_student_without_git(read: Read) -> None:
    found = read({"hw-ada/x.py": CODE, "hw-bo/x.py": CODE, "hw-bo/.git/HEAD": b""})
    assert found.source == "folder" and len(found.attempts) == 2


# --- nbgrader: students and assignments, with timestamps that may be missing or wrong


def test_nbgrader_students_and_times(read: Read) -> None:
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
def test_nbgrader_folder_of_students(read: Read, folder: str) -> None:
    files = {name.removeprefix("submitted/"): data for name, data in exports.NBGRADER.items() if "notes" not in name}
    found = read(files, folder=folder)
    assert (found.source, len(found.attempts)) == ("nbgrader", 4)


def test_nbgrader_several_assignments(read: Read) -> None:
    files = {f"submitted/ada/ps{n}/x.ipynb": NOTEBOOK for n in (1, 2)}
    found = read(files)
    assert [(d.name, d.number, d.also["assignment"]) for d in found.attempts] == [
        ("ada_ps1", 1, "ps1"),
        ("ada_ps2", 1, "ps2"),
    ]


def test_one_student_decides_no_kind(read: Read) -> None:
    files = {f"{who}/src/x.py": CODE for who in ("ada", "bo", "cy")} | {"eve/x/timestamp.txt": b"", "eve/y.py": CODE}
    assert read(files).source == "folder"


def test_nbgrader_timestamp_that_is_a_link(read: Read, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("2026-10-05 11:07:00 UTC")
    (tmp_path / "class/submitted/ada/ps1").mkdir(parents=True)
    (tmp_path / "class/submitted/ada/ps1/timestamp.txt").symlink_to(tmp_path / "elsewhere")
    found = read({"submitted/ada/ps1/x.ipynb": NOTEBOOK, "submitted/bo/ps1/timestamp.txt": b"x" * 5000})
    assert [d.submitted_at for d in found.attempts] == [None, None]


# --- folders, archives and files that no platform named: one for each student


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


def test_two_entries_of_one_student(read: Read) -> None:
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


def test_link_in_a_class(read: Read, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "mallory").symlink_to("/etc")
    found = read({"ada/x.py": CODE, "bo/x.py": CODE})
    assert [d.name for d in found.attempts] == ["ada", "bo", "mallory"]


def test_class_of_one(read: Read) -> None:
    assert [d.name for d in read({"ada/src/x.py": CODE}).attempts] == ["ada"]


def test_folder_of_the_only_student_in_a_list(read: Read) -> None:
    """Its files are not submissions of their own, and it may hold no code."""
    files = {"ada/text.html": b"answer", "ada/data.csv": b"1"}
    assert [d.name for d in read(files, roster="id,name\nada,Ada\n").attempts] == ["ada"]
    files = {"ada/x.py": CODE, "ada/y.py": CODE}
    assert [d.name for d in read(files, roster="id,name\nada,Ada\n", folder="again").attempts] == ["ada"]


@pytest.mark.parametrize("files", [{}, {"notes.txt": b""}, {"x.py": CODE}, {"ada/": b""}, {"a/b/c/d/e/notes.txt": b""}])
def test_no_class(read: Read, files: dict[str, bytes]) -> None:
    with pytest.raises(UsageError, match="is not a class in a known format"):
        read(files)
