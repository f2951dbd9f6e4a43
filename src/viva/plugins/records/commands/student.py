"""`viva student export|delete`: what students may ask for."""

from pathlib import Path

import click

from viva.cli.shared.options import course_option, open_course
from viva.cli.shared.record_options import WhoAndWhy, reason_options, records_option
from viva.formats import escaping
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.plugins.records.open_records import open_records
from viva.submissions.unpacked_classes import is_copy, remove_copy


@click.group("student", no_args_is_help=False)
def command() -> None:
    """Export or delete what the records hold about one student."""


@command.command("export", short_help="Everything that is kept of one student, as JSON.")
@click.argument("student")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where to write.")
@click.option("--without-hidden", is_flag=True, help="Omit the inputs and messages of hidden tests; keep their points.")
@course_option
@records_option
def export(student: str, output: Path, without_hidden: bool, course_dir: Path | None, records_url: str | None) -> int:
    """Write everything that the records hold about STUDENT (an id, an email, a name) as JSON, and nothing of others."""
    with open_records(open_course(course_dir), records_url) as records:
        from viva.plugins.records.student_export import export_student, write_export

        exported = export_student(records, student, hidden=not without_hidden)
    write_export(output, exported)
    click.echo(f"written: {output}, {counted(len(exported['attempts']), 'submission')}")
    if not without_hidden:
        click.echo("viva: it holds what hidden tests asked; --without-hidden leaves that out.", err=True)
    return 0


@command.command("delete", short_help="Delete all records of one student.")
@click.argument("student")
@click.option("--yes", is_flag=True, help="Do it; without this, what would be deleted is shown.")
@course_option
@records_option
@reason_options
def delete(student: str, yes: bool, course_dir: Path | None, records_url: str | None, who: WhoAndWhy) -> int:
    """Delete all records of STUDENT (an id, an email, a name), and what viva had unpacked of exports.

    Other files are not touched.

    Exit status: 0 it is deleted, 1 nothing was changed, or --yes was not passed.
    """
    with open_records(open_course(course_dir), records_url) as records:
        from viva.plugins.records.student_deletion import delete_student, preview_deletion

        found = delete_student(records, student, who.reason()) if yes else preview_deletion(records, student)
    person, done = found.person, "deleted" if yes else "would be deleted"
    whose = escaping.line(person.id or student)
    numbers = ", ".join(counted(count, what) for what, count in found.counts.items())
    click.echo(f"{whose}: {done}: {numbers}")
    for each in person.shared:
        others = counted(len(each.attempt.students) - 1, "other")
        click.echo(
            f"shared with {others}, so only the student's place in it: {each.assignment}, "
            f"{escaping.line(each.attempt.name)}"
        )
    copies = {each.attempt.path for each in person.alone if is_copy(each.attempt.path)}
    for path in sorted(copies):
        if yes:
            remove_copy(path)
        click.echo(f"{done} too, a copy that was unpacked: {escaping.line(str(path))}")
    for path in dict.fromkeys(each.attempt.path for each in person.attempts if each.attempt.path not in copies):
        click.echo(f"not touched, look there: {escaping.line(str(path))}")
    names = ", ".join(dict.fromkeys(escaping.line(each.attempt.name) for each in person.attempts))
    click.echo(f"not touched either: what `viva grade -o`, `viva report` and `viva grades` wrote of {names}; backups")
    for place in found.mentions:
        click.echo(f"viva: {place} still names the student.", err=True)
    if found.not_wiped:
        click.echo(f"viva: {escaping.line(found.not_wiped)}", err=True)
    if not yes:
        raise UsageError("Nothing was changed; --yes deletes these rows for good.")
    return 0
