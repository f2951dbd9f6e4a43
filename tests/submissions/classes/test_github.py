"""Clones of a class: the slug, logins and teams; nothing of a student's git is read or run."""

from pathlib import Path

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read


def test_logins_and_a_team_of_the_grades_file(read: Read, tmp_path: Path) -> None:
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


def test_a_team_whose_name_became_a_slug(read: Read) -> None:
    found = read(exports.GITHUB, roster=exports.CLASSROOM_GRADES.replace('"team-rocket"', '"Team Rocket"'))
    assert [len(d.students) for d in found.attempts] == [1, 1, 2]


def test_the_roster_beside_the_clones_is_used(read: Read) -> None:
    found = read(exports.GITHUB | {"hw1-submissions/classroom_roster.csv": exports.CLASSROOM_ROSTER.encode()})
    assert {d.name: [s.id for s in d.students] for d in found.attempts} == {
        "hw1-ada": ["ada@x.edu"],
        "hw1-jo-smith": ["jo@x.edu"],
        "hw1-team-rocket": ["team-rocket"],
    }
    assert [(s.id, s.name) for s in found.missing] == [("noa@x.edu", exports.HEBREW)]


def test_clones_in_a_folder_of_any_name(read: Read) -> None:
    files = {f"nlp-hw1-anna-{who}/x.py": CODE for who in "xy"} | {f"nlp-hw1-anna-{who}/.git/HEAD": b"" for who in "xy"}
    found = read(files)
    assert found.source == "github"
    # the logins begin alike: without a list the longer part is taken for the slug, with one the whole login is found
    assert [d.students[0].id for d in found.attempts] == ["x", "y"]
    listed = read(files, roster="identifier,github_username\n1,anna-x\n2,anna-y\n")
    assert [d.students[0].id for d in listed.attempts] == ["1", "2"]


def test_folders_that_are_no_clones_are_a_class_of_folders(read: Read) -> None:
    assert read({"hw-ada/x.py": CODE, "hw-bo/x.py": CODE}).source == "folder"


def test_one_student_without_git_changes_only_the_kind(read: Read) -> None:
    found = read({"hw-ada/x.py": CODE, "hw-bo/x.py": CODE, "hw-bo/.git/HEAD": b""})
    assert found.source == "folder" and len(found.attempts) == 2
