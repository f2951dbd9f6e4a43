"""Moodle: the feedback that a student has, and a draft area with it and a new file.

Moodle replaces all feedback files of a student by those of a draft area, so the other files go into it as well.
"""

import io
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from viva.formats.escaping import line
from viva.plugins.cohorts.lms.access_token import Token
from viva.plugins.cohorts.lms.answers import Record, parse, points, record, records, text, whole
from viva.plugins.cohorts.lms.connection import Call, Connection
from viva.plugins.cohorts.lms.errors import LmsError
from viva.plugins.cohorts.lms.feedback_files import MOST_BYTES, FeedbackFile, digest_in

_WHAT: Final = "The feedback file"
_MOST_FILES: Final = 50
_EMBEDDED: Final = ("pluginfile.php", "@@PLUGINFILE@@")


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A feedback file that Moodle has."""

    name: str
    folder: str
    url: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """What Moodle has for one student."""

    grade: Fraction | None
    comment: str
    format: str
    files: tuple[KeptFile, ...]


def feedback_of(status: Record, what: str) -> Feedback:
    """Read the feedback in an answer of mod_assign_get_submission_status.

    Raises:
        LmsError: the comment holds files, which sending it again would break.
    """
    found = record(status.get("feedback") or {}, what)
    grade = points(record(found.get("grade") or {}, what), "grade", what)
    comment, form, files = "", "", list[KeptFile]()
    for plugin in records(found.get("plugins") or [], what):
        kind = text(plugin, "type")
        for field in records(plugin.get("editorfields") or [], what) if kind == "comments" else ():
            comment, form = text(field, "text"), text(field, "format")
        for area in records(plugin.get("fileareas") or [], what) if kind == "file" else ():
            for file in records(area.get("files") or [], what):
                files.append(KeptFile(text(file, "filename"), text(file, "filepath") or "/", text(file, "fileurl")))
    if any(mark in comment for mark in _EMBEDDED):
        raise LmsError("The feedback comment there holds pictures or files, which viva could damage; grade it there.")
    return Feedback(None if grade is None or grade < 0 else grade, comment, form, tuple(files))


def new_files(connection: Connection, site: str, token: Token, before: Feedback, page: FeedbackFile) -> int:
    """Make a draft area with a page and all files of the student but earlier pages; return its number.

    Raises:
        LmsError: a file cannot be uploaded, or an existing one cannot be kept.
    """
    draft = _upload(connection, site, token, page.name, "/", page.read(), 0)
    others = [file for file in before.files if not digest_in(file.name)]
    if len(others) > _MOST_FILES:
        raise LmsError(f"{_WHAT}: the student has {len(others)} feedback files there; send this one by hand.")
    for file in others:
        kept = io.BytesIO()
        if not connection.is_own(file.url):
            raise LmsError(f"{_WHAT}: {line(file.name, characters=100)} there is on another site and cannot be kept.")
        call = Call("POST", file.url, _WHAT, (("token", token.reveal()),))
        connection.download(call, kept, MOST_BYTES)
        _upload(connection, site, token, file.name, file.folder, kept.getvalue(), draft)
    return draft


def _upload(connection: Connection, site: str, token: Token, name: str, folder: str, data: bytes, draft: int) -> int:
    fields = (("token", token.reveal()), ("filearea", "draft"), ("itemid", str(draft)), ("filepath", folder))
    kind = "text/html" if digest_in(name) else "application/octet-stream"
    call = Call("POST", f"{site}/webservice/upload.php", _WHAT, fields, (name, data, kind), reads=False)
    found = parse(connection.send(call).data, _WHAT)
    if isinstance(found, dict):
        said = line(text(found, "error") or text(found, "message"), characters=200)
        raise LmsError(f"{_WHAT}: Moodle refuses the upload: {said}")
    stored = records(found, _WHAT)
    if len(stored) != 1:
        raise LmsError(f"{_WHAT}: Moodle did not store it.")
    return whole(stored[0], "itemid", _WHAT)
