"""`viva regrade A`: show what would change if the tests as they are now graded the class; then apply or discard."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from viva.cli.shared.cluster_options import Elsewhere, cluster_options
from viva.cli.shared.grade_options import Machine, machine_options
from viva.cli.shared.options import course_option, open_course, training_option
from viva.cli.shared.place import Place
from viva.cli.shared.record_options import WhoAndWhy, reason_options, records_option
from viva.config import Assignment, Course
from viva.formats import escaping
from viva.model import Score
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions
from viva.model.score import names_of
from viva.model.seeds import Seeds
from viva.pipeline.jobs import Observer
from viva.plugins.records import CALL_LOG
from viva.plugins.records.open_records import open_records

if TYPE_CHECKING:  # imports SQLAlchemy, which may not be installed
    from viva.model.reason import Reason
    from viva.plugins.records.conditions import Asked, Conditions
    from viva.plugins.records.proposals import Change
    from viva.plugins.records.store import Records
    from viva.plugins.records.stored_scores import StoredScore


@click.command("regrade")
@click.argument("assignment")
@course_option
@records_option
@reason_options
@machine_options
@cluster_options
@training_option(default=True)
@click.option("--show", "only_show", is_flag=True, help="Show the pending proposal, and grade nothing.")
@click.option("--apply", "applies", is_flag=True, help="Make the pending proposal count.")
@click.option("--discard", "discards", is_flag=True, help="Discard the proposal; the grades stay as they are.")
@click.option("--never-lower", is_flag=True, help="With --apply: leave out whoever would lose points.")
@click.option("--student", "students", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--test", "tests", multiple=True, metavar="TEST", help="Only those in whom this test changes.")
@click.option("--details", is_flag=True, help="Show why each test comes out otherwise.")
def command(
    assignment: str,
    course_dir: Path | None,
    records_url: str | None,
    who: WhoAndWhy,
    machine: Machine,
    elsewhere: Elsewhere,
    training: bool,
    only_show: bool,
    applies: bool,
    discards: bool,
    never_lower: bool,
    students: tuple[str, ...],
    tests: tuple[str, ...],
    details: bool,
) -> int:
    """Regrade every submission of ASSIGNMENT with the current tests, points and key, as a proposal.

    Where the questions are the same, the new grades come from the recorded answers, and no program is run. Nothing
    counts before --apply.
    """
    if applies + discards + only_show > 1:
        raise UsageError("Say one of --show, --apply and --discard.")
    course = open_course(course_dir)
    with open_records(course, records_url) as records:
        reason = who.reason()  # its class is imported with the records
        from viva.plugins.records.commands.proposal_display import gain, show
        from viva.plugins.records.overrides import ByHand
        from viva.plugins.records.proposals import decide, pending_proposal

        if not (applies or discards or only_show):
            chosen = course.assignment(assignment)
            run = Run.of(course, chosen, training, Place.choose(course, [chosen], machine, elsewhere))
            propose_regrade(run, records, reason)
        proposal = pending_proposal(records, assignment)
        if proposal is None:
            raise UsageError(f"No regrade of {assignment} waits: `viva regrade {assignment}` makes a proposal.")
        by_hand = ByHand.of(records, assignment)
        choice = Choice(students, tests, lambda change: never_lower and applies and gain(change, by_hand) < 0)
        if applies or discards:
            done = decide(records, proposal, reason, applied=applies, chosen=choice)
            rest = f"; {left} wait on" if (left := len(proposal.changes) - len(done)) else ""
            click.echo(f"{len(done)} of {len(proposal.changes)} {'applied' if applies else 'discarded'}{rest}")
            return 0
        show(filter(choice, proposal.changes), by_hand, details=details)
        if proposal.changes:
            click.echo(f"viva regrade {assignment} --apply [--never-lower] makes it count, --discard drops it")
    return 0


@dataclass(frozen=True, slots=True)
class Run:
    """What a regrade grades with: the assignment as it is now, the options and the place."""

    course: Course
    assignment: Assignment
    secret: bytes
    options: GradeOptions
    place: Place
    asked: "Asked"

    @classmethod
    def of(cls, course: Course, assignment: Assignment, training: bool, place: Place) -> Self:
        """Return the run for the assignment as it is now."""
        from viva.plugins.records.conditions import Asked

        options, secret = GradeOptions(training=training, interceptor=CALL_LOG), course.secret(os.environ)
        asked = Asked(course.root, secret, options, gpu=place.has_gpu)
        return cls(course, assignment, secret, options, place, asked)

    def conditions(self, score: Score) -> "Conditions":
        """Return the conditions under which a score was made, for `viva grade` to find it and not to grade again."""
        return self.asked.conditions(self.assignment, score.isolation)


class Choice:
    """The changes that a person selected."""

    def __init__(self, students: tuple[str, ...], tests: tuple[str, ...], refused: "Callable[[Change], bool]") -> None:
        self._students = students
        self._tests, self._refused = set(tests), refused

    def __call__(self, change: "Change") -> bool:
        """Return whether the change was selected."""
        attempt = change.kept.scored.attempt
        if self._students and not any(attempt.is_called(name) for name in self._students):
            return False
        touched = {name for test in change.tests for name in names_of(test.test_id, test.number)}
        if self._tests and self._tests.isdisjoint(touched):
            return False
        return not self._refused(change)


def propose_regrade(run: Run, records: "Records", reason: "Reason") -> None:
    """Grade the class again and keep the changes as a proposal; scores that did not change are kept at once."""
    from viva.pipeline.local_pool import LocalPool
    from viva.pipeline.process.settings import BoxOptions
    from viva.plugins.records.grading_spool import GradingSpool
    from viva.plugins.records.proposals import NewGrading, propose
    from viva.plugins.records.regrading import Regrade, differs

    name = run.assignment.name
    made_with = run.asked.tests(run.assignment)
    seed = Seeds(run.secret, name, run.assignment.version).id
    known, outdated = records.count_current(name, made_with, seed)
    if not outdated:
        what = f"all {known} scores were made by the tests as they are, with this secret"
        what = what if known else "there are no scores in the records"
        raise UsageError(f"Nothing to regrade in {name}: {what}.")
    place = run.place
    boxes, replay = BoxOptions(place.tier, none=True), GradeOptions(interceptor=CALL_LOG)
    replaying = LocalPool(run.course, run.secret, boxes, replay, place.workers)
    pool = place.pool(run.course, run.secret, run.options, Observer())
    regrade = Regrade(run.course, run.assignment, records, replaying, pool, run.options, place.isolation)
    with GradingSpool() as spool:

        def add(kept: "StoredScore", score: Score, call_log: bytes) -> None:
            changed = differs(kept.scored.score, score)
            spool.add(NewGrading.of(kept, score, run.conditions(score), differs=changed, call_log=call_log))

        regraded = regrade.run((k for k in records.each_current(name) if k.made_with != made_with), add)
        propose(records, name, made_with, spool, reason)
        changed = spool.differing
    click.echo(
        f"{outdated} regraded, {changed} with a different result; "
        f"{regraded.programs_run} programs were run, the answers of the others were recorded"
    )
    for attempt, why in regraded.left:
        click.echo(f"viva: {escaping.line(attempt)} keeps its score: {escaping.line(why)}", err=True)
