"""Canvas: one assignment over the REST API (`/api/v1`).

Grades are sent one by one (`PUT …/submissions/:user_id`), not with the bulk request `update_grades`: that is answered
later by a progress object, which says for all grades together that something failed, but not for whom.
"""

import html
from collections.abc import Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from typing import IO, Any, Final

from viva.formats.decimal_points import in_decimals
from viva.formats.escaping import line
from viva.plugins.cohorts.exports.times import parse_iso_time
from viva.plugins.cohorts.lms import answers
from viva.plugins.cohorts.lms.access_token import Token
from viva.plugins.cohorts.lms.address import Address
from viva.plugins.cohorts.lms.answers import Record, points, record, records, text, whole
from viva.plugins.cohorts.lms.canvas_upload import upload_comment_file
from viva.plugins.cohorts.lms.connection import Answer, Call, Connection, Fields
from viva.plugins.cohorts.lms.errors import LmsError
from viva.plugins.cohorts.lms.platform import Account, Change, Present, RemoteFile, RemoteSubmission, Task
from viva.plugins.cohorts.lms.push_plan import same_points

PER_PAGE: Final = 100


class Canvas:
    """One assignment of a Canvas course."""

    name: Final = "canvas"
    excuses: Final = True

    def __init__(self, connection: Connection, address: Address, token: Token) -> None:
        self._connection = connection
        self._token = token
        self._course = f"{address.site}/api/v1/courses/{address.course}"
        self._assignment = f"{self._course}/assignments/{address.number}"

    def task(self) -> Task:
        """Return the assignment.

        Raises:
            LmsError: it cannot be read, or a grade of one student would change those of others.
        """
        what = "The assignment"
        found = record(self._get(self._assignment, what), what)
        title = text(found, "name") or "the assignment"
        kind = text(found, "grading_type")
        maximum = points(found, "points_possible", what)
        if kind in ("pass_fail", "not_graded") or not maximum:
            raise LmsError(f"`{line(title)}` does not take points at Canvas; set it to points there.")
        if found.get("group_category_id") and not found.get("grade_group_students_individually"):
            raise LmsError(
                f"`{line(title)}` has one grade for a whole group at Canvas; turn on `Assign grades to each student "
                "individually` there."
            )
        if found.get("anonymize_students"):
            raise LmsError(f"`{line(title)}` hides who the students are; turn off anonymous grading at Canvas.")
        return Task(title, maximum)

    def accounts(self) -> list[Account]:
        """Return the students of the course."""
        what = "The students of the course"
        fields = (("enrollment_type[]", "student"), ("include[]", "email"), ("include[]", "enrollments"))
        found = self._list(f"{self._course}/users", what, fields)
        return list({account.number: account for account in (_account(each, what) for each in found)}.values())

    def presents(self, accounts: Sequence[Account]) -> list[Present]:
        """Return the grade of each student; someone without a submission object is not assigned."""
        what = "The grades"
        fields = (("include[]", "submission_comments"),)
        found = {
            whole(each, "user_id", what): each for each in self._list(f"{self._assignment}/submissions", what, fields)
        }
        return [
            _present(account, found[account.number], what)
            if account.number in found
            else Present(account, is_assigned=False)
            for account in accounts
        ]

    def present(self, account: Account) -> Present:
        """Return the grade of one student now."""
        what = "The grade"
        fields = (("include[]", "submission_comments"),)
        return _present(account, record(self._get(self._of(account), what, fields), what), what)

    def send(self, change: Change, now: Present) -> None:
        """Send a grade, and a comment with the feedback file.

        Raises:
            LmsError: Canvas refuses it, or keeps another grade.
        """
        fields: list[tuple[str, str]] = []
        if change.excuse:
            fields.append(("submission[excuse]", "true"))
        elif change.points is not None:
            fields.append(("submission[posted_grade]", in_decimals(change.points)))
        if change.feedback is not None:
            data = change.feedback.read()
            place = f"{self._of(now.account)}/comments/files"
            file = upload_comment_file(self._connection, place, self._headers(), change.feedback.name, data)
            comment = "\n".join(part for part in ("Feedback is in the attached file.", change.comment) if part)
            fields += [("comment[text_comment]", comment), ("comment[file_ids][]", str(file))]
        what = "The grade"
        call = Call("PUT", self._of(now.account), what, fields, headers=self._headers(), reads=False)
        kept = record(_parsed(self._connection.send(call), what), what)
        after = _present(now.account, kept, what)
        if change.excuse and not after.excused:
            raise LmsError("Canvas accepted the excuse but does not show it; look at the gradebook.")
        if change.points is not None and not same_points(after.grade, change.points):
            there = "no grade" if after.grade is None else in_decimals(after.grade)
            raise LmsError(f"Canvas accepted {in_decimals(change.points)} but shows {there}; look at the gradebook.")

    def submissions(self, accounts: Sequence[Account]) -> Iterator[RemoteSubmission]:
        """Yield the last submission of each student."""
        what = "The submissions"
        known = {account.number: account for account in accounts}
        for each in self._list(f"{self._assignment}/submissions", what):
            account = known.get(whole(each, "user_id", what))
            if account is not None and (found := _submission(account, each, what)) is not None:
                yield found

    def download(self, file: RemoteFile, into: IO[bytes], most: int) -> None:
        """Download a file; its address usually leads to a storage service, which gets no token."""
        call = Call("GET", file.url, "The file", headers=self._headers())
        self._connection.download(call, into, most)

    def _of(self, account: Account) -> str:
        return f"{self._assignment}/submissions/{account.number}"

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token.reveal()}", "Accept": "application/json"}

    def _get(self, url: str, what: str, fields: Fields = ()) -> Any:
        return _parsed(self._connection.send(Call("GET", url, what, fields, headers=self._headers())), what)

    def _list(self, url: str, what: str, fields: Fields = ()) -> Iterator[Record]:
        call = Call("GET", url, what, (*fields, ("per_page", str(PER_PAGE))), headers=self._headers())
        for page in self._connection.pages(call):
            yield from records(_parsed(page, what), what)


def _parsed(answer: Answer, what: str) -> Any:
    return answers.parse(answer.data, what)


def _account(found: Record, what: str) -> Account:
    number = whole(found, "id", what)
    identifiers = {
        "canvas": str(number),
        "sis": text(found, "sis_user_id"),
        "login": text(found, "login_id"),
        "email": text(found, "email"),
    }
    return Account(number, text(found, "name"), identifiers, text(found, "sortable_name"))


def _present(account: Account, found: Record, what: str) -> Present:
    if whole(found, "user_id", what) != account.number:
        raise LmsError(f"{what}: Canvas answered with the grade of another student.")
    entered = points(found, "entered_score", what)
    grade: Fraction | None = points(found, "score", what) if entered is None else entered
    comments = records(found.get("submission_comments") or [], what)
    files = [file for comment in comments for file in records(comment.get("attachments") or [], what)]
    names = frozenset(name for file in files for name in (text(file, "display_name"), text(file, "filename")))
    return Present(account, grade, excused=found.get("excused") is True, files=names)


def _submission(account: Account, found: Record, what: str) -> RemoteSubmission | None:
    """Return what was submitted; None if nothing was."""
    attached = records(found.get("attachments") or [], what)
    files = tuple(
        RemoteFile(
            text(file, "display_name") or text(file, "filename"),
            whole(file, "id", what),
            text(file, "url"),
            whole(file, "size", what) if file.get("size") is not None else None,
        )
        for file in attached
    )
    entered = []
    if text(found, "submission_type") == "online_text_entry" and text(found, "body"):
        entered.append(("text.html", text(found, "body")))
    if text(found, "submission_type") == "online_url" and text(found, "url"):
        address = html.escape(text(found, "url"))
        entered.append(("link.html", f'<a href="{address}">{address}</a>\n'))
    if not files and not entered:
        return None
    moment: datetime | None = parse_iso_time(found.get("submitted_at"))
    return RemoteSubmission(account.name, account, files, tuple(entered), moment, late=found.get("late") is True)
