"""Checkpoints of trainings next to the results: where they are, and when they are removed."""

import contextlib
from pathlib import Path

from viva.model import Status
from viva.model.grade_request import Graded


def folder_of(results: Path) -> Path:
    """Return the folder of the checkpoints that belong to a result."""
    return results.with_name(".checkpoints" if results.stem == "results" else f".{results.stem}.checkpoints")


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
