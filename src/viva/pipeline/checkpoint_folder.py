"""Checkpoints of trainings beside the results: where they lie, and when they are taken away."""

import contextlib
from pathlib import Path

from viva.model import Status
from viva.model.grade_request import Graded


def folder_of(results: Path) -> Path:
    """The folder of the checkpoints that belong to a result."""
    return results.with_name(".checkpoints" if results.stem == "results" else f".{results.stem}.checkpoints")


def tidy(folder: Path, graded: Graded, *, all_asked: bool) -> None:
    """Once a result is written: keep what a later run goes on with, and nothing else.

    That is trainings whose budget or time was used up; and everything, where something went wrong on our side and the
    submission is to be graded again. Trainings that this run did not come to stay where it was not to ask every test,
    unless they belong to another state of the submission or of the tests, and no run could go on with them.
    """
    if not graded.finished or graded.score.has_grader_error or not folder.is_dir():
        return
    unasked_go = all_asked and not any(entry.status is Status.DEFERRED for entry in graded.score.entries)
    of_this_state = tuple({name.partition("-")[0] for name in graded.trained})
    with contextlib.suppress(OSError):  # what cannot be taken away is in nobody's way
        for path in folder.iterdir():
            outdated = bool(of_this_state) and not path.name.startswith(of_this_state)
            if outdated or graded.trained.get(path.name, unasked_go):
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
