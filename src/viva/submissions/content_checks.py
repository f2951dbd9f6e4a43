"""Checks that need only the bytes of a submission: empty, not text, a wrong kind of file."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from viva.model import File
from viva.submissions.file_names import ANSWERS, is_archive, is_code

_KINDS: Final = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"\x7fELF", "a program"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
)


def problem(files: Sequence[File], *, is_folder: bool, shown: str) -> str:
    """Return the sentence for a submission that cannot be graded; empty if it can."""
    if not files:
        return f"{shown} is an empty folder: submit your notebook or your Python file."
    if all(not f.data for f in files):
        if len(files) == 1:
            return f"{files[0].path} is empty (0 bytes): save your work, and submit again."
        return f"All {len(files)} files are empty (0 bytes): save your work, and submit again."
    if not is_folder:
        return _single(files[0])
    code = [f for f in files if is_code(PurePosixPath(f.path).name)]
    sentences = [_no_text(f) for f in code]
    if sentences and all(sentences):
        return " ".join(sentences[:3])
    return ""


def notes(files: Sequence[File]) -> list[str]:
    """List the findings that do not stop grading."""
    found = []
    for path in sorted(
        f.path
        for f in files
        if not f.data and is_code(PurePosixPath(f.path).name) and not f.path.endswith("__init__.py")
    ):
        found.append(f"{path} is empty (0 bytes).")
    found += [sentence for f in files if f.data and is_code(f.path) and (sentence := _no_text(f))]
    for group in _same_but_for_case(files):
        found.append(
            f"{' and '.join(group)} differ only in upper and lower case: on some computers one replaces the other."
        )
    return found


def _single(file: File) -> str:
    name = PurePosixPath(file.path).name
    looks_like = _looks_like(file)
    if is_archive(name):
        return ""
    if not is_code(name):
        allowed = f"a notebook (.ipynb), a Python file (.py), {ANSWERS[0]} or an archive of them (.zip, .tar.gz)"
        return f"{name} cannot be graded{f' (it is {looks_like})' if looks_like else ''}: submit {allowed}."
    return _no_text(file)


def _no_text(file: File) -> str:
    """Return the sentence for a file that is named like code but is something else; empty if it is text."""
    what = _looks_like(file) or ("binary data" if _is_binary(file.data) else "")
    if not what:
        return ""
    name = PurePosixPath(file.path).name
    if what == "a web page":
        return f"{name} is a web page that shows your work, not the work itself: download the file, and submit that."
    return f"{name} is {what}, not text, whatever its name says: submit the file that your editor or Jupyter saved."


def _looks_like(file: File) -> str:
    start = file.data[:1024].lstrip()[:9]
    return next((words for mark, words in _KINDS if start.startswith(mark)), "")


def _is_binary(data: bytes) -> bool:
    """Return whether there are zero bytes where text has none; UTF-16 (Notepad's "Unicode") begins with a mark."""
    return b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _same_but_for_case(files: Sequence[File]) -> list[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for file in files:
        groups[file.path.casefold()].append(file.path)
    return [sorted(group) for group in groups.values() if len(group) > 1]
