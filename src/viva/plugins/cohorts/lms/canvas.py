"""Canvas: one assignment over the REST API (`/api/v1`).

Grades are sent one by one (`PUT …/submissions/:user_id`), not with the bulk request `update_grades`: that is answered
later by a progress object, which says for all grades together that something failed, but not for whom.
"""

import html
from collections.abc import Iterator, Sequence
from typing import IO, Any, Final

from viva.formats.decimal_points import in_decimals
from viva.formats.escaping import line
from viva.plugins.cohorts.exports.times import parse_iso_time
from viva.plugins.cohorts.lms.answers import (
    LmsError,
    Record,
    get_number,
    get_points,
    get_record,
    get_records,
    get_text,
    parse_json,
)
from viva.plugins.cohorts.lms.connection import Call, Connection, Fields
from viva.plugins.cohorts.lms.feedback_files import FeedbackFile
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

PER_PAGE: Final = 100
_WITH_COMMENTS: Final = (("include[]", "submission_comments"),)
_MAX_PARAMETERS: Final = 100


class Canvas:
    """One assignment of a Canvas course."""

    excuses: Final = True

    def __init__(self, connection: Connection, address: Address, token: Token) -> None:
        self._connection = connection
        self._headers = {"Authorization": f"Bearer {token.reveal()}", "Accept": "application/json"}
        self._course = f"{address.site}/api/v1/courses/{address.course}"
        self._assignment = f"{self._course}/assignments/{address.number}"

    def read_task(self) -> Task:
        """Return the assignment.

        Raises:
            LmsError: it cannot be read, or a grade of one student would change those of others.
        """
        what = "The assignment"
        found = get_record(self._ask("GET", self._assignment, what), what)
        title = get_text(found, "name") or "the assignment"
        maximum = get_points(found, "points_possible", what)
        if get_text(found, "grading_type") in ("pass_fail", "not_graded") or not maximum:
            raise LmsError(f"`{line(title)}` does not take points at Canvas; set it to points there.")
        if found.get("group_category_id") and not found.get("grade_group_students_individually"):
            raise LmsError(
                f"`{line(title)}` has one grade for a whole group at Canvas; turn on `Assign grades to each student "
                "individually` there."
            )
        if found.get("anonymize_students"):
            raise LmsError(f"`{line(title)}` hides who the students are; turn off anonymous grading at Canvas.")
        return Task(title, maximum)

    def list_accounts(self) -> list[Account]:
        """Return the students of the course."""
        what = "The students of the course"
        fields = (("enrollment_type[]", "student"), ("include[]", "email"), ("include[]", "enrollments"))
        accounts = {}
        for found in self._list(f"{self._course}/users", what, fields):
            number = get_number(found, "id", what)
            kinds = {"sis": "sis_user_id", "login": "login_id", "email": "email"}
            identifiers = {kind: get_text(found, key) for kind, key in kinds.items()} | {"canvas": str(number)}
            accounts[number] = Account(number, get_text(found, "name"), identifiers)
        return list(accounts.values())

    def list_presents(self, accounts: Sequence[Account]) -> list[Present]:
        """Return the grade of each student; someone without a submission object is not assigned."""
        what = "The grades"
        listed = self._list(f"{self._assignment}/submissions", what, _WITH_COMMENTS)
        found = {get_number(each, "user_id", what): each for each in listed}
        presents = []
        for account in accounts:
            known = found.get(account.number)
            absent = Present(account, is_assigned=False)
            presents.append(absent if known is None else _read_present(account, known, what))
        return presents

    def read_present(self, account: Account) -> Present:
        """Return the grade of one student now."""
        what = "The grade"
        found = self._ask("GET", f"{self._assignment}/submissions/{account.number}", what, _WITH_COMMENTS)
        return _read_present(account, get_record(found, what), what)

    def send(self, change: Change, now: Present) -> None:
        """Send a grade, and a comment with the feedback file.

        Raises:
            LmsError: Canvas refuses it, or keeps another grade.
        """
        url = f"{self._assignment}/submissions/{now.account.number}"
        fields: list[tuple[str, str]] = []
        if change.excuse:
            fields.append(("submission[excuse]", "true"))
        elif change.points is not None:
            fields.append(("submission[posted_grade]", in_decimals(change.points)))
        if change.feedback is not None:
            file = self._upload(f"{url}/comments/files", change.feedback)
            comment = "\n".join(part for part in ("Feedback is in the attached file.", change.comment) if part)
            fields += [("comment[text_comment]", comment), ("comment[file_ids][]", str(file))]
        what = "The grade"
        after = _read_present(now.account, get_record(self._ask("PUT", url, what, fields), what), what)
        if change.excuse and not after.excused:
            raise LmsError("Canvas accepted the excuse but does not show it; look at the gradebook.")
        if change.points is not None and not has_same_points(after.grade, change.points):
            there = "no grade" if after.grade is None else in_decimals(after.grade)
            raise LmsError(f"Canvas accepted {in_decimals(change.points)} but shows {there}; look at the gradebook.")

    def list_submissions(self, accounts: Sequence[Account]) -> Iterator[RemoteSubmission]:
        """Yield the last submission of each student who submitted something."""
        what = "The submissions"
        known = {account.number: account for account in accounts}
        for each in self._list(f"{self._assignment}/submissions", what):
            account = known.get(get_number(each, "user_id", what))
            found = None if account is None else _read_submission(account, each, what)
            if found is not None and (found.files or found.entered):
                yield found

    def download(self, file: RemoteFile, into: IO[bytes], max_bytes: int) -> None:
        """Download a file; its address usually leads to a storage service, which gets no token."""
        self._connection.download(Call("GET", file.url, "The file", headers=self._headers), into, max_bytes)

    def _ask(self, method: str, url: str, what: str, fields: Fields = ()) -> Any:
        call = Call(method, url, what, fields, headers=self._headers, reads=method == "GET")
        return parse_json(self._connection.send(call).data, what)

    def _list(self, url: str, what: str, fields: Fields = ()) -> Iterator[Record]:
        call = Call("GET", url, what, (*fields, ("per_page", str(PER_PAGE))), headers=self._headers)
        for page in self._connection.read_pages(call):
            yield from get_records(parse_json(page.data, what), what)

    def _upload(self, url: str, page: FeedbackFile) -> int:
        """Upload a file for a comment, in the three steps that Canvas documents, and return its number."""
        what, kind, data = "The feedback file", "text/html", page.read()
        fields: Fields = (("name", page.name), ("size", str(len(data))), ("content_type", kind))
        where = get_record(self._ask("POST", url, what, fields), what)
        parameters = get_record(where.get("upload_params") or {}, what)
        target = get_text(where, "upload_url")
        if not target or len(parameters) > _MAX_PARAMETERS:
            raise LmsError(f"{what}: Canvas does not say where to upload it.")
        fields = tuple((key, get_text(parameters, key)) for key in parameters)
        call = Call("POST", target, what, fields, (page.name, data, kind), reads=False)
        answer = self._connection.send_elsewhere(call)
        if location := answer.headers.get("location", ""):  # the upload is complete when this address was read
            answer = self._connection.send(Call("GET", location, what, headers=self._headers))
        return get_number(get_record(parse_json(answer.data, what), what), "id", what)


def _read_present(account: Account, found: Record, what: str) -> Present:
    if get_number(found, "user_id", what) != account.number:
        raise LmsError(f"{what}: Canvas answered with the grade of another student.")
    grade = get_points(found, "entered_score", what)
    if grade is None:
        grade = get_points(found, "score", what)
    names: set[str] = set()
    for comment in get_records(found.get("submission_comments") or [], what):
        for file in get_records(comment.get("attachments") or [], what):
            names |= {get_text(file, "display_name"), get_text(file, "filename")}
    return Present(account, grade, excused=found.get("excused") is True, files=frozenset(names))


def _read_submission(account: Account, found: Record, what: str) -> RemoteSubmission:
    files = []
    for file in get_records(found.get("attachments") or [], what):
        name = get_text(file, "display_name") or get_text(file, "filename")
        size = None if file.get("size") is None else get_number(file, "size", what)
        files.append(RemoteFile(name, get_text(file, "url"), size))
    kind, entered = get_text(found, "submission_type"), []
    if kind == "online_text_entry" and get_text(found, "body"):
        entered.append(("text.html", get_text(found, "body")))
    if kind == "online_url" and get_text(found, "url"):
        address = html.escape(get_text(found, "url"))
        entered.append(("link.html", f'<a href="{address}">{address}</a>\n'))
    moment = parse_iso_time(found.get("submitted_at"))
    return RemoteSubmission(account.name, account, tuple(files), tuple(entered), moment)
