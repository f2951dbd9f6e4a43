"""`viva student export|delete`: what students may ask for."""

import os
from pathlib import Path

import click

from viva.cli.shared.options import course_option, open_course
from viva.cli.shared.record_options import WhoAndWhy, reason_options, records_option
from viva.formats import escaping
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.plugins.records.open_records import open_records
from viva.submissions.classes.stable_folder import is_copy, remove_copy


@click.group("student", no_args_is_help=False)
def command() -> None:
    """What the records hold about one student: hand it over, or take it away."""  # noqa: D401  # help text


@command.command("export", short_help="Everything that is kept of one student, as JSON.")
@click.argument("student")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where to write.")
@click.option("--without-hidden", is_flag=True, help="Leave out what hidden tests asked and found, but for the points.")
@course_option
@records_option
def export(student: str, output: Path, without_hidden: bool, course_dir: Path | None, records_url: str | None) -> int:
    """Write everything that the records hold about STUDENT (an id, an email, a name) as JSON, and nothing of others."""
    with open_records(open_course(course_dir), records_url) as records:
        from viva.plugins.records.student_export import account_of, write_account

        account = account_of(records, student, hidden=not without_hidden)
    write_account(output, account)
    number = len(account["attempts"])
    click.echo(f"written: {output}, {counted(number, 'submission')}")
    if not without_hidden:
        click.echo("viva: it holds what hidden tests asked; --without-hidden leaves that out.", err=True)
    return 0


@command.command("delete", short_help="Take every row about one student away.")
@click.argument("student")
@click.option("--yes", is_flag=True, help="Do it; without this, what would go is shown.")
@course_option
@records_option
@reason_options
def delete(student: str, yes: bool, course_dir: Path | None, records_url: str | None, who: WhoAndWhy) -> int:
    """Take every row about STUDENT (an id, an email, a name) out of the records, and what viva had unpacked of exports.

    Other files are not touched.

    Exit status: 0 it is gone, 1 nothing was changed, or it was not asked for with --yes.
    """
    course = open_course(course_dir)
    with open_records(course, records_url) as records:
        from viva.plugins.records.student_removal import remove, would_remove

        if yes:
            found = remove(records, student, who.reason(), course.secret(os.environ))
        else:
            found = would_remove(records, student)
    rows = found.counts
    whose = ", ".join(escaping.line(id_) for id_ in found.person.ids) or escaping.line(student)
    numbers = ", ".join(
        (
            counted(rows.attempts, "submission"),
            counted(rows.scores, "score"),
            counted(rows.call_logs, "call log"),
            counted(rows.overrides, "override"),
            counted(rows.reviews, "review of prose", "reviews of prose"),
            counted(rows.proposed, "proposed score"),
        )
    )
    click.echo(f"{whose}: {'gone' if yes else 'would go'}: {numbers}")
    for each in found.person.shared:
        click.echo(
            f"shared with {counted(len(each.others), 'other')}, so only the student's place in it goes: "
            f"{each.assignment}, {escaping.line(each.attempt.name)}"
        )
    own = {each.attempt.path for each in found.person.alone if is_copy(each.attempt.path)}
    for path in sorted(own):
        if yes:
            remove_copy(path)
        click.echo(f"{'gone' if yes else 'would go'} too, a copy that was unpacked: {escaping.line(str(path))}")
    for path in dict.fromkeys(each.attempt.path for each in found.person.attempts if each.attempt.path not in own):
        click.echo(f"not touched, look there: {escaping.line(str(path))}")
    names = ", ".join(dict.fromkeys(escaping.line(each.attempt.name) for each in found.person.attempts))
    click.echo(f"not touched either: what `viva grade -o`, `viva report` and `viva grades` wrote of {names}; backups")
    for place in found.mentions:
        click.echo(f"viva: {place} still names the student.", err=True)
    if found.unwiped:
        click.echo(f"viva: {escaping.line(found.unwiped)}", err=True)
    if not yes:
        raise UsageError("Nothing was changed; --yes takes these rows away for good.")
    return 0
