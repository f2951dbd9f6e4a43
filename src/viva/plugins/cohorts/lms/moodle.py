"""Moodle: one assignment over the web service functions of its REST server.

Functions that the token's service needs: core_enrol_get_enrolled_users, mod_assign_get_assignments,
mod_assign_get_grades, mod_assign_get_submissions, mod_assign_get_submission_status, mod_assign_save_grade.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import IO, Any, Final

from viva.formats.decimal_points import in_decimals
from viva.formats.escaping import line
from viva.plugins.cohorts.lms.access_token import Token
from viva.plugins.cohorts.lms.address import Address
from viva.plugins.cohorts.lms.answers import Record, parse, points, record, records, text, whole
from viva.plugins.cohorts.lms.connection import Call, Connection
from viva.plugins.cohorts.lms.errors import LmsError, NotAllowed
from viva.plugins.cohorts.lms.moodle_feedback import Feedback, feedback_of, new_files
from viva.plugins.cohorts.lms.platform import Account, Change, Present, RemoteFile, RemoteSubmission, Task
from viva.plugins.cohorts.lms.push_plan import same_points

_PER_PAGE: Final = 200
_MOST_PEOPLE: Final = 100_000
_STAFF: Final = frozenset({"manager", "coursecreator", "editingteacher", "teacher", "guest"})
"""Short names of roles that Moodle has from the start and that no student has."""
_TOKEN_ERRORS: Final = frozenset({"invalidtoken", "invalidtimedtoken", "usernotallowed", "sitemaintenance"})
_HTML: Final = "1"
_SUBMITTED: Final = "submitted"


class Moodle:
    """One assignment of a Moodle course."""

    name: Final = "moodle"
    excuses: Final = False

    def __init__(self, connection: Connection, address: Address, token: Token) -> None:
        self._connection = connection
        self._token = token
        self._site = address.site
        self._module = address.number
        self._found: tuple[int, int, Record] | None = None

    def task(self) -> Task:
        """Return the assignment.

        Raises:
            LmsError: it cannot be found, or viva cannot grade it there.
        """
        _, _, found = self._assignment()
        title = text(found, "name") or "the assignment"
        maximum = points(found, "grade", "The assignment")
        if maximum is None or maximum <= 0:
            raise LmsError(f"`{line(title)}` has a scale or no grade at Moodle; set it to points there.")
        if _is_set(found, "markingworkflow"):
            raise LmsError(
                f"`{line(title)}` uses marking workflow, and viva would reset its states; use the grading worksheet: "
                "`viva grades --to moodle`."
            )
        self._refuse_blind(title, found)
        return Task(title, maximum)

    def accounts(self) -> list[Account]:
        """Return the students of the course, in pages."""
        course, _, _ = self._assignment()
        found: dict[int, Account] = {}
        for start in range(0, _MOST_PEOPLE, _PER_PAGE):
            page = self._people(course, start)
            found |= {whole(each, "id", "The students"): _account(each) for each in page if not _is_staff(each)}
            if len(page) < _PER_PAGE:
                return list(found.values())
        raise LmsError("The course has more people than any course has; check the address.")

    def presents(self, accounts: Sequence[Account]) -> list[Present]:
        """Return the grade of each student; what feedback there is, `present` finds out."""
        what = "The grades"
        _, assignment, _ = self._assignment()
        answer = record(self._ask("mod_assign_get_grades", what, [("assignmentids[0]", str(assignment))]), what)
        _refuse_warnings(answer, what)
        latest: dict[int, tuple[int, Fraction | None]] = {}
        for each in records(answer.get("assignments") or [], what):
            if whole(each, "assignmentid", what) != assignment:
                continue
            for grade in records(each.get("grades") or [], what):
                user, attempt = whole(grade, "userid", what), whole(grade, "attemptnumber", what)
                if user not in latest or attempt >= latest[user][0]:
                    latest[user] = attempt, _points(grade)
        return [Present(account, latest.get(account.number, (0, None))[1], files=None) for account in accounts]

    def present(self, account: Account) -> Present:
        """Return the grade of one student now, and the names of the feedback files."""
        feedback = self._feedback(account)
        return Present(account, feedback.grade, files=frozenset(file.name for file in feedback.files))

    def send(self, change: Change, now: Present) -> None:
        """Send a grade, and the feedback file.

        Moodle replaces what it has: so other feedback files are sent again, and so is the comment.

        Raises:
            LmsError: Moodle refuses it, or keeps another grade.
        """
        what = "The grade"
        _, assignment, _ = self._assignment()
        before = self._feedback(now.account)
        grade = before.grade if change.points is None else change.points
        if grade is None or not same_points(before.grade, now.grade):
            raise LmsError("The grade changed while grades were sent; run the command again.")
        fields = [
            ("assignmentid", str(assignment)),
            ("userid", str(now.account.number)),
            ("grade", in_decimals(grade)),
            ("attemptnumber", "-1"),
            ("addattempt", "0"),
            ("workflowstate", ""),
            ("applytoall", "0"),
            ("plugindata[assignfeedbackcomments_editor][text]", before.comment),
            ("plugindata[assignfeedbackcomments_editor][format]", before.format or _HTML),
        ]
        if change.feedback is not None:
            draft = new_files(self._connection, self._site, self._token, before, change.feedback)
            fields.append(("plugindata[files_filemanager]", str(draft)))
        self._ask("mod_assign_save_grade", what, fields, reads=False)
        after = self._feedback(now.account)
        if not same_points(after.grade, grade):
            there = "no grade" if after.grade is None else in_decimals(after.grade)
            raise LmsError(f"Moodle accepted {in_decimals(grade)} but shows {there}; look at the gradebook.")
        if change.feedback is not None and not change.feedback.is_among(file.name for file in after.files):
            raise LmsError("Moodle has the grade but not the feedback file; turn on `Feedback files` there.")

    def submissions(self, accounts: Sequence[Account]) -> Iterator[RemoteSubmission]:
        """Yield the last submission of each student and team; drafts are left out."""
        what = "The submissions"
        _, assignment, task = self._assignment()
        self._refuse_blind(text(task, "name"), task)
        known = {account.number: account for account in accounts}
        due = whole(task, "duedate", what) if task.get("duedate") is not None else 0
        answer = record(self._ask("mod_assign_get_submissions", what, [("assignmentids[0]", str(assignment))]), what)
        _refuse_warnings(answer, what)
        for each in records(answer.get("assignments") or [], what):
            for one in records(each.get("submissions") or [], what):
                found = _submission(one, known, due, what) if text(one, "status") == _SUBMITTED else None
                if found is not None:
                    yield found

    def download(self, file: RemoteFile, into: IO[bytes], most: int) -> None:
        """Download a file; the token is in the body of the request, not in its address."""
        call = Call("POST", file.url, "The file", (("token", self._token.reveal()),))
        if not self._connection.is_own(file.url):
            raise LmsError("The file: Moodle named an address on another site.")
        self._connection.download(call, into, most)

    def _assignment(self) -> tuple[int, int, Record]:
        """Return the numbers of course and assignment, and the assignment, found by its course module."""
        if self._found is None:
            what = "The assignment"
            answer = record(self._ask("mod_assign_get_assignments", what, []), what)
            for course in records(answer.get("courses") or [], what):
                for each in records(course.get("assignments") or [], what):
                    if whole(each, "cmid", what) == self._module:
                        self._found = whole(course, "id", what), whole(each, "id", what), each
                        return self._found
            raise LmsError(
                f"Moodle shows the token's owner no assignment with id={self._module}; they must be a teacher who is "
                "enrolled in the course."
            )
        return self._found

    def _people(self, course: int, start: int) -> list[Record]:
        options = {"limitfrom": str(start), "limitnumber": str(_PER_PAGE), "sortby": "id"}
        fields = [("courseid", str(course))]
        for i, (name, value) in enumerate(options.items()):
            fields += [(f"options[{i}][name]", name), (f"options[{i}][value]", value)]
        return records(self._ask("core_enrol_get_enrolled_users", "The students", fields), "The students")

    def _feedback(self, account: Account) -> Feedback:
        what = "The grade"
        _, assignment, _ = self._assignment()
        fields = [("assignid", str(assignment)), ("userid", str(account.number))]
        return feedback_of(record(self._ask("mod_assign_get_submission_status", what, fields), what), what)

    def _refuse_blind(self, title: str, found: Record) -> None:
        if _is_set(found, "blindmarking") and not _is_set(found, "revealidentities"):
            raise LmsError(f"`{line(title)}` hides who the students are; reveal the identities at Moodle first.")

    def _ask(self, function: str, what: str, fields: Sequence[tuple[str, str]], *, reads: bool = True) -> Any:
        """Call a function of the web service.

        Raises:
            NotAllowed: Moodle refuses the token.
            LmsError: Moodle refuses the call; it does so with status 200.
        """
        signed = [
            ("wstoken", self._token.reveal()), ("wsfunction", function), ("moodlewsrestformat", "json"), *fields,
        ]  # fmt: skip
        call = Call("POST", f"{self._site}/webservice/rest/server.php", what, signed, reads=reads)
        found = parse(self._connection.send(call).data, what)
        if isinstance(found, dict) and ("exception" in found or "errorcode" in found):
            code, said = text(found, "errorcode"), line(text(found, "message"), characters=200)
            if code in _TOKEN_ERRORS:
                raise NotAllowed(f"{what}: Moodle does not accept the token ({line(code)}); make a new one there.")
            if code in ("accessexception", "accesscontrolexception", "webservicenotavailable"):
                raise LmsError(f"{what}: the service of the token does not include {function}; add it there.")
            raise LmsError(f"{what}: Moodle refuses {function}: {said or line(code)}")
        return found


def _is_set(found: Record, key: str) -> bool:
    return found.get(key) in (1, True, "1")


def _points(found: Record) -> Fraction | None:
    """Return a grade; Moodle writes -1 where there is none."""
    grade = points(found, "grade", "The grade")
    return None if grade is None or grade < 0 else grade


def _refuse_warnings(answer: Record, what: str) -> None:
    """Raise if an answer is not complete; the warning 3 only says that nothing was found."""
    for warning in records(answer.get("warnings") or [], what):
        if text(warning, "warningcode") != "3":
            raise LmsError(f"{what}: Moodle says: {line(text(warning, 'message'), characters=200)}")


def _is_staff(found: Record) -> bool:
    names = {text(role, "shortname") for role in records(found.get("roles") or [], "The students")}
    return bool(names) and names <= _STAFF


def _account(found: Record) -> Account:
    what = "The students"
    number = whole(found, "id", what)
    groups = {whole(g, "id", what): text(g, "name") for g in records(found.get("groups") or [], what)}
    identifiers = {
        "login": text(found, "username"),
        "email": text(found, "email"),
        "idnumber": text(found, "idnumber"),
        "user": f"moodle-user-{number}",
    }
    name = text(found, "fullname") or f"{text(found, 'firstname')} {text(found, 'lastname')}".strip()
    return Account(number, name, identifiers, groups=groups)


def _submission(found: Record, known: dict[int, Account], due: int, what: str) -> RemoteSubmission | None:
    """Return what was submitted; None if nothing was, or by someone who is not in the course any more."""
    files, entered = [], []
    for plugin in records(found.get("plugins") or [], what):
        for area in records(plugin.get("fileareas") or [], what):
            if text(plugin, "type") == "file" and text(area, "area") == "submission_files":
                files += [_file(file, what) for file in records(area.get("files") or [], what)]
        if text(plugin, "type") == "onlinetext":
            texts = [text(field, "text") for field in records(plugin.get("editorfields") or [], what)]
            entered += [("onlinetext.html", each) for each in texts if each.strip()]
    if not files and not entered:
        return None
    changed = whole(found, "timemodified", what)
    user, group = whole(found, "userid", what), whole(found, "groupid", what)
    members = tuple(account for account in known.values() if group in account.groups) if not user else ()
    account = known.get(user)
    if account is None and user:
        return None
    if account is not None:
        label = account.name
    else:
        label = members[0].groups[group] if members else f"team {group}" if group else "students without a team"
    moment = datetime.fromtimestamp(changed, UTC) if 0 < changed < 1 << 40 else None
    late = None if not due or moment is None else changed > due
    return RemoteSubmission(label, account, tuple(files), tuple(entered), moment, late, members, group)


def _file(found: Record, what: str) -> RemoteFile:
    folder = text(found, "filepath").strip("/")
    name = text(found, "filename")
    size = whole(found, "filesize", what) if found.get("filesize") is not None else None
    return RemoteFile(f"{folder}/{name}" if folder else name, 0, text(found, "fileurl"), size)
