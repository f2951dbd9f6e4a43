"""Write, list and read files of the work directory, and run commands there."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Dict, List

from . import sources, storable_names
from .student_files import is_not_the_work

if TYPE_CHECKING:
    from ..transport.message_types import ListFiles, Put, ReadFile, RunCommand

_open, _makedirs, _File = open, os.makedirs, tempfile.TemporaryFile
_MOST_LISTED = 5000
_LONGEST_OUTPUT = 1 << 18
_GROUPS = hasattr(os, "killpg")
"""Whether a command can be ended with all that it started; if not, files replace the pipes that survivors hold open."""


def put(request: Put) -> None:
    """Write `data` to `path` and create its folders; with `more`, append the next part of a large file.

    Raises:
        OSError: The file cannot be written, is outside the work directory, or has a name that this system forbids.
    """
    why = storable_names.refusal_reason(request.path)
    if why:
        raise OSError(errno.EINVAL, why, request.path)
    target = sources.path_of(request.path)
    _makedirs(os.path.dirname(target), exist_ok=True)
    with _open(target, "ab" if request.more else "wb") as file:
        file.write(request.data)


def listed(_request: ListFiles) -> List[List[object]]:
    """Return `[path, size in bytes]` of every regular file, sorted, at most 5,000; no links, no caches."""
    found: List[List[object]] = []
    for folder, folders, names in os.walk(sources.folder()):
        folders[:] = sorted(name for name in folders if not is_not_the_work(name))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if len(found) < _MOST_LISTED and os.path.isfile(path) and not os.path.islink(path):
                found.append([os.path.relpath(path, sources.folder()).replace(os.sep, "/"), os.path.getsize(path)])
    return sorted(found)


def read(request: ReadFile) -> bytes:
    """Return at most `limit` bytes of the file `path`, from `start` on."""
    with _open(sources.path_of(request.path), "rb") as file:
        file.seek(request.start)
        return file.read(request.limit)


def run(request: RunCommand) -> Dict[str, object]:
    """Run a command where the code runs, for at most `limit_s` seconds; "python" is the interpreter of the box.

    Returns:
        `{"returncode": int | None, "stdout": str, "stderr": str}`; the code is None if the time limit passed and
        the command was killed, with everything that it had started in its group.
    """
    argv = [str(word) for word in request.argv]
    if argv and argv[0] in ("python", "python3"):
        argv[0] = sys.executable
    with contextlib.ExitStack() as open_now:
        kept = [open_now.enter_context(_File("w+", errors="backslashreplace")) for _ in range(0 if _GROUPS else 2)]
        process = subprocess.Popen(  # noqa: S603  # the author's command, in the box
            argv,
            stdin=subprocess.PIPE,
            stdout=kept[0] if kept else subprocess.PIPE,
            stderr=kept[1] if kept else subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            start_new_session=True,
            cwd=sources.home(),
        )
        try:
            printed = process.communicate(request.stdin, timeout=request.limit_s)
            code = process.returncode
        except subprocess.TimeoutExpired:
            _end(process)
            printed, code = process.communicate(), None
        except BaseException:
            _end(process)
            raise
        for file in kept:
            file.seek(0)
        stdout, stderr = [file.read(_LONGEST_OUTPUT) for file in kept] or printed
    return {"returncode": code, "stdout": stdout[:_LONGEST_OUTPUT], "stderr": stderr[:_LONGEST_OUTPUT]}


def _end(process: "subprocess.Popen[str]") -> None:
    if _GROUPS:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
