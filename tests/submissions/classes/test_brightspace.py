"""Folders and files as Brightspace names them; each time is an attempt, in a zone that someone has to say."""

from pathlib import Path
from zoneinfo import ZoneInfo

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read


def test_people_and_attempts(read: Read) -> None:
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


def test_the_zone_makes_a_time_of_it(read: Read) -> None:
    found = read(exports.BRIGHTSPACE, zone=ZoneInfo("America/Toronto"))
    assert str(found.attempts[0].submitted_at) == "2026-10-05 11:07:00-04:00"


def test_flat_files(read: Read) -> None:
    head = "777-5 - Ada Lovelace - Oct 5, 2026 1107 AM"
    found = read(
        {f"{head} - a - b.py": CODE, f"{head} - data.csv": b"1", "777-6 - Bo - Oct 5, 2026 1108 AM - x.py": CODE}
    )
    assert {d.name: sorted(p.name for p in d.path.iterdir()) for d in found.attempts} == {
        "Ada Lovelace_5": ["a - b.py", "data.csv"],
        "Bo_6": ["x.py"],
    }


def test_the_numbers_in_the_other_order(read: Read) -> None:
    """Which of the two is the user's is not told anywhere: two people must not become one."""
    found = read({f"{n}-777 - {who} - Oct 5, 2026 1107 AM/x.py": CODE for n, who in ((5, "Ada"), (6, "Bo"))})
    assert {d.name: d.students[0].id for d in found.attempts} == {"Ada_5": "5", "Bo_6": "6"}


def test_a_user_is_not_taken_for_somebody_whose_own_identifier_is_that_number(read: Read) -> None:
    found = read(
        {f"777-{n} - {who} - Oct 5, 2026 1107 AM/x.py": CODE for n, who in ((5, "Ada"), (6, "Bo"))},
        roster="OrgDefinedId,Last Name,First Name\n#5,,Bo\n#6,,Ada\n",
    )
    assert {d.name: d.students[0].id for d in found.attempts} == {"Ada_5": "6", "Bo_6": "5"}


def test_links_and_other_names_are_listed(read: Read, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "777-9 - Eve - Oct 5, 2026 1107 AM").symlink_to("/etc")
    found = read({f"777-{n} - P{n} - Oct 5, 2026 1107 AM/x.py": CODE for n in range(3)} | {"x.txt": b""})
    assert {u.name for u in found.unmatched} == {"777-9 - Eve - Oct 5, 2026 1107 AM", "x.txt"}
