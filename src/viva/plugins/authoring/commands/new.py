"""`viva new NAME`: add an assignment to a course, as an example to replace or from a solved notebook."""

import os
import sys
from collections.abc import Sequence, Set
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.generated_files import open_refreshed_course
from viva.cli.shared.options import choose_tier, course_option, open_course, tier_option
from viva.cli.shared.progress import progress_line, show_state
from viva.config.assignment import TESTS
from viva.formats import escaping
from viva.formats.decimal_points import show
from viva.model.counting import counted
from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.config import Assignment, Course
    from viva.model import Tier
    from viva.plugins.authoring.solved.new_files import Made
    from viva.plugins.verify.mutants.mutant_trial import Verdict


@click.command("new")
@click.argument("name", required=False, metavar="[NAME]")
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
    name: str | None,
    title: str | None,
    source: Path | None,
    large: bool,
    mutants: bool,
    tier_name: str | None,
    course_dir: Path | None,
) -> int:
    """Add an assignment called NAME to the course: one small question to replace, or a solved notebook with its tests.

    Without NAME, viva asks for it and for your solved notebook. If you have none yet, it writes one with an example of
    each kind of question.

    Exit status: 0 added, 1 the name is taken or a file cannot be used; nothing is changed then.
    """
    course = open_course(course_dir)
    if name is None:
        name, source = _asked(course, large=large)
        if source is None:
            return 0
    if large:
        from viva.plugins.authoring.solved.solved_assignment import make_large

        make_large(course, name)
        click.echo(f"{name}: the tests are in graders/{name}, the starter in assignments/{name}/starter.")
        return 0
    if source is not None:
        from viva.plugins.authoring.solved.failing_tests import take_back_failing_tests
        from viva.plugins.authoring.solved.from_solution import from_solution
        from viva.plugins.authoring.solved.new_files import write_tests
        from viva.plugins.authoring.solved.solved_assignment import make

        show_state(f"running {escaping.line(source.name)} and writing tests for it")
        try:
            made = from_solution(course, name, source, title)
        finally:
            show_state("")
        course = open_refreshed_course(course_dir)
        if sys.stdin.isatty() and _points_asked(made):
            write_tests(made)
            make(course, course.assignment(name))
        tier = choose_tier(tier_name, course.assignment(name).min_tier)
        try:
            complaints = take_back_failing_tests(course, made, tier, course.secret_or_public(os.environ))
        except UsageError as error:  # such as a library that is missing here
            complaints, mutants = [str(error)], False
        _say(name, made)
        for complaint in complaints:
            click.echo(f"! {escaping.line(complaint)}")
        if mutants:
            untested = {proposal.name for _, proposal in made.left}
            course = open_refreshed_course(course_dir)  # tests that were taken back changed it
            _say_strength(course, name, tier, untested)
        click.echo(f"Next: read {os.path.relpath(made.folder / 'tests.py')}, and run")
        click.echo(f"  viva verify {name}")
        click.echo(f"  viva release {name} --to DIR")
        return 0
    from viva.plugins.authoring.new_assignment import add_assignment

    add_assignment(course, name, title)
    click.echo(f"{name}: a new assignment with an example of each part. Replace:")
    click.echo(f"  assignments/{name}     the handout, the points, and the starter that students get")
    click.echo(f"  graders/{name}         the answer key and the tests; `viva new-test` adds tests")
    click.echo(f"  fixtures/{name}        example submissions and the verdicts that you expect")
    click.echo(f"Next: viva verify {name}")
    return 0


def _asked(course: "Course", *, large: bool) -> tuple[str, Path | None]:
    """Ask for a name and a solved notebook. If there is none, write an example of one.

    Returns:
        The name, and the notebook or module; None if an example was written.

    Raises:
        UsageError: there is no terminal to ask at, the name is not usable or taken, or there is such a notebook.
    """
    from viva.plugins.authoring.new_assignment import check_name, in_words
    from viva.plugins.authoring.solved.example_notebook import write_example

    if large or not sys.stdin.isatty():
        raise UsageError("Which assignment? Give its name: `viva new NAME`.")
    name = str(click.prompt("Name of the new assignment, such as hw_2", err=True)).strip()
    check_name(course, name)
    given = click.prompt(
        "Your solved notebook or module (Enter if you have none)", default="", show_default=False, err=True
    )
    if given:
        return name, Path(given).expanduser()
    path = Path(f"{name}.ipynb")
    write_example(path, in_words(name))
    click.echo(f"{path}: a solved notebook with an example of each kind of question.")
    click.echo("Next: replace the examples with your questions and solutions, and run")
    click.echo(f"  viva new {name} --from {path}")
    return name, None


def _points_asked(made: "Made") -> bool:
    """Ask for the points of the questions for which the notebook gives none; return whether there are such."""
    from viva.plugins.authoring.solved.tests_file import points_of

    without = [question for question in made.questions if question.points is None]
    for question in without:
        names = ", ".join(f"`{name}`" for name in question.names) or question.title
        default = show(points_of(question, made.proposals))
        text = f"Points of {question.number}{f' ({names})' if names else ''}"
        question.points = click.prompt(text, default=default, value_proc=_as_points, err=True)
    return bool(without)


def _as_points(text: str) -> Fraction:
    try:
        points = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter("expected a number, such as 2 or 2.5") from None
    if points < 0:
        raise click.BadParameter("expected a number that is not negative")
    return points


def _say(name: str, made: "Made") -> None:
    """Print the questions and their tests, and what the author has to decide."""
    from viva.plugins.authoring.solved.from_solution import LARGEST_DATA
    from viva.plugins.authoring.solved.tests_file import is_graded_by_hand

    click.echo(f"{name}: {counted(len(made.questions), 'question')} in {os.path.relpath(made.folder)}")
    for question in made.questions:
        tested = [f"`{each}`" for each in question.names if made.proposals[each].body]
        by_hand = is_graded_by_hand(question, made.proposals)
        title = f": {question.title}" if question.title and not question.names else ""
        what = f"graded by hand{title}" if by_hand else ", ".join(tested) or "no test"
        points = "points not given" if question.points is None else f"{show(question.points)} points"
        if question.points == 1:
            points = "1 point"
        click.echo(f"  {question.number:6} {points:16} {what}")
        if question.is_written and len(question.prose) > 1:
            cells = f"the {len(question.prose)} cells below its heading"
            click.echo(f"! {question.number} {cells} are taken as your answer: students do not get them.")
    _say_files(made.data)
    for path in made.too_large:
        click.echo(
            f"! {path} is larger than {LARGEST_DATA >> 20} MiB and is not given to the submissions. "
            "Read a smaller part of it in the notebook."
        )
    failed = list(dict.fromkeys(made.failed))
    causes = [each for each in failed if not each[1].startswith(NameError.__name__)] or failed[:1]
    for number, why in causes:
        click.echo(f"! Cell {number} of the solution raised {escaping.line(why)}")
    if others := [str(number) for number, _ in failed if number not in dict(causes)]:
        click.echo(f"! After that, names were missing in cells {', '.join(others)}.")
    for proposal in made.proposals.values():
        for warning in proposal.warnings:
            click.echo(f"! {warning}")
    for question, proposal in made.left:
        person = " A person grades it." if is_graded_by_hand(question, made.proposals) else ""
        click.echo(f"! {question.number} `{proposal.name}` has no test: {proposal.reason}.{person}")


def _say_files(files: Sequence[str]) -> None:
    """Print which files students get: of a folder with several modules, how many there are."""
    folders: dict[str, list[str]] = {}
    for path in files:
        if path.endswith(".py"):
            folders.setdefault(path.partition("/")[0], []).append(path)
        else:
            click.echo(f"  {path} is given to the submissions as a file.")
    for modules in folders.values():
        if len(modules) == 1:
            click.echo(f"! {modules[0]} is imported, so students get it: check that it holds no solutions.")
        else:
            others = f"{modules[0]} and {counted(len(modules) - 1, 'other module')} of its folder"
            click.echo(f"! {others} are imported, so students get them: check that they hold no solutions.")


def _say_strength(course: "Course", name: str, tier: "Tier", untested: Set[str]) -> None:
    """Break the solution in many ways, and print for each function how many ways the tests notice."""
    from viva.plugins.authoring.strength.separating import add_lines, separating_inputs
    from viva.plugins.authoring.strength.strength import strength
    from viva.plugins.verify.mutants.mutant_trial import try_all

    assignment = course.assignment(name)
    show_progress = progress_line("breaking the solution", "ways tried")
    secret = course.secret_or_public(os.environ)
    verdicts, _ = try_all(course, assignment, tier, secret, report_progress=show_progress, untested=untested)
    separated = separating_inputs(assignment, verdicts)
    for line in strength(verdicts, separated):
        click.echo(line)
    tests = assignment.folder / TESTS
    written = sum(bool(each.arguments) for each in set(separated.values()))
    what = "this call" if written == 1 else f"these {written} calls"
    if written and sys.stdin.isatty() and click.confirm(f"Add {what} to {os.path.relpath(tests)}?", err=True):
        add_lines(tests, separated)
    if sys.stdin.isatty():
        offer_hints(assignment, verdicts)


def offer_hints(assignment: "Assignment", verdicts: "Sequence[Verdict]") -> None:
    """Ask which common mistakes students should be told by name, and in which words."""
    from viva.plugins.authoring.strength.hint_proposals import add_hints, hint_proposals
    from viva.plugins.authoring.strength.strength import changed_lines

    proposed = hint_proposals(assignment, verdicts)
    if not proposed:
        return
    if not click.confirm(f"Students often make {len(proposed)} of these mistakes. Write hints for them?", err=True):
        return
    chosen = []
    for each in proposed:
        click.echo(f"  `{each.function}`", err=True)
        for line in changed_lines(each.diff):
            click.echo(f"    {line}", err=True)
        words = click.prompt("  Hint (Enter: these words; - : none)", default=each.words, err=True).strip()
        if words not in ("", "-"):
            chosen.append(replace(each, words=words))
    added = add_hints(assignment.folder / TESTS, chosen)
    click.echo(f"{counted(added, 'hint')} added to {os.path.relpath(assignment.folder / TESTS)}.")
