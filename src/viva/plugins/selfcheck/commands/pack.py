"""`viva pack [PATH]`: check and write the archive to submit, and list what is in it."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from viva.cli.shared.options import assignment_option, choose_assignment, course_option, open_course
from viva.model import File, Submission
from viva.model.counting import counted
from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.model import Score
    from viva.plugins.selfcheck.pack_files import ChosenFiles

_NAMED: Final = 12


@click.command("pack")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[PATH]")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.zip", help="Where to (default: ASSIGNMENT.zip)."
)
@assignment_option
@course_option
def command(path: Path | None, output: Path | None, assignment: str | None, course_dir: Path | None) -> int:
    """Pack the files to submit from PATH (default: this folder) into one archive, and check that it can be graded.

    In it are the files that the assignment names, the modules that they import, answers.yaml, results in formats that
    are graded, and files that the program names. The same files always give the same bytes.
    """
    from viva.plugins.selfcheck.pack_archive import (
        build_archive,
        gather_files,
        inspect_files,
        inspect_score,
        try_archive,
        write_archive,
    )

    if output is not None and output.suffix.lower() != ".zip":
        raise UsageError(f"-o {output}: the archive is a zip file; give a name that ends with .zip.")
    course = open_course(course_dir, released=True)
    path = path or Path()
    if assignment is None:  # recognized by every file that may belong to the submission
        target = choose_assignment(course, None, Submission(str(path), gather_files(path, None)[1], ""))
    else:
        target = course.assignment(assignment)
    chosen, files = gather_files(path, target)
    data = build_archive(files)
    output = output or Path(f"{target.name}.zip")
    findings = inspect_files(files, target)
    score = try_archive(data, output.name, course, target)
    findings += inspect_score(score)
    write_archive(output, data)
    _print_listing(chosen, files, findings)
    click.echo(f"{_points(score)} in the public tests of “{target.title}”; `viva check` shows each.")
    digest = hashlib.sha256(data).hexdigest()[:16]
    click.echo(f"written: {output} ({counted(len(files), 'file')}, {_size(len(data))}, sha256 {digest}…)")
    return 2 if score.has_grader_error else 0


def _print_listing(chosen: "ChosenFiles", files: tuple[File, ...], findings: list[str]) -> None:
    from viva.formats.escaping import line, terminal

    click.echo("Packed:")
    for file in files:
        click.echo(f"  {line(file.path)}  ({_size(len(file.data))})")
    reasons: dict[str, list[str]] = {}
    for path, why in chosen.left_out.items():
        reasons.setdefault(why, []).append(path)
    if reasons:
        click.echo("Left out:")
    for why, paths in sorted(reasons.items()):
        named = len(paths) if paths == chosen.secrets else _NAMED  # list every secret
        names = [line(path) for path in sorted(paths)[:named]]
        if len(paths) > named:
            names[-1] += f" and {len(paths) - named} more"
        click.echo(f"  {line(why)}: {', '.join(names)}")
    if findings:
        click.echo("Please look at:")
    for finding in findings:
        click.echo("  - " + terminal(finding).replace("\n", "\n    "))


def _points(score: "Score") -> str:
    from viva.formats.decimal_points import total_in_words

    return total_in_words(score.totals)


def _size(size: int) -> str:
    if size < 1 << 10:
        return f"{size} bytes"
    if size < 1 << 20:
        return f"{size / (1 << 10):.0f} KiB"
    return f"{size / (1 << 20):.1f} MiB"
