"""`viva override SUBMISSION TEST POINTS`: set a test's points by hand; the decision is kept with author and reason."""

from fractions import Fraction
from pathlib import Path

import click

from viva.cli.shared.options import course_option, open_course
from viva.cli.shared.record_options import WhoAndWhy, reason_options, records_option
from viva.formats.decimal_points import show, total_in_words
from viva.model.errors import UsageError
from viva.plugins.records.open_records import open_records


@click.command("override")
@click.argument("assignment")
@click.argument("student")
@click.argument("test")
@click.argument("points", required=False)
@click.option("--take-back", is_flag=True, help="Let the tests decide again.")
@course_option
@records_option
@reason_options
def command(
    assignment: str,
    student: str,
    test: str,
    points: str | None,
    take_back: bool,
    course_dir: Path | None,
    records_url: str | None,
    who: WhoAndWhy,
) -> int:
    """Give STUDENT these POINTS for TEST of ASSIGNMENT, whatever the tests say now or after a regrade.

    POINTS may be a fraction: 5/2. A reason is asked for: --why.
    """
    if (points is None) != take_back:
        raise UsageError("Pass the points that are to count, or --take-back.")
    earned = None if points is None else _exact(points)
    course = open_course(course_dir)
    with open_records(course, records_url) as records:
        from viva.plugins.records.overrides import ByHand, override

        course.assignment(assignment)
        called = (kept for kept in records.current(assignment) if kept.scored.attempt.is_called(student))
        found = list({kept.scored.attempt.name: kept for kept in called}.values())  # the last attempt of each name
        if len(found) != 1:
            several = f"{len(found)} submissions ({', '.join(kept.scored.attempt.name for kept in found)})"
            what = several if found else "no score"
            raise UsageError(
                f"The records hold {what} of {student!r} in {assignment}; give the name of one submission."
            )
        before, name = ByHand.read(records, assignment).score(found[0]), found[0].scored.attempt.name
        override(records, before, name, test, earned, who.reason())
        now = ByHand.read(records, assignment).score(found[0])
        click.echo(f"{name}: {show(before.earned)} → {total_in_words(now.totals)}")
    return 0


def _exact(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{text!r} is not a number of points; write 3, 2.5 or 5/2.") from None
