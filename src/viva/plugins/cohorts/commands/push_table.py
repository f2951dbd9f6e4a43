"""The table of what `viva push` would change."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from viva.formats.decimal_points import show
from viva.formats.escaping import line
from viva.formats.terminal_table import NARROW
from viva.model import Student
from viva.plugins.cohorts.lms.push_plan import Row

_NONE: Final = "-"


class PushTable:
    """One row for each student."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def lay_out(self, width: int) -> RenderableType:
        """Lay it out for this many columns: as a table, or with two lines for each student."""
        counts = Counter(row.action.value for row in self._rows)
        total = Text(", ".join(f"{count} {action}" for action, count in counts.items()))
        if width < NARROW:
            parts: list[RenderableType] = []
            for row in self._rows:
                there, ours, action, page = _cells(row)
                parts.append(Text(called(row.student), style="bold", overflow="fold"))
                parts.append(Padding(Text(f"{there} → {ours}: {action} {page}".rstrip()), (0, 0, 0, 2)))
            return Group(*parts, total)
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("student", overflow="fold", min_width=16)
        table.add_column("there", justify="right", no_wrap=True)
        table.add_column("here", justify="right", no_wrap=True)
        table.add_column("grade", overflow="fold")
        table.add_column("feedback", overflow="fold")
        for row in self._rows:
            table.add_row(Text(called(row.student)), *map(Text, _cells(row)))
        return Group(table, total)


def called(student: Student) -> str:
    """Return how a student is shown."""
    name = line(student.name, characters=60)
    return f"{line(student.id, characters=60)} ({name})" if name else line(student.id, characters=60)


def _cells(row: Row) -> tuple[str, str, str, str]:
    present = row.present
    there = _NONE if present is None or present.grade is None else show(present.grade)
    if present is not None and present.excused:
        there = "excused"
    ours = show(row.ours) if row.ours is not None else _NONE
    page = ""
    if row.feedback is not None:
        page = "send" if present is not None and present.files is not None else "send, if not there yet"
    return there, ours, row.action.value, page
