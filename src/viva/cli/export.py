"""`viva export RESULT… --to FORMAT`: write results for other programs: CI systems, classrooms, pages."""

from pathlib import Path

import click

from viva.formats.ci.export import OF_ONE, OF_SEVERAL, exported, write_export
from viva.formats.folders import results_below


@click.command("export")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT…")
@click.option(
    "--to", "wanted", required=True, type=click.Choice([*OF_SEVERAL, *OF_ONE]),
    help="junit, ctrf: reports for CI systems. summary: a page in Markdown. annotations: GitHub annotations on "
    "lines of code. outputs: key=value lines. classroom50: its result.json.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to write (default: here).")
@click.option(
    "--hidden", is_flag=True,
    help="With names and points of tests that students cannot see yet: for files that no student can read.",
)  # fmt: skip
@click.option(
    "--scale", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N",
    help="For classroom50, which has whole numbers only: how many make one point.",
)  # fmt: skip
def command(paths: tuple[Path, ...], wanted: str, output: Path | None, hidden: bool, scale: int) -> int:
    """Write results (files, or folders that `viva grade -o` wrote) in a format that other programs read.

    Only what students may see is exported: visible tests with the messages that their results show.

    Exit status: 0 exported, 1 a result cannot be read or does not fit the format.
    """
    files = [file for path in paths for file in _files(path)]
    data = exported(wanted, files, hidden=hidden, scale=scale)
    if output:
        write_export(output, data, hidden=hidden)
    else:
        click.echo(data, nl=False)
    return 0


def _files(path: Path) -> list[Path]:
    return [path / below for below in results_below(path)] if path.is_dir() else [path]
