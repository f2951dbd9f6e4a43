"""What is sent to a cluster's worker and what comes back, as msgpack of plain data.

The cluster's own way of sending objects never gets anything but bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import msgpack

import viva
from viva.model import Entry, Tier
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import Graded, GradeRequest
from viva.model.plain import from_plain, to_plain

_SURROGATES: Final = "surrogatepass"
"""Texts of students may hold lone surrogates."""


@dataclass(frozen=True, slots=True)
class Task:
    """One submission to grade on a worker. It holds neither the course nor its secret: the worker has its own."""

    request: GradeRequest
    course: str
    """The course's folder on the worker."""
    assignment: str
    made_with: str
    """The digest of tests, key, references and settings that the worker's course must have."""
    seed_id: str
    """Identifies the secret that the worker must have, without revealing it."""
    least: Tier
    """The weakest isolation that is accepted."""
    tier: Tier | None
    """Exactly this isolation; None for the best that the worker offers."""
    gpu: bool
    """Whether tests that need a GPU get one of the worker's."""
    notebooks: bool
    """Whether this or other submissions of the class may hold notebooks."""
    waiting: tuple[str, ...]
    """Assignments with more submissions to come: the worker need not keep examiners of others."""

    def to_bytes(self) -> bytes:
        """Return the task as bytes."""
        return _pack({"viva": viva.__version__, "task": to_plain(self)})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a task from the bytes that `to_bytes` returned.

        Raises:
            UsageError: another version of viva wrote it, whose fields may mean something else.
        """
        message = _unpack(data)
        if message["viva"] != viva.__version__:
            raise UsageError(
                f"it has viva {viva.__version__}, and what was sent comes from viva {message['viva']}; install the "
                "same version on both and start the worker again."
            )
        return from_plain(cls, message["task"])


@dataclass(frozen=True, slots=True)
class Reply:
    """What a worker made of a task."""

    graded: Graded
    worker: str
    """The worker's address."""

    def to_bytes(self) -> bytes:
        """Return the reply as bytes."""
        return _pack(to_plain(self))


@dataclass(frozen=True, slots=True)
class News:
    """What happens to a task while a worker grades it: an entry, or a line about a slow test."""

    key: str
    """The task's."""
    entry: Entry | None = None
    text: str = ""

    def to_bytes(self) -> bytes:
        """Return the news as bytes."""
        return _pack(to_plain(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` returned."""
        return from_plain(cls, _unpack(data))


def error_to_bytes(error: Exception) -> bytes:
    """Return a reply that says why there is no score: only the text, whatever else the error carries."""
    return _pack({"usage" if isinstance(error, UsageError) else "error": str(error)})


def reply_from_bytes(data: bytes) -> Reply:
    """Read a worker's reply.

    Raises:
        UsageError: the worker refused: the command, the course or the worker is wrong.
        GraderError: the worker could not grade this submission.
    """
    message = _unpack(data)
    if "usage" in message:
        raise UsageError(message["usage"])
    if "error" in message:
        raise GraderError(message["error"])
    return from_plain(Reply, message)


def _pack(message: Mapping[str, object]) -> bytes:
    return bytes(msgpack.packb(message, use_bin_type=True, unicode_errors=_SURROGATES))


def _unpack(data: bytes) -> dict[str, Any]:
    return dict(msgpack.unpackb(data, raw=False, strict_map_key=False, unicode_errors=_SURROGATES))
