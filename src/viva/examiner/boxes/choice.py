"""Which files of a submission are run, in which order, and which one counts where the assignment does not say so."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Final

from viva.config.assignment import SubmissionFiles
from viva.submissions.file_names import CODE
from viva.submissions.notebook_count import MOST_NOTEBOOKS
from viva.submissions.starter_code import Compared, starter_of

MOST_NAMED: Final = 3
"""Names and files of which one sentence speaks."""


class FileChoice:
    """The choice among the files of one submission."""

    def __init__(
        self,
        wanted: SubmissionFiles,
        given_names: Collection[str],
        starter: Path,
        code: Mapping[str, bytes],
        reading: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Prepare.

        Args:
            wanted: the names that the assignment asks for.
            given_names: the names of files that the course handed out or asks for.
            starter: the folder of the starter; it may not exist.
            code: the bytes of code, to which those that come out of archives are added.
            reading: counts what is done in this context as the submission's time.
        """
        self._wanted, self._given_names, self._starter = wanted, given_names, starter
        self._code, self._reading = code, reading
        self.has_several = False
        """Whether there is more than one file of code; only then does it matter what is still the starter."""
        self._compared: dict[str, Compared] = {}

    def compare(self, path: str) -> Compared:
        """Compare a file with the starter, once; the only file of a submission is compared with nothing."""
        if path not in self._compared:
            known = self.has_several and path in self._code
            starter = starter_of(self._starter)
            with self._reading():
                self._compared[path] = starter.compare(path, self._code[path]) if known else Compared()
        return self._compared[path]

    def has_given_name(self, path: str) -> bool:
        """Return whether a file has the very name of one that the course handed out or asks for."""
        return PurePosixPath(path).name in self._given_names

    def order(self, paths: Sequence[str]) -> list[str]:
        """Return the files to run: the one the assignment names, then notebooks, then the other code at the top level.

        Where there are several of a kind, a file with the name of one that was handed out comes first, and then those
        that define most of what is asked. A file that is still the starter is run only if there is nothing else.
        """
        wanted = self._wanted
        mains = [p for p in paths if PurePosixPath(p).name == wanted.module]
        notebooks = [p for p in paths if wanted.notebook and fnmatch(PurePosixPath(p).name, wanted.notebook)]
        chosen = sorted(mains, key=self._rank) + sorted(notebooks, key=self._rank)
        changed = [p for p in chosen if not self.compare(p).is_unchanged]
        if sum(p.endswith(".ipynb") for p in changed) > MOST_NOTEBOOKS:
            changed = [p for p in changed if self.has_given_name(p)] or changed
        if changed:
            return changed
        others = [p for p in paths if p.endswith(".ipynb") and wanted.notebook and not self.compare(p).is_unchanged]
        others = others or [p for p in paths if p.endswith(".py") and not self.compare(p).is_unchanged]
        top = min((depth(p)[0] for p in others), default=0)
        return sorted((p for p in others if depth(p)[0] == top), key=self._rank) or chosen

    def completing(self, paths: Iterable[str], chosen: Sequence[str]) -> list[str]:
        """Return the other files that define what the starter asks for and the chosen files do not define."""
        wanted = starter_of(self._starter).names
        missing = wanted.difference(*(self.compare(path).own_names for path in chosen))
        kinds = CODE if self._wanted.notebook else ".py"
        left = [p for p in paths if p.endswith(kinds) and p not in chosen] if missing else []
        return sorted((p for p in left if missing & self.compare(p).answers), key=self._rank)

    def others(self, paths: Iterable[str], loaded: Sequence[str]) -> list[str]:
        """Return the other code next to what was run: run only when a test asks for a name that nothing defines yet."""
        left = [p for p in paths if p.endswith(".py") and p not in loaded]
        return sorted((p for p in left if not self.compare(p).is_unchanged), key=depth)

    def describe_unrun(self, paths: Iterable[str], run: Sequence[str]) -> list[str]:
        """Return a sentence for each file that could be the work and is not run."""
        sentences = []
        for path in sorted(paths):
            if path in run or not (path.endswith(".ipynb") or self.has_given_name(path)):
                continue
            if path.endswith(CODE):
                unchanged = self.compare(path).is_unchanged
                why = "it is as the course handed it out" if unchanged else f"{run[0]} counts"
                sentences.append(f"{path} was not run, because {why}.")
        return sentences

    def explain(self, chosen: Sequence[str]) -> str:
        """Return one sentence: which file counts, and why; empty if the names of files decide.

        Args:
            chosen: the files that are run, in order: of two that define a name, the first counts.
        """
        if not chosen:
            return ""
        first = chosen[0]
        rivals = [path for path in chosen[1:] if self.compare(path).answers & self.compare(first).answers]
        if rivals:
            names = sorted(self.compare(first).answers & self.compare(rivals[0]).answers)
            why = self._why(first, rivals)
            return f"{_several(names)} in {first} and in {_listed(rivals)}: {first} counts, because {why}."
        wanted = self._wanted
        if len(chosen) == 1 and (wanted.module or wanted.notebook) and not wanted.asks_for(first):
            return f"Your answer was read from {first}: no other notebook or module of your submission holds one."
        return ""

    def _why(self, first: str, rivals: Sequence[str]) -> str:
        if PurePosixPath(first).name == self._wanted.module not in [PurePosixPath(path).name for path in rivals]:
            return "the assignment asks for it"
        if self.has_given_name(first) and not any(map(self.has_given_name, rivals)):
            return "it has the name of the file that the course handed out"
        most = max(len(self.compare(path).answers) for path in rivals)
        if len(self.compare(first).answers) > most:
            return "it defines more names"
        if all(path.count("/") > first.count("/") for path in rivals):
            return "it is in the outermost folder"
        return "its name comes first in the alphabet"

    def _rank(self, path: str) -> tuple[bool, int, int, str]:
        return not self.has_given_name(path), -len(self.compare(path).answers), *depth(path)


def depth(path: str) -> tuple[int, str]:
    """Return how many folders a path is below the top, and the path itself, to sort by both."""
    return path.count("/"), path


def _several(names: Sequence[str]) -> str:
    return f"{_listed([f'`{name}`' for name in names])} {'is' if len(names) == 1 else 'are'} defined"


def _listed(items: Sequence[str]) -> str:
    shown = list(items[:MOST_NAMED])
    if len(items) > MOST_NAMED:
        shown = [*shown[:-1], f"{len(items) - MOST_NAMED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
