"""`viva review ASSIGNMENT|DIR`: grade written answers in the browser, with the rubric, question by question."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import click

from viva.cli.shared.options import assignment_option, course_option, open_course
from viva.cli.shared.record_options import login_name, records_option
from viva.cli.shared.stop_signals import do_not_repeat
from viva.formats.escaping import line
from viva.formats.results_json import results_below
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.model.extras import need
from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.records.open_records import folder_records, open_records, records_at, records_url_of

if TYPE_CHECKING:
    from viva.config import Course
    from viva.plugins.review.queue import ReviewQueue

_PASSWORD: Final = "VIVA_REVIEW_PASSWORD"  # noqa: S105  # the name of an environment variable
_SHOWN: Final = 10
"""The most results to list by name among those that could not be updated."""


@click.command("review")
@click.argument("what", type=click.Path(path_type=Path), metavar="ASSIGNMENT|DIR")
@click.option("--by", default="", metavar="NAME", help="Who grades (default: your login name).")
@click.option("--second", is_flag=True, help="Grade as a second marker, who does not see the grades of the first.")
@click.option("--question", metavar="N", help="The question to begin with.")
@click.option("--open", "opens", is_flag=True, help="Open the browser.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="The port (default: that of the last time).")
@click.option(
    "--host", metavar="ADDRESS",
    help="Let other machines in as well, by a password that is asked for, or is in VIVA_REVIEW_PASSWORD.",
)  # fmt: skip
@click.option("--certificate", type=click.Path(path_type=Path), metavar="FILE", help="For HTTPS; PEM, with --key.")
@click.option("--key", type=click.Path(path_type=Path), metavar="FILE", help="The key of the certificate.")
@click.option("--new-token", is_flag=True, help="Shut out every page that an earlier run has opened.")
@click.option(
    "--export", "export", type=click.Path(path_type=Path), metavar="FILE.csv", help="Write the grades as a table."
)
@click.option(
    "--import", "table", type=click.Path(path_type=Path), metavar="FILE.csv", help="Read grades from such a table."
)
@assignment_option
@course_option
@records_option
def command(
    what: Path,
    by: str,
    second: bool,
    question: str | None,
    opens: bool,
    port: int | None,
    host: str | None,
    certificate: Path | None,
    key: Path | None,
    new_token: bool,
    export: Path | None,
    table: Path | None,
    assignment: str | None,
    course_dir: Path | None,
    records_url: str | None,
) -> int:
    """Grade written answers in the browser, with the rubric: those of an ASSIGNMENT whose scores the course keeps, or
    of the results in DIR, which `viva grade -o` wrote.

    The address that is printed opens the pages on this machine, for whoever has it. Every grade is saved at once;
    Ctrl-C stops.

    Exit status: 0 stopped, or the table written or read, 1 the answers cannot be read or the pages not be served.
    """  # noqa: D205  # click shows it as the help text, in one paragraph
    if export is not None and table is not None:
        raise UsageError("Say one of --export and --import.")
    course = open_course(course_dir)
    need("review", "`viva review` needs")
    marker, round = _marker(by), SECOND if second else FIRST
    about = _about(course, what, records_url, assignment)
    if export is not None or table is not None:
        with queue_for(course, what, records_url, assignment) as queue:
            click.echo(_with_table(queue, export, table, marker, round))
        return 0
    from viva.plugins.review.web.app import create_app
    from viva.plugins.review.web.server import ServerOptions, check_options, serve

    serving = ServerOptions(
        about=about,
        marker=marker,
        round=round,
        password=_password(host),
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        opens=opens,
        new_token=new_token,
        start=f"/q/{quote(question, safe='')}" if question else "/",
    )
    check_options(serving)
    do_not_repeat()
    with queue_for(course, what, records_url, assignment) as queue:
        return serve(create_app(queue), serving)


@contextlib.contextmanager
def queue_for(course: "Course", what: Path, url: str | None, assignment: str | None) -> "Iterator[ReviewQueue]":
    """Yield the queue of answers; at the end, report the results that could not be brought up to date.

    Raises:
        UsageError: there is nothing to grade, or it cannot be read.
    """
    from viva.plugins.report.commands.class_scores import assignment_meant
    from viva.plugins.review.queue import queue_of_folder, queue_of_records

    kept = assignment_meant(course, what, url)
    if kept is not None:
        if assignment not in (None, kept):
            raise UsageError(f"{what} is an assignment, and -a {assignment} another one: leave out one of the two.")
        with open_records(course, url) as records, queue_of_records(course, kept, records) as queue:
            yield queue
        return
    results_below(what)  # raises before any file is made there
    place = url or course.records
    with (
        records_at(place, course.root) if place else folder_records(what) as records,
        queue_of_folder(course, what, Path(), assignment, records) as queue,
    ):
        yield queue
    failures = list(queue.writer.failures.values())
    for sentence in failures[:_SHOWN]:
        click.echo(f"viva: a result could not be updated, but its grades are kept: {line(sentence)}", err=True)
    if len(failures) > _SHOWN:
        click.echo(f"viva: {len(failures) - _SHOWN} more results could not be updated.", err=True)


def _with_table(queue: "ReviewQueue", export: Path | None, table: Path | None, marker: str, round: int) -> str:
    """Write the grades as a table, or read them from one; return a sentence about it."""
    from viva.plugins.review.grades_csv import import_csv, write_csv
    from viva.plugins.review.leases import Marker
    from viva.plugins.review.spreadsheet_cells import MOST_BYTES

    queue.wait()
    if export is not None:
        write_csv(queue, round, export)
        return f"written: {export}"
    assert table is not None  # one of the two options was given
    with table.open("rb") as file:
        taken = import_csv(queue, Marker(marker, round), file.read(MOST_BYTES + 1))
    return f"{counted(taken, 'grade')} taken from {table}"


def _marker(by: str) -> str:
    from viva.plugins.review.web.access import NAME_CHARACTERS, normalize_marker

    marker = normalize_marker(by or login_name())
    if marker is None:
        raise UsageError(f"--by has to be a name of 1 to {NAME_CHARACTERS} characters that can be printed.")
    return marker


def _about(course: "Course", what: Path, records_url: str | None, assignment: str | None) -> str:
    """Return a text that identifies what is graded; it is the same for each run.

    Raises:
        UsageError: there is no such folder or assignment, or the course does not say where its scores are kept.
    """
    from viva.plugins.report.commands.class_scores import assignment_meant

    name = assignment_meant(course, what, records_url)
    place = str(what.resolve()) if name is None else name
    records = records_url or course.records or "" if name is None else records_url_of(course, records_url)
    return "\0".join((str(course.root.resolve()), place, assignment or "", records))


def _password(host: str | None) -> str | None:
    """Return the password if other machines may connect; it is never an option, because every user can list those."""
    from viva.plugins.review.web.listening import is_loopback

    if is_loopback(host):
        return None
    password = os.environ.get(_PASSWORD)
    if password is None and sys.stdin.isatty():
        typed: str = click.prompt("Password for the pages", hide_input=True, confirmation_prompt=True, err=True)
        return typed
    return password
