"""A submission as bytes: what was read, what the hash covers, what is put into the box."""

from dataclasses import dataclass
from typing import Final

ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""Endings of archives that are unpacked in the box."""


@dataclass(frozen=True, slots=True)
class File:
    """One regular file of a submission."""

    path: str
    """Relative, with forward slashes, no `..`, Unicode NFC."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Submission:
    """The bytes that are hashed, put into the box and graded."""

    name: str
    """The path as the user gave it."""
    files: tuple[File, ...]
    content_hash: str
    """SHA-256 over the sorted paths and bytes, hexadecimal."""
    problem: str = ""
    """One sentence for the student when it cannot be graded (empty folder, too large, …); else empty."""
    notes: tuple[str, ...] = ()
    """Findings that do not stop grading: a link that was not followed, a file that was left out."""

    @property
    def may_hold_notebook(self) -> bool:
        """Return whether it has a notebook, or an archive, which has not been opened yet."""
        return any(f.path.lower().endswith((".ipynb", *ARCHIVES)) for f in self.files)
