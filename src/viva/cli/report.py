"""`viva report DIR`: a class in one page and one table; with `--feedback` a page for each student."""

from pathlib import Path

import click

from viva.cli.options import assignment_option, course_option, open_course
from viva.model.errors import UsageError


@click.command("report")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="Where to write (default: DIR/report)."
)
@click.option(
    "--feedback", is_flag=True, help="A page for each delivery as well, for its student: OUT/feedback/….html."
)
@click.option("--similarity", is_flag=True, help="A page of pairs that share code as well, to look at.")
@click.option(
    "--submissions", type=click.Path(path_type=Path), default=Path(), metavar="DIR",
    help="For --feedback and --similarity: the folder in which `viva grade` was started (default: this one).",
)  # fmt: skip
@assignment_option
@course_option
def command(
    folder: Path,
    output: Path | None,
    feedback: bool,
    similarity: bool,
    submissions: Path,
    assignment: str | None,
    course_dir: Path | None,
) -> int:
    """Report on the results that `viva grade -o DIR` wrote: OUT/report.html and OUT/report.csv, for staff.

    Exit status: 0 written, 1 the results cannot be read or the report not be written.
    """
    from viva.report.build import write_report
    from viva.report.load import marked_below

    marked = marked_below(folder, submissions)
    names = list(dict.fromkeys(one.score.assignment for one in marked))
    if assignment is None and len(names) > 1:
        raise UsageError(f"{folder} holds results of several assignments ({', '.join(names)}): say one with -a.")
    name = assignment or names[0]
    marked = [one for one in marked if one.score.assignment == name]
    if not marked:
        raise UsageError(f"{folder} holds no results of the assignment {name}; it holds those of {', '.join(names)}.")
    course = open_course(course_dir)
    written = write_report(
        marked,
        course.assignment(name),
        output or folder / "report",
        feedback=feedback,
        pairs=similarity,
        withheld=course.withheld,
    )
    click.echo("\n".join(f"written: {file}" for file in written.files))
    if written.pages:
        click.echo(f"written: {written.pages} pages for students below {(output or folder / 'report') / 'feedback'}")
    if written.unread:
        click.echo(f"viva: {len(written.unread)} submissions could not be compared; the page says why.", err=True)
    return 0
