"""What is sent to a cluster's worker and what comes back, as msgpack of plain data.

The cluster's own way of sending objects never gets anything but bytes.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import msgpack

import viva
from viva.model import Entry, Tier
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import Graded, GradeRequest
from viva.model.plain import entry_from_plain, entry_to_plain

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
    checkpoints: dict[str, bytes] | None = None
    """Files of trainings to resume (`checkpoint_folder`); None if none are kept."""

    def to_bytes(self) -> bytes:
        """Return the task as bytes."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain["request"] = self.request.to_plain()
        plain["least"] = int(self.least)
        plain["tier"] = None if self.tier is None else int(self.tier)
        return _pack({"viva": viva.__version__, "task": plain})

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
        plain = message["task"]
        return cls(
            **plain
            | {
                "request": GradeRequest.from_plain(plain["request"]),
                "least": Tier(plain["least"]),
                "tier": None if plain["tier"] is None else Tier(plain["tier"]),
                "waiting": tuple(plain["waiting"]),
            }
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a worker made of a task."""

    graded: Graded
    checkpoints: dict[str, bytes]
    """Files of the trainings, for a later run to resume."""
    worker: str
    """The worker's address."""

    def to_bytes(self) -> bytes:
        """Return the reply as bytes."""
        return _pack({"graded": self.graded.to_plain(), "checkpoints": self.checkpoints, "worker": self.worker})


@dataclass(frozen=True, slots=True)
class News:
    """What happens to a task while a worker grades it: an entry, or a line about a slow test."""

    key: str
    """The task's."""
    entry: Entry | None = None
    text: str = ""

    def to_bytes(self) -> bytes:
        """Return the news as bytes."""
        return _pack(
            {
                "key": self.key,
                "entry": entry_to_plain(self.entry) if self.entry is not None else None,
                "text": self.text,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` returned."""
        plain = _unpack(data)
        entry = entry_from_plain(plain["entry"]) if plain["entry"] is not None else None
        return cls(plain["key"], entry, plain["text"])


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
    return Reply(Graded.from_plain(message["graded"]), dict(message["checkpoints"]), message["worker"])


def _pack(message: Mapping[str, object]) -> bytes:
    return bytes(msgpack.packb(message, use_bin_type=True, unicode_errors=_SURROGATES))


def _unpack(data: bytes) -> dict[str, Any]:
    return dict(msgpack.unpackb(data, raw=False, strict_map_key=False, unicode_errors=_SURROGATES))
