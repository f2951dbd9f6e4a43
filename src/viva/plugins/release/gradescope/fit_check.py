"""`viva doctor --gradescope`: show which of Gradescope's containers an assignment fits, by grading."""

import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from viva.cli.shared.options import open_course
from viva.model.errors import UsageError
from viva.plugins.release.gradescope.fit import sentence, table
from viva.plugins.release.gradescope.package import Autograder


def check_fit(course_dir: Path | None, names: Sequence[str]) -> int:
    """Print which container each assignment fits; return the exit status."""
    course = open_course(course_dir)
    console = Console(highlight=False)
    for assignment in [course.assignment(name) for name in names or course.assignments]:
        console.print(f"[bold]{assignment.name}[/bold]: grading a right submission …")
        made = Autograder(course, assignment, course.secret_or_public(os.environ))
        measured = made.try_out(made.files()[0])
        if measured is None:
            raise UsageError("This host offers no isolation T1 or better to try it in; `viva doctor` says why.")
        console.print(table(assignment, measured))
        console.print(sentence(assignment, measured))
        for warning in made.warnings:
            console.print(f"warning: {warning}", markup=False)
    return 0
