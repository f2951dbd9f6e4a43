"""One broken submission: what was changed in which right answer, and how it is shown."""

import difflib
import hashlib
from dataclasses import dataclass

from viva.model import Submission
from viva.plugins.verify.mutants.reachable_code import Unit
from viva.plugins.verify.mutants.source_edits import Change
from viva.plugins.verify.mutants.submission_code import with_text


@dataclass(frozen=True, eq=False)
class Mutant:
    """A right answer with one mistake."""

    base: str
    """The submission that was changed: `key`, `accepted/plain_loops`."""
    unit: Unit
    operator: str
    change: Change
    was: str
    """The changed lines before, without the white space around them."""
    becomes: str
    """The same lines after; "" if nothing is left of them."""
    reached_by: tuple[str, ...] = ()
    """The student's functions that reach the change."""

    @property
    def file(self) -> str:
        """Return the changed file: `accepted/plain_loops/solution.py`, `reference/attention/groups.py` for the key."""
        place = self.unit.piece.path
        return place if self.base == "key" else f"{self.base}/{place}"

    @property
    def name(self) -> str:
        """Return a name for messages, different for all mutants of a run."""
        return f"mutant of {self.base}: {self.unit.name}, {self.operator} {self.digest[:12]}"

    @property
    def digest(self) -> str:
        """Return a hash that is the same in every run, which makes a choice of mutants repeatable."""
        parts = (self.file, self.unit.name, self.operator, self.was, self.becomes, str(self.change.start))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def where(self) -> str:
        """Return file, cell and line of the change."""
        piece = self.unit.piece
        line = piece.text.count("\n", 0, self.change.start) + 1
        return f"{self.file}{f', cell {piece.number}' if piece.cell is not None else ''}, line {line}"

    @property
    def diff(self) -> str:
        """Return a unified diff with one line of context."""
        before = self.unit.piece.text
        lines = difflib.unified_diff(
            before.splitlines(), self.change.applied(before).splitlines(), self.file, self.file, n=1, lineterm=""
        )
        return "\n".join(lines)

    def submission(self, base: Submission) -> Submission:
        """Return the broken submission."""
        piece = self.unit.piece
        return with_text(base, piece, self.change.applied(piece.text), self.name)


def lines_of(source: str, change: Change) -> tuple[str, str]:
    """Return the lines that a change touches, before and after, without those that stay the same."""
    before, after = source.splitlines(), change.applied(source).splitlines()
    groups = [
        (i1, i2, j1, j2)
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if not groups:
        return "", ""
    (i1, _, j1, _), (_, i2, _, j2) = groups[0], groups[-1]
    was, becomes = before[i1:i2], after[j1:j2]
    return "\n".join(line.strip() for line in was), "\n".join(line.strip() for line in becomes)
