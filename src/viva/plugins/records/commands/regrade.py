"""`viva regrade A`: show what would change if the tests as they are now graded the class; then apply or discard."""

import os
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.cluster_options import Elsewhere, cluster_options
from viva.cli.shared.grade_options import Machine, machine_options
from viva.cli.shared.options import course_option, open_course, training_option
from viva.cli.shared.place import Place
from viva.cli.shared.record_options import WhoAndWhy, reason_options, records_option
from viva.config import Assignment, Course
from viva.formats import escaping
from viva.formats.decimal_points import show as points
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions
from viva.model.score import names_of
from viva.model.seeds import Seeds
from viva.pipeline.jobs import Observer
from viva.plugins.records import CALL_LOG
from viva.plugins.records.open_records import open_records

if TYPE_CHECKING:  # imports SQLAlchemy, which may not be installed
    from viva.model.reason import Reason
    from viva.plugins.records.overrides import ByHand
    from viva.plugins.records.proposals import Change, TestChange
    from viva.plugins.records.store import Records, StoredScore


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
@click.option("--details", is_flag=True, help="Show why each test's result changed.")
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
        raise UsageError("Pass only one of --show, --apply and --discard.")
    course = open_course(course_dir)
    with open_records(course, records_url) as records:
        reason = who.reason()  # its class is imported with the records
        from viva.plugins.records.overrides import ByHand
        from viva.plugins.records.proposals import decide, pending_proposal

        if not (applies or discards or only_show):
            chosen = course.assignment(assignment)
            place = Place.choose(course, [chosen], machine, elsewhere)
            propose_regrade(course, chosen, place, records, reason, training=training)
        proposal = pending_proposal(records, assignment)
        if proposal is None:
            raise UsageError(f"No regrade of {assignment} waits: `viva regrade {assignment}` makes a proposal.")
        by_hand = ByHand.read(records, assignment)

        def is_chosen(change: "Change") -> bool:
            if never_lower and applies and gain_of(change, by_hand) < 0:
                return False
            return _is_selected(change, students, set(tests))

        if applies or discards:
            done = decide(records, proposal, reason, applied=applies, chosen=is_chosen)
            waiting = len(proposal.changes) - len(done)
            rest = f"; {waiting} wait on" if waiting else ""
            click.echo(f"{len(done)} of {len(proposal.changes)} {'applied' if applies else 'discarded'}{rest}")
            return 0
        show_changes(filter(is_chosen, proposal.changes), by_hand, details=details)
        if proposal.changes:
            click.echo(f"viva regrade {assignment} --apply [--never-lower] makes it count, --discard drops it")
    return 0


def _is_selected(change: "Change", students: tuple[str, ...], tests: set[str]) -> bool:
    """Return whether a change is about one of these students and one of these tests; none selects all."""
    attempt = change.kept.scored.attempt
    if students and not any(attempt.is_called(name) for name in students):
        return False
    return not tests or any(tests & set(names_of(test.test_id, test.number)) for test in change.tests)


def propose_regrade(
    course: Course, assignment: Assignment, place: Place, records: "Records", reason: "Reason", *, training: bool
) -> None:
    """Grade the class again and keep the changes as a proposal; scores that did not change are kept at once."""
    from viva.pipeline.local_pool import LocalPool
    from viva.pipeline.process.settings import BoxOptions
    from viva.plugins.records.conditions import RunConditions
    from viva.plugins.records.proposals import NewGrading, propose
    from viva.plugins.records.regrading import Regrade

    name, secret = assignment.name, course.secret(os.environ)
    options = GradeOptions(training=training, interceptor=CALL_LOG)
    conditions = RunConditions(course.root, secret, options, gpu=place.has_gpu)
    made_with, seed = conditions.hash_tests(assignment), Seeds(secret, name, assignment.version).id
    known, outdated = records.count_current(name, made_with, seed)
    if not outdated:
        what = f"all {known} scores were made by the tests as they are, with this secret"
        what = what if known else "there are no scores in the records"
        raise UsageError(f"Nothing to regrade in {name}: {what}.")
    boxes, replay = BoxOptions(place.tier, none=True), GradeOptions(interceptor=CALL_LOG)
    replaying = LocalPool(course, secret, boxes, replay, place.workers)
    pool = place.pool(course, secret, options, Observer())
    regrade = Regrade(course, assignment, records, replaying, pool, options, place.isolation)
    changed = 0

    def is_outdated(kept: "StoredScore") -> bool:
        return kept.made_with != made_with or kept.conditions.seed != seed

    def grade_again() -> Iterator[NewGrading]:
        nonlocal changed
        for one in regrade.run(kept for kept in records.each_current(name) if is_outdated(kept)):
            made = conditions.create(assignment, one.score.isolation)
            changed += one.differs
            yield NewGrading(one.kept, one.score, made, one.differs, one.call_log)

    propose(records, name, grade_again(), reason)
    click.echo(
        f"{outdated} regraded, {changed} with a different result; "
        f"{regrade.programs_run} programs were run, the answers of the others were recorded"
    )
    for attempt, why in regrade.skipped:
        click.echo(f"viva: {escaping.line(attempt)} keeps its score: {escaping.line(why)}", err=True)


def show_changes(changes: "Iterable[Change]", by_hand: "ByHand", *, details: bool) -> None:
    """Print the changes, the largest first, and a line that sums them up.

    Args:
        changes: what is proposed; of each only its lines are kept.
        by_hand: what people decided, which takes precedence over a regrade.
        details: also print why the result of each test changes.
    """
    shown = [
        (gain_of(change, by_hand), change.kept.scored.attempt.name, _format_change(change, by_hand, details=details))
        for change in changes
    ]
    if not shown:
        click.echo("nothing would change")
        return
    for _, _, lines in sorted(shown, key=lambda one: (-abs(one[0]), one[1])):
        click.echo(lines)
    gains = [gained for gained, _, _ in shown]
    up = [gained for gained in gains if gained > 0]
    down = [gained for gained in gains if gained < 0]
    parts = [_sum_up(up, "gain"), _sum_up(down, "lose")]
    same = len(gains) - len(up) - len(down)
    parts.append(f"{same} keep their total" if same else "")
    click.echo("; ".join(part for part in parts if part))


def gain_of(change: "Change", by_hand: "ByHand") -> Fraction:
    """Return the points gained, with written answers, whose question may now be worth less; negative for a loss."""
    return by_hand.marked(change.score).earned - by_hand.marked(change.kept.scored.score).earned


def _format_change(change: "Change", by_hand: "ByHand", *, details: bool) -> str:
    name = escaping.line(change.kept.scored.attempt.name, characters=60)
    before, after = by_hand.marked(change.kept.scored.score), by_hand.marked(change.score)
    gained = after.earned - before.earned
    sign = "+" if gained > 0 else ""
    tests = ", ".join(_format_test(test) for test in change.tests)
    lines = [f"{name}  {points(before.earned)} → {points(after.earned)} ({sign}{points(gained)})  {tests}"]
    if held := by_hand.held(change.kept.scored.attempt.name):
        from viva.plugins.records.overrides import apply_overrides

        shown = ", ".join(f"{test_id.split('::')[-1]} {points(o.earned or Fraction(0))}" for test_id, o in held.items())
        total = points(apply_overrides(after, held).earned)
        lines.append(f"    set by hand and kept: {escaping.line(shown)}; with that {total}")
    for test in change.tests if details else ():
        lines.append(escaping.terminal(f"    {test.test_id}: {test.message}".replace("\n", "\n      ")))
    return "\n".join(lines)


def _format_test(test: "TestChange") -> str:
    name = escaping.line(test.test_id.split("::")[-1], characters=60)
    if test.worth[0] == test.worth[1]:
        return f"{name} {_format_points(test.before)} → {_format_points(test.after)}"
    before, after = (
        f"{_format_points(won)} of {_format_points(most)}"
        for won, most in zip((test.before, test.after), test.worth, strict=True)
    )
    return f"{name} {before} → {after}"


def _format_points(value: Fraction | None) -> str:
    return "–" if value is None else points(value)


def _sum_up(gains: list[Fraction], verb: str) -> str:
    if not gains:
        return ""
    mean = points(abs(sum(gains, Fraction(0))) / len(gains))
    return f"{len(gains)} {verb}, {mean} points on average"
