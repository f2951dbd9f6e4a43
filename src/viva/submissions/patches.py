"""Unified diffs of text files: making one, and applying one exactly."""

import difflib
import io
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_CONTEXT: Final = 1
"""A reader looks for the mistake; the surroundings are in the base."""
_HUNK: Final = re.compile(r"@@ -(\d+)(,0)?(?:,\d+)? \+\d+(?:,\d+)? @@")
_NO_NEWLINE: Final = "\\ No newline at end of file\n"


class BadPatch(ValueError):
    """A patch cannot be read, or does not apply; the text says where, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class _Hunk:
    """One change of a file: lines to find, and the lines that replace them."""

    first: int
    """Where the lines to find probably begin, from 0."""
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def make_patch(path: str, before: str, after: str) -> str:
    """Return the unified diff from one text of a file to another; "" for equal texts."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}", n=_CONTEXT)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def apply_patch(patch: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the new texts of the files that a unified diff changes.

    Lines that moved are found if no other place has the same ones.

    Args:
        patch: the diff; the files in it have the names `a/PATH` and `b/PATH`.
        texts: the files' texts by their path.

    Raises:
        BadPatch: a file or the lines to be changed do not exist, or the patch is not a unified diff.
    """
    return {path: _changed(path, texts, hunks) for path, hunks in _read(patch).items()}


def _changed(path: str, texts: Mapping[str, str], hunks: list[_Hunk]) -> str:
    if path not in texts:
        raise BadPatch(f"there is no text file {path} to change")
    old = _lines(texts[path])
    new: list[str] = []
    done = 0
    for hunk in hunks:
        at = _place_of(hunk, old, done, path)
        new += old[done:at] + hunk.after
        done = at + len(hunk.before)
    return "".join(new + old[done:])


def _place_of(hunk: _Hunk, old: list[str], done: int, path: str) -> int:
    places = [at for at in range(done, len(old) + 1) if old[at : at + len(hunk.before)] == hunk.before]
    if hunk.first in places:
        return hunk.first
    if len(places) == 1:
        return places[0]
    what = "several places with" if places else "no place with"
    lines = "".join(hunk.before[:3]).strip()
    raise BadPatch(f"{path} has {what} the lines that change around line {hunk.first + 1}: {lines!r}")


def _read(patch: str) -> dict[str, list[_Hunk]]:
    """Return the changes of each file."""
    files: dict[str, list[_Hunk]] = {}
    hunks: list[_Hunk] = []
    hunk: _Hunk | None = None
    lines = [*_lines(patch if patch.endswith("\n") else f"{patch}\n"), ""]
    for line, following in itertools.pairwise(lines):
        if line.startswith("--- a/") and following.startswith("+++ b/"):
            hunks = files.setdefault(line.removeprefix("--- a/").rstrip("\n").partition("\t")[0], [])
            hunk = None
        elif line.startswith("diff "):  # of git, between two files
            hunk = None
        elif found := _HUNK.match(line):
            hunk = _Hunk(int(found[1]) - (0 if found[2] else 1))
            hunks.append(hunk)
        elif hunk is not None and line != _NO_NEWLINE:
            _add_line(hunk, line.removesuffix("\n") if following == _NO_NEWLINE else line)
    if patch.strip() and not (files and all(files.values())):
        raise BadPatch("it is not a unified diff of files called a/… and b/…")
    return files


def _add_line(hunk: _Hunk, line: str) -> None:
    """Add a line to the text that is found, to the text that replaces it, or to both."""
    sign, text = (line[0], line[1:]) if line.strip("\n") else (" ", line)  # editors remove the space of empty lines
    if sign not in " +-":
        raise BadPatch(f"it has the line {line.rstrip()!r}, and the lines of a unified diff begin with a space, + or -")
    if sign in " -":
        hunk.before.append(text)
    if sign in " +":
        hunk.after.append(text)


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; only a line feed ends one."""
    return io.StringIO(text, newline="\n").readlines()
