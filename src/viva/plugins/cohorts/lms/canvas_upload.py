"""Canvas: upload a file for a comment, in the three steps that Canvas documents."""

from typing import Final

from viva.plugins.cohorts.lms.answers import parse, record, text, whole
from viva.plugins.cohorts.lms.connection import Answer, Call, Connection
from viva.plugins.cohorts.lms.errors import LmsError

_WHAT: Final = "The feedback file"
_TYPE: Final = "text/html"
_MOST_PARAMETERS: Final = 100


def upload_comment_file(connection: Connection, place: str, headers: dict[str, str], name: str, data: bytes) -> int:
    """Upload a file and return its number.

    Args:
        connection: the connection to Canvas.
        place: the address at which Canvas takes files for comments on one submission.
        headers: the headers that hold the token. The address that receives the content does not get them.
        name: the file's name.
        data: the content.

    Raises:
        LmsError: a step was refused.
    """
    announced = (("name", name), ("size", str(len(data))), ("content_type", _TYPE))
    call = Call("POST", place, _WHAT, announced, headers=headers, reads=False)
    told = record(parse(connection.send(call).data, _WHAT), _WHAT)
    parameters = record(told.get("upload_params") or {}, _WHAT)
    url = text(told, "upload_url")
    if not url or len(parameters) > _MOST_PARAMETERS:
        raise LmsError(f"{_WHAT}: Canvas does not say where to upload it.")
    fields = tuple((key, text(parameters, key)) for key in parameters)
    answer = connection.send_elsewhere(Call("POST", url, _WHAT, fields, (name, data, _TYPE), reads=False))
    return whole(_confirmed(connection, answer, headers), "id", _WHAT)


def _confirmed(connection: Connection, answer: Answer, headers: dict[str, str]) -> dict[str, object]:
    """Return the file: the answer has it, or the address in its Location header, which also completes the upload."""
    location = answer.headers.get("location", "")
    if location:
        answer = connection.send(Call("GET", location, _WHAT, headers=headers))
    return dict(record(parse(answer.data, _WHAT), _WHAT))
