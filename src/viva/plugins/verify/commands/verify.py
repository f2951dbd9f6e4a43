"""`viva verify [ASSIGNMENT]`: check that every known submission gets the score that it should get."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.generated_files import open_refreshed_course
from viva.cli.shared.options import (
    choose_gpus,
    choose_tier,
    course_option,
    gpu_option,
    tier_option,
    training_option,
)
from viva.cli.shared.progress import progress_line
from viva.config import Assignment, Course
from viva.model import Status, Tier
from viva.model.counting import counted
from viva.model.errors import CourseError, UsageError
from viva.model.extras import install_command

if TYPE_CHECKING:
    from viva.plugins.verify.verify_course import Finding


@click.command("verify")
@click.argument("names", nargs=-1, metavar="[ASSIGNMENT]…")
@course_option
@tier_option
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Submissions graded at once (default: one per core)."
)
@training_option(default=False)
@gpu_option(default="defer")
@click.option("-v", "--verbose", is_flag=True, help="List what holds as well.")
@click.option(
    "--mutants/--no-mutants",
    default=None,
    help="Break the right answers in every way, and see that each loses points (takes long; default: ten of the ways).",
)
@click.option(
    "-o", "output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="With --mutants: write DIR/<assignment>.json, with every survivor.",
)  # fmt: skip
def command(
    names: tuple[str, ...],
    course_dir: Path | None,
    tier_name: str | None,
    workers: int | None,
    training: bool,
    gpu_wish: str,
    verbose: bool,
    mutants: bool | None,
    output: Path | None,
) -> int:
    """Grade the key, the starter and every fixture, and compare with their known verdicts.

    Exit status: 0 everything holds, 1 something does not (each is said in a line).
    """
    if output is not None and not mutants:
        raise UsageError("-o is for the report of --mutants; pass --mutants as well, or leave out -o.")
    course = open_refreshed_course(course_dir)
    if not course.assignments:
        raise CourseError(f"{course.root / 'grader.yaml'}: assignments is empty; list at least one.")
    assignments = [course.assignment(name) for name in dict.fromkeys(names or course.assignments)]
    tier = max(choose_tier(tier_name, assignment.min_tier) for assignment in assignments)
    secret = course.secret_or_public(os.environ)
    if mutants:
        return max([_break(course, a, tier, secret, workers or 0, output) for a in assignments])

    from viva.plugins.verify.last_verification import LastVerification
    from viva.plugins.verify.verify_course import verify

    all_hold = True
    kept = {a.name: LastVerification(course, a, tier, secret) for a in assignments if a.suite is None and not training}
    show_progress = progress_line("verifying", "submissions")
    found = verify(
        course,
        assignments,
        tier,
        secret,
        workers or 0,
        with_mutants=mutants is not False,
        training=training,
        gpus=choose_gpus(gpu_wish),
        on_progress=show_progress,
    )
    for assignment, findings in found:
        show_progress(0, 0)
        holds = _print_findings(assignment, findings, tier, verbose=verbose)
        if assignment.name in kept:
            kept[assignment.name].remember(findings)
        all_hold = holds and all_hold
    return 0 if all_hold else 1


def _print_findings(assignment: Assignment, findings: "Sequence[Finding]", tier: Tier, *, verbose: bool) -> bool:
    """Print what was not graded as expected, or everything, and the counts; return True if all was as expected."""
    for finding in findings:
        if finding.is_mutant and not finding.holds:
            click.echo("\n".join(finding.complaints))
        elif verbose or not finding.holds:
            verdict = "✗ BROKEN" if not finding.holds else "… waits " if finding.waits else "✓ holds "
            click.echo(f"{verdict}  {assignment.name}: {finding.what}")
            for complaint in finding.complaints:
                click.echo(f"            {complaint}")
    known = [f.holds for f in findings if not f.is_mutant and not (f.holds and f.waits)]
    lost = [finding.holds for finding in findings if finding.is_mutant]
    hold, broken = sum(known), len(known) - sum(known)
    run = f"isolation {tier}{_left_out(findings)}"
    click.echo(f"{assignment.name}: {hold} known verdicts hold, {broken} do not ({run}).")
    if lost:
        click.echo(f"{assignment.name}: {sum(lost)} of {len(lost)} broken right answers lose points.")
    return all(known) and all(lost)


def _left_out(findings: "Sequence[Finding]") -> str:
    """Return how many tests and programs were not run, and how many expected verdicts depend on tests."""
    key = next((finding.score for finding in findings if finding.what == "key"), None)
    deferred = [entry for entry in (key.entries if key else ()) if entry.status is Status.DEFERRED]
    trains = sum(entry.needs == ("training",) for entry in deferred)
    waiting = sum(finding.waits and finding.holds for finding in findings)
    parts = [
        f"{counted(trains, 'test')} that train{'s' * (trains == 1)} left out, --training runs them" if trains else "",
        f"{counted(len(deferred) - trains, 'test')} for a GPU left out" if len(deferred) > trains else "",
        f"{counted(waiting, 'verdict waits', 'verdicts wait')} for them" if waiting else "",
    ]
    return "".join(f"; {part}" for part in parts if part)


def _break(course: Course, assignment: Assignment, tier: Tier, secret: bytes, workers: int, output: Path | None) -> int:
    """Grade every mutant of an assignment; print and write the outcomes; return the exit status."""
    from viva.plugins.verify.mutants import general_mistakes, mutant_report
    from viva.plugins.verify.mutants.mutant_trial import try_all

    if not general_mistakes.installed():
        why = f"viva: cosmic-ray is not installed ({install_command('mutants')})"
        click.echo(f"{why}; only the mistakes of this field are made.", err=True)
    show_progress = progress_line(assignment.name, "mutants")
    verdicts, stale = try_all(course, assignment, tier, secret, workers, show_progress)
    for line in (
        *mutant_report.table(assignment, verdicts),
        *(f"✗ {assignment.name}: {sentence}" for sentence in stale),
    ):
        click.echo(line)
    found = mutant_report.summary(course, assignment, verdicts)
    click.echo(
        f"{assignment.name}: {found['mutants']} mutants: {found['killed']} lose points, {found['survived']} do not, "
        f"{found['equivalent']} are equivalent, {found['left_open']} left open by the handout; "
        f"{mutant_report.share(verdicts):.1%} of the others lose points "
        f"(isolation {tier})."
    )
    if output is not None:
        path = output / f"{assignment.name}.json"
        mutant_report.write(path, found)
        click.echo(f"written: {path}")
    return 1 if found["survived"] or stale else 0
