"""Find the feedback page of each student, and give it a name by which it is recognised on the platform."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.submissions.opening_by_descriptor import NotOpened, opened, read_at_most

MOST_BYTES: Final = 32 << 20
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

    def is_among(self, names: Iterable[str]) -> bool:
        """Return whether a platform has it, perhaps with a number that the platform added to its name."""
        return self.digest in {digest_in(name) for name in names}

    def read(self) -> bytes:
        """Return its content.

        Raises:
            UsageError: it has changed or cannot be read.
        """
        data = _read(self.path)
        if _digest(data) != self.digest:
            raise UsageError(f"{self.path} changed while grades were sent; run the command again.")
        return data


def digest_in(name: str) -> str:
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
    paths = _paths(folder, [grade.attempt for grade in with_attempt])
    found, missing = {}, []
    for grade in with_attempt:
        path = paths[grade.attempt]
        if path.is_file():
            found[grade.student.id] = FeedbackFile(path, _digest(_read(path)))
        else:
            missing.append(f"{grade.student.id}: there is no page {path}, so only the grade is sent")
    if with_attempt and not found:
        raise UsageError(
            f"{folder} holds no page of these submissions, such as {paths[with_attempt[0].attempt]}; "
            "give the folder that `viva report --feedback` wrote for them."
        )
    return found, missing


def _paths(folder: Path, attempts: list[str]) -> Mapping[str, Path]:
    """Return where each page is expected: under the whole name, or without the folder that all names share.

    The choice is the same for all, so that no one gets the page of someone with the same name in another folder.
    """
    whole = {name: folder / _page(name) for name in attempts}
    if any(path.is_file() for path in whole.values()):
        return whole
    parents = [PurePosixPath(name).parent.parts for name in attempts]
    shared = 0
    for parts in zip(*parents, strict=False):
        if len(set(parts)) > 1:
            break
        shared += 1
    return {name: folder / _page("/".join(PurePosixPath(name).parts[shared:])) for name in attempts}


def _page(attempt: str) -> str:
    parts = attempt.split("/")
    if any(part in ("", ".", "..") for part in parts) or set(attempt) & set("\\\0\n\r"):
        raise UsageError(f"The submission {attempt!r} cannot have a page: a relative path is expected.")
    return f"{attempt}.html"


def _read(path: Path) -> bytes:
    try:
        with opened(path) as file:
            if file.is_folder:
                raise NotOpened("is a folder")
            if file.size > MOST_BYTES:
                raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB, which no feedback page is.")
            data = read_at_most(file.descriptor, MOST_BYTES)
    except (NotOpened, FileNotFoundError) as error:
        why = str(error) if isinstance(error, NotOpened) else "is gone"
        raise UsageError(f"{path} {why}; a feedback page is expected.") from None
    if data is None:
        raise UsageError(f"{path} grew while it was read; run the command again.")
    return data


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]
