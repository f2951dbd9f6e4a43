"""Moodle: one assignment over the web service functions of its REST server.

Functions that the token's service needs: core_enrol_get_enrolled_users, mod_assign_get_assignments,
mod_assign_get_grades, mod_assign_get_submissions, mod_assign_get_submission_status, mod_assign_save_grade.
"""

import functools
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import IO, Any, Final

from viva.formats.decimal_points import in_decimals
from viva.formats.escaping import line
from viva.plugins.cohorts.lms.answers import (
    LmsError,
    NotAllowedError,
    Record,
    get_number,
    get_points,
    get_record,
    get_records,
    get_text,
    parse_json,
)
from viva.plugins.cohorts.lms.connection import Call, Connection, Fields
from viva.plugins.cohorts.lms.feedback_files import MAX_BYTES, FeedbackFile, read_digest
from viva.plugins.cohorts.lms.platform import (
    Account,
    Change,
    Present,
    RemoteFile,
    RemoteSubmission,
    Task,
    has_same_points,
)
from viva.plugins.cohorts.lms.site import Address, Token

_PER_PAGE: Final = 200
_MAX_PEOPLE: Final = 100_000
_MAX_FEEDBACK_FILES: Final = 50
_STAFF: Final = frozenset({"manager", "coursecreator", "editingteacher", "teacher", "guest"})
"""Short names of roles that Moodle has from the start and that no student has."""
_TOKEN_ERRORS: Final = frozenset({"invalidtoken", "invalidtimedtoken", "usernotallowed", "sitemaintenance"})
_SERVICE_ERRORS: Final = frozenset({"accessexception", "accesscontrolexception", "webservicenotavailable"})
_NOTHING_FOUND: Final = "3"
_HTML: Final = "1"
_EMBEDDED: Final = ("pluginfile.php", "@@PLUGINFILE@@")


@dataclass(frozen=True, slots=True)
class _Feedback:
    """What Moodle has for one student."""

    grade: Fraction | None
    comment: str
    format: str
    files: tuple[Record, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(get_text(file, "filename") for file in self.files)


class Moodle:
    """One assignment of a Moodle course."""

    excuses: Final = False

    def __init__(self, connection: Connection, address: Address, token: Token) -> None:
        self._connection = connection
        self._token = token
        self._site = address.site
        self._module = address.number

    def read_task(self) -> Task:
        """Return the assignment.

        Raises:
            LmsError: it cannot be found, or viva cannot grade it there.
        """
        _, found = self._assignment
        title = get_text(found, "name") or "the assignment"
        maximum = get_points(found, "grade", "The assignment")
        if maximum is None or maximum <= 0:
            raise LmsError(f"`{line(title)}` has a scale or no grade at Moodle; set it to points there.")
        if _is_set(found, "markingworkflow"):
            raise LmsError(
                f"`{line(title)}` uses marking workflow, and viva would reset its states; use the grading worksheet: "
                "`viva grades --to moodle`."
            )
        self._refuse_blind()
        return Task(title, maximum)

    def list_accounts(self) -> list[Account]:
        """Return the students of the course, in pages."""
        what = "The students"
        course, _ = self._assignment
        found: dict[int, Account] = {}
        for start in range(0, _MAX_PEOPLE, _PER_PAGE):
            fields = [("courseid", str(course))]
            options = {"limitfrom": start, "limitnumber": _PER_PAGE, "sortby": "id"}
            for index, (name, value) in enumerate(options.items()):
                fields += [(f"options[{index}][name]", name), (f"options[{index}][value]", str(value))]
            page = get_records(self._ask("core_enrol_get_enrolled_users", what, fields), what)
            for person in page:
                roles = {get_text(role, "shortname") for role in get_records(person.get("roles") or [], what)}
                if not roles or not roles <= _STAFF:
                    account = _read_account(person, what)
                    found[account.number] = account
            if len(page) < _PER_PAGE:
                return list(found.values())
        raise LmsError("The course has more people than any course has; check the address.")

    def list_presents(self, accounts: Sequence[Account]) -> list[Present]:
        """Return the grade of each student; what feedback there is, `present` finds out."""
        what = "The grades"
        latest: dict[int, tuple[int, Fraction | None]] = {}
        for grade in self._ask_about_assignment("mod_assign_get_grades", "grades", what):
            user, attempt = get_number(grade, "userid", what), get_number(grade, "attemptnumber", what)
            if user not in latest or attempt >= latest[user][0]:
                latest[user] = attempt, _read_grade(grade)
        return [Present(account, latest.get(account.number, (0, None))[1], files=None) for account in accounts]

    def read_present(self, account: Account) -> Present:
        """Return the grade of one student now, and the names of the feedback files."""
        feedback = self._read_feedback(account)
        return Present(account, feedback.grade, files=feedback.names)

    def send(self, change: Change, now: Present) -> None:
        """Send a grade, and the feedback file.

        Moodle replaces what it has: so other feedback files are sent again, and so is the comment.

        Raises:
            LmsError: Moodle refuses it, or keeps another grade.
        """
        before = self._read_feedback(now.account)
        grade = before.grade if change.points is None else change.points
        if grade is None or not has_same_points(before.grade, now.grade):
            raise LmsError("The grade changed while grades were sent; run the command again.")
        fields = [
            ("assignmentid", str(self._number)),
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
            fields.append(("plugindata[files_filemanager]", str(self._upload_all(before, change.feedback))))
        self._ask("mod_assign_save_grade", "The grade", fields, reads=False)
        after = self._read_feedback(now.account)
        if not has_same_points(after.grade, grade):
            there = "no grade" if after.grade is None else in_decimals(after.grade)
            raise LmsError(f"Moodle accepted {in_decimals(grade)} but shows {there}; look at the gradebook.")
        if change.feedback is not None and not change.feedback.is_among(after.names):
            raise LmsError("Moodle has the grade but not the feedback file; turn on `Feedback files` there.")

    def list_submissions(self, accounts: Sequence[Account]) -> Iterator[RemoteSubmission]:
        """Yield the last submission of each student and team; drafts are left out."""
        what = "The submissions"
        self._refuse_blind()
        known = {account.number: account for account in accounts}
        for each in self._ask_about_assignment("mod_assign_get_submissions", "submissions", what):
            found = _read_submission(each, known, what) if get_text(each, "status") == "submitted" else None
            if found is not None:
                yield found

    def download(self, file: RemoteFile, into: IO[bytes], max_bytes: int) -> None:
        """Download a file; the token is in the body of the request, not in its address."""
        self._download(file.url, "The file", into, max_bytes)

    @functools.cached_property
    def _assignment(self) -> tuple[int, Record]:
        """The number of the course, and the assignment, found by its course module."""
        what = "The assignment"
        answer = get_record(self._ask("mod_assign_get_assignments", what, []), what)
        for course in get_records(answer.get("courses") or [], what):
            for found in get_records(course.get("assignments") or [], what):
                if get_number(found, "cmid", what) == self._module:
                    return get_number(course, "id", what), found
        raise LmsError(
            f"Moodle shows the token's owner no assignment with id={self._module}; they must be a teacher who is "
            "enrolled in the course."
        )

    @property
    def _number(self) -> int:
        return get_number(self._assignment[1], "id", "The assignment")

    def _refuse_blind(self) -> None:
        _, found = self._assignment
        if _is_set(found, "blindmarking") and not _is_set(found, "revealidentities"):
            title = line(get_text(found, "name"))
            raise LmsError(f"`{title}` hides who the students are; reveal the identities at Moodle first.")

    def _ask_about_assignment(self, function: str, key: str, what: str) -> Iterator[Record]:
        """Yield what a function lists about the assignment; an answer that is not complete is an error."""
        answer = get_record(self._ask(function, what, [("assignmentids[0]", str(self._number))]), what)
        for warning in get_records(answer.get("warnings") or [], what):
            if get_text(warning, "warningcode") != _NOTHING_FOUND:
                raise LmsError(f"{what}: Moodle says: {line(get_text(warning, 'message'), characters=200)}")
        for found in get_records(answer.get("assignments") or [], what):
            if get_number(found, "assignmentid", what) == self._number:
                yield from get_records(found.get(key) or [], what)

    def _ask(self, function: str, what: str, fields: Fields, *, reads: bool = True) -> Any:
        """Call a function of the web service.

        Raises:
            NotAllowedError: Moodle refuses the token.
            LmsError: Moodle refuses the call; it does so with status 200.
        """
        signed = [
            ("wstoken", self._token.reveal()), ("wsfunction", function), ("moodlewsrestformat", "json"), *fields,
        ]  # fmt: skip
        call = Call("POST", f"{self._site}/webservice/rest/server.php", what, signed, reads=reads)
        found = parse_json(self._connection.send(call).data, what)
        if isinstance(found, dict) and ("exception" in found or "errorcode" in found):
            code, message = get_text(found, "errorcode"), line(get_text(found, "message"), characters=200)
            if code in _TOKEN_ERRORS:
                raise NotAllowedError(f"{what}: Moodle does not accept the token ({line(code)}); make a new one there.")
            if code in _SERVICE_ERRORS:
                raise LmsError(f"{what}: the service of the token does not include {function}; add it there.")
            raise LmsError(f"{what}: Moodle refuses {function}: {message or line(code)}")
        return found

    def _read_feedback(self, account: Account) -> _Feedback:
        """Return the feedback that a student has.

        Raises:
            LmsError: the comment holds files, which sending it again would break.
        """
        what = "The grade"
        fields = [("assignid", str(self._number)), ("userid", str(account.number))]
        status = get_record(self._ask("mod_assign_get_submission_status", what, fields), what)
        found = get_record(status.get("feedback") or {}, what)
        grade = _read_grade(get_record(found.get("grade") or {}, what))
        comment, form, files = "", "", list[Record]()
        for plugin in get_records(found.get("plugins") or [], what):
            if get_text(plugin, "type") == "comments":
                for editor in get_records(plugin.get("editorfields") or [], what):
                    comment, form = get_text(editor, "text"), get_text(editor, "format")
            if get_text(plugin, "type") == "file":
                for area in get_records(plugin.get("fileareas") or [], what):
                    files += get_records(area.get("files") or [], what)
        if any(mark in comment for mark in _EMBEDDED):
            raise LmsError(
                "The feedback comment there holds pictures or files, which viva could damage; grade it there."
            )
        return _Feedback(grade, comment, form, tuple(files))

    def _upload_all(self, before: _Feedback, page: FeedbackFile) -> int:
        """Make a draft area with a page and all files of the student but earlier pages; return its number.

        Moodle replaces all feedback files of a student by those of a draft area.
        """
        what = "The feedback file"
        draft = self._upload(page.name, "/", page.read(), 0)
        others = [file for file in before.files if not read_digest(get_text(file, "filename"))]
        if len(others) > _MAX_FEEDBACK_FILES:
            raise LmsError(f"{what}: the student has {len(others)} feedback files there; send this one by hand.")
        for file in others:
            name, content = get_text(file, "filename"), io.BytesIO()
            self._download(get_text(file, "fileurl"), f"{what}: {line(name, characters=100)}", content, MAX_BYTES)
            self._upload(name, get_text(file, "filepath") or "/", content.getvalue(), draft)
        return draft

    def _upload(self, name: str, folder: str, data: bytes, draft: int) -> int:
        what = "The feedback file"
        token = self._token.reveal()
        fields = (("token", token), ("filearea", "draft"), ("itemid", str(draft)), ("filepath", folder))
        kind = "text/html" if read_digest(name) else "application/octet-stream"
        url = f"{self._site}/webservice/upload.php"
        call = Call("POST", url, what, fields, (name, data, kind), reads=False)
        found = parse_json(self._connection.send(call).data, what)
        if isinstance(found, dict):
            message = line(get_text(found, "error") or get_text(found, "message"), characters=200)
            raise LmsError(f"{what}: Moodle refuses the upload: {message}")
        stored = get_records(found, what)
        if len(stored) != 1:
            raise LmsError(f"{what}: Moodle did not store it.")
        return get_number(stored[0], "itemid", what)

    def _download(self, url: str, what: str, into: IO[bytes], max_bytes: int) -> None:
        if not self._connection.is_own(url):
            raise LmsError(f"{what}: Moodle named an address on another site.")
        self._connection.download(Call("POST", url, what, (("token", self._token.reveal()),)), into, max_bytes)


def _is_set(found: Record, key: str) -> bool:
    return found.get(key) in (1, True, "1")


def _read_grade(found: Record) -> Fraction | None:
    """Return a grade; Moodle writes -1 for a student who has no grade."""
    grade = get_points(found, "grade", "The grade")
    return None if grade is None or grade < 0 else grade


def _read_account(found: Record, what: str) -> Account:
    number = get_number(found, "id", what)
    kinds = {"login": "username", "email": "email", "idnumber": "idnumber"}
    identifiers = {kind: get_text(found, key) for kind, key in kinds.items()} | {"user": f"moodle-user-{number}"}
    groups = {get_number(g, "id", what): get_text(g, "name") for g in get_records(found.get("groups") or [], what)}
    name = get_text(found, "fullname") or f"{get_text(found, 'firstname')} {get_text(found, 'lastname')}".strip()
    return Account(number, name, identifiers, groups=groups)


def _read_submission(found: Record, known: dict[int, Account], what: str) -> RemoteSubmission | None:
    """Return what was submitted; None if nothing was, or by someone who is not in the course any more."""
    files, entered = list[RemoteFile](), list[tuple[str, str]]()
    for plugin in get_records(found.get("plugins") or [], what):
        kind = get_text(plugin, "type")
        for area in get_records(plugin.get("fileareas") or [], what):
            if kind == "file" and get_text(area, "area") == "submission_files":
                files += [_read_file(file, what) for file in get_records(area.get("files") or [], what)]
        if kind == "onlinetext":
            texts = [get_text(editor, "text") for editor in get_records(plugin.get("editorfields") or [], what)]
            entered += [("onlinetext.html", text) for text in texts if text.strip()]
    user, group = get_number(found, "userid", what), get_number(found, "groupid", what)
    account = known.get(user)
    if (not files and not entered) or (user and account is None):
        return None
    members = () if user else tuple(account for account in known.values() if group in account.groups)
    label = f"team {group}" if group else "students without a team"
    if members:
        label = members[0].groups[group]
    if account is not None:
        label = account.name
    changed = get_number(found, "timemodified", what)
    moment = datetime.fromtimestamp(changed, UTC) if 0 < changed < 1 << 40 else None
    return RemoteSubmission(label, account, tuple(files), tuple(entered), moment, members, group)


def _read_file(found: Record, what: str) -> RemoteFile:
    folder, name = get_text(found, "filepath").strip("/"), get_text(found, "filename")
    size = None if found.get("filesize") is None else get_number(found, "filesize", what)
    return RemoteFile(f"{folder}/{name}" if folder else name, get_text(found, "fileurl"), size)
