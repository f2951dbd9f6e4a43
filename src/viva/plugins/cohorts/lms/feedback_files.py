"""Find the feedback page of each student, and give it a name by which it is recognized on the platform."""

import os.path
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.submissions.opening_by_descriptor import NotOpened, opened, read_at_most

MAX_BYTES: Final = 32 << 20
_OURS: Final = re.compile(r"feedback-([0-9a-f]{16})(?:-[0-9]{1,4}| \([0-9]{1,4}\))?\.html")


@dataclass(frozen=True, slots=True)
class FeedbackFile:
    """One student's feedback page."""

    path: Path
    digest: str

    @property
    def name(self) -> str:
        """Return its name on the platform."""
        return f"feedback-{self.digest}.html"

    def read(self) -> bytes:
        """Return the content. Raises UsageError if it cannot be read or has changed since it was found."""
        data = read_page(self.path)
        if _digest(data) != self.digest:
            raise UsageError(f"{self.path} has changed while grades were sent; run the command again.")
        return data

    def is_among(self, names: Iterable[str]) -> bool:
        """Return whether a platform has it, perhaps with a number that the platform added to its name."""
        return self.digest in {read_digest(name) for name in names}


def read_page(path: Path) -> bytes:
    """Return the content of a page. Raises UsageError if it cannot be read, is a link, or is too large for a page."""
    try:
        with opened(path) as file:
            data = None if file.is_folder else read_at_most(file.descriptor, MAX_BYTES)
    except (NotOpened, FileNotFoundError) as error:
        raise UsageError(f"{path} is gone or {error}; a feedback page is expected.") from None
    if data is None:
        raise UsageError(f"{path} is larger than {MAX_BYTES >> 20} MiB; a feedback page is expected.")
    return data


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def read_digest(name: str) -> str:
    """Return the digest in the name of a feedback file that viva sent; empty if it is another file."""
    found = _OURS.fullmatch(name)
    return found[1] if found else ""


def find_feedback(folder: Path, grades: Iterable[ReturnedGrade]) -> tuple[dict[str, FeedbackFile], list[str]]:
    """Find the pages that `viva report --feedback` wrote for the attempts that count.

    Args:
        folder: the folder of all pages.
        grades: the grades; those without an attempt have no page.

    Returns:
        The page of each student by the student's id, and a sentence for each page that is missing.

    Raises:
        UsageError: there is no page at all, or one cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give the one that `viva report --feedback` wrote.")
    with_attempt = [grade for grade in grades if grade.attempt]
    paths = _locate_pages(folder, [grade.attempt for grade in with_attempt])
    found, missing = {}, []
    for grade in with_attempt:
        path = paths[grade.attempt]
        if path.is_file():
            found[grade.student.id] = FeedbackFile(path, _digest(read_page(path)))
        else:
            missing.append(f"{grade.student.id}: there is no page {path}, so only the grade is sent")
    if with_attempt and not found:
        raise UsageError(
            f"{folder} holds no page of these submissions, such as {paths[with_attempt[0].attempt]}; "
            "give the folder that `viva report --feedback` wrote for them."
        )
    return found, missing


def _locate_pages(folder: Path, attempts: list[str]) -> dict[str, Path]:
    """Return where each page is expected: under the whole name, or without the folder that all names share.

    The choice is the same for all, so that no one gets the page of someone with the same name in another folder.
    """
    for name in attempts:
        if any(part in ("", ".", "..") for part in name.split("/")) or set(name) & set("\\\0\n\r"):
            raise UsageError(f"The submission {name!r} cannot have a page: a relative path is expected.")
    whole = {name: folder / f"{name}.html" for name in attempts}
    if not attempts or any(path.is_file() for path in whole.values()):
        return whole
    shared = os.path.commonpath([os.path.dirname(name) for name in attempts])  # noqa: PTH120  # names are no paths here
    return {name: folder / f"{os.path.relpath(name, shared or '.')}.html" for name in attempts}
