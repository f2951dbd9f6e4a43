"""A class that was read from an export, for a terminal and for a spreadsheet: who submitted what, and who did not."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from viva.formats import escaping
from viva.formats.terminal_table import print_view
from viva.model.attempt import Attempt, Student
from viva.model.counting import counted

HEADER: Final = ("state", "submission", "student_id", "name", "email", "section", "team", "submitted_at", "late",
                 "attempt", "source", "reason")  # fmt: skip
_YES_NO: Final = {True: "yes", False: "no", None: ""}
_LISTED: Final = 200
"""Lines of each list below the table; the spreadsheet has all of them."""


class ClassView:
    """The recognised submissions, and below them the entries that a person should check."""

    def __init__(
        self,
        source: str,
        attempts: Sequence[Attempt],
        unmatched: Sequence[tuple[str, str]],
        missing: Sequence[Student],
        notes: Sequence[str] = (),
    ) -> None:
        self._source = source
        self._attempts = attempts
        self._unmatched = unmatched
        self._missing = missing
        self._notes = notes

    def print(self, *, file: IO[str] | None = None, width: int | None = None) -> None:
        """Print it; standard output and the terminal's width by default."""
        print_view(self, file, width)

    def csv(self) -> str:
        """Write a row for each person and submission, for each missing person, and for each entry without a match.

        The file is for people: cells that a spreadsheet would take for a formula are marked as text.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows([escaping.csv_cell(cell) for cell in row] for row in self._rows())
        return out.getvalue()

    def lay_out(self, width: int) -> RenderableType:
        """Lay out the table, and the lists above and below it."""
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        with_teams = any(d.team for d in self._attempts)
        headings = ["submission", "students", *(["team"] if with_teams else []), "submitted", "late", "attempt"]
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for each in self._attempts:
            people = "\n".join(escaping.line(_person(s)) for s in each.students) or "?"
            time = each.submitted_at.strftime("%Y-%m-%d %H:%M %z") if each.submitted_at is not None else ""
            late = "late" if each.late else ""
            cells = [escaping.line(each.name), people, *([escaping.line(each.team)] if with_teams else []), time, late]
            table.add_row(*map(Text, [*cells, str(each.number)]))
        return Group(
            Text(self._summary(), style="bold"),
            *_listed("Not matched:", (f"{name} {reason}" for name, reason in self._unmatched)),
            *([table] if self._attempts else []),
            *_listed("Not submitted:", map(_person, self._missing)),
            *_listed("Look at these:", self._notes),
        )

    def _summary(self) -> str:
        students = {s.id for d in self._attempts for s in d.students}
        teams = sum(len(d.students) > 1 or bool(d.team) for d in self._attempts)
        parts = [
            counted(len(self._attempts), "submission"),
            counted(len(students), "student"),
            counted(teams, "from a team", "from teams") if teams else "",
            f"{late} late" if (late := sum(d.late is True for d in self._attempts)) else "",
            counted(again, "later attempt") if (again := sum(d.number > 1 for d in self._attempts)) else "",
            f"{len(self._unmatched)} not matched" if self._unmatched else "",
            f"{len(self._missing)} missing" if self._missing else "",
        ]
        return f"{self._source}: {', '.join(part for part in parts if part)}"

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for d in self._attempts:
            time = d.submitted_at.isoformat() if d.submitted_at is not None else ""
            for s in d.students or (Student(""),):
                submission = (d.team, time, _YES_NO[d.late], str(d.number), d.source, "")
                yield ("submitted", d.name, s.id, s.name, s.email, s.section, *submission)
        for s in self._missing:
            yield ("missing", "", s.id, s.name, s.email, s.section, "", "", "", "", self._source, "")
        for name, reason in self._unmatched:
            yield ("unmatched", name, *[""] * 8, self._source, reason)


def _person(student: Student) -> str:
    return f"{student.name} ({student.id})" if student.name and student.name != student.id else student.id


def _listed(title: str, lines: Iterable[str]) -> list[Text]:
    shown = [Text(f"  {escaping.line(each)}") for each in lines]
    more = [Text(f"  and {len(shown) - _LISTED} more; --as-csv has all of them")] if len(shown) > _LISTED else []
    return [Text(title, style="bold"), *shown[:_LISTED], *more] if shown else []
