"""A submission as bytes: what intake read, what the hash covers, what is put into the box."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class File:
    """One regular file of a submission."""

    path: str
    """Relative, with forward slashes, no `..`, Unicode NFC."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Submission:
    """The very bytes that are hashed, put into the box and graded."""

    name: str
    """The path as the user gave it."""
    files: tuple[File, ...]
    content_hash: str
    """SHA-256 over the sorted paths and bytes, hexadecimal."""
    problem: str = ""
    """One sentence for the student when nothing can be graded (empty folder, too large, …); empty when all is well."""
    notes: tuple[str, ...] = ()
    """Findings that do not stop grading: a link that was not followed, a file that was left out."""
