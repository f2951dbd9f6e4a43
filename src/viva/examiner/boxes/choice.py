"""Say which file of a submission counts, where the assignment's settings do not."""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Final

from viva.config.assignment import SubmissionFiles
from viva.submissions.starter_code import Compared

MOST_NAMED: Final = 3
"""Names and files of which one sentence speaks."""


def choice_of(
    chosen: Sequence[str],
    wanted: SubmissionFiles,
    has_given_name: Callable[[str], bool],
    compare: Callable[[str], Compared],
) -> str:
    """Return one sentence: which file counts, and why; empty if the names of files decide.

    Args:
        chosen: the files that are run, in order: of two that define a name, the first counts.
        wanted: the names that the assignment asks for.
        has_given_name: whether a file has the very name of one that the course handed out or asks for.
        compare: compares a file with the starter.
    """
    if not chosen:
        return ""
    first = chosen[0]
    rivals = [path for path in chosen[1:] if compare(path).answers & compare(first).answers]
    if rivals:
        names = sorted(compare(first).answers & compare(rivals[0]).answers)
        why = _why(first, rivals, wanted, has_given_name, compare)
        return f"{_several(names)} in {first} and in {_listed(rivals)}: {first} counts, because {why}."
    if len(chosen) == 1 and (wanted.module or wanted.notebook) and not wanted.asks_for(first):
        return f"Your answer was read from {first}: no other notebook or module of your submission holds one."
    return ""


def _why(
    first: str,
    rivals: Sequence[str],
    wanted: SubmissionFiles,
    has_given_name: Callable[[str], bool],
    compare: Callable[[str], Compared],
) -> str:
    if PurePosixPath(first).name == wanted.module not in [PurePosixPath(path).name for path in rivals]:
        return "the assignment asks for it"
    if has_given_name(first) and not any(map(has_given_name, rivals)):
        return "it has the name of the file that the course handed out"
    most = max(len(compare(path).answers) for path in rivals)
    if len(compare(first).answers) > most:
        return "it defines more names"
    if all(path.count("/") > first.count("/") for path in rivals):
        return "it is in the outermost folder"
    return "its name comes first in the alphabet"


def _several(names: Sequence[str]) -> str:
    return f"{_listed([f'`{name}`' for name in names])} {'is' if len(names) == 1 else 'are'} defined"


def _listed(items: Sequence[str]) -> str:
    shown = list(items[:MOST_NAMED])
    if len(items) > MOST_NAMED:
        shown = [*shown[:-1], f"{len(items) - MOST_NAMED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
