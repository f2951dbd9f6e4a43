"""The record of a key: `viva release` writes it, and it is read where the key is not available."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgpack

from viva.examiner.recorded_key.recorded_values import packed, unpacked
from viva.model.errors import CourseError, GraderError
from viva.sandbox.guest.transport.wire import WireError

NOT_RECORDED: Final = (
    "This could not be checked here: for what your code returned, the test needs the course's own answer key, "
    "which only the graders have."
)
RECORD: Final = "key.recorded"
"""The file's name in the folder of the graders."""
_FORMAT: Final = "viva key record 2"


class NotRecorded(GraderError):
    """A question that the key was not asked when it was recorded."""


@dataclass(slots=True)
class Answer:
    """The result of one call of the key."""

    value: Any = None
    after: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    """The arguments after the call; None if nothing changed them."""
    raised: tuple[str, str] | None = None
    """The name and the text of its exception."""
    printed: str = ""


@dataclass(slots=True)
class Record:
    """Everything that replaces the key in a released folder."""

    answers: dict[bytes, bytes] = field(default_factory=dict)
    """By question (`recorded_values.digest`), the packed answers: a test reads few of the thousands there can be."""
    functions: set[str] = field(default_factory=set)
    """Names of the key's functions that were asked for."""
    seeds: dict[str, int] = field(default_factory=dict)
    """By purpose and case: what the `rng` fixture and the box draw from."""
    seed_id: str = ""
    hints: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case and number of the comparison: the names of common mistakes, and the values they lead to."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Why tests of the assignment are not released -> their points, as a fraction."""
    case_id: str = ""
    """The case that is running; not stored."""

    def answer(self, question: bytes) -> Answer | None:
        """Return the answer to a question, decoded each time; None if the key was not asked it."""
        data = self.answers.get(question)
        return None if data is None else Answer(*unpacked(data))

    def to_bytes(self) -> bytes:
        """Return the contents of the file: values are packed one by one, because one alone has a limit of its size."""
        hints = {at: packed(of_case) for at, of_case in self.hints.items()}
        seeds = {name: str(seed) for name, seed in sorted(self.seeds.items())}
        answers = dict(sorted(self.answers.items()))
        return pack_all(_FORMAT, answers, sorted(self.functions), seeds, self.seed_id, hints, self.left_out)


def record_from(data: bytes) -> Record:
    """Read a record; raise WireError, ValueError, TypeError or AttributeError if it is not one."""
    form, answers, functions, seeds, seed_id, hints, left_out = unpack_all(data)
    if form != _FORMAT:
        raise ValueError(form)
    return Record(
        dict(answers),
        set(functions),
        {name: int(seed) for name, seed in seeds.items()},
        seed_id,
        {at: unpacked(of_case) for at, of_case in hints.items()},
        {str(why): str(points) for why, points in left_out.items()},
    )


def load_record(path: Path) -> Record:
    """Read a record from a file.

    Raises:
        CourseError: it is missing or is not a record.
    """
    try:
        return record_from(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}; get the released folder once more.") from error
    except (WireError, ValueError, TypeError, AttributeError) as error:
        raise CourseError(f"{path} is not a record of this version of viva; get the released folder again.") from error


def pack_all(*parts: object) -> bytes:
    """Return the parts as bytes. Unlike one packed value, they have no size limit."""
    data: bytes = msgpack.packb(parts, unicode_errors="surrogatepass")
    return data


def unpack_all(data: bytes) -> Any:
    """Return the parts that `pack_all` packed."""
    return msgpack.unpackb(data, unicode_errors="surrogatepass")
