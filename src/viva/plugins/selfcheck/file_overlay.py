"""Files that a test puts next to the student's program, without touching the student's folder.

While no file is put, the program runs in its own folder. With the first file it runs in a temporary one, from which
everything in its own folder can be reached as before.
"""

import contextlib
import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import viva.sandbox.guest.loading.sources as sources
import viva.sandbox.guest.loading.workdir_files as workdir_files

if TYPE_CHECKING:
    from viva.sandbox.guest.transport.message_types import ListFiles, Put

_MOST_COPIED: Final = 16 << 20
"""The most bytes of one file that is copied where the system cannot create links."""
_MOST_LISTED: Final = 500
_DEEPEST: Final = 2


class FileOverlay:
    """The folder in which the student's functions are called."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary: Path | None = None
        sources.work_in(str(folder))

    def put(self, request: "Put") -> None:
        """Write `data` to `path` in the temporary folder, as a box does."""
        if self._temporary is None:
            self._temporary = self._begin()
        parts = request.path.split("/")
        for depth in range(1, len(parts)):
            self._open_up(Path(*parts[:depth]))
        target = self._temporary.joinpath(*parts)
        if target.is_symlink():
            target.unlink()
        workdir_files.put(request)

    def listed(self, _request: "ListFiles") -> list[list[object]]:
        """Return `[path, size]` of the files near the top only, because a notebook may be in a large folder."""
        found: list[list[object]] = []
        waiting = [("", sources.folder())]
        while waiting and len(found) < _MOST_LISTED:
            prefix, folder = waiting.pop()
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in itertools.islice(entries, _MOST_LISTED):
                    if entry.name.startswith((".", "__pycache__")):
                        continue
                    if not entry.is_dir():
                        found.append([prefix + entry.name, entry.stat().st_size])
                    elif prefix.count("/") < _DEEPEST:
                        waiting.append((f"{prefix}{entry.name}/", entry.path))
        return sorted(found[:_MOST_LISTED])

    def close(self) -> None:
        """Remove the temporary folder; the caller has left it as the current directory."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None
        sources.work_in(str(self._folder))

    def _begin(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="viva-check-"))
        _link_all(self._folder, folder)
        sources.work_in(str(folder))
        os.chdir(folder)
        return folder

    def _open_up(self, inner: Path) -> None:
        """Replace a link to one of the student's folders with a real folder that holds links."""
        assert self._temporary is not None  # put() has made it
        target = self._temporary / inner
        if target.is_symlink():
            target.unlink()
            target.mkdir()
            _link_all(self._folder / inner, target)


def _link_all(source: Path, target: Path) -> None:
    """Link everything of one folder into another, or copy it where the system cannot create links."""
    with contextlib.suppress(OSError):
        for path in source.iterdir():
            try:
                (target / path.name).symlink_to(path, target_is_directory=path.is_dir())
            except OSError:
                with contextlib.suppress(OSError):
                    if path.is_file() and path.stat().st_size <= _MOST_COPIED:
                        shutil.copy2(path, target / path.name)
