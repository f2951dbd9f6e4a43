"""`viva check [PATH]`: the public tests, on the student's own machine, kind and precise."""

import os
from pathlib import Path

import click

from viva.cli.options import assignment_option, choose_assignment, course_option, open_course, training_option
from viva.model import Tier


@click.command("check")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[PATH]")
@click.option("--only", multiple=True, metavar="TEST", help="Ask only this test (number or name); may be repeated.")
@training_option(default=False)
@assignment_option
@course_option
def command(
    path: Path | None, only: tuple[str, ...], training: bool, assignment: str | None, course_dir: Path | None
) -> int:
    """Run the public tests on PATH (default: this folder) and say what to mend.

    The code runs as you would run it yourself (isolation T0): it is your own.
    """
    from viva.examine.parent import ExaminerProcess, Wanted
    from viva.formats.table import print_score
    from viva.intake import open_submission

    path = path or Path()
    course = open_course(course_dir)
    submission = open_submission(path, str(path))
    chosen = choose_assignment(course, assignment, submission)
    wanted = Wanted(list(only) or None, visible_only=True, training=training)
    secret, notebooks = course.secret_or_public(os.environ), submission.may_hold_notebook
    with ExaminerProcess(course, chosen, Tier.T0, secret, ready=1, notebooks=notebooks) as examiner:
        examiner.open()
        examiner.find(wanted)
        graded = examiner.grade(submission, wanted)
    print_score(graded.score, as_student=True)
    left_out = not training and any("training" in entry.needs for entry in graded.score.entries)
    click.echo(
        "Not run here: hidden tests, tests that need a GPU"
        + (", tests that train (`viva check --training` runs them)" if left_out else "")
        + ", and what a person marks."
    )
    return 2 if graded.score.has_grader_error else 0
