"""Executed notebooks next to results, read only when a page needs them: those of a class do not fit into memory."""

import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from viva.examiner.executed import MOST_BYTES
from viva.model.attempt import ScoredAttempt
from viva.submissions.notebook_cells import EXECUTED_FILE, about

_MOST: Final = 4 * MOST_BYTES


class ExecutedNotebooks(Mapping[str, bytes]):
    """Executed notebooks by the name of the submission; one of a different version of the submission is left out."""

    def __init__(self, results: Sequence[tuple[ScoredAttempt, Path]]) -> None:
        """Find the files; none is read yet.

        Args:
            results: each submission with the folder of its result.
        """
        self._places = {
            graded.attempt.name: (folder / EXECUTED_FILE, graded.score.content_hash) for graded, folder in results
        }

    def __getitem__(self, name: str) -> bytes:
        path, content_hash = self._places[name]
        data = _read(path)
        if not data or not content_hash or about(data).content_hash != content_hash:
            raise KeyError(name)
        return data

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._places if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _read(path: Path) -> bytes:
    """Read a regular file up to the size that viva writes; return nothing for any other."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST:
            return b""
        with path.open("rb") as file:
            return file.read(_MOST)
    except OSError:
        return b""
