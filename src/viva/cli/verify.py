"""`viva verify [ASSIGNMENT]`: prove that the graders give every known submission what it should get."""

import os
from pathlib import Path

import click

from viva.cli.options import choose_tier, course_option, floor, open_course, tier_option
from viva.model.errors import CourseError


@click.command("verify")
@click.argument("names", nargs=-1, metavar="[ASSIGNMENT]…")
@course_option
@tier_option
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Submissions graded at once (default: one per core)."
)
@click.option("-v", "--verbose", is_flag=True, help="List what holds as well.")
def command(
    names: tuple[str, ...], course_dir: Path | None, tier_name: str | None, workers: int | None, verbose: bool
) -> int:
    """Grade the key, the starter and every fixture, and compare with their known verdicts.

    Exit status: 0 everything holds, 1 something does not (each is said in a line).
    """
    from viva.verify.run import verify

    course = open_course(course_dir)
    if not course.assignments:
        raise CourseError(f"{course.root / 'grader.yaml'}: assignments is empty; list at least one.")
    broken = 0
    for name in names or course.assignments:
        assignment = course.assignment(name)
        tier = choose_tier(tier_name, floor(course, assignment))
        held = 0
        for finding in verify(course, assignment, tier, course.secret_or_public(os.environ), workers or 0):
            held += finding.holds
            broken += not finding.holds
            if verbose or not finding.holds:
                click.echo(f"{'✓ holds ' if finding.holds else '✗ BROKEN'}  {name}: {finding.what}")
            for complaint in finding.complaints:
                click.echo(f"            {complaint}")
        click.echo(f"{name}: {held} known verdicts hold, {broken} do not (isolation {tier}).")
    return 1 if broken else 0
