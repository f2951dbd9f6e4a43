"""`viva history STUDENT`: show every score that a student has had, with time, author and reason."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.options import course_option, open_course
from viva.cli.shared.record_options import records_option
from viva.formats import escaping
from viva.formats.decimal_points import show as points
from viva.formats.decimal_points import total_in_words
from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, SECOND, SETTLED, Place, Review
from viva.plugins.records.open_records import open_records

if TYPE_CHECKING:
    from viva.plugins.records.store import StoredScore
    from viva.plugins.records.tables import Override


@click.command("history")
@click.argument("student")
@course_option
@records_option
def command(student: str, course_dir: Path | None, records_url: str | None) -> int:
    """Show every score and decision about STUDENT (an id, a name, an email, or a submission) in the order of time, then
    what counts now.
    """  # noqa: D205  # click shows it as the help text, in one paragraph
    course = open_course(course_dir)
    with open_records(course, records_url) as records:
        from viva.plugins.records.hand_grading import rows_about
        from viva.plugins.records.overrides import decided, list_overrides

        found = records.history(student)
        if not found:
            raise UsageError(f"The records hold no score of {student!r}.")
        events = [(f"{stored.at:%Y-%m-%dT%H:%M:%S.%f}", _scored(stored)) for stored in found]
        counting: list[str] = []
        names = {(stored.scored.score.assignment, stored.scored.attempt.name) for stored in found}
        for assignment in sorted({assignment for assignment, _ in names}):
            for each in list_overrides(records, assignment):
                if (assignment, each.name) in names:
                    events.append((each.at, _decided(assignment, each)))
            hashes = {
                stored.scored.score.content_hash for stored in found if stored.scored.score.assignment == assignment
            }
            events += _reviewed(assignment, rows_about(records, assignment, hashes))
            attempts = [one for one in decided(records, assignment) if (assignment, one.scored.attempt.name) in names]
            counting += [_counts(one, len(attempts)) for one in attempts]
    for when, what in sorted(events, key=lambda event: event[0]):
        click.echo(f"{when[:19].replace('T', ' ')}  {what}")
    click.echo("Now:")
    for line in counting:
        click.echo(f"  {line}")
    return 0


def _counts(stored: "StoredScore", attempts: int) -> str:
    """Return the score that an attempt has now, with all decisions; the policy chooses among several attempts."""
    score, attempt = stored.scored.score, stored.scored.attempt
    which = f", attempt {attempt.number} of {attempts}" if attempts > 1 else ""
    total = total_in_words(score.totals)
    return f"{score.assignment}  {total}  {escaping.line(attempt.name, characters=60)}{which}"


def _scored(stored: "StoredScore") -> str:
    score, attempt = stored.scored.score, stored.scored.attempt
    why = f": {stored.why}" if stored.why else ""
    return (
        f"{score.assignment}@{score.version}  "
        f"{total_in_words(score.totals)}  "
        f"{escaping.line(attempt.name, characters=60)}, "
        f"attempt {attempt.number}, content {score.content_hash[:12]}, {score.isolation.tier}, "
        f"{stored.kind} by {escaping.line(stored.by + why)}"
    )


def _decided(assignment: str, each: "Override") -> str:
    what = "taken back" if each.earned is None else f"set to {points(each.earned)} by hand"
    who = escaping.line(f"{each.by}: {each.why}")
    return f"{assignment}  {escaping.line(each.test_id)} {what} by {who}"


def _reviewed(assignment: str, reviews: Iterable[Review]) -> Iterator[tuple[str, str]]:
    """Yield time and text of each change to the points of a written answer; drafts and comments have none."""
    before: dict[Place, tuple[object, ...]] = {}
    for row in reviews:
        now = (row.by, row.judgement.earned) if row.judgement.done else ()
        if row.place.kind != APPEAL and now == before.get(row.place, ()):
            continue
        before[row.place] = now
        who = escaping.line(f"{row.by}: {row.why}" if row.why else row.by)
        yield row.at, f"{assignment}  {escaping.line(row.place.question)} {_what(row)} by {who}"


def _what(row: Review) -> str:
    if row.place.kind == APPEAL:
        return "another look asked for"
    settled = row.place.kind == SETTLED
    second = " as second marker" if row.place.round == SECOND else ""
    if not row.judgement.done:
        return f"{'settlement' if settled else 'grade'} taken back{second}"
    worth = f"{points(row.judgement.earned)} of {points(row.judgement.points)}"
    return f"settled at {worth}" if settled else f"graded {worth}{second}"
