"""The kinds of export, each with one recogniser by content and one reader; the more particular ones come first.

A kind is a module with `SOURCE`, `recognise(folder, entries)` and `read(folder, entries, gatherer)`.
"""

from pathlib import Path
from typing import Final, Protocol

from viva.submissions.classes.class_export import Reading
from viva.submissions.classes.folder_listing import Entry
from viva.submissions.classes.gathering import Gatherer
from viva.submissions.classes.platforms import brightspace, canvas, github, gradescope, moodle, nbgrader, plain_folder


class Kind(Protocol):
    """What a module of this folder offers."""

    SOURCE: str

    def recognise(self, folder: Path, entries: tuple[Entry, ...]) -> bool:
        """Return whether a folder with these entries is such an export."""

    def read(self, folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
        """Read everything in it."""


class KindWithNames(Kind, Protocol):
    """A kind whose entries have names of one form."""

    FORM: str
    """An example of it."""

    def fits(self, entry: Entry) -> bool:
        """Return whether an entry has such a name."""


WITH_NAMES: Final[tuple[KindWithNames, ...]] = (moodle, brightspace, canvas)
KINDS: Final[tuple[Kind, ...]] = (gradescope, moodle, brightspace, canvas, nbgrader, github, plain_folder)
