"""The fields of a form, or of the query of an address."""

import re
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import ImmutableMultiDict, UploadFile

_NUMBER: Final = re.compile("-?[0-9]{1,100}")
"""`int` also takes spaces, underscores and the digits of other scripts."""


class InvalidField(Exception):
    """A field is missing or has the wrong kind of value, which the pages never send."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The values that a browser sent. Each method raises `InvalidField` if a value is of another kind."""

    sent: "ImmutableMultiDict[str, str | UploadFile]"

    def text(self, name: str, default: str = "") -> str:
        """Return a text; the default if it was not sent."""
        return _as_text(self.sent.get(name, default))

    def texts(self, name: str) -> list[str]:
        """Return every text that was sent under a name."""
        return [_as_text(value) for value in self.sent.getlist(name)]

    def number(self, name: str, default: int) -> int:
        """Return a whole number; the default if it was not sent."""
        text = self.text(name, str(default))
        if not _NUMBER.fullmatch(text):
            raise InvalidField
        return int(text)

    def file(self, name: str) -> bytes:
        """Return the content of an uploaded file."""
        value = self.sent.get(name)
        if not isinstance(value, UploadFile):
            raise InvalidField
        return value.file.read()


def _as_text(value: str | UploadFile) -> str:
    if not isinstance(value, str):
        raise InvalidField
    return value
