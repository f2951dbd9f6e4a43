"""`viva doctor --records`: look for damage in the file that keeps the scores."""

from pathlib import Path

import click

from viva.cli.shared.options import open_course
from viva.plugins.records.open_records import open_records


def check_records(course_dir: Path | None) -> int:
    """Print what SQLite's own check finds in the records of a course; return the exit status.

    Raises:
        UsageError: the records cannot be opened; the message says what to do if they are damaged.
    """
    with open_records(open_course(course_dir), None) as records:
        if records.engine.dialect.name != "sqlite":
            click.echo("The records can be opened; PostgreSQL checks its own files.")
            return 0
        file = str(records.engine.url.database)
        with records.read() as session:
            problems = [str(row[0]) for row in session.connection().exec_driver_sql("PRAGMA integrity_check(10)")]
    if problems == ["ok"]:
        click.echo(f"{file}: no damage found")
        return 0
    for problem in problems:
        click.echo(f"viva: {problem}", err=True)
    click.echo(f"{file}: damaged; save what can be read with `sqlite3 {file} .recover | sqlite3 new.db`")
    return 1
