"""`viva grade PATH…`: grade one submission or many, show a table, write results."""

import os
from pathlib import Path

import click

from viva.cli.shared.cluster_options import Elsewhere, cluster_options
from viva.cli.shared.keeping import Keeping, marks_in, reason_of, reason_options, records_for, records_option
from viva.cli.shared.options import (
    UNSAFE,
    assignment_option,
    choose_gpus,
    choose_tier,
    course_option,
    gpu_option,
    open_course,
    tier_option,
    training_option,
)
from viva.cli.shared.progress import Progress
from viva.model import Tier
from viva.model.errors import UsageError
from viva.model.gpu import Gpus

UNPACKED = ".class"
"""Where what had to be unpacked of a platform's export stays: in the folder of the results, else beside grader.yaml."""


@click.command("grade")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Where to write: FILE.json for one submission, DIR/<path>/results.json for several.",
)
@assignment_option
@course_option
@tier_option
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Submissions at once (default: one per core).")
@click.option("--only", multiple=True, metavar="TEST", help="Ask only this test (number or name); may be repeated.")
@click.option(
    "--visible-only", is_flag=True,
    help="Ask only tests that students can see: needs no secret, for places that students control.",
)  # fmt: skip
@training_option(default=True)
@gpu_option(default="auto")
@click.option("--as-student", is_flag=True, help="Show exactly what the student will see.")
@click.option(
    "--class",
    "is_class",
    is_flag=True,
    help="PATH is what a platform exported for a whole class (known by itself, unless it is an archive).",
)
@click.option(
    "--roster", type=click.Path(path_type=Path), metavar="FILE",
    help="A list of the class as CSV: joins submissions to students, and shows who handed in nothing.",
)  # fmt: skip
@records_option
@click.option("--no-records", is_flag=True, help="Keep nothing, and ask nobody what was graded before.")
@click.option("--again", is_flag=True, help="Grade anew what was graded before, too.")
@reason_options
@cluster_options
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    assignment: str | None,
    course_dir: Path | None,
    tier_name: str | None,
    workers: int | None,
    only: tuple[str, ...],
    visible_only: bool,
    training: bool,
    gpu_wish: str,
    as_student: bool,
    is_class: bool,
    roster: Path | None,
    records_url: str | None,
    no_records: bool,
    again: bool,
    by: str,
    why: str,
    elsewhere: Elsewhere,
) -> int:
    """Grade one or many submissions: modules, notebooks, folders, archives.

    Where the course keeps records, what was graded before and has not changed is not graded again; a run that was
    ended in the middle goes on where it was.

    Exit status: 0 graded (whatever the marks), 1 the command or the course is wrong, 2 something went wrong on the
    grader's side and those tests are still open.
    """
    from viva.cli.shared.listing import list_jobs
    from viva.model.grade_request import Wanted
    from viva.pipeline.local_pool import Batch
    from viva.verify.verdict_check import points_complaint

    course = open_course(course_dir)
    secret = course.secret_or_public(os.environ) if visible_only else course.secret(os.environ)
    place = (output if output is not None and output.suffix != ".json" else course.root) / UNPACKED
    listing = list_jobs(course, paths, assignment, is_class=is_class, roster=roster, place=place)
    jobs = listing.jobs
    floors = [j.assignment.min_tier for j in jobs if j.assignment.min_tier is not None]
    floor = max(floors, default=course.min_tier)
    cluster = elsewhere.cluster(course, tier_name, floor, gpu_wish, workers) if elsewhere else None
    tier = cluster.tier if cluster else choose_tier(tier_name, floor)
    gpus = Gpus() if cluster else choose_gpus(gpu_wish)
    if tier is Tier.T0:
        click.echo(f"viva: isolation T0: {UNSAFE}.", err=True)
    all_asked = not only and not visible_only
    if records_url and not all_asked:
        raise UsageError("--records keeps whole scores: leave out --only and --visible-only.")
    wanted = Wanted(list(only) or None, visible_only, training=training)
    with (
        Progress(jobs, output, tier, all_asked=all_asked) as progress,
        records_for(course, records_url, off=no_records or not all_asked) as records,
        marks_in(output, off=records is not None or no_records or not all_asked) as marks,
    ):
        wanted.notebook = progress.keeps_notebooks
        keeper: Keeping | None = None
        if records is not None:
            wanted.call_log = True
            gpu = cluster.gpu if cluster else bool(gpus.devices)
            keeper = Keeping(records, course, secret, wanted, reason_of(by, why), gpu=gpu, again=again)
            jobs = keeper.left(jobs, progress)
        batch = Batch(
            course,
            tier,
            secret,
            wanted,
            workers or 0,
            progress.start,
            progress.entry,
            progress.tell,
            gpus=gpus,
            checkpoints=progress.checkpoints,
        )
        far = cluster.batch(secret, wanted, progress.start) if cluster else None
        for job, graded in (far or batch).run(jobs):
            known = keeper or marks  # kept before its result is written, which is the newer of the two from then on
            progress.done(job, graded, known.keep(job, graded) if known is not None else None)
    status = progress.finish(as_student=as_student)
    listing.say()
    if keeper is not None:
        keeper.say()
    for name, points in () if only or visible_only else progress.points_of().items():
        if complaint := points_complaint(course.assignment(name), points):
            click.echo(f"viva: {name}: {complaint}.", err=True)
    return status
