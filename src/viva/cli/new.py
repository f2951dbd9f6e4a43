"""`viva new NAME`: add an assignment to a course, as an example to replace or from a solved notebook."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.options import choose_tier, course_option, open_course, tier_option

if TYPE_CHECKING:
    from viva.authoring.solved.from_solution import Made
    from viva.config import Course


@click.command("new")
@click.argument("name", metavar="NAME")
@click.option("--title", metavar="TEXT", help="What students read (default: the notebook's heading, or NAME in words).")
@click.option(
    "--from", "source", type=click.Path(path_type=Path), metavar="FILE",
    help="A solved notebook or module, from which the assignment is made.",
)  # fmt: skip
@click.option("--large", is_flag=True, help="Of an assignment from a solved notebook: make every file your own.")
@click.option("--mutants/--no-mutants", default=True, help="With --from: show which mistakes the tests do not notice.")
@tier_option
@course_option
def command(
    name: str,
    title: str | None,
    source: Path | None,
    large: bool,
    mutants: bool,
    tier_name: str | None,
    course_dir: Path | None,
) -> int:
    """Add an assignment called NAME to the course: one small question to replace, or a solved notebook with its tests.

    Exit status: 0 added, 1 the name is taken or a file cannot be used; nothing is changed then.
    """
    course = open_course(course_dir)
    if large:
        from viva.authoring.solved.solved_assignment import make_large

        make_large(course, name)
        click.echo(f"{name}: the tests are in graders/{name}, the starter in assignments/{name}/starter.")
        return 0
    if source is not None:
        from viva.authoring.solved.from_solution import from_solution

        made = from_solution(course, name, source, title)
        _say(name, made)
        if mutants:
            _say_strength(open_course(course_dir), name, tier_name)
        click.echo(f"Next: read {os.path.relpath(made.folder / 'tests.py')}, and run")
        click.echo(f"  viva verify {name}")
        click.echo(f"  viva release {name} --to DIR")
        return 0
    from viva.authoring.new_assignment import add_assignment

    add_assignment(course, name, title)
    click.echo(f"{name}: a new assignment with an example of each part. Replace:")
    click.echo(f"  assignments/{name}     the handout, the points, and the starter that students get")
    click.echo(f"  graders/{name}         the answer key and the tests; `viva new-test` adds tests")
    click.echo(f"  fixtures/{name}        example submissions and the verdicts that you expect")
    click.echo(f"Next: viva verify {name}")
    return 0


def _say(name: str, made: "Made") -> None:
    """Print the questions and their tests, and what the author has to decide."""
    click.echo(f"{name}: {len(made.questions)} questions in {os.path.relpath(made.folder)}")
    for question in made.questions:
        names = [*question.functions, *question.classes, *question.values]
        tested = [each for each in names if made.proposals[each].body]
        what = "graded by hand" if question.is_written else ", ".join(f"`{each}`" for each in tested) or "no test"
        points = "points not given" if question.points is None else f"{question.points} points"
        click.echo(f"  {question.number:6} {points:16} {what}")
    for data in made.data:
        click.echo(f"  {data} is given to the submissions as a file.")
    for number, why in made.failed:
        click.echo(f"! Cell {number} of the solution raised {why}")
    for proposal in made.proposals.values():
        for warning in proposal.warnings:
            click.echo(f"! {warning}")
    for question, proposal in made.left:
        click.echo(f"! {question.number} `{proposal.name}` has no test: {proposal.why_not}. Write one in tests.py.")


def _say_strength(course: "Course", name: str, tier_name: str | None) -> None:
    """Break the solution in many ways, and print for each function how many ways the tests notice."""
    from viva.authoring.solved.strength import strength
    from viva.verify.mutants.mutant_trial import try_all

    assignment = course.assignment(name)
    tier = choose_tier(tier_name, assignment.min_tier)
    verdicts, _ = try_all(course, assignment, tier, course.secret_or_public(os.environ))
    for line in strength(verdicts):
        click.echo(line)
