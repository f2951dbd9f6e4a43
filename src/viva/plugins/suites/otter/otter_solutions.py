"""Removes solutions and ignored parts from a cell of an otter master notebook, as students are given it."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

PROMPT: Final = "..."
_ASSIGNED: Final = re.compile(r"(\s*[\w.\[\]'\", ]{1,200}?\s*=)(?!=)")
_BEGIN: Final = re.compile(r"(\s*)# BEGIN SOLUTION( NO PROMPT)?")
_BEGIN_IGNORE: Final = re.compile(r"\s*#\s*BEGIN\s*IGNORE\s*", re.IGNORECASE)
_LEFT_OUT: Final = ("# SOLUTION NO PROMPT", "# BEGIN PROMPT", "# END PROMPT", "# SEED")


class SolutionError(Exception):
    """Markers that do not match; the text is a phrase for the author."""


def without_solutions(source: str) -> str:
    """Return the cell with `...` in place of each solution.

    Raises:
        SolutionError: a region lacks its beginning or its end.
    """
    lines = [line for line in source.split("\n") if not line.rstrip().endswith(_LEFT_OUT)]
    left: list[str] = []
    for line, begins in _outside(lines, _BEGIN, "SOLUTION"):
        if begins is None:
            left.append(_prompted(line))
        elif not begins[2]:
            left.append(begins[1] + PROMPT)
    return "\n".join(left)


def without_ignored(source: str) -> str:
    """Return the cell without lines that end with `# IGNORE`, and without regions between its `BEGIN` and `END`.

    Raises:
        SolutionError: a region lacks its beginning or its end.
    """
    lines = _outside(source.split("\n"), _BEGIN_IGNORE, "IGNORE")
    return "\n".join(line for line, begins in lines if begins is None and not line.rstrip().endswith("# IGNORE"))


def with_seed(source: str, variable: str, value: object) -> str:
    """Return the cell with another value in assignments of the seed's variable."""
    return re.sub(rf"^(\s*){re.escape(variable)}\s*=\s*.*$", rf"\g<1>{variable} = {value}", source, flags=re.M)


def _outside(lines: Iterable[str], begin: re.Pattern[str], what: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield the lines outside regions, and those that begin one, with the match."""
    inside = False
    for line in lines:
        if line.rstrip().endswith(f"# END {what}"):
            if not inside:
                raise SolutionError(f"`# END {what}` has no matching `# BEGIN {what}`")
            inside = False
        elif not inside:
            begins = begin.match(line)
            inside = begins is not None
            yield line, begins
    if inside:
        raise SolutionError(f"`# BEGIN {what}` has no `# END {what}` behind it")


def _prompted(line: str) -> str:
    """Return the line with `...` if it is marked as a solution; it keeps what it assigns to."""
    if not re.search(r"# ?SOLUTION", line):
        return line
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned[1]} {PROMPT}"
    return line[: len(line) - len(line.lstrip())] + PROMPT
