"""`viva push`: shown first, sent with --send, never twice, and whatever the platform answers is a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.canvas_server import ASSIGNMENT, CanvasServer, Storage
from tests.support.lms_results import write_page, write_result
from tests.support.lms_server import Asked, Reply, times
from tests.support.moodle_server import MoodleServer
from tests.support.run_command import Ran, Viva
from viva.plugins.cohorts.lms.canvas import Canvas

PAGES = ("--feedback", "report/feedback")
PUT = f"/assignments/{ASSIGNMENT}/submissions/1"


Push = Callable[..., Ran]


@pytest.fixture
def push(viva: Viva) -> Push:
    """`push(server, …)`: send the results to the assignment of a Canvas or Moodle."""

    def call(server: CanvasServer | MoodleServer, *options: str, results: str = "results") -> Ran:
        platform = "canvas" if isinstance(server, CanvasServer) else "moodle"
        return viva("push", platform, results, "--at", server.page, *options)

    return call


@pytest.fixture(autouse=True)
def _graded() -> None:
    write_result(Path("results/ada"), 9)
    write_result(Path("results/bo"), 6)
    write_result(Path("results/kim"), 4, still_open=2)
    for name in ("ada", "bo", "kim"):
        write_page(name, f"the page of {name}")


def enrol(server: CanvasServer | MoodleServer) -> None:
    for number, (name, login) in enumerate([("Ada", "ada"), ("Bo", "bo"), ("Kim", "kim"), ("Zoe", "zoe")], 1):
        server.enrol(number, name, login)


def test_first_run_only_shows(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    canvas.submissions[2] |= {"entered_score": 8.0, "score": 7.5}
    ran = push(canvas)
    assert (ran.status, ran.err) == (0, "")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["student", "there", "here", "grade", "feedback"],
        ["ada", "-", "9", "set"],
        ["bo", "8", "6", "kept:", "higher", "there"],
        ["kim", "-", "-", "not", "graded", "yet"],
        ["1", "set,", "1", "kept:", "higher", "there,", "1", "not", "graded", "yet"],
        ["1", "student", "would", "change;", "--send", "sends", "it.", "Nothing", "was", "sent."],
    ]
    assert canvas.writes() == []


def test_canvas_gets_grades_and_pages_once(push: Push, canvas: CanvasServer, storage: Storage) -> None:
    enrol(canvas)
    canvas.late_penalty = 1.0  # Canvas's own: what was entered counts
    ran = push(canvas, *PAGES, "--send")
    assert (ran.status, ran.err.splitlines()) == (0, ["1 of 2: ada: sent", "2 of 2: bo: sent"])
    assert ran.out.endswith("Sent: 2 of 2 students.\n")
    assert canvas.grades() == {1: 9.0, 2: 6.0, 3: None, 4: None}
    comments = canvas.submissions[1]["submission_comments"]
    assert len(comments) == 1 and comments[0]["comment"] == "Feedback is in the attached file."
    assert storage.files[comments[0]["attachments"][0]["display_name"]] == b"the page of ada"
    assert not any(each.has_token() for each in storage.asked)
    writes = len(canvas.writes())
    again = push(canvas, *PAGES, "--send")
    assert (again.status, again.err) == (0, "") and again.out.endswith("Sent: 0 of 0 students.\n")
    assert len(canvas.writes()) == writes
    write_page("ada", "another page of ada")
    assert push(canvas, *PAGES, "--send").err == "1 of 1: ada: sent\n"
    assert len(canvas.submissions[1]["submission_comments"]) == 2
    grades = [a.get("submission[posted_grade]") for a in canvas.writes() if a.method == "PUT"]
    assert grades == ["9", "6", ""]


@pytest.mark.parametrize("status", [201, 303])
def test_confirmed_upload(push: Push, canvas: CanvasServer, storage: Storage, status: int) -> None:
    enrol(canvas)
    storage.confirm_status = status
    assert push(canvas, *PAGES, "--send").status == 0
    assert len(canvas.submissions[1]["submission_comments"]) == 1


def test_upload_is_confirmed_on_the_site_alone(push: Push, canvas: CanvasServer, storage: Storage) -> None:
    enrol(canvas)
    storage.confirm_at = f"{storage.url}/stored/x"
    ran = push(canvas, *PAGES, "--send")
    assert ran.status == 1 and ran.err.count("another site, which gets no token") == 2
    assert canvas.grades()[1] is None and not any(each.has_token() for each in storage.asked)


def test_moodle_gets_grades_and_pages(push: Push, moodle: MoodleServer) -> None:
    enrol(moodle)
    moodle.enrol(9, "Ms Weber", "weber", role="editingteacher")
    moodle.grades[1] = 5.0
    moodle.comments[1] = "<p>Well done & more</p>"
    moodle.feedback[1] = {"by hand.pdf": b"%PDF", "feedback-0000000000000000.html": b"an earlier page"}
    ran = push(moodle, *PAGES, "--send")
    assert (ran.status, ran.err.splitlines()) == (0, ["1 of 2: ada: sent", "2 of 2: bo: sent"])
    assert moodle.grades == {1: 9.0, 2: 6.0}
    assert moodle.comments[1] == "<p>Well done & more</p>"
    page = next(name for name in moodle.feedback[1] if name.startswith("feedback-"))
    assert moodle.feedback[1] == {"by hand.pdf": b"%PDF", page: b"the page of ada"}
    writes = len(moodle.writes())
    again = push(moodle, *PAGES, "--send")
    assert (again.status, len(moodle.writes())) == (0, writes)
    assert not any("T0KEN" in f"{each.path}{each.query}" for each in moodle.asked), "the token is never in an address"


def test_comment_with_pictures(push: Push, moodle: MoodleServer) -> None:
    enrol(moodle)
    moodle.grades[1] = 5.0
    moodle.comments[1] = f'<img src="{moodle.site}/webservice/pluginfile.php/1/x.png">'
    ran = push(moodle, "--send")
    assert ran.status == 1 and "ada: The feedback comment there holds pictures" in ran.err
    assert moodle.grades == {1: 5.0, 2: 6.0}


def test_moodle_without_feedback_files(push: Push, moodle: MoodleServer) -> None:
    enrol(moodle)
    moodle.has_file_feedback = False
    ran = push(moodle, *PAGES, "--send")
    assert ran.status == 1 and ran.err.count("turn on `Feedback files`") == 2


def test_grade_is_lowered_only_on_request(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    canvas.submissions[1] |= {"entered_score": 10.0, "score": 10.0}
    push(canvas, "--send")
    assert canvas.grades()[1] == 10.0
    push(canvas, "--send", "--lower")
    assert canvas.grades()[1] == 9.0


def test_with_open(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    push(canvas, "--send", "--with-open")
    assert canvas.grades()[3] == 4.0


def test_one_refusal(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    refusal = Reply(400, {"errors": [{"message": "grading period is closed"}]})
    canvas.faults = [times(1, refusal, lambda a: a.method == "PUT" and a.path.endswith(PUT))]
    ran = push(canvas, "--send")
    assert ran.status == 1
    assert ran.err.splitlines() == [
        "viva: ada: The grade: 127.0.0.1 refuses the request (400: grading period is closed).",
        "2 of 2: bo: sent",
    ]
    assert ran.out.endswith("Sent: 1 of 2 students. Run the command again to send the rest.\n")
    assert push(canvas, "--send").status == 0
    assert canvas.grades() == {1: 9.0, 2: 6.0, 3: None, 4: None}


def test_grade_that_changed_meanwhile(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)

    def meanwhile(asked: Asked) -> None:
        if asked.path.endswith("/submissions/1"):
            canvas.submissions[1] |= {"entered_score": 9.5, "score": 9.5}

    canvas.faults = [meanwhile]
    ran = push(canvas, "--send")
    assert ran.status == 1 and "ada: The grade changed since the plan was made" in ran.err
    assert canvas.grades()[1] == 9.5


def test_platform_that_keeps_another_grade(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    other = Reply(200, {**canvas.submissions[1], "entered_score": 3.0})
    canvas.faults = [times(1, other, lambda a: a.method == "PUT" and a.path.endswith(PUT))]
    ran = push(canvas, "--send")
    assert ran.status == 1 and "ada: Canvas accepted 9 but shows 3; look at the gradebook." in ran.err


def test_lost_answer_does_not_comment_twice(
    push: Push, canvas: CanvasServer, storage: Storage, waits: list[float]
) -> None:
    """The grade was taken, and the connection broke: the next run sees it, and sends nothing for this student."""
    enrol(canvas)
    carried_out: list[Asked] = []

    def lose(asked: Asked) -> Reply | None:
        if asked.method == "PUT" and not carried_out:
            carried_out.append(asked)
            return Reply(200, canvas.answer(asked).body(), cut=True)
        return None

    canvas.faults = [lose]
    ran = push(canvas, *PAGES, "--send")
    assert ran.status == 1 and "ada: The grade: the answer is incomplete or damaged" in ran.err
    assert push(canvas, *PAGES, "--send").status == 0
    assert len(canvas.submissions[1]["submission_comments"]) == 1 and canvas.grades()[1] == 9.0


def test_throttled_requests_are_repeated(push: Push, canvas: CanvasServer, waits: list[float]) -> None:
    enrol(canvas)
    count = [0]

    def every_third(asked: Asked) -> Reply | None:
        count[0] += 1
        return Reply(403, b"403 Forbidden (Rate Limit Exceeded)") if count[0] % 3 == 0 else None

    canvas.faults = [every_third]
    assert push(canvas, "--send").status == 0
    assert canvas.grades() == {1: 9.0, 2: 6.0, 3: None, 4: None} and waits


def test_platform_that_is_down(push: Push, canvas: CanvasServer, waits: list[float]) -> None:
    for number in range(20):
        canvas.enrol(100 + number, f"S{number}", f"s{number}")
        write_result(Path(f"many/s{number}"), 5)
    canvas.faults = [lambda a: Reply(500, {}) if a.method == "PUT" else None]
    ran = push(canvas, "--send", results="many")
    assert ran.status == 1
    assert sum(a.method == "PUT" for a in canvas.asked) == 3
    assert ran.err.splitlines()[-1].startswith("viva: The grade: 127.0.0.1 has an error of its own (500)")
    assert "Sent: 0 of 20 students. Run the command again" in ran.out


def test_interrupted_push_says_what_was_sent(push: Push, canvas: CanvasServer, monkeypatch: pytest.MonkeyPatch) -> None:
    enrol(canvas)
    send = Canvas.send

    def stop(self: Canvas, *arguments: Any) -> None:
        if canvas.grades()[1] is not None:
            raise KeyboardInterrupt
        send(self, *arguments)

    monkeypatch.setattr(Canvas, "send", stop)
    ran = push(canvas, "--send")
    assert ran.status == 130 and "Sent: 1 of 2 students. Run the command again to send the rest." in ran.out


def test_unknown_accounts(push: Push, canvas: CanvasServer) -> None:
    canvas.enrol(1, "Ada", "ada")
    canvas.enrol(2, "Bo", "bo")
    del canvas.submissions[2]
    write_result(Path("results/eve"), 3)
    ran = push(canvas, "--send")
    assert ran.status == 1
    assert ran.err.splitlines() == [
        "viva: bo: not assigned there; the grade is not sent.",
        "viva: eve: no matching account; the grade is not sent.",
        "1 of 1: ada: sent",
    ]


def test_other_maximum_needs_rescaling(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    canvas.assignment["points_possible"] = 20.0
    ran = push(canvas, "--send")
    assert "`Words` on the platform has a maximum of 20 points, and the assignment has 10" in ran.sentence()
    assert push(canvas, "--send", "--rescale").status == 0
    assert canvas.grades()[1] == 18.0


def test_excuse_is_sent_where_there_is_no_grade(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    Path("course/assignments/words/exceptions.yaml").write_text(
        "exceptions:\n- {students: [ada, bo], excused: true, by: W, reason: ill}\n", "utf-8"
    )
    canvas.submissions[2] |= {"entered_score": 2.0, "score": 2.0}
    assert push(canvas, "--send").status == 0
    assert (canvas.submissions[1]["excused"], canvas.grades()[2]) == (True, 2.0)


def test_hostile_names(push: Push, canvas: CanvasServer) -> None:
    canvas.enrol(1, "\x1b]0;x\x07" + "n" * 10_000, "ada")
    Path("roster.csv").write_text("id,name\nada,\x1b[31m[red]Ada‮\nbo,\nkim,\n", "utf-8")
    ran = push(canvas, "--roster", "roster.csv", "--send")
    assert "\x1b" not in ran.out + ran.err and "‮" not in ran.out + ran.err and "[red]" in ran.out
    assert canvas.grades()[1] == 9.0


REFUSED: list[tuple[str, Callable[[CanvasServer, MoodleServer], None], str]] = [
    ("canvas", lambda c, m: c.assignment.update(grading_type="pass_fail"), "does not take points at Canvas"),
    ("canvas", lambda c, m: c.assignment.update(points_possible=None), "does not take points at Canvas"),
    ("canvas", lambda c, m: c.assignment.update(group_category_id=5), "one grade for a whole group"),
    ("canvas", lambda c, m: c.assignment.update(anonymize_students=True), "hides who the students are"),
    ("canvas", lambda c, m: c.faults.append(lambda a: Reply(200, b"<html>Log in")), "answered with a web page"),
    ("canvas", lambda c, m: c.faults.append(lambda a: Reply(200, [])), "another form than its documentation"),
    ("canvas", lambda c, m: c.faults.append(lambda a: Reply(200, b'{"a": "' + b"x" * 99, cut=True)), "incomplete"),
    ("moodle", lambda c, m: m.assignment.update(grade=-3), "has a scale or no grade"),
    ("moodle", lambda c, m: m.assignment.update(grade=0), "has a scale or no grade"),
    ("moodle", lambda c, m: m.assignment.update(markingworkflow=1), "uses marking workflow"),
    ("moodle", lambda c, m: m.assignment.update(blindmarking=1), "hides who the students are"),
    ("moodle", lambda c, m: m.assignment.update(cmid=1), "no assignment with id=56"),
    ("moodle", lambda c, m: m.faults.append(lambda a: Reply(404, b"")), "has no such page"),
    ("moodle", lambda c, m: m.faults.append(lambda a: Reply(200, {
        "exception": "required_capability_exception", "errorcode": "nopermissions",
        "message": "Sorry, but you do not\x1b[31m currently have permissions (View)"})),
     "Moodle refuses mod_assign_get_assignments: Sorry, but you do not currently have permissions"),
    ("moodle", lambda c, m: m.faults.append(lambda a: Reply(200, {
        "exception": "webservice_access_exception", "errorcode": "accessexception", "message": "no"})),
     "the service of the token does not include mod_assign_get_assignments"),
]  # fmt: skip


@pytest.mark.parametrize(("platform", "change", "sentence"), REFUSED, ids=[f"{r[0]}: {r[2]}" for r in REFUSED])
def test_assignment_that_cannot_be_graded(
    push: Push,
    canvas: CanvasServer,
    moodle: MoodleServer,
    waits: list[float],
    platform: str,
    change: Callable[[CanvasServer, MoodleServer], None],
    sentence: str,
) -> None:
    enrol(canvas)
    enrol(moodle)
    change(canvas, moodle)
    ran = push(canvas if platform == "canvas" else moodle, "--send")
    assert ran.status == 1 and sentence in ran.sentence()
    assert canvas.writes() == [] and moodle.writes() == []


@pytest.mark.parametrize("platform", ["canvas", "moodle"])
def test_wrong_token(
    push: Push, canvas: CanvasServer, moodle: MoodleServer, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setenv(f"VIVA_{platform.upper()}_TOKEN", "wrong4711")
    ran = push(canvas if platform == "canvas" else moodle)
    assert ran.status == 1 and "does not accept the token" in ran.sentence() and "wrong4711" not in ran.err


FOLDERS = [
    ("nowhere", "nowhere is not a folder"),
    ("results", "results holds no page of these submissions, such as results/ada.html"),
]


@pytest.mark.parametrize(("folder", "sentence"), FOLDERS)
def test_wrong_folder_of_pages(push: Push, canvas: CanvasServer, folder: str, sentence: str) -> None:
    enrol(canvas)
    ran = push(canvas, "--feedback", folder, "--send")
    assert ran.status == 1 and sentence in ran.sentence() and canvas.writes() == []


def test_missing_page_and_link(push: Push, canvas: CanvasServer) -> None:
    enrol(canvas)
    Path("report/feedback/bo.html").unlink()
    ran = push(canvas, *PAGES)
    assert ran.err == "viva: bo: there is no page report/feedback/bo.html, so only the grade is sent.\n"
    Path("report/feedback/bo.html").symlink_to(Path("report/feedback/ada.html").resolve())
    assert "report/feedback/bo.html" in push(canvas, *PAGES).sentence()


def test_pages_below_a_shared_folder(push: Push, canvas: CanvasServer) -> None:
    """`viva report` leaves out the folder that all submissions share."""
    enrol(canvas)
    write_result(Path("deep/hw/ada"), 9)
    write_result(Path("deep/hw/bo"), 6)
    assert push(canvas, *PAGES, "--send", results="deep").status == 0
    assert [len(canvas.submissions[n]["submission_comments"]) for n in (1, 2)] == [1, 1]
