"""The archive: the same files always give the same bytes, on any machine and at any time."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import write_atomically
from viva.model import File
from viva.model.errors import UsageError
from viva.submissions.opening_by_descriptor import Folder as OpenFolder
from viva.submissions.opening_by_descriptor import LinkOnTheWay, NotOpened, opened_at, opened_folder, read_at_most

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can store."""
_MODE: Final = 0o644 << 16
_UNIX: Final = 3


def archive(files: Sequence[File]) -> bytes:
    """Return a zip file of the files, sorted by path, without times, owners or anything else of this machine."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for file in sorted(files, key=lambda file: file.path):
            entry = zipfile.ZipInfo(file.path, _EPOCH)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, _MODE, _UNIX
            packed.writestr(entry, file.data)
    return data.getvalue()


def write_archive(path: Path, data: bytes) -> None:
    """Write the archive to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, data)


class Folder:
    """Reads files of one folder by their relative path and follows no link on the way."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        """Open nothing yet.

        Args:
            path: the folder.
            most_bytes: the most that one file may hold.
        """
        self._path, self._most = path, most_bytes
        self._known: dict[str, bytes] = {}

    def read(self, path: str) -> bytes:
        """Return the bytes of a file, which is read once.

        Raises:
            UsageError: it cannot be read, has become a link, or is larger than a whole submission may be.
        """
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def _read(self, path: str) -> bytes:
        try:
            with opened_folder(self._path) as folder:
                return self._below(folder, path.split("/"), path)
        except (FileNotFoundError, NotOpened, LinkOnTheWay) as error:
            raise UsageError(f"{self._path / path} cannot be packed: it {error}.") from None

    def _below(self, folder: OpenFolder, parts: list[str], path: str) -> bytes:
        with opened_at(parts[0], folder) as found:
            if len(parts) > 1:
                return self._below(found.folder, parts[1:], path)
            data = None if found.is_folder else read_at_most(found.descriptor, self._most)
        if data is None:
            raise UsageError(
                f"{self._path / path} is larger than {self._most >> 20} MiB, the most that a whole submission may be: "
                "move it elsewhere, or submit a smaller one."
            )
        return data
