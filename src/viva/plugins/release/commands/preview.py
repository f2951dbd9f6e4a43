"""`viva preview NAME`: what students get of an assignment, and what they see when they check the starter."""

import os
from pathlib import Path

import click

from viva.cli.shared.options import choose_tier, course_option, open_course, tier_option


@click.command("preview")
@click.argument("name", metavar="ASSIGNMENT")
@tier_option
@course_option
def command(name: str, tier_name: str | None, course_dir: Path | None) -> int:
    """Show the files that students get of ASSIGNMENT, the public tests, and what `viva check` says of the starter.

    Nothing is written. `viva release` writes the folder, after it has proved that it tells no answers.

    Exit status: 0 shown, 1 the course is wrong, 2 something failed on viva's side.
    """
    from viva.formats.terminal_table import print_score
    from viva.model import File, Submission
    from viva.model.grade_request import GradeOptions, GradeRequest
    from viva.pipeline.process.examiner_process import ExaminerProcess
    from viva.pipeline.process.settings import BoxOptions
    from viva.plugins.release.release_files import starter_files
    from viva.plugins.selfcheck.not_included import find_left_out, write_sentence
    from viva.submissions.open_submission import digest

    course = open_course(course_dir)
    assignment = course.assignment(name)
    starter = starter_files(assignment)
    files = sorted({*starter, *assignment.data_names, "README.md", "requirements.txt"})
    click.echo(f"Students get: {', '.join(files)}, and the public tests.\n")
    click.echo("If they check the starter, they see:\n")
    tier = choose_tier(tier_name, assignment.min_tier)
    given = tuple(File(path, data) for path, data in sorted(starter.items()))
    request = GradeRequest(Submission("starter", given, digest(given)), GradeOptions(visible_only=True, training=False))
    boxes = BoxOptions(tier, ready=1, notebooks=any(path.endswith(".ipynb") for path in starter))
    with ExaminerProcess(course, assignment, course.secret_or_public(os.environ), boxes) as examiner:
        score = examiner.grade(request).score
        print_score(score, as_student=True)
        click.echo(write_sentence(find_left_out(examiner.tests, score.entries), "`viva check --training`"))
    return 2 if score.has_grader_error else 0
