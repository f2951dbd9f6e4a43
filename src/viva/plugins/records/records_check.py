"""`viva doctor --records`: look for damage in the file that keeps the scores."""

from pathlib import Path

import click

from viva.cli.shared.options import open_course
from viva.plugins.records.integrity import check, save
from viva.plugins.records.open_records import open_records, records_file


def check_records(course_dir: Path | None, target: Path | None) -> int:
    """Print what is damaged in the records of a course; return the exit status.

    Args:
        course_dir: as for `open_course`.
        target: a new file for the rows that can be read.
    """
    course = open_course(course_dir)
    path = records_file(course)
    if path is None:
        with open_records(course, None) as records:
            count = sum(len(records.current(name)) for name in records.assignments())
        click.echo(f"{count} scores can be read; PostgreSQL looks after its own files.")
        return 0
    found = check(path)
    rows = ", ".join(f"{count} {name}" for name, count in found.readable.items() if count) or "none"
    click.echo(f"{path}: {'damaged' if found.problems else 'sound'}; rows that can be read: {rows}")
    for problem in found.problems:
        click.echo(f"viva: {problem}", err=True)
    if target is not None:
        click.echo(f"written: {target}, {save(path, target)} rows; put it in the place of {path.name} to go on with it")
    elif found.problems:
        click.echo(f"viva: `viva doctor --records --save NEW.db` saves these rows; {path} itself stays.", err=True)
    return 1 if found.problems else 0
