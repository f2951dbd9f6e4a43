"""The gradings of a regrade, in a file without a name: a class of any size takes the memory of one of them."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Final, Self

import msgpack

from viva.plugins.records.conditions import Conditions
from viva.plugins.records.proposals import NewGrading

_BUFFER_BYTES: Final = 1 << 20


@dataclass(slots=True)
class GradingSpool:
    """Holds gradings until all of them are there; a context manager that removes the file."""

    differing: int = 0
    """How many of them differ from the score that counts."""
    _count: int = 0
    _file: IO[bytes] = field(default_factory=lambda: tempfile.TemporaryFile(buffering=_BUFFER_BYTES))  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._count

    def add(self, new: NewGrading) -> None:
        """Add a grading at the end."""
        row = (
            *(new.old_score_id, new.attempt_id, new.score, new.conditions.to_json()),
            *(new.call_log_id, new.call_log, new.differs),
        )
        self._file.write(msgpack.packb(row))
        self._count += 1
        self.differing += new.differs

    def __iter__(self) -> Iterator[NewGrading]:
        """Yield the gradings, in the order in which they were added; read one at a time."""
        self._file.seek(0)
        for old, attempt, score, made, call_log_id, call_log, differs in msgpack.Unpacker(self._file):
            conditions = Conditions.from_json(made)
            assert conditions is not None  # `add` wrote them
            yield NewGrading(old, attempt, score, conditions, call_log_id, call_log, differs)
