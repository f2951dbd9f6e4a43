"""`viva release A`: write what students get (`--to DIR`), or a platform's autograder (`--for gradescope`)."""

import os
import shlex
from fractions import Fraction
from pathlib import Path

import click

from viva.cli.shared.generated_files import open_refreshed_course
from viva.cli.shared.options import choose_tier, course_option, tier_option
from viva.config import Assignment, Course
from viva.model.counting import counted
from viva.model.errors import UsageError


@click.command("release")
@click.argument("assignment", metavar="ASSIGNMENT")
@click.option("--to", "folder", type=click.Path(path_type=Path), metavar="DIR", help="A new folder for students.")
@click.option("--for", "platform", type=click.Choice(["gradescope"]), help="The autograder of a platform, as a zip.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.zip", help="Where that is written; it is replaced."
)
@click.option(
    "--wheels",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Put these wheels into it, so that its image needs no package index.",
)
@click.option(
    "--viva-from",
    default="",
    metavar="URL",
    help="Where students install viva from, such as git+https://…@v1 (default: a wheel in the folder).",
)
@course_option
@tier_option
def command(
    assignment: str,
    folder: Path | None,
    platform: str | None,
    output: Path | None,
    wheels: Path | None,
    viva_from: str,
    course_dir: Path | None,
    tier_name: str | None,
) -> int:
    """Write what students get of ASSIGNMENT, or the autograder that grades it on a platform.

    --to: handout, starter, data and the public tests with recorded answers. Nothing of the key, of the references or
    of hidden tests is in it; the folder is searched for them, and what it decides is compared with the course.

    --for gradescope: the zip that an instructor uploads; a right submission is graded with it before it is written.
    """
    if (folder is None) == (platform is None):
        raise UsageError("Say either --to DIR, for students, or --for gradescope, for the platform.")
    if platform is not None and viva_from:
        raise UsageError("--viva-from belongs to --to DIR; an autograder brings viva along.")
    if folder is not None and (output or wheels):
        raise UsageError("-o and --wheels belong to --for gradescope; --to DIR says where students' files go.")
    if platform is not None and tier_name is not None:
        raise UsageError("--tier belongs to --to DIR; an autograder takes the best isolation of its container.")
    course = open_refreshed_course(course_dir)
    chosen = course.assignment(assignment)
    if folder is not None:
        return _for_students(course, chosen, folder, tier_name, viva_from)
    return _for_gradescope(course, chosen, output or Path(f"{chosen.name}-gradescope.zip"), wheels)


def _for_students(course: Course, chosen: Assignment, folder: Path, tier_name: str | None, viva_from: str) -> int:
    from viva.formats.decimal_points import show
    from viva.plugins.release.student_release import WHY, Release

    tier = choose_tier(tier_name, course.min_tier)
    release = Release(
        course, chosen, tier, course.secret(os.environ), lambda line: click.echo(line, err=True), viva_from
    )
    released = release.to(folder)
    points = sum((entry.points for entry in released.tests), Fraction(0))
    tests = counted(len(released.tests), "public test")
    click.echo(f"{folder}: {counted(len(released.files), 'file')}; {tests} for {show(points)} points.")
    for why, left in released.left_out.items():
        click.echo(f"  not in it: {why}, {show(left)} points ({WHY[why]})")
    click.echo("Try it as a student:")
    click.echo(f"  cd {shlex.quote(str(folder))} && viva check")
    return 0


def _for_gradescope(course: Course, chosen: Assignment, output: Path, wheels: Path | None) -> int:
    from viva.plugins.release.gradescope.package import Autograder

    made = Autograder(course, chosen, course.secret(os.environ), wheels, lambda line: click.echo(line, err=True))
    measured = made.to(output)
    for warning in made.warnings:
        click.echo(f"viva: warning: {warning}", err=True)
    click.echo(f"{output}: {output.stat().st_size / (1 << 20):.1f} MiB. Whoever has it has the key: keep it.")
    if measured is not None:
        memory = f"{measured.rest_mib} MiB, and {measured.box_mib} MiB for the program"
        click.echo(f"Grading a right submission took {measured.wall_s:.0f} s and {memory}.")
    return 0
