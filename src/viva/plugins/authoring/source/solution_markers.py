"""Solutions taken out of code: the markers of nbgrader and of otter-grader, line by line.

nbgrader: `### BEGIN SOLUTION` … `### END SOLUTION`, and the same with HIDDEN TESTS and MARK SCHEME.
otter: `# BEGIN SOLUTION` … `# END SOLUTION`, `x = 3 # SOLUTION`, each with `NO PROMPT`, and
`\"\"\" # BEGIN PROMPT` … `\"\"\" # END PROMPT` for what replaces it.
`<!-- BEGIN SOLUTION -->` … `<!-- END SOLUTION -->` is the same for an answer in words, which Jupyter does not show.
A remark may follow a marker, as both tools allow: `### BEGIN SOLUTION (part a)`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

TODO: Final = "# YOUR CODE HERE"
_MARKER: Final = re.compile(
    r'^(?P<indent>\s*)(?:"""\s*)?(?:#{1,3}|<!--)\s*(?P<edge>BEGIN|END) '
    r"(?P<what>SOLUTION|HIDDEN TESTS|MARK SCHEME|PROMPT)(?P<silent> NO PROMPT)?(?:\W.*)?$"
)
_ASSIGNED: Final = re.compile(r"^(?P<left>\s*[^=#]*?[^=!<>#]=)(?!=).*#\s*SOLUTION(?:\W.*)?$")
_LINE: Final = re.compile(r"^(?P<indent>\s*)[^\s#].*#\s*SOLUTION(?P<silent> NO PROMPT)?(?:\W.*)?$")
_IN_A_FUNCTION: Final = "raise NotImplementedError"
_SOLVED: Final = re.compile(
    r"^[ \t]*(?:#{1,3}|<!--)\s*(BEGIN|END) SOLUTION\b.*\n?|[ \t]*(?<!#)#\s*SOLUTION(?:[^\w\n].*)?$", re.MULTILINE
)


class Unbalanced(Exception):
    """A marker without its partner; the message says which, and in which line."""


@dataclass(slots=True)
class _Stripper:
    """One pass over the lines of a text."""

    lines: list[str] = field(default_factory=list)
    opened: tuple[str, int] | None = None
    """The section that is open, and the line where it begins."""
    prompt: list[str] = field(default_factory=list)
    found: bool = False

    def take(self, number: int, line: str) -> None:
        marker = _MARKER.match(line)
        if marker is not None:
            self._marker(number, marker)
        elif self.opened is None:
            self._outside(line)
        elif self.opened[0] == "PROMPT":
            self.prompt.append(line)

    def _marker(self, number: int, marker: re.Match[str]) -> None:
        what, indent = marker["what"], marker["indent"]
        if marker["edge"] == "BEGIN":
            if self.opened is not None:
                raise Unbalanced(f"line {number}: BEGIN {what} is inside {self.opened[0]} of line {self.opened[1]}")
            self.opened, self.found = (what, number), True
            if what == "SOLUTION" and not marker["silent"]:
                self._add_placeholder(indent)
        else:
            if self.opened is None or self.opened[0] != what:
                raise Unbalanced(f"line {number}: END {what} has no BEGIN before it")
            self.opened = None
            if what == "PROMPT":
                self._replace_placeholder()

    def _outside(self, line: str) -> None:
        whole = _LINE.match(line)
        if whole is None:
            self.lines.append(line)
            return
        self.found = True
        if whole["silent"]:
            return
        assigned = _ASSIGNED.match(line)
        self.lines.append(f"{assigned['left']} ..." if assigned else f"{whole['indent']}...")

    def _add_placeholder(self, indent: str) -> None:
        """Add what a student sees instead; at the top of a cell it runs, so that the cells after it run too."""
        self.lines += [f"{indent}{TODO}", f"{indent}{_IN_A_FUNCTION if indent else '...'}"]

    def _replace_placeholder(self) -> None:
        """Replace our placeholder with the author's prompt."""
        if len(self.lines) >= 2 and self.lines[-2].strip() == TODO:
            del self.lines[-2:]
        self.lines += self.prompt
        self.prompt = []


def stripped(text: str) -> tuple[str, bool]:
    """Return a text without its solutions, and whether there were any.

    Raises:
        Unbalanced: a marker has no partner.
    """
    stripper = _Stripper()
    for number, line in enumerate(text.splitlines(), 1):
        stripper.take(number, line)
    if stripper.opened is not None:
        raise Unbalanced(f"line {stripper.opened[1]}: BEGIN {stripper.opened[0]} has no END")
    ending = "\n" if text.endswith("\n") else ""
    return "\n".join(stripper.lines) + ending, stripper.found


def solution_lines(text: str) -> set[int]:
    """Return the numbers of the lines that are a solution, their markers included."""
    found, inside = set[int](), False
    for number, line in enumerate(text.splitlines(), 1):
        marker = _MARKER.match(line)
        is_edge = marker is not None and marker["what"] == "SOLUTION"
        if inside or is_edge or _LINE.match(line):
            found.add(number)
        if marker is not None and is_edge:
            inside = marker["edge"] == "BEGIN"
    return found


def solved(text: str) -> str:
    """Return a text with its solutions, without their markers."""
    return _SOLVED.sub("", text)
