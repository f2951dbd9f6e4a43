"""Checkpoints of trainings next to the results: where they are, how they travel, and when they are removed."""

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import write_atomically
from viva.model import Status
from viva.model.grade_request import Graded

_NAME: Final = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}\.checkpoint")
"""As `Checkpoint.path` makes them: what comes from a worker gets no other name."""


def folder_of(results: Path) -> Path:
    """Return the folder of the checkpoints that belong to a result."""
    return results.with_name(".checkpoints" if results.stem == "results" else f".{results.stem}.checkpoints")


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the checkpoints of a folder by name; none if there is no such folder."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if _NAME.fullmatch(path.name):
            with contextlib.suppress(OSError):  # a training without it starts from the beginning
                found[path.name] = path.read_bytes()
    return found


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder hold these checkpoints and no others.

    Raises:
        UsageError: they cannot be written.
    """
    if not files and not folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, data in files.items():
        if _NAME.fullmatch(name):
            write_atomically(folder / name, data, durable=False, mode=0o600)
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()


def tidy(folder: Path, graded: Graded, *, all_selected: bool) -> None:
    """Keep what a later run continues from, once a result is written, and remove the rest.

    Kept are trainings that used up their budget or their time. Everything is kept if something went wrong on the
    grader's side, because the submission is graded again. If this run did not ask every test, trainings that it did not
    reach are kept too, unless they belong to another version of the submission or of the tests: no run could continue
    those.
    """
    if not graded.finished or graded.score.has_grader_error or not folder.is_dir():
        return
    remove_unreached = all_selected and not any(entry.status is Status.DEFERRED for entry in graded.score.entries)
    of_this_state = tuple({name.partition("-")[0] for name in graded.trained})
    with contextlib.suppress(OSError):  # what cannot be removed does no harm
        for path in folder.iterdir():
            outdated = bool(of_this_state) and not path.name.startswith(of_this_state)
            if outdated or graded.trained.get(path.name, remove_unreached):
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
