"""`viva pull`: what it writes is read as any export is, and nothing that the platform says leads out of the folder."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.canvas_server import CanvasServer, Storage
from tests.support.lms_results import score_of_10, write_result
from tests.support.lms_server import Reply, times
from tests.support.moodle_server import MoodleServer
from tests.support.run_command import Viva
from viva.model import Attempt, Isolation
from viva.model.reason import Reason
from viva.plugins.cohorts.exports.read_class import read_class
from viva.plugins.cohorts.exports.unpacking import Caps
from viva.plugins.cohorts.lms import pulling
from viva.plugins.cohorts.lms.canvas import Canvas
from viva.plugins.cohorts.lms.platform import Account, RemoteSubmission
from viva.plugins.cohorts.lms.pulling import choose_student_ids, name_teams
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.store import Records
from viva.submissions.class_export import ClassExport


def read(out: str = "out") -> ClassExport:
    return read_class(Path(out) / "submissions", roster=Path(out) / "roster.csv", into=Path("private").resolve())


def contents(attempt: Attempt) -> dict[str, bytes]:
    root = attempt.path
    if root.is_file():
        return {root.name: root.read_bytes()}
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def everything(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


def test_canvas_is_a_folder_for_each_student(viva: Viva, canvas: CanvasServer, storage: Storage) -> None:
    canvas.enrol(101, "Ada Lovelace", "ada", sortable_name="Lovelace, Ada", sis_user_id="s1")
    canvas.enrol(102, "Bo Müller", "bo", sortable_name="Müller, Bo", sis_user_id="s2")
    canvas.enrol(103, "Kim", "kim", sis_user_id="s3")
    canvas.enrol(104, "=cmd()", "eve", sis_user_id="s4")
    canvas.attach(101, "hw.py", b"print(1)", 9001)
    canvas.attach(101, "data.csv", b"a,b", 9002)
    canvas.attach(102, "hw.py", b"print(2)", 9003, late=True, submitted_at="2026-10-06T00:00:00Z")
    canvas.submissions[103] |= {"submission_type": "online_text_entry", "body": "<p>Because</p>"}
    ran = viva("pull", "canvas", "--at", canvas.page, "-o", "out")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines() == [
        "out: 3 submissions (4 files), 4 students.",
        "viva grade out/submissions --roster out/roster.csv -o results",
    ]
    assert [name for name in everything(Path("out/submissions")) if "/" in name] == [
        *("s1/data.csv", "s1/hw.py", "s2/hw.py", "s3/text.html"),
    ]
    found = read()
    assert (found.source, found.unmatched, found.notes) == ("folder", (), ())
    by_id = {attempt.students[0].id: attempt for attempt in found.attempts}
    assert contents(by_id["s1"]) == {"hw.py": b"print(1)", "data.csv": b"a,b"}
    assert by_id["s2"].submitted_at is not None and by_id["s2"].submitted_at.isoformat() == "2026-10-06T00:00:00+00:00"
    assert by_id["s2"].students[0].also["canvas"] == "102"
    assert [student.id for student in found.missing] == ["s4"]
    assert found.missing[0].name == "'=cmd()"
    assert not any(each.has_token() for each in storage.asked)
    assert Path("out").stat().st_mode & 0o077 == 0
    assert viva("submissions", "out/submissions", "--roster", "out/roster.csv").status == 0


def test_moodle_is_a_folder_for_each_student(viva: Viva, moodle: MoodleServer) -> None:
    moodle.enrol(5, "Ada Lovelace", "ada")
    moodle.enrol(6, "Bo", "bo")
    moodle.enrol(7, "Kim", "kim")
    moodle.enrol(9, "Ms Weber", "weber", role="editingteacher")
    moodle.submit(5, ("/", "hw.py", b"1"), ("/data/raw/", "a.csv", b"2"), timemodified=1_790_000_001)
    moodle.submit(6, text="<p>my answer</p>")
    moodle.submit(7, ("/", "draft.py", b"3"), status="draft")
    moodle.submit(9, ("/", "hw.py", b"by the teacher"))
    ran = viva("pull", "moodle", "--at", moodle.page, "-o", "out")
    assert (ran.status, ran.out.splitlines()[0]) == (0, "out: 2 submissions (3 files), 3 students."), ran.err
    found = read()
    assert (found.source, found.unmatched) == ("folder", ())
    by_id = {attempt.students[0].id: attempt for attempt in found.attempts}
    assert contents(by_id["ada"]) == {"hw.py": b"1", "data/raw/a.csv": b"2"}
    assert contents(by_id["bo"]) == {"onlinetext.html": b"<p>my answer</p>"}
    assert by_id["ada"].submitted_at is not None and by_id["ada"].submitted_at.timestamp() == 1_790_000_001
    assert [student.id for student in found.missing] == ["kim"]
    assert not any("T0KEN" in f"{each.path}{each.query}" for each in moodle.asked)


def test_moodle_in_pages_and_without_identities(
    viva: Viva, moodle: MoodleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viva.plugins.cohorts.lms.moodle._PER_PAGE", 2)
    for number in range(5, 10):
        moodle.enrol(number, "Kim Lee")
        moodle.submit(number, ("/", "hw.py", b"%d" % number))
    assert viva("pull", "moodle", "--at", moodle.page, "-o", "out").status == 0
    found = read()
    assert {a.students[0].id: contents(a) for a in found.attempts} == {
        f"moodle-user-{number}": {"hw.py": b"%d" % number} for number in range(5, 10)
    }


def test_teams_of_moodle(viva: Viva, moodle: MoodleServer) -> None:
    moodle.assignment["teamsubmission"] = 1
    red, blue = [{"id": 40, "name": "Red, fast"}], [{"id": 41, "name": "ada"}]
    for number, login, groups in [(5, "ada", red), (6, "bo", red), (7, "kim", blue), (8, "zoe", [])]:
        moodle.enrol(number, login.title(), login, groups=groups)
    moodle.submit(0, ("/", "hw.py", b"red"), group=40)
    moodle.submit(0, ("/", "hw.py", b"blue"), group=41)
    moodle.submit(0, ("/", "hw.py", b"none"), group=0)
    ran = viva("pull", "moodle", "--at", moodle.page, "-o", "out")
    assert ran.status == 1
    assert "viva: left out: students without a team: no student of the course belongs to this team" in ran.err
    found = read()
    assert {contents(a)["hw.py"]: sorted(s.id for s in a.students) for a in found.attempts} == {
        b"red": ["ada", "bo"],
        b"blue": ["kim"],
    }


HOSTILE = [
    "../../../etc/passwd", "..\\..\\x.py", "/abs/x.py", "C:\\x.py", "a\x00b.py", "\x1b[2J.py", ".hidden.py", "~", "..",
    "n" * 10_000 + ".py", "‮yp.exe", "con.py", "", ".", "a/b.py", "-rf", "hw.py\n", "\ud800.py", "text.html",
    "7_8_hw.py", "LATE_9_9_9_hw.py",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=[ascii(name)[:30] for name in HOSTILE])
def test_hostile_names(viva: Viva, canvas: CanvasServer, moodle: MoodleServer, tmp_path: Path, name: str) -> None:
    """A file is the student's own or left out; never outside the folder, and never another student's."""
    for server in (canvas, moodle):
        server.enrol(7, "\u0301\x07", "eve")
        server.enrol(8, "Ada", "ada")
    for number, file_id in ((7, 99), (8, 98)):
        canvas.attach(number, name, b"%d" % number, file_id)
        moodle.submit(number, ("/", name, b"%d" % number), ("/", "work.py", b"%d" % number))
    before = everything(tmp_path)
    for platform, page in (("canvas", canvas.page), ("moodle", moodle.page)):
        ran = viva("pull", platform, "--at", page, "-o", f"out-{platform}")
        assert "\x1b" not in ran.err and "‮" not in ran.err
        root = tmp_path / f"out-{platform}"
        assert not any(p.is_symlink() for p in root.rglob("*"))
        found = read(f"out-{platform}") if ran.status == 0 else None
        for attempt in found.attempts if found is not None else ():
            content = {"eve": b"7", "ada": b"8", "7": b"7", "8": b"8"}[attempt.students[0].id]
            assert set(contents(attempt).values()) == {content}
        assert ran.status == 0 or ran.err.count("left out: ") == 2
    outside = [p for p in everything(tmp_path) if p.split("/")[0] not in ("out-canvas", "out-moodle", "private")]
    assert outside == before


def test_two_files_of_one_name(viva: Viva, canvas: CanvasServer) -> None:
    canvas.enrol(7, "Ada", "ada")
    canvas.attach(7, "hw.py", b"1", 1)
    canvas.attach(7, "HW.py", b"2", 2)
    canvas.attach(7, "hw.py", b"3", 3)
    assert viva("pull", "canvas", "--at", canvas.page, "-o", "out").status == 0
    assert sorted(p.read_bytes() for p in Path("out/submissions/ada").iterdir()) == [b"1", b"2", b"3"]
    assert len(read().attempts) == 1


LIMITS = [
    (Caps(file_mib=1), [2 << 20], "big.py has 2.0 MiB, and at most 1.0 MiB are left for it."),
    (Caps(student_mib=1), [700_000, 700_000], "big.py has 0.7 MiB, and at most 0.3 MiB are left for it."),
]


@pytest.mark.parametrize(("caps", "sizes", "sentence"), LIMITS)
def test_large_submissions(
    viva: Viva, canvas: CanvasServer, monkeypatch: pytest.MonkeyPatch, caps: Caps, sizes: list[int], sentence: str
) -> None:
    monkeypatch.setattr(pulling, "Caps", lambda: caps)
    canvas.enrol(7, "Ada", "ada")
    canvas.enrol(8, "Bo", "bo")
    for i, size in enumerate(sizes):
        canvas.attach(7, "big.py", b"x" * size, 100 + i)
    canvas.attach(8, "hw.py", b"small", 200)
    ran = viva("pull", "canvas", "--at", canvas.page, "-o", "out")
    assert ran.status == 1 and "left out: Ada: big.py" in ran.err and sentence in ran.err
    assert everything(Path("out/submissions")) == ["bo", "bo/hw.py"]


def test_platform_that_lies_about_a_size(viva: Viva, canvas: CanvasServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "Caps", lambda: Caps(file_mib=1))
    canvas.enrol(7, "Ada", "ada")
    canvas.attach(7, "big.py", b"x" * (2 << 20), 100)
    canvas.submissions[7]["attachments"][0]["size"] = 5
    ran = viva("pull", "canvas", "--at", canvas.page, "-o", "out")
    assert ran.status == 1 and "Ada: big.py: The file: it is larger than 1 MiB." in ran.err


def test_file_that_is_gone(viva: Viva, canvas: CanvasServer) -> None:
    """A part of a submission would be graded as if it were all of it."""
    canvas.enrol(7, "Ada", "ada")
    canvas.attach(7, "hw.py", b"1", 100)
    canvas.attach(7, "gone.py", b"2", 101)
    del canvas.storage.files["101"]
    ran = viva("pull", "canvas", "--at", canvas.page, "-o", "out")
    assert ran.status == 1 and "left out: Ada: gone.py: The file: 127.0.0.1 has no such page" in ran.err
    assert everything(Path("out")) == ["roster.csv", "submissions"]


@pytest.mark.parametrize(
    ("content", "said"), [(b"1", "bytes came, and the platform says that it has 1"), (b"", "left out: Ada")]
)
def test_error_of_moodle_is_no_file(viva: Viva, moodle: MoodleServer, content: bytes, said: str) -> None:
    moodle.enrol(7, "Ada", "ada")
    moodle.submit(7, ("/", "hw.py", content))
    denied = Reply(200, {"error": "You may not", "errorcode": "nopermission"})
    moodle.faults = [times(1, denied, lambda a: "pluginfile" in a.path)]
    ran = viva("pull", "moodle", "--at", moodle.page, "-o", "out")
    assert ran.status == 1 and said in ran.err


def test_files_elsewhere_get_no_token(viva: Viva, moodle: MoodleServer, storage: Storage) -> None:
    moodle.enrol(7, "Ada", "ada")
    moodle.submit(7, ("/", "hw.py", b"1"))
    moodle.submissions[0]["plugins"][0]["fileareas"][0]["files"][0]["fileurl"] = f"{storage.url}/stored/1"
    ran = viva("pull", "moodle", "--at", moodle.page, "-o", "out")
    assert ran.status == 1 and "an address on another site" in ran.err and storage.asked == []


def test_folder_appears_complete(viva: Viva, canvas: CanvasServer, tmp_path: Path, waits: list[float]) -> None:
    canvas.enrol(7, "Ada", "ada")
    canvas.attach(7, "hw.py", b"1", 100)
    before = everything(tmp_path)
    canvas.faults = [lambda a: Reply(503, {}) if a.path.startswith("/files/") else None]
    ran = viva("pull", "canvas", "--at", canvas.page, "-o", "out")
    assert ran.status == 1 and "has an error of its own (503)" in ran.err
    assert everything(tmp_path) == before

    canvas.faults = []
    assert viva("pull", "canvas", "--at", canvas.page, "-o", "out").status == 0
    again = viva("pull", "canvas", "--at", canvas.page, "-o", "out")
    assert again.status == 1 and "out already exists" in again.sentence()


def test_interruption_leaves_nothing(
    viva: Viva, canvas: CanvasServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    canvas.enrol(7, "Ada", "ada")
    canvas.attach(7, "hw.py", b"1", 100)
    before = everything(tmp_path)
    monkeypatch.setattr(Canvas, "download", stop)
    assert viva("pull", "canvas", "--at", canvas.page, "-o", "out").status == 130
    assert everything(tmp_path) == before


def test_pulled_class_can_be_pushed(viva: Viva, moodle: MoodleServer) -> None:
    """The roster leads from the folder's name to the person on the platform."""
    moodle.enrol(5, "Kim Lee", "kim", idnumber="K-1")
    moodle.enrol(6, "Kim Lee", "lee", idnumber="K-2")
    moodle.submit(6, ("/", "hw.py", b"1"))
    moodle.submit(5, ("/", "hw.py", b"2"))
    assert viva("pull", "moodle", "--at", moodle.page, "-o", "out").status == 0
    for attempt in read().attempts:
        write_result(Path("results") / attempt.name, 9 if attempt.name == "K-2" else 4)
    arguments = ("--at", moodle.page, "--roster", "out/roster.csv", "--send")
    assert viva("push", "moodle", "results", *arguments).status == 0
    assert moodle.grades == {5: 4.0, 6: 9.0}


def test_kept_scores_go_back_to_canvas(viva: Viva, canvas: CanvasServer, tmp_path: Path) -> None:
    """As `viva grade` keeps what was pulled; a score's own times count, so the late policy of the course applies."""
    course = tmp_path / "course"
    with (course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    with (course / "assignments/words/assignment.yaml").open("a") as file:
        file.write("due: 2026-10-05 12:00 UTC\npolicy: {late: [{until: 24h, minus: 50%}]}\n")
    canvas.enrol(101, "Kim Lee", sortable_name="Lee, Kim")
    canvas.enrol(102, "Kim Lee", sortable_name="Lee, Kim")
    canvas.attach(101, "hw.py", b"1", 9001)
    canvas.attach(102, "hw.py", b"2", 9002, late=True, submitted_at="2026-10-05T13:00:00Z")
    assert viva("pull", "canvas", "--at", canvas.page, "-o", "out").status == 0
    with Records.open("sqlite:///records.db", course) as records:
        for attempt in read().attempts:
            number = records.add_attempts("words", [(attempt, "00")])[0]
            conditions = Conditions("m", "s", None, False, training=False, gpu=False, isolation=Isolation("T3"))
            records.add_score(number, score_of_10(8), conditions, Reason("test", "test"))
    assert viva("push", "canvas", "words", "--at", canvas.page, "--send").status == 0
    assert canvas.grades() == {101: 8.0, 102: 4.0}


TEXTS = st.text(max_size=12) | st.sampled_from(["anon", "LATE", "1", "12_34", "", "é"])


ROWS = st.lists(st.fixed_dictionaries({"login": TEXTS, "email": TEXTS, "idnumber": TEXTS}), max_size=5)


@given(ROWS)
def test_ids_tell_everyone_apart(rows: list[dict[str, str]]) -> None:
    accounts = [Account(i, "", {**each, "user": f"moodle-user-{i}"}) for i, each in enumerate(rows)]
    ids = choose_student_ids(accounts)
    assert len({each.casefold() for each in ids.values()}) == len(accounts)
    assert not any("/" in each or each.startswith(".") or not each for each in ids.values())
    teams = [RemoteSubmission(each, None, (), group=i) for i, each in enumerate(["A", "a", "a team-1", *ids.values()])]
    names = name_teams(teams, ids.values())
    assert len({each.casefold() for each in [*names.values(), *ids.values()]}) == len(names) + len(accounts)


def test_roster_with_odd_names(viva: Viva, canvas: CanvasServer) -> None:
    canvas.enrol(1, 'A "quoted", name\r\n', "a")
    canvas.enrol(2, "x" * 10_000, "b")
    canvas.enrol(3, "\ud800‮", "c")
    assert viva("pull", "canvas", "--at", canvas.page, "-o", "out").status == 0
    rows = list(csv.DictReader(io.StringIO(Path("out/roster.csv").read_text("utf-8"))))
    assert [(row["id"], row["canvas"]) for row in rows] == [("a", "1"), ("b", "2"), ("c", "3")]
    assert rows[0]["name"] == 'A "quoted", name' and len(rows[1]["name"]) < 400
