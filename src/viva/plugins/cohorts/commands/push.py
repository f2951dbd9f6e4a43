"""`viva push canvas|moodle ASSIGNMENT|DIR`: send grades and feedback pages to a learning platform."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.option_groups import option_group
from viva.formats.escaping import line
from viva.model.counting import counted
from viva.plugins.cohorts.commands.class_choice import ClassChoice, class_options
from viva.plugins.cohorts.commands.lms_options import at_option, connected, platform_argument

if TYPE_CHECKING:
    from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
    from viva.plugins.cohorts.lms.feedback_files import FeedbackFile
    from viva.plugins.cohorts.lms.platform import Platform
    from viva.plugins.cohorts.lms.push_plan import Row


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What may be sent."""

    send: bool
    lower: bool
    rescale: bool
    with_open: bool


_SEND = click.option("--send", is_flag=True, help="Send it. Without this option nothing is changed there.")
_LOWER = click.option(
    "--lower", is_flag=True,
    help="Also send grades that are lower than those there, and excuse students who have a grade there.",
)  # fmt: skip
_RESCALE = click.option("--rescale", is_flag=True, help="Convert grades where the platform has another maximum.")
_WITH_OPEN = click.option(
    "--with-open", is_flag=True, help="Also send grades with points that are not graded yet (default: leave out)."
)
_allowed_options = option_group("allowed", _Allowed, _SEND, _LOWER, _RESCALE, _WITH_OPEN)


@click.command("push")
@platform_argument
@click.argument("results", type=click.Path(path_type=Path), metavar="ASSIGNMENT|DIR")
@at_option
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
    from viva.plugins.cohorts.commands.push_table import PushTable, called
    from viva.plugins.cohorts.lms.push_plan import UNRESOLVED

    with connected(platform, page) as site:
        grades, _ = compute_grades(results, choice, with_open=allowed.with_open)
        pages, missing = _pages(feedback, grades)
        rows = _plan(site, grades, allowed, pages)
        print_view(PushTable(rows), None, None)
        for sentence in missing:
            click.echo(f"viva: {line(sentence)}.", err=True)
        lost = [row for row in rows if row.action in UNRESOLVED]
        for row in lost:
            click.echo(f"viva: {called(row.student)}: {row.action.value}; the grade is not sent.", err=True)
        failed = _send(site, rows) if allowed.send else _show_dry_run(rows)
    return 1 if lost or failed else 0


def _pages(folder: Path | None, grades: "Sequence[ReturnedGrade]") -> "tuple[dict[str, FeedbackFile], list[str]]":
    """Return the feedback pages, and sentences about missing ones."""
    if folder is None:
        return {}, []
    from viva.plugins.cohorts.lms.feedback_files import find_feedback

    return find_feedback(folder, [grade for grade in grades if grade.points is not None])


def _plan(
    site: "Platform", grades: "Sequence[ReturnedGrade]", allowed: _Allowed, pages: "dict[str, FeedbackFile]"
) -> "list[Row]":
    from viva.plugins.cohorts.lms.push_plan import Rules, plan

    task = site.task()
    presents = site.presents(site.accounts())
    return plan(grades, presents, task, Rules(allowed.lower, allowed.rescale, site.excuses), pages)


def _show_dry_run(rows: "Sequence[Row]") -> int:
    count = sum(row.change is not None for row in rows)
    what = "Nothing would change." if not count else f"{counted(count, 'student')} would change; --send sends it."
    click.echo(f"{what} Nothing was sent.")
    return 0


def _send(site: "Platform", rows: "Sequence[Row]") -> int:
    """Send the changes; return how many students were refused."""
    from viva.plugins.cohorts.commands.push_table import called
    from viva.plugins.cohorts.lms.sending import send_all

    total, sent, failed = sum(row.change is not None for row in rows), 0, 0
    try:
        for one in send_all(site, rows):
            if one.error:
                failed += 1
                click.echo(f"viva: {called(one.row.student)}: {line(one.error, characters=600)}", err=True)
            else:
                sent += 1
                click.echo(f"{sent + failed} of {total}: {called(one.row.student)}: sent", err=True)
    finally:
        again = "" if sent == total else " Run the command again to send the rest."
        click.echo(f"Sent: {sent} of {counted(total, 'student')}.{again}")
    return failed
