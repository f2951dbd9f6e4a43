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
    assignments = [course.assignment(name) for name in dict.fromkeys(names or course.assignments)]
    tier = max(choose_tier(tier_name, floor(course, assignment)) for assignment in assignments)
    all_hold = True
    for assignment, findings in verify(course, assignments, tier, course.secret_or_public(os.environ), workers or 0):
        broken = [finding for finding in findings if not finding.holds]
        all_hold = all_hold and not broken
        for finding in findings if verbose else broken:
            click.echo(f"{'✓ holds ' if finding.holds else '✗ BROKEN'}  {assignment.name}: {finding.what}")
            for complaint in finding.complaints:
                click.echo(f"            {complaint}")
        held = len(findings) - len(broken)
        click.echo(f"{assignment.name}: {held} known verdicts hold, {len(broken)} do not (isolation {tier}).")
    return 0 if all_hold else 1
