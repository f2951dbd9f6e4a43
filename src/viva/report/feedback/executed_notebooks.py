"""Executed notebooks that lie beside results, read when a page is made of them: a class of them fits no memory."""

import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from viva.examiner.executed import MOST_BYTES
from viva.formats.executed_file import FILE, about
from viva.model.attempt import Marked

_MOST: Final = 4 * MOST_BYTES


class ExecutedNotebooks(Mapping[str, bytes]):
    """By the name of the submission; one that belongs to other bytes than those that were marked is not there."""

    def __init__(self, results: Sequence[tuple[Marked, Path]]) -> None:
        """Args:
        results: each with the folder in which its file lies.
        """
        self._places = {one.attempt.name: (folder / FILE, one.score.content_hash) for one, folder in results}

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
    """A regular file of a size that viva writes; empty for anything else."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST:
            return b""
        with path.open("rb") as file:
            return file.read(_MOST)
    except OSError:
        return b""
