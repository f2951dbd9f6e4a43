"""`viva push canvas|moodle ASSIGNMENT|DIR`: send grades and feedback pages to a learning platform."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.option_groups import option_group
from viva.formats.decimal_points import show
from viva.formats.escaping import line
from viva.model import Student
from viva.model.counting import counted
from viva.plugins.cohorts.commands.options import (
    ClassChoice,
    class_options,
    connect_platform,
    page_option,
    platform_argument,
    rescale_option,
    results_argument,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from viva.plugins.cohorts.lms.platform import Platform
    from viva.plugins.cohorts.lms.pushing import Row


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What may be sent."""

    send: bool
    lower: bool
    rescale: bool
    with_open: bool


_allowed_options = option_group(
    "allowed",
    _Allowed,
    click.option("--send", is_flag=True, help="Send it. Without this option nothing is changed there."),
    click.option(
        "--lower", is_flag=True,
        help="Also send grades that are lower than those there, and excuse students who have a grade there.",
    ),
    rescale_option,
    click.option(
        "--with-open", is_flag=True, help="Also send grades with points that are not graded yet (default: leave out)."
    ),
)  # fmt: skip


@click.command("push")
@platform_argument
@results_argument
@page_option
@click.option(
    "--feedback", type=click.Path(path_type=Path), metavar="DIR",
    help="Also send each student's page: the folder `feedback` that `viva report --feedback` wrote.",
)  # fmt: skip
@_allowed_options
@class_options
def command(
    platform: str, results: Path, page: str, feedback: Path | None, allowed: _Allowed, choice: ClassChoice
) -> int:
    """Show which grades would change on Canvas or Moodle, and with --send, change them: for an ASSIGNMENT whose scores
    the course keeps, or for the results in DIR, which `viva grade -o` wrote.

    The token is read from VIVA_CANVAS_TOKEN or VIVA_MOODLE_TOKEN, or from the keyring. If a run was interrupted, run
    the command again: only what is missing is sent.

    Exit status: 0 everything was shown or sent, 1 a grade has no matching student there, or was refused, or the
    command, the course or a file is wrong.
    """  # noqa: D205  # click shows it as the help text, in one paragraph
    from viva.formats.terminal_table import print_view
    from viva.plugins.cohorts.commands.class_grades import compute_grades
    from viva.plugins.cohorts.lms.feedback_files import find_feedback
    from viva.plugins.cohorts.lms.pushing import UNRESOLVED, Rules, plan_push

    with connect_platform(platform, page) as site:
        grades, _ = compute_grades(results, choice, with_open=allowed.with_open)
        with_points = [grade for grade in grades if grade.points is not None]
        pages, missing = find_feedback(feedback, with_points) if feedback is not None else ({}, [])
        task = site.read_task()
        rules = Rules(allowed.lower, allowed.rescale, site.excuses)
        rows = plan_push(grades, site.list_presents(site.list_accounts()), task, rules, pages)
        print_view(PushTable(rows), None, None)
        for sentence in missing:
            click.echo(f"viva: {line(sentence)}.", err=True)
        lost = [row for row in rows if row.action in UNRESOLVED]
        for row in lost:
            click.echo(f"viva: {_name(row.student)}: {row.action.value}; the grade is not sent.", err=True)
        total = sum(row.change is not None for row in rows)
        if allowed.send:
            return 1 if _send(site, rows, total) or lost else 0
    what = f"{counted(total, 'student')} would change; --send sends it." if total else "Nothing would change."
    click.echo(f"{what} Nothing was sent.")
    return 1 if lost else 0


def _send(site: "Platform", rows: "Sequence[Row]", total: int) -> int:
    """Send the changes; return how many students were refused."""
    from viva.plugins.cohorts.lms.pushing import send_all

    sent, failed = 0, 0
    try:
        for row, problem in send_all(site, rows):
            if problem:
                failed += 1
                click.echo(f"viva: {_name(row.student)}: {line(problem, characters=600)}", err=True)
            else:
                sent += 1
                click.echo(f"{sent + failed} of {total}: {_name(row.student)}: sent", err=True)
    finally:
        again = "" if sent == total else " Run the command again to send the rest."
        click.echo(f"Sent: {sent} of {counted(total, 'student')}.{again}")
    return failed


class PushTable:
    """What would change: one row for each student."""

    def __init__(self, rows: "Sequence[Row]") -> None:
        self._rows = rows

    def lay_out(self, width: int) -> "RenderableType":
        """Lay it out for this many columns: as a table, or with two lines for each student."""
        from rich.console import Group, RenderableType
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        from viva.formats.terminal_table import NARROW

        counts = Counter(row.action.value for row in self._rows)
        total = Text(", ".join(f"{count} {action}" for action, count in counts.items()))
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("student", overflow="fold", min_width=16)
        table.add_column("there", justify="right", no_wrap=True)
        table.add_column("here", justify="right", no_wrap=True)
        table.add_column("grade", overflow="fold")
        table.add_column("feedback", overflow="fold")
        narrow: list[RenderableType] = []
        for row in self._rows:
            there, ours, action, page = _format_row(row)
            table.add_row(Text(_name(row.student)), *map(Text, (there, ours, action, page)))
            narrow.append(Text(_name(row.student), style="bold", overflow="fold"))
            narrow.append(Padding(Text(f"{there} → {ours}: {action} {page}".rstrip()), (0, 0, 0, 2)))
        return Group(*narrow, total) if width < NARROW else Group(table, total)


def _format_row(row: "Row") -> tuple[str, str, str, str]:
    present = row.present
    there = page = ""
    if present is not None and present.grade is not None:
        there = show(present.grade)
    if present is not None and present.excused:
        there = "excused"
    if present is not None and row.feedback is not None:
        page = "send" if present.files is not None else "send, if not there yet"
    ours = "-" if row.ours is None else show(row.ours)
    return there or "-", ours, row.action.value, page


def _name(student: Student) -> str:
    name, id_ = line(student.name, characters=60), line(student.id, characters=60)
    return f"{id_} ({name})" if name else id_
