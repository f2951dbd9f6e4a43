"""What a folder of results says about who handed in what."""

from pathlib import Path, PurePosixPath

from viva.cli.folders import results_below
from viva.formats.results_json import load_results
from viva.formats.score_back import score_of
from viva.model import Delivery, Marked, Student
from viva.model.errors import UsageError
from viva.model.submission import ARCHIVES

_ENDINGS = (".py", ".ipynb", *ARCHIVES)


def marked_below(folder: Path) -> list[Marked]:
    """Deliveries with their scores: each result's path below the folder is a name, its last part the student's id.

    Raises:
        UsageError: there is no result, one cannot be read, or two would be the same student's.
    """
    marked: dict[tuple[str, str], Marked] = {}
    for path in results_below(folder):
        name = path.parent.as_posix()
        student = Student(_without_ending(PurePosixPath(name).name))
        score = score_of(load_results(folder / path))
        there = marked.setdefault(
            (score.assignment, student.id), Marked(Delivery(name, folder / path.parent, (student,)), score)
        )
        if there.delivery.name != name:
            raise UsageError(
                f"{there.delivery.name} and {name} would both be handed in by `{student.id}`, and nothing says which "
                "counts; grade folders that are named after students."
            )
    return list(marked.values())


def _without_ending(name: str) -> str:
    ending = next((e for e in sorted(_ENDINGS, key=len, reverse=True) if name.lower().endswith(e)), "")
    return name[: len(name) - len(ending)] or name
