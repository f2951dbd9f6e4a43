"""`viva grade PATH…`: grade one submission or many, show a table, write results."""

import os
import sys
from pathlib import Path, PurePath
from typing import Any

import click

from viva.cli.options import UNSAFE, assignment_option, choose_assignment, choose_tier, course_option, open_course, tier_option
from viva.model import Score, Status, Tier
from viva.model.errors import UsageError


@click.command("grade")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE|DIR", help="Where to write: FILE.json for one submission, DIR/<path>/results.json for several.")  # fmt: skip
@assignment_option
@course_option
@tier_option
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Submissions graded at once (default: one per core).")
@click.option("--only", multiple=True, metavar="TEST", help="Ask only this test (its number, or its name); may be repeated.")
@click.option("--as-student", is_flag=True, help="Show exactly what the student will see.")
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    assignment: str | None,
    course_dir: Path | None,
    tier_name: str | None,
    workers: int | None,
    only: tuple[str, ...],
    as_student: bool,
) -> int:
    """Grade one or many submissions: modules, notebooks, folders, archives.

    Exit status: 0 graded (whatever the marks), 1 the command or the course is wrong, 2 something went wrong on the
    grader's side and those tests are still open.
    """
    from viva.batch.local import Batch, Job
    from viva.examine.parent import Wanted
    from viva.intake import discover, open_submission

    course = open_course(course_dir)
    secret = course.secret(os.environ)
    found = discover(paths)
    jobs: list[Job] = []
    for path in found:
        submission = open_submission(path, str(path))
        jobs.append(Job(path, str(path), choose_assignment(course, assignment, submission), submission if len(found) < 50 else None))
    tier = choose_tier(tier_name, max((j.assignment.min_tier for j in jobs if j.assignment.min_tier is not None), default=course.min_tier))
    if tier is Tier.T0:
        click.echo(f"viva: isolation T0: {UNSAFE}.", err=True)
    targets = {job.name: target(output, job.path, len(jobs)) for job in jobs} if output is not None else {}
    show = Progress(jobs, targets)
    batch = Batch(course, tier, secret, Wanted(list(only) or None), workers or 0, show.start, show.entry)
    with show:
        for job, graded in batch.run(jobs):
            show.done(job, graded)
    return show.finish(as_student=as_student)
