"""`viva export PATH… --to FORMAT`: write results, or the code of a class, for other programs."""

from pathlib import Path
from typing import Final

import click

from viva.cli.shared.options import CourseChoice, course_choice_options
from viva.formats import escaping
from viva.formats.results_json import results_below
from viva.hooks import ResultExporter, hooks
from viva.plugins.ci.export import OF_ONE, OF_SEVERAL, exported, reports_of, write_export

_FROM_PLUGINS: Final[dict[str, ResultExporter]] = {
    exporter.name: exporter for table in hooks().viva_result_exporter() for exporter in table
}


@click.command("export")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option(
    "--to", "wanted", required=True, type=click.Choice([*OF_SEVERAL, *OF_ONE, *_FROM_PLUGINS, "similarity"]),
    help="junit, ctrf: reports for CI systems. summary: a page in Markdown. annotations: GitHub annotations on "
    "lines of code. outputs: key=value lines. classroom50: its result.json. "
    "similarity: the code of a class in folders for compare50, JPlag and MOSS."
    + "".join(f" {name}: {exporter.summary}" for name, exporter in _FROM_PLUGINS.items()),
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="Where to write (default: here).")
@click.option(
    "--hidden", is_flag=True,
    help="With names and points of tests that students cannot see yet: for files that no student can read.",
)  # fmt: skip
@click.option(
    "--scale", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N",
    help="For classroom50, which has whole numbers only: how many make one point.",
)  # fmt: skip
@course_choice_options
def command(
    paths: tuple[Path, ...], wanted: str, output: Path | None, hidden: bool, scale: int, course_choice: CourseChoice
) -> int:
    """Write results (files, or folders that `viva grade -o` wrote) in a format that other programs read.

    Only what students may see is exported: visible tests with the messages that their results show.

    For similarity, PATH is what a class submitted and OUT a new folder. Printed are the commands that compare the code.

    Exit status: 0 exported, 1 a result cannot be read or does not fit the format, or code was left out.
    """
    if wanted == "similarity":
        if len(paths) != 1 or output is None:
            raise click.UsageError("--to similarity takes one class and a new folder for its code (-o OUT).")
        from viva.plugins.ci.similarity_export import export_for_similarity

        commands, left_out = export_for_similarity(paths[0], course_choice.open(), course_choice.assignment, output)
        click.echo("\n".join(commands))
        for sentence in left_out:
            click.echo(f"viva: left out: {escaping.line(sentence)}", err=True)
        return 1 if left_out else 0
    files = [file for path in paths for file in _files(path)]
    if wanted in _FROM_PLUGINS:
        data = _FROM_PLUGINS[wanted].export(reports_of(files, hidden=hidden))
    else:
        data = exported(wanted, files, hidden=hidden, scale=scale)
    if output:
        write_export(output, data, hidden=hidden)
    else:
        click.echo(data, nl=False)
    return 0


def _files(path: Path) -> list[Path]:
    return [path / below for below in results_below(path)] if path.is_dir() else [path]
